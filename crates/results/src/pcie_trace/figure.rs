//! How the injection overhead is distributed.

use bandgap_report::{Axis, Datum, Dimension, Figure, Mark, Scale, Series, Style};
use bandgap_units::Fraction;

use super::schema::{PcieTrace, TraceBin, TraceTime};

/// The distribution; `None` where nothing was injected.
pub(super) fn distribution(trace: &PcieTrace) -> Option<Figure> {
    let injection = trace.times.iter().find(|time| time.name == "injection")?;
    if trace.histogram.len() < 2 {
        return None;
    }
    let median = injection.median.as_time()?.0;
    let points: Vec<Datum> = trace
        .histogram
        .iter()
        .map(|bin| {
            let middle = (bin.from.ns().0 + bin.to.ns().0) / 2.0;
            Datum::exact(middle - median, 100.0 * bin.share.0)
        })
        .collect();
    let mean = injection.mean.as_time()?.0;
    let bin = trace.histogram.iter().find(|bin| bin.from.ns().0 <= mean && mean < bin.to.ns().0);
    let mark =
        |bin: &TraceBin| Mark { name: "mean".to_owned(), x: mean - median, y: 100.0 * bin.share.0 };
    Some(Figure {
        title: "Observed injection overhead".to_owned(),
        subtitle: format!("{}, {} times from post to post", trace.name, injection.samples),
        x: axis(&format!("post to post minus its median, {median:.2} ns"), Dimension::Time),
        y: axis("share of the times, %", Dimension::Count),
        legend: "times".to_owned(),
        series: vec![Series { name: "posts".to_owned(), points, style: Style::Line, twin: None }],
        references: Vec::new(),
        regions: Vec::new(),
        marks: bin.map(mark).into_iter().collect(),
        notes: beyond(trace, injection).into_iter().collect(),
    })
}

fn axis(label: &str, dimension: Dimension) -> Axis {
    Axis { label: label.to_owned(), scale: Scale::Linear, dimension }
}

/// What lies beside the figure.
fn beyond(trace: &PcieTrace, injection: &TraceTime) -> Option<String> {
    // A file may say any numbers.
    let shown = trace.histogram.iter().map(|bin| bin.count).fold(0, u64::saturating_add);
    let left = injection.samples.saturating_sub(shown);
    let share = left as f64 / injection.samples.max(1) as f64;
    (left > 0).then(|| {
        format!(
            "{} further away, {} of all; the longest is {}.",
            if left == 1 { "1 time lies".to_owned() } else { format!("{left} times lie") },
            Fraction(share),
            injection.max.ns()
        )
    })
}
