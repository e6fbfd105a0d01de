//! Layers beside the floors they stand on, as a table.

use bandgap_record::Ratio;

use crate::Layout;
use crate::table::{estimated, finish, footnote, interval, one_state, table, unbroken, value};

/// How much longer each layer takes than its floor.
pub fn ratios(ratios: &[&Ratio], layout: &Layout) -> String {
    let confidence = format!("{} interval", layout.confidence);
    let state = one_state(ratios.iter().map(|ratio| ratio.state.as_deref()));
    let mut headings = vec!["layer", "over its floor", "time ×", &confidence];
    if state.is_none() {
        headings.push("state");
    }
    let mut rows = table(layout, headings, &[2, 3]);
    if state.is_some() {
        unbroken(&mut rows, layout, &[0, 1]);
    }
    for ratio in ratios {
        let mut cells = vec![
            ratio.name.clone(),
            ratio.over.clone(),
            value(&ratio.ratio),
            interval(&ratio.ratio),
        ];
        if state.is_none() {
            cells.push(ratio.state.clone().unwrap_or_default());
        }
        rows.add_row(cells);
    }
    state.map(|state| layout.paragraph(&format!("State {state}"))).unwrap_or_default()
        + &finish(&rows)
        + &footnote(layout, ratios.iter().map(|ratio| &ratio.ratio))
        + &estimated(layout, ratios.iter().map(|ratio| (ratio.name.as_str(), &ratio.ratio)))
}
