//! The changes of a comparison as a picture.

use bandgap_record::{Number, Quantity};
use bandgap_report::{Axis, Block, Gantt, Slice, share};

use crate::compare::{Comparison, Word};

/// The most changes of a picture.
const MOST: usize = 60;
/// The axis shows at least so many margins on either side, and at most a doubling.
const MARGINS: f64 = 3.0;
const DOUBLED: f64 = 100.0;
/// Half the width of the mark of a value, as a share of the axis.
const MARK: f64 = 0.003;

/// The first changes in percent, each with its interval, around those that count as none.
pub fn forest(of: &Comparison) -> Option<Block> {
    let known = of.quantities.iter().filter_map(|of| Some((of, of.change.as_ref()?)));
    let known: Vec<_> = known.take(MOST).collect();
    let Number(margin) = of.rule.margin;
    let band = [-margin / (1.0 + margin), margin].map(|end| 100.0 * end);
    let values = known.iter().map(|(_, change)| 100.0 * change.value.0);
    let reach = values.clone().map(f64::abs).fold(MARGINS * band[1], f64::max).min(DOUBLED);
    let slices =
        known.iter().zip(values).enumerate().flat_map(|(row, ((judged, change), value))| {
            let kind = match judged.verdict {
                Word::Same => 0,
                word => 1 + usize::from(!word.is_change()),
            };
            let slice = move |from, to, marked| Slice { row, kind, from, to, marked };
            let interval = Quantity::interval(change);
            let interval = interval.map(|(low, high)| slice(100.0 * low, 100.0 * high, false));
            interval.into_iter().chain([slice(value - MARK * reach, value + MARK * reach, true)])
        });
    let rows = known.iter().map(|(of, _)| format!("{}: {}", of.id, of.verdict.words())).collect();
    let chart = Gantt {
        title: "Change of B/A".to_owned(),
        caption: format!("intervals: {} for all {}", share(of.rule.confidence.0), of.rule.family),
        rows,
        kinds: ["same", "changed", "cannot tell"].map(str::to_owned).to_vec(),
        slices: slices.collect(),
        arrows: Vec::new(),
        axis: Axis { label: "change (%)".to_owned(), ..Axis::default() },
        ends: [-reach, reach],
        band: Some(band),
    };
    (!known.is_empty()).then_some(Block::Gantt(chart))
}
