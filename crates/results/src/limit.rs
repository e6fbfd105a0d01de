//! Renders the verdicts on limits that users set for values.

use bandgap_record::{Place, Rows};
use bandgap_report::{Block, Head, Table};

use crate::shown::Context;

/// The kind of the result with a row for each limit. The axis `of` is the value's id, `must` the limit as written,
/// `<2.5us`. The column `beyond` is 1 if the whole interval is beyond the limit, 0 if it is within; it is from 0 to 1 if the
/// interval holds the limit, or the run lacks the value or its interval.
pub const LIMIT: &str = "limit";

/// The verdict if the whole interval is beyond the limit.
pub(crate) const BEYOND: &str = "beyond";

/// The ids, limits and verdicts of these rows, if they are limits.
pub(crate) fn judged(rows: &Rows) -> impl Iterator<Item = [String; 3]> {
    rows.rows.iter().filter(|_| rows.kind == LIMIT).filter_map(|row| {
        let verdict = match rows.cell(row, "beyond")?.interval()? {
            (1.0, _) => BEYOND,
            (_, 0.0) => "holds",
            _ => "cannot tell",
        };
        let [of, must] = ["of", "must"].map(|axis| rows.place(row, axis).map(Place::to_string));
        Some([of?, must?, verdict.to_owned()])
    })
}

/// A table of all limits.
pub(crate) fn limits(context: &Context<'_>) -> Option<Block> {
    let mut table = Table::new(["limit", "", "value", ""].map(Head::new));
    for [of, must, verdict] in context.of::<Rows>().flat_map(judged) {
        let mut all = context.results.iter().flat_map(|of| of.quantities());
        let value = all.find(|(id, ..)| *id == of).map(|(_, value, _)| context.cell(&of, value));
        table.push([of.into(), must.into(), value.into(), verdict.into()]);
    }
    (!table.rows.is_empty()).then_some(Block::Table(table))
}
