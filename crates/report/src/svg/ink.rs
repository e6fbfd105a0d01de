//! Colours and fonts. Red-green colour-blind readers can tell all colours apart, also in grey print.

/// Text.
pub(super) const INK: &str = "#1b1f24";
/// Less important text.
pub(super) const MUTED: &str = "#57606a";
/// Axes and ticks.
pub(super) const AXIS: &str = "#57606a";
/// Grid lines.
pub(super) const GRID: &str = "#e3e6ea";
/// Borders of regions.
pub(super) const BORDER: &str = "#9aa4ae";

/// Look of a text.
pub(super) struct Font {
    pub size: f64,
    pub colour: &'static str,
    /// More attributes.
    pub look: &'static str,
}

pub(super) const TITLE: Font = Font { size: 15.0, colour: INK, look: " font-weight=\"600\"" };
pub(super) const SUBTITLE: Font = Font { size: 11.5, colour: MUTED, look: "" };
pub(super) const AXIS_TITLE: Font = Font { size: 12.0, colour: INK, look: "" };
/// Ticks, and the names of curves.
pub(super) const LABEL: Font = Font { size: 11.0, colour: INK, look: "" };
/// Heading and notes of the legend.
pub(super) const LEGEND: Font = Font { size: 11.0, colour: MUTED, look: "" };
pub(super) const SOURCE: Font = Font { size: 9.0, colour: MUTED, look: "" };
pub(super) const REGION: Font = Font { size: 10.5, colour: MUTED, look: " font-style=\"italic\"" };
/// Names over the curves, with white around the letters, so they stay readable.
pub(super) const NAME: Font = Font {
    size: 10.5,
    colour: INK,
    look: " stroke=\"#ffffff\" stroke-width=\"3\" paint-order=\"stroke\"",
};

/// Eight steps from dark to light, since curves have an order: viridis without its yellow end, which is hard to see
/// on white.
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

/// The ends of each kind's shades: blue, orange, green and purple of Okabe and Ito, safe for the colour-blind.
const KINDS: [[[u8; 3]; 2]; 4] = [
    [[0, 114, 178], [200, 226, 242]],
    [[230, 159, 0], [251, 236, 205]],
    [[0, 158, 115], [200, 236, 225]],
    [[204, 121, 167], [242, 220, 231]],
];

/// Colour of the `shade`th of `count` parts of a kind.
pub(super) fn kind(kind: usize, shade: usize, count: usize) -> String {
    let [dark, light] = KINDS[kind % KINDS.len()];
    let share = shade as f64 / count.saturating_sub(1).max(3) as f64;
    let mixed = |at: usize| {
        let (dark, light) = (f64::from(dark[at]), f64::from(light[at]));
        (dark + (light - dark) * share).round() as u8
    };
    format!("#{:02x}{:02x}{:02x}", mixed(0), mixed(1), mixed(2))
}

/// Background of the `index`th region.
pub(super) fn band(index: usize) -> &'static str {
    ["#eef4fb", "#ffffff", "#f6f3ec"][index % 3]
}
