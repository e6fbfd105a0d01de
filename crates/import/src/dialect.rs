//! What a dialect is: a kind of output, and the family of those that look alike.

use crate::columns::Timing;
use crate::lines::{Line, Result};
use crate::table::{MICROSECONDS, Table, Unit};

/// One kind of output.
pub(crate) struct Dialect {
    /// The tool, as its users write it.
    pub tool: &'static str,
    /// The test's name, as the family's files have it.
    pub test: &'static str,
    /// The label over the sizes.
    pub size: &'static str,
    /// A further label that the heading has, or none.
    pub beside: &'static str,
    /// The label over the times or rates, or what stands before one.
    pub time: &'static str,
    /// What it counts, where the label does not say it.
    pub unit: Unit,
    /// The share of it that one message takes: ½ where it is a round trip.
    pub share: f64,
    /// What such a share is.
    pub timing: Timing,
}

/// Kinds of output that look alike.
pub(crate) struct Family {
    /// What messages call it.
    pub name: &'static str,
    /// Those whose times are of single messages. Where a file has several, the first of these is read; where it names
    /// none, it is taken for the first with its columns.
    pub dialects: &'static [Dialect],
    /// The name of the test that begins with a line.
    pub title: fn(&Line) -> Option<String>,
    /// The first line that no other family prints.
    pub tells: for<'a> fn(&Family, &'a [Line]) -> Option<&'a Line>,
    /// Reads all lines: [`headed::read`] where results are in columns under headings.
    pub read: fn(&'static Family, &[Line], &mut Table) -> Result,
}

pub(crate) const fn dialect(
    (tool, test): (&'static str, &'static str),
    [size, beside, time]: [&'static str; 3],
    (unit, share): (Unit, f64),
    timing: Timing,
) -> Dialect {
    Dialect { tool, test, size, beside, time, unit, share, timing }
}

/// Microseconds of a message.
pub(crate) const US: (Unit, f64) = (MICROSECONDS, 1.0);

/// Columns of the user's own.
pub(crate) const CSV: Dialect = dialect(("CSV", ""), ["bytes", "", "time"], US, Timing::AsGiven);
