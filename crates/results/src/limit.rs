//! Limits that users set for values, and the verdicts on them.

use std::str::FromStr;

use bandgap_record::{Column, Form, Place, Quantity, RecordError, Row, Rows, Unit};
use bandgap_report::{Block, Head, Table, read, scaled};

use crate::run::Run;
use crate::shown::Context;

/// The kind of a limit as a result, with a single row. The axis `of` is the value's id, `must` the limit as written,
/// `<2.5us`. Columns are `value`, `limit`, and `beyond`, which is 1 or 0, or from 0 to 1 where the verdict is [`UNTOLD`].
/// The label `verdict` is [`HOLDS`], [`BEYOND`] or [`UNTOLD`].
pub const LIMIT: &str = "limit";
/// The whole interval is within the limit.
pub const HOLDS: &str = "holds";
/// The whole interval is beyond the limit.
pub const BEYOND: &str = "beyond";
/// The interval holds the limit, or the value or its interval is missing.
pub const UNTOLD: &str = "cannot tell";

/// A limit of a value, `ID < VALUE` or `ID > VALUE`. The id may be the beginning of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    id: String,
    /// `<` or `>`.
    sign: String,
    value: String,
}

/// Why a limit cannot be judged, or a value not be found.
#[derive(Debug, thiserror::Error)]
pub enum LimitError {
    /// No value has this id; the nearest ids.
    #[error("find {0}: the run has no such id")]
    Unknown(String, Vec<String>),
    /// Several ids begin like this.
    #[error("choose {0}: {count} ids begin so", count = .1.len())]
    Several(String, Vec<String>),
    /// An id, its value, and a limit in another unit.
    #[error("compare {0} = {1} with {2}: the units differ")]
    Unit(String, String, String),
    /// A value cannot be recorded.
    #[error(transparent)]
    Record(#[from] RecordError),
}

impl FromStr for Limit {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Limit, Self::Err> {
        let example = "write for example 'logp/shm/rtt < 2.5us'";
        let at = text.find(['<', '>']).ok_or(example)?;
        let [id, sign, value] = [&text[..at], &text[at..=at], &text[at + 1..]].map(str::trim);
        let is_value = Unit::ALL.iter().any(|unit| read(value, *unit).is_some());
        let [id, sign, value] = [id, sign, value].map(str::to_owned);
        (is_value && !id.is_empty()).then_some(Limit { id, sign, value }).ok_or(example)
    }
}

impl Limit {
    /// The limit as a result of this run. `ended_early`: what the run lacks may be missing for this reason.
    ///
    /// # Errors
    /// The run has no such value, or in another unit.
    pub fn judge(&self, run: &Run, ended_early: bool) -> Result<Rows, LimitError> {
        let (id, value) = match find(run, &self.id) {
            Err(LimitError::Unknown(id, _)) if ended_early => (id, None),
            found => found?,
        };
        let unit = value.map_or(Unit::One, |of| of.unit);
        let limit = read(&self.value, unit);
        if let (Some(of), None) = (value, limit) {
            return Err(LimitError::Unit(id, scaled(of.value.0, unit), self.value.clone()));
        }
        let ends = value.and_then(Quantity::interval).zip(limit);
        let (verdict, [least, most]) = match ends.map(|((low, high), limit)| match &*self.sign {
            "<" => [low >= limit, high < limit],
            _ => [high <= limit, low > limit],
        }) {
            Some([true, _]) => (BEYOND, [1.0; 2]),
            Some([_, true]) => (HOLDS, [0.0; 2]),
            _ => (UNTOLD, [0.0, 1.0]),
        };
        let told = ("verdict", value.map_or(0, |of| of.samples), verdict != UNTOLD);
        let given = limit.filter(|_| value.is_some());
        let given =
            given.map(|at| Quantity::new(at, None, unit, ("given", 1, true))).transpose()?;
        let beyond = Quantity::new(least, Some((least, most)), Unit::One, told)?;
        let must = format!("{}{}", self.sign, self.value.replace(' ', ""));
        let row = Row {
            place: vec![id.into(), must.into()],
            labels: [("verdict".to_owned(), verdict.into())].into(),
            cells: vec![value.cloned(), given, Some(beyond)],
            spread: None,
        };
        Ok(Rows {
            kind: LIMIT.to_owned(),
            form: Form::Details,
            axes: ["of", "must"].map(str::to_owned).into(),
            columns: vec![
                Column::new("value", unit, "the value"),
                Column::new("limit", unit, "its limit"),
                Column::new("beyond", Unit::One, "1 if the whole interval is beyond the limit"),
            ],
            rows: vec![row],
            ..Rows::default()
        })
    }
}

/// Most of the nearest ids.
const NEAREST: usize = 5;

/// The id that is, or begins with, this text, and its value if that is known.
///
/// # Errors
/// There is none, or several.
pub fn find<'a>(run: &'a Run, text: &str) -> Result<(String, Option<&'a Quantity>), LimitError> {
    let results = run.results.iter().filter(|of| of.as_rows().is_none_or(|of| of.kind != LIMIT));
    let all = || results.clone().flat_map(|of| of.as_shown().all()).map(|(id, of, _)| (id, of));
    let mut begin: Vec<_> = all().filter(|(id, _)| id.starts_with(text)).collect();
    match (begin.iter().position(|(id, _)| id == text), &begin[..]) {
        (Some(at), _) => Ok(begin.swap_remove(at)),
        (None, [_]) => Ok(begin.swap_remove(0)),
        (None, []) => {
            let mut ids: Vec<String> = all().map(|(id, _)| id).collect();
            ids.sort_by(|a, b| strsim::jaro(b, text).total_cmp(&strsim::jaro(a, text)));
            ids.truncate(NEAREST);
            Err(LimitError::Unknown(text.to_owned(), ids))
        }
        _ => Err(LimitError::Several(text.to_owned(), begin.into_iter().map(|of| of.0).collect())),
    }
}

/// A limit that was judged: the value's id, the limit as written, and the verdict.
pub(crate) fn judged(rows: &Rows) -> Option<[String; 3]> {
    let row = rows.rows.first().filter(|_| rows.kind == LIMIT)?;
    let [of, must] = ["of", "must"].map(|axis| rows.place(row, axis).map(Place::to_string));
    Some([of?, must?, rows.label(row, "verdict")?.to_string()])
}

/// A line for each limit: the value, the limit, and the verdict.
pub(crate) fn limits(context: &Context<'_>) -> Option<Block> {
    let mut table = Table::new(["limit", "", "value", ""].map(Head::new));
    for rows in context.of::<Rows>() {
        let Some([of, must, verdict]) = judged(rows) else { continue };
        let value = rows.cell(&rows.rows[0], "value").map(|value| context.cell(&of, value));
        table.push([of.into(), must.into(), value.into(), verdict.into()]);
    }
    (!table.rows.is_empty()).then_some(Block::Table(table))
}

#[cfg(test)]
mod tests;
