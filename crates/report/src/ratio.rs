//! Layers beside the floors they stand on, as a table.

use bandgap_record::Ratio;

use crate::Layout;
use crate::table::{estimated, finish, footnote, interval, table};

/// How much longer each layer takes than its floor.
pub fn ratios(ratios: &[&Ratio], layout: &Layout) -> String {
    let confidence = format!("{} interval", layout.confidence);
    let headings = ["layer", "over its floor", "time ×", &confidence, "state"];
    let mut rows = table(layout, headings, &[2, 3]);
    for ratio in ratios {
        rows.add_row([
            ratio.name.clone(),
            ratio.over.clone(),
            format!("{:.2}", ratio.ratio.value.0),
            interval(&ratio.ratio),
            ratio.state.clone().unwrap_or_default(),
        ]);
    }
    finish(&rows)
        + &footnote(layout, ratios.iter().map(|ratio| &ratio.ratio))
        + &estimated(layout, ratios.iter().map(|ratio| (ratio.name.as_str(), &ratio.ratio)))
}
