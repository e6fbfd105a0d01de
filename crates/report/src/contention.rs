//! The gap under contention as a table (LogP paper, table 5).

use bandgap_record::Contention;

use crate::Layout;
use crate::table::{finish, footnote, interval, table, value};

/// One row per number of requesters, with what the model expects beside what was found.
pub fn contention(contention: &Contention, layout: &Layout) -> String {
    let confidence = format!("{} interval", layout.confidence);
    let headings = ["K", "gap g_K", &confidence, "g_K / g_1", &confidence, "expected"];
    let mut rows = table(layout, headings, &[0, 1, 2, 3, 4, 5]);
    for row in &contention.rows {
        let expected = row.requesters.to_string();
        rows.add_row([
            expected.clone(),
            value(&row.gap),
            interval(&row.gap),
            value(&row.ratio),
            interval(&row.ratio),
            expected,
        ]);
    }
    let quantities = contention.rows.iter().flat_map(|row| [&row.gap, &row.ratio]);
    layout.paragraph(&format!(
        "Contention over {}: K requesters to one replier. Where the replier is the bottleneck, \
         the gap of each grows K times:",
        contention.transport
    )) + &finish(&rows)
        + &footnote(layout, quantities)
}
