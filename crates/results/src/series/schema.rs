//! Times of messages of many sizes: ping-pong, exchange, saturation, barrier, store and get.

use bandgap_record::Quantity;
use bandgap_units::Bytes;
use serde::{Deserialize, Serialize};

use crate::measured::{Batch, Checked, Pair, State, Summary, over};

/// How the transports of virtual time begin.
const VIRTUAL: &str = "sim:";

/// One kernel's times over message sizes, or over numbers of ranks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// The kernel: `comms1`, `comms2`, `comms3`, `synch1`, `broadcast`, `bulk_store`, `bulk_get`; for a table that
    /// others measured, the tool's name.
    pub name: String,
    /// The transport as the command line names it; `table` for a fit.
    pub transport: String,
    /// Number of ranks that took part; where the points differ, the greatest.
    pub ranks: u32,
    /// The rank whose times these are, and its peer, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pair: Option<Pair>,
    /// The processors these two are pinned to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<Pair>,
    /// Number of fresh sets of processes the measurement was repeated in.
    pub launches: u32,
    /// Whether received bytes were checked, and were the sent ones.
    pub verified: bool,
    /// How much was checked; absent in virtual time, for a table, and where nobody counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked: Option<Checked>,
    /// The machine state that is the commonest.
    pub state: State,
    /// The measured points, by the number of ranks and then by size, both ascending.
    pub points: Vec<SeriesPoint>,
    /// What a reader should know, as sentences.
    pub findings: Vec<String>,
}

/// One size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeriesPoint {
    /// Payload bytes of one message; 0 for a barrier.
    pub bytes: u64,
    /// Number of ranks that took part.
    pub ranks: u32,
    /// The distance class between them: `same package`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distance: Option<String>,
    /// t(n): half the round for a ping-pong or an exchange, the whole of one operation otherwise.
    pub time: Quantity,
    /// n/t(n), or what all ranks together move; absent for 0 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<Quantity>,
    /// Operations per second, for a barrier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Quantity>,
    /// o(n): the part of t(n) that the sending processor is busy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send_overhead: Option<Quantity>,
    /// g(n): the least time between messages of this size at a steady rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<Quantity>,
    /// t(n) − o(n): how much computation fits beside the transfer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlap: Option<Quantity>,
    /// The machine state it was taken in.
    pub state: String,
    /// Whether the interval of the time came within the wanted precision.
    pub converged: bool,
    /// The distribution of the time over the accepted samples.
    pub summary: Summary,
    /// The samples behind it, rejected batches included: times like `time`.
    pub batches: Vec<Batch>,
}

impl Series {
    /// What was measured over which transport.
    pub(crate) fn subject(&self) -> String {
        over(&self.name, &self.transport)
    }

    /// Whether any byte was sent.
    pub(crate) fn has_bytes(&self) -> bool {
        self.points.iter().any(|point| point.bytes > 0)
    }

    /// Whether time was virtual, in which no bytes move.
    pub(crate) fn is_virtual(&self) -> bool {
        !self.verified && self.transport.starts_with(VIRTUAL)
    }

    /// Whether the points have several numbers of ranks.
    pub(crate) fn has_several_ranks(&self) -> bool {
        self.points.iter().any(|point| point.ranks != self.points[0].ranks)
    }

    /// Whether the points differ in the number of ranks and not in size.
    pub(crate) fn is_over_ranks(&self) -> bool {
        self.has_several_ranks()
            && self.points.iter().all(|point| point.bytes == self.points[0].bytes)
    }
    /// The distance class of all points, if it is one.
    pub(crate) fn distance(&self) -> Option<&str> {
        let first = self.points.first()?.distance.as_deref();
        self.points.iter().all(|point| point.distance.as_deref() == first).then_some(first)?
    }

    /// Where a point is among the others, as far as they differ: `, 64 B, 4 ranks`.
    pub(crate) fn place(&self, point: &SeriesPoint) -> String {
        let size = self.has_bytes().then(|| Bytes(point.bytes).to_string());
        let ranks = self.has_several_ranks().then(|| format!("{} ranks", point.ranks));
        let distance = point.distance.clone().filter(|_| self.distance().is_none());
        let parts = [size, ranks, distance].into_iter().flatten();
        parts.map(|part| format!(", {part}")).collect()
    }
}

impl SeriesPoint {
    /// Its estimates with their names.
    pub(crate) fn quantities(&self) -> impl Iterator<Item = (&'static str, &Quantity)> {
        let all = [
            ("time", Some(&self.time)),
            ("bandwidth", self.bandwidth.as_ref()),
            ("rate", self.rate.as_ref()),
            ("send overhead", self.send_overhead.as_ref()),
            ("gap", self.gap.as_ref()),
            ("overlap", self.overlap.as_ref()),
        ];
        all.into_iter().filter_map(|(name, of)| Some((name, of?)))
    }
}
