//! Colours. All pass for readers who confuse red with green, and in grey print.

/// Text.
pub(super) const INK: &str = "#1b1f24";
/// Text of lesser weight.
pub(super) const MUTED: &str = "#57606a";
/// Axes and ticks.
pub(super) const AXIS: &str = "#57606a";
/// Grid lines.
pub(super) const GRID: &str = "#e3e6ea";
/// Borders of regions.
pub(super) const BORDER: &str = "#9aa4ae";

/// Eight steps of one ramp from dark to light (viridis without its yellow end, which white paper
/// swallows): curves have an order, and the eye reads it.
const RAMP: [&str; 8] =
    ["#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58"];

/// Colour of series `index` of `count`.
pub(super) fn colour(index: usize, count: usize) -> &'static str {
    let last = RAMP.len() - 1;
    match count {
        0..=2 => RAMP[(index * 4 + 1).min(last)],
        _ => RAMP[(index * last / (count - 1)).min(last)],
    }
}

/// Ground of the `index`th region.
pub(super) fn band(index: usize) -> &'static str {
    ["#eef4fb", "#ffffff", "#f6f3ec"][index % 3]
}
