//! The files of a breakdown: how each model is divided, the components and models as a table that can be read
//! back, and the bars.

use bandgap_record::{Column, RecordError, csv, nanoseconds};
use bandgap_report::{svg_bars, svg_panels};

use super::figure::arrivals;
use super::schema::{Breakdown, ModelTime, PartTime};
use super::text::figure_bars;
use crate::kind::{Among, File};
use crate::measured::{for_gnuplot, named_file};

/// The files; of several breakdowns in a run each is named after its own.
pub(super) fn files(breakdown: &Breakdown, among: &Among<'_>) -> Result<Vec<File>, RecordError> {
    let alone = among.of::<Breakdown>().count() < 2 && !among.more_to_come;
    let named = |what: &str, ending: &str| match alone {
        true => format!("{what}.{ending}"),
        false => format!("{what}-{}.{ending}", named_file(&breakdown.name)),
    };
    let bars: Vec<_> = breakdown.figures.iter().map(figure_bars).collect();
    let mut files = vec![File::new(named("breakdown", "csv"), divided(breakdown)?)];
    // One that was changed by hand may be of nothing.
    if let Ok(table) = breakdown.table() {
        files.push(File::new(named("components", "toml"), table.to_toml()));
    }
    files.push(File::new(named("breakdown", "svg"), svg_bars(&bars)));
    if let Some(figure) = arrivals(breakdown) {
        let figures = [figure];
        files.push(File::new(named("arrivals", "svg"), svg_panels(&figures)));
        files.extend(for_gnuplot(&figures, named("arrivals", "").trim_end_matches('.')));
    }
    Ok(files)
}

/// A row for each part of each model, in each way.
fn divided(breakdown: &Breakdown) -> Result<Vec<u8>, RecordError> {
    type Row<'a> = (&'a ModelTime, &'a str, &'a PartTime);
    let columns: [Column<Row<'_>>; 5] = [
        ("model", |(model, _, _)| model.name.clone()),
        ("by", |(_, by, _)| (*by).to_owned()),
        ("part", |(_, _, part)| part.name.clone()),
        ("time_ns", |(_, _, part)| nanoseconds(part.time.ns())),
        ("share", |(_, _, part)| part.share.0.to_string()),
    ];
    let rows = breakdown.models.iter().flat_map(|model| {
        let ways = model.divided.iter();
        ways.flat_map(move |way| way.parts.iter().map(move |part| (model, way.by.as_str(), part)))
    });
    csv(&columns, rows)
}
