//! What a reader sees of a trace.

use bandgap_record::{Column, Quantity, RecordError, csv, estimate, lower, nanoseconds, upper};
use bandgap_report::{
    Axis, Datum, Dimension, Figure, Layout, Listing, Scale, Series, Style, svg_panels,
};

use super::schema::{DerivedTime, PcieTrace, TraceTime};
use crate::kind::{Among, File, Shown, Verdict};
use crate::measured::{for_gnuplot, named_file, with_interval};

impl Shown for PcieTrace {
    fn quantities(&self) -> Vec<(String, &Quantity)> {
        let named = |what: &str| format!("trace {}: {what}", self.name);
        let derived = self.derived.iter().map(|one| (named(&one.name), &one.time));
        derived.chain(self.times.iter().map(|one| (named(&one.name), &one.mean))).collect()
    }

    fn text(&self, _: &Among<'_>, layout: &Layout) -> String {
        let mut text = Listing::new(&self.files, layout)
            .text("trace", |one| one.file.clone())
            .number("rows", |one| one.rows.to_string())
            .number("posts", |one| one.posts.to_string())
            .number("completions", |one| one.completions.to_string())
            .number("payloads", |one| one.payloads.to_string())
            .number("lost", |one| one.lost.map(|lost| lost.to_string()).unwrap_or_default())
            .finish();
        text += "\n";
        text += &Listing::new(&self.times, layout)
            .text("time", |one| one.name.clone())
            .number("samples", |one| one.samples.to_string())
            .number("mean", |one| with_interval(&one.mean))
            .number("median", |one| at(one, 0.5))
            .number("99 %", |one| at(one, 0.99))
            .finish();
        text += "\n";
        text += &Listing::new(&self.derived, layout)
            .text("component", |one| one.name.clone())
            .number("time", |one| with_interval(&one.time))
            .finish();
        if !self.missing.is_empty() {
            text += "\n";
            text += &Listing::new(&self.missing, layout)
                .text("not derived", |one| one.name.clone())
                .text("why", |one| one.why.to_string())
                .finish();
        }
        text
    }

    /// The shares of the intervals between posts that are no longer than a time.
    ///
    /// *Source*: "Breaking Band", figure 7.
    fn figures(&self, _: &Among<'_>) -> Vec<Figure> {
        let injected = self.derived.iter().any(|one| one.name == "inj_overhead");
        let times = self.times.iter().filter(|one| injected && one.name == "injection");
        let axis = |label: &str, scale, dimension| Axis { label: label.into(), scale, dimension };
        let points = |of: &TraceTime| {
            of.quantiles.iter().map(|(share, time)| Datum::exact(time.ns().0, share.0)).collect()
        };
        let figure = |of: &TraceTime| Figure {
            title: format!("{}: post to post", self.name),
            subtitle: "the share of the intervals that are no longer".to_owned(),
            x: axis("interval", Scale::Log10, Dimension::Time),
            y: axis("share", Scale::Linear, Dimension::Count),
            legend: "observed".to_owned(),
            series: vec![Series {
                name: "injection".to_owned(),
                points: points(of),
                style: Style::Line,
                twin: None,
            }],
            references: Vec::new(),
            regions: Vec::new(),
            marks: Vec::new(),
            notes: Vec::new(),
        };
        times.map(figure).collect()
    }

    fn files(&self, among: &Among<'_>) -> Result<Vec<File>, RecordError> {
        let suffix = match among.of::<PcieTrace>().count() {
            0 | 1 if !among.more_to_come => String::new(),
            _ => format!("-{}", named_file(&self.name)),
        };
        let columns: [Column<&TraceTime>; 6] = [
            ("time", |one| one.name.clone()),
            ("samples", |one| one.samples.to_string()),
            ("mean_ns", |one| estimate(&one.mean)),
            ("low_ns", |one| lower(&one.mean)),
            ("high_ns", |one| upper(&one.mean)),
            ("median_ns", |one| at(one, 0.5)),
        ];
        let mut files = vec![File::new(format!("trace{suffix}.csv"), csv(&columns, &self.times)?)];
        let figures = self.figures(among);
        if !figures.is_empty() {
            files.push(File::new(format!("injection{suffix}.svg"), svg_panels(&figures)));
            files.extend(for_gnuplot(&figures, &format!("injection{suffix}")));
        }
        Ok(files)
    }

    fn findings(&self) -> &[String] {
        &[]
    }

    /// What follows counts.
    fn verdict(&self) -> Verdict {
        if self.derived.is_empty() {
            return Verdict::Missing;
        }
        let named = |one: &DerivedTime| format!("trace {}: {}", self.name, one.name);
        Verdict::on(self.derived.iter().map(|one| (named(one), &one.time)))
    }
}

/// The time that so many do not exceed, in nanoseconds.
fn at(of: &TraceTime, share: f64) -> String {
    let found = of.quantiles.iter().find(|(known, _)| known.0 == share);
    found.map(|(_, time)| nanoseconds(time.ns())).unwrap_or_default()
}
