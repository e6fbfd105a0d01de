//! Renders the verdicts on limits that users set for values.

use bandgap_record::{Place, Rows};
use bandgap_report::{Block, Head, Table};

use crate::shown::Context;

/// The kind of the result with a row for each limit. The axis `of` is the value's id, `must` the limit as written,
/// `<2.5us`. The column `beyond` is 1 if the whole interval is beyond the limit, 0 if it is within; it is from 0 to 1 if the
/// interval holds the limit, or the run lacks the value or its interval.
pub const LIMIT: &str = "limit";

/// The verdicts, by how many ends of `beyond` are 1.
const VERDICTS: [&str; 3] = ["holds", "cannot tell", "beyond"];

/// The ids, limits and verdicts of these rows, if they are limits.
fn judged(rows: &Rows) -> impl Iterator<Item = [String; 3]> {
    rows.rows.iter().filter(|_| rows.kind == LIMIT).filter_map(|row| {
        let (low, high) = rows.cell(row, "beyond")?.interval()?;
        let [of, must] = ["of", "must"].map(|axis| rows.place(row, axis).map(Place::to_string));
        Some([of?, must?, (*VERDICTS.get((low + high) as usize)?).to_owned()])
    })
}

/// The limits that values are beyond, in words.
pub(crate) fn beyond(rows: &Rows) -> Vec<String> {
    let beyond = judged(rows).filter(|[.., verdict]| verdict == VERDICTS[2]);
    beyond.map(|[of, must, _]| format!("{of} is not {must}")).collect()
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
