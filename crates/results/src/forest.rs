//! The changes of a comparison as a picture.

use bandgap_record::{Number, Quantity};
use bandgap_report::{Block, ChangeOf, Forest, share};

use crate::compare::Comparison;
use crate::shown::counted;

/// The most changes of a picture.
const MOST: usize = 60;

/// All changes with their intervals around the margin, those of the gravest verdicts first.
pub fn forest(of: &Comparison) -> Option<Block> {
    let change = |judged: &crate::compare::Judged| {
        let change = judged.change.as_ref()?;
        let interval = Quantity::interval(change);
        let (name, value, verdict) = (judged.id.clone(), change.value.0, judged.verdict.words());
        Some(ChangeOf { name, value, interval, verdict })
    };
    let mut rows: Vec<ChangeOf> = of.quantities.iter().filter_map(change).collect();
    let (all, Number(margin)) = (rows.len(), of.rule.margin);
    rows.truncate(MOST);
    let more = all - rows.len();
    let more = if more > 0 { format!("; {} more", counted(more, "value")) } else { String::new() };
    let intervals = match of.rule.family {
        0 => String::new(),
        family => format!("intervals: {} for all {family}; ", share(of.rule.confidence.0)),
    };
    let caption = format!("{intervals}shaded: same{more}");
    let within = [-margin / (1.0 + margin), margin];
    let title = "Change of B/A".to_owned();
    (all > 0).then_some(Block::Forest(Forest { title, caption, within, rows }))
}
