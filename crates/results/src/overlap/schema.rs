//! The record of an exchange with a computation beside it.

use bandgap_kernels::OverlapMode;
use bandgap_record::Quantity;
use bandgap_units::Bytes;
use serde::{Deserialize, Serialize};

use crate::measured::{Batch, Checked, LostLaunch, Pair, State};

/// An exchange and a computation, one after the other and one beside the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overlap {
    /// The transport as the command line names it.
    pub transport: String,
    /// Number of ranks.
    pub ranks: u32,
    /// The rank whose times these are, and its peer.
    pub pair: Pair,
    /// The processors that these two are pinned to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<Pair>,
    /// Number of fresh sets of processes the measurement was repeated in.
    pub launches: u32,
    /// Launches that gave it nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_launches: Vec<LostLaunch>,
    /// How much was checked of what was received; absent in virtual time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked: Option<Checked>,
    /// The machine state it was taken in.
    pub state: State,
    /// By ascending size, and then by ascending length of the vectors.
    pub points: Vec<OverlapPoint>,
    /// The batches behind the times.
    pub batches: Vec<OverlapBatches>,
    /// What a reader should know, as sentences.
    pub findings: Vec<String>,
}

/// One size of messages with one length of vectors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OverlapPoint {
    /// Bytes of a message (n).
    pub bytes: u64,
    /// Elements of a vector (v).
    pub elements: u64,
    /// T_b: the exchange, then the computation.
    pub blocking: Quantity,
    /// T_n: the computation between the begin of the exchange and its wait.
    pub non_blocking: Quantity,
    /// T_x: the exchange alone.
    pub exchange: Quantity,
    /// T_c: the computation alone.
    pub computation: Quantity,
    /// T_o: what of the exchange the processor must do itself.
    pub overheads: Quantity,
    /// T_b − T_n, from batches of the same rounds; negative where the non-blocking way is slower.
    pub gain: Quantity,
    /// min(T_c, T_x − T_o): the shorter of the two parts, of which no more can be hidden; absent
    /// without a computation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hideable: Option<Quantity>,
    /// The hidden share: gain / hideable. Absent without a computation, and where `hideable` cannot be
    /// told from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<Quantity>,
}

/// The batches of one thing that was timed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OverlapBatches {
    /// What.
    pub mode: OverlapMode,
    /// Bytes of a message; absent where none is exchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Elements of a vector; absent where nothing is computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elements: Option<u64>,
    /// Times of one exchange, one computation, or both, rejected batches included.
    pub batches: Vec<Batch>,
}

impl OverlapPoint {
    /// Its estimates with their names.
    pub(crate) fn quantities(&self) -> impl Iterator<Item = (&'static str, &Quantity)> {
        let all = [
            ("blocking", Some(&self.blocking)),
            ("non-blocking", Some(&self.non_blocking)),
            ("gain", Some(&self.gain)),
            ("hidden share", self.share.as_ref()),
        ];
        all.into_iter().filter_map(|(name, of)| Some((name, of?)))
    }

    /// The times that are as they were measured, with their names.
    pub(crate) fn times(&self) -> [(&'static str, &Quantity); 5] {
        let Self { blocking, non_blocking, exchange, computation, overheads, .. } = self;
        [
            ("blocking", blocking),
            ("non-blocking", non_blocking),
            ("exchange", exchange),
            ("computation", computation),
            ("overheads", overheads),
        ]
    }

    /// Where it is.
    pub(crate) fn place(&self) -> String {
        place(self.bytes, self.elements)
    }

    /// The hidden share in a cell: in percent, `undecided`, or nothing where nothing is computed.
    pub(crate) fn share_in_words(&self) -> String {
        match (&self.share, &self.hideable) {
            (Some(share), _) => percent(share.value.0),
            (None, Some(_)) => "undecided".to_owned(),
            (None, None) => "–".to_owned(),
        }
    }

    /// Its interval: `96 to 104 %`.
    pub(crate) fn share_range(&self) -> String {
        let Some((low, high)) = self.share.as_ref().and_then(Quantity::interval) else {
            return String::new();
        };
        format!("{} to {}", percent(low).trim_end_matches(" %"), percent(high))
    }
}

/// A size and a length in words: `1 KiB, 8192 elements`.
pub(super) fn place(bytes: u64, elements: u64) -> String {
    format!("{}, {elements} elements", Bytes(bytes))
}

/// A share in percent, with a digit after the point where it is small enough to matter.
fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    // Never "-0".
    let written = |digits| format!("{percent:.digits$} %");
    let text = if percent.abs() < 99.95 { written(1) } else { written(0) };
    match text.trim_start_matches('-') {
        zero if zero == "0.0 %" => zero.to_owned(),
        _ => text,
    }
}
