//! What the ranks of a replay did, as a chart.

use std::collections::HashMap;

use bandgap_record::{Seconds, Unit};
use bandgap_report::{Arrow, Axis, Gantt, Scale, Slice};
use serde::{Deserialize, Serialize};

/// Something that a rank's processor did without a pause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// The rank.
    pub rank: u64,
    /// One of [`PARTS`].
    pub part: String,
    /// Begin.
    pub begin: Seconds,
    /// End.
    pub end: Seconds,
    /// The number of the message, which its send and its receive have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<u64>,
    /// Whether it is on the critical path.
    pub critical: bool,
}

/// What a processor does.
pub const PARTS: [&str; 3] = ["compute", "send", "receive"];

/// A chart of these ranks from one time to another, in seconds, with a title and a caption.
pub fn timeline(
    spans: &[Span],
    ranks: &[u64],
    [from, until]: [f64; 2],
    [title, caption]: [String; 2],
) -> Gantt {
    let row = |span: &Span| ranks.iter().position(|of| *of == span.rank).unwrap_or(0);
    let since = |time: Seconds| time.0.0.clamp(from, until) - from;
    let slice = |of: &Span| Slice {
        row: row(of),
        kind: PARTS.iter().position(|part| *part == of.part).unwrap_or(0),
        from: since(of.begin),
        to: since(of.end),
        marked: of.critical,
    };
    let sends = spans.iter().filter(|span| span.part == "send");
    let sends: HashMap<Option<u64>, &Span> = sends.map(|span| (span.message, span)).collect();
    let arrow = |of: &Span| {
        let send = sends.get(&of.message).filter(|_| of.part == "receive")?;
        Some(Arrow {
            from: (since(send.end), row(send)),
            to: (since(of.begin), row(of)),
            marked: send.critical && of.critical,
        })
    };
    Gantt {
        title,
        caption,
        rows: ranks.iter().map(u64::to_string).collect(),
        kinds: PARTS.map(str::to_owned).to_vec(),
        slices: spans.iter().map(slice).collect(),
        arrows: spans.iter().filter_map(arrow).collect(),
        axis: Axis { label: "time".to_owned(), scale: Scale::Linear, unit: Unit::Second },
        ends: [0.0, until - from],
        band: None,
    }
}
