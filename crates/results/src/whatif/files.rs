//! The files of what a change would bring: a table of the curves, and their pictures.

use bandgap_record::{Column, Number, RecordError, csv};
use bandgap_report::{Figure, svg_panels};

use super::schema::{SpeedUpCurve, SpeedUpPoint, SpeedUps, WhatIf};
use crate::kind::{Among, File};
use crate::measured::{for_gnuplot, named_file};

/// The files; of several in a run each is named after its own.
pub(super) fn files(
    whatif: &WhatIf,
    figures: &[Figure],
    among: &Among<'_>,
) -> Result<Vec<File>, RecordError> {
    let alone = among.of::<WhatIf>().count() < 2 && !among.more_to_come;
    let name = match alone {
        true => "whatif".to_owned(),
        false => format!("whatif-{}", named_file(&whatif.name)),
    };
    let mut files = vec![
        File::new(format!("{name}.csv"), table(whatif)?),
        File::new(format!("{name}.svg"), svg_panels(figures)),
    ];
    files.extend(for_gnuplot(figures, &name));
    Ok(files)
}

/// A row for each point of each curve.
fn table(whatif: &WhatIf) -> Result<Vec<u8>, RecordError> {
    type Row<'a> = (&'a SpeedUps, &'a SpeedUpCurve, &'a SpeedUpPoint);
    fn end(of: Option<Number>) -> String {
        of.map(|end| end.0.to_string()).unwrap_or_default()
    }
    let columns: [Column<Row<'_>>; 6] = [
        ("model", |(of, _, _)| of.model.clone()),
        ("reduced", |(_, curve, _)| curve.of.clone()),
        ("reduction", |(_, _, point)| point.reduction.0.to_string()),
        ("speedup", |(_, _, point)| point.speedup.0.to_string()),
        ("low", |(_, _, point)| end(point.low)),
        ("high", |(_, _, point)| end(point.high)),
    ];
    let rows = whatif.curves.iter().flat_map(|of| {
        let curves = of.curves.iter();
        curves.flat_map(move |curve| curve.points.iter().map(move |point| (of, curve, point)))
    });
    csv(&columns, rows)
}
