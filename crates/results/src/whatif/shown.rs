//! What a reader sees of changes.

use bandgap_record::{Column, Quantity, RecordError, csv};
use bandgap_report::{
    Axis, Datum, Dimension, Figure, Layout, Listing, Scale, Series, Style, svg_panels,
};
use bandgap_units::Fraction;

use super::schema::{ChangeMade, ModelChange, RankedComponent, SpeedUpCurve, WhatIf};
use crate::breakdown::{Within, or_nothing, word};
use crate::kind::{Among, File, Shown, Verdict};
use crate::measured::{for_gnuplot, named_file, share_with_interval, with_interval};

/// Places of a ranking that are printed.
const PLACES: usize = 5;

impl Shown for WhatIf {
    fn quantities(&self) -> Vec<(String, &Quantity)> {
        let named = |what: &str, name: &str| format!("{}, {what} {name}", self.name);
        let changed = self.models.iter().flat_map(|model| {
            let name = &model.name;
            [(named("changed", name), &model.after), (named("speed-up of", name), &model.speedup)]
        });
        changed.collect()
    }

    fn text(&self, _: &Among<'_>, layout: &Layout) -> String {
        let changes: Vec<String> = self.changes.iter().map(change).collect();
        let heading = match changes.is_empty() {
            true => format!("{}, each component shorter by itself", self.name),
            false => format!("{} with {}", self.name, changes.join(", ")),
        };
        let mut text = layout.paragraph(&heading) + "\n";
        let any = self.models.iter().any(|model| model.observed.is_some());
        text += &Listing::new(&self.models, layout)
            .text("model", |model| model.name.clone())
            .number("before", |model| with_interval(&model.before))
            .number("after", |model| with_interval(&model.after))
            .number("saved", |model| share_with_interval(&model.speedup))
            .when(any, |rows| {
                rows.number("error", |model| or_nothing(model.error.as_ref(), share_with_interval))
                    .text("within 5 %", |model| word(model.within))
            })
            .finish();
        text + &ranking(self, layout)
    }

    /// Speed-up against reduction.
    fn figures(&self, _: &Among<'_>) -> Vec<Figure> {
        let models = self.models.iter().map(|model| figure(self, &model.name));
        models.filter(|figure| !figure.series.is_empty()).collect()
    }

    fn files(&self, among: &Among<'_>) -> Result<Vec<File>, RecordError> {
        let alone = among.of::<WhatIf>().count() < 2 && !among.more_to_come;
        let name = match alone {
            true => "whatif".to_owned(),
            false => format!("whatif-{}", named_file(&self.name)),
        };
        let figures = self.figures(among);
        let mut files = vec![
            File::new(format!("{name}.csv"), table(self)?),
            File::new(format!("{name}.svg"), svg_panels(&figures)),
        ];
        files.extend(for_gnuplot(&figures, &name));
        Ok(files)
    }

    fn findings(&self) -> &[String] {
        &[]
    }

    /// What would be is no better than the model that says it: one that may be further than 5 % from what was observed is
    /// off.
    fn verdict(&self) -> Verdict {
        let off = |model: &&ModelChange| !matches!(model.within, None | Some(Within::Holds));
        let named = |model: &ModelChange| format!("what if, of {}: {}", self.name, model.name);
        Verdict::doubtful(self.models.iter().filter(off).map(named))
    }
}

fn change(change: &ChangeMade) -> String {
    let what = &change.component;
    match (change.set, change.number, change.reduction) {
        (Some(set), ..) => format!("{what} = {}", set.ns()),
        (_, Some(number), _) => format!("{what} = {}", number.0),
        (_, _, reduction) => format!("{what} - {}", Fraction(reduction.map_or(0.0, |of| of.0))),
    }
}

/// The first places for each model.
fn ranking(whatif: &WhatIf, layout: &Layout) -> String {
    let Some(first) = whatif.ranking.first() else { return String::new() };
    let most = whatif.ranking.iter().map(|ranking| ranking.components.len()).max().unwrap_or(0);
    let places: Vec<usize> = (0..most.min(PLACES)).collect();
    let mut listing = Listing::new(&places, layout).number("", |place| (place + 1).to_string());
    let cell =
        |one: &RankedComponent| format!("{}\n{}", one.component, share_with_interval(&one.speedup));
    for ranking in &whatif.ranking {
        listing = listing.text(&ranking.model, |place| {
            ranking.components.get(*place).map(cell).unwrap_or_default()
        });
    }
    let by = Fraction(first.reduction.0);
    format!("\n{}", layout.paragraph(&format!("Saved by a component {by} shorter:")))
        + &listing.finish()
}

/// The curves of one model.
fn figure(whatif: &WhatIf, model: &str) -> Figure {
    let curves = whatif.curves.iter().filter(|curve| curve.model == model);
    let series = curves.map(|curve| Series {
        name: curve.of.clone(),
        points: curve.points.iter().map(|(x, y)| Datum::exact(100.0 * x.0, 100.0 * y.0)).collect(),
        style: Style::Line,
        twin: None,
    });
    let axis = |label: &str| Axis {
        label: label.to_owned(),
        scale: Scale::Linear,
        dimension: Dimension::Count,
    };
    Figure {
        title: format!("{model}: what a reduction saves"),
        subtitle: format!("{}, each by itself", whatif.name),
        x: axis("reduction of each, %"),
        y: axis("time saved, %"),
        legend: "reduced".to_owned(),
        series: series.collect(),
        references: Vec::new(),
        regions: Vec::new(),
        marks: Vec::new(),
        notes: Vec::new(),
    }
}

/// A row for each point of each curve.
fn table(whatif: &WhatIf) -> Result<Vec<u8>, RecordError> {
    type Row<'a> = (&'a SpeedUpCurve, f64, f64);
    let columns: [Column<Row<'_>>; 4] = [
        ("model", |(curve, ..)| curve.model.clone()),
        ("reduced", |(curve, ..)| curve.of.clone()),
        ("reduction", |(_, reduction, _)| reduction.to_string()),
        ("speedup", |(.., speedup)| speedup.to_string()),
    ];
    let rows = whatif.curves.iter().flat_map(|curve| {
        curve.points.iter().map(move |(reduction, speedup)| (curve, reduction.0, speedup.0))
    });
    csv(&columns, rows)
}
