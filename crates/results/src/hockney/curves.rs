//! Fits of the many curves of one series in a table.

use bandgap_report::table::estimated;
use bandgap_report::{Layout, Listing};
use bandgap_units::Bytes;

use super::schema::{Hockney, Segment};
use super::text::{findings, missed};
use crate::measured::{over, sentences};

/// A row of the table: a segment of a fit.
struct Row<'a> {
    fit: &'a Hockney,
    segment: &'a Segment,
    is_first: bool,
}

/// Curves that are told of, at most.
const MOST: usize = 8;
/// And with their findings.
const FEW: usize = 4;

/// Whether an operation moves more than one message on any curve.
fn several(fits: &[&Hockney]) -> bool {
    fits.iter().any(|fit| fit.messages > 1)
}

/// What the parameters are to each other, with k where operations move several messages.
fn formulas(fits: &[&Hockney]) -> &'static str {
    match several(fits) {
        false => "t(n) = (n + n½)/r∞, t0 = n½/r∞",
        true => {
            "t(n) = k (n + n½)/r∞, t0 = k n½/r∞, with r∞ of all k messages of an operation together"
        }
    }
}

/// The relative fits of a series' curves, one row for each segment.
pub(super) fn page(fits: &[&Hockney], layout: &Layout) -> String {
    let first = fits[0];
    let subject = over(&first.name, &first.transport);
    if fits.len() > MOST {
        let count = fits.len();
        return layout.paragraph(&format!(
            "{subject}: the Hockney fits of all {count} curves are in the run file."
        ));
    }
    let mut text = layout.paragraph(&format!(
        "{}: {}, relative fit of each curve. Intervals and the ordinary fits are in the run file.",
        subject,
        formulas(fits),
    ));
    let rows: Vec<Row<'_>> = fits
        .iter()
        .flat_map(|fit| {
            let row = move |(at, segment)| Row { fit, segment, is_first: at == 0 };
            fit.segments.iter().enumerate().map(row)
        })
        .collect();
    text += "\n";
    text += &Listing::new(&rows, layout)
        .name("curve", |row| if row.is_first { row.fit.which.words() } else { String::new() })
        .name("segment", |row| {
            format!("{} to {}", Bytes(row.segment.from_bytes), Bytes(row.segment.to_bytes))
        })
        .value("t0", |row| row.segment.t0.as_ref())
        .when(several(fits), |rows| {
            rows.number("messages k", |row| match row.is_first {
                true => row.fit.messages.to_string(),
                false => String::new(),
            })
        })
        .value("r∞", |row| row.segment.r_inf.as_ref())
        .value("n½", |row| row.segment.n_half.as_ref())
        .number("rms residual", |row| {
            let residuals = row.segment.residuals.as_ref();
            residuals.map_or(String::new(), |of| missed(of.rms_relative.0))
        })
        .sparing(&["n½", "rms residual"])
        .finish();
    text += &estimated(
        layout,
        fits.iter().flat_map(|fit| fit.segments.iter().flat_map(Segment::found)),
    );
    let said = match findings(fits, |fit| format!("Of {}", fit.which.words())) {
        many if fits.len() > FEW && !many.is_empty() => {
            vec![format!("The run file has {} findings on these fits.", many.len())]
        }
        few => few,
    };
    text + &sentences(&said, layout)
}
