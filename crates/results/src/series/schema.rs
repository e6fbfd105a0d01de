//! The record of one operation over sizes, ranks and distances.

use std::collections::{BTreeMap, BTreeSet};

use bandgap_kernels::{Extent, in_series};
use bandgap_record::Quantity;
use bandgap_stats::batch_value;
use serde::{Deserialize, Serialize};

use super::derived::{Fastest, Look, RankGrowth, SizeGrowth};
use crate::measured::{
    Batch, Checked, FloorRatio, LostLaunch, Pair, State, Summary, VIRTUAL, Which, distant, over,
    size_in_words,
};

/// One kernel's times over message sizes, or over numbers of ranks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// The series as the command line names it; for a table that others measured, the tool's name.
    pub name: String,
    /// The transport as the command line names it; `table` for a fit.
    pub transport: String,
    /// Number of ranks that took part; where the points differ, the greatest.
    pub ranks: u32,
    /// The rank whose times these are, and its peer, where two take part and all points have the
    /// same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pair: Option<Pair>,
    /// The processors that these two are pinned to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<Pair>,
    /// Number of fresh sets of processes the measurement was repeated in.
    pub launches: u32,
    /// Launches that gave it nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_launches: Vec<LostLaunch>,
    /// Whether received bytes were checked, each message of the checked batches, and were the sent
    /// ones.
    pub verified: bool,
    /// How much was checked; absent in virtual time, for a table, and where nobody counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked: Option<Checked>,
    /// Where successive messages of timed batches lie, where there is a choice: `same`, `separate` or
    /// `fresh`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffers: Option<String>,
    /// The machine state that is the commonest.
    pub state: State,
    /// The measured points: curve by curve, each by ascending size.
    pub points: Vec<SeriesPoint>,
    /// The time of a message over a floor of as many bytes, taken in the same state.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub floor_ratios: Vec<FloorRatio>,
    /// What first looks at the variants of its operation chose, where none was named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub looks: Vec<Look>,
    /// Which variant is the fastest, by number of ranks and size.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fastest: Vec<Fastest>,
    /// How the time grows with the dimension of a matrix, curve by curve.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub growth: Vec<SizeGrowth>,
    /// How the time grows with the number of ranks, at a few sizes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doublings: Vec<RankGrowth>,
    /// What a reader should know, as sentences.
    pub findings: Vec<String>,
}

/// One size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeriesPoint {
    /// Payload bytes of one message; 0 for a barrier.
    pub bytes: u64,
    /// Elements of the vectors of doubles that it is measured over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elements: Option<u64>,
    /// Rows and columns of the matrix that it is measured over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dimension: Option<u64>,
    /// Rows and columns of the mesh that the ranks of a matrix are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mesh: Option<Pair>,
    /// Number of ranks that took part.
    pub ranks: u32,
    /// The rank whose time it is, and its peer, where the points differ in them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pair: Option<Pair>,
    /// Hops between them, where the points are of several distances.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hops: Option<u32>,
    /// How the operation was done, where there are several ways.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// Which way its long messages went, where there are several: `pieces` or `single copy`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub way: Option<String>,
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
    /// What the algorithm costs in Hockney's terms: by the fit of single messages in the same run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modelled_hockney: Option<Quantity>,
    /// What it costs in LogGP's terms: by the overheads and gaps of messages in the same run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modelled_loggp: Option<Quantity>,
    /// The machine state it was taken in.
    pub state: String,
    /// Whether the interval of the time came within the wanted precision.
    pub converged: bool,
    /// Whether it did not, but came within that share of what a stamp of the clock costs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub clock_limited: bool,
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

    /// Whether the points are of several pairs of ranks.
    pub(crate) fn has_several_pairs(&self) -> bool {
        self.points.iter().any(|point| point.pair != self.points[0].pair)
    }

    /// Whether some size was measured in several variants. Otherwise the variant is that of the size,
    /// and all sizes lie on one curve.
    pub(crate) fn has_several_variants(&self) -> bool {
        let mut known = BTreeMap::new();
        self.points.iter().any(|point| {
            let place = (point.ranks, point.pair, point.size());
            known.insert(place, &point.variant).is_some_and(|other| *other != point.variant)
        })
    }

    /// The curve that a point is on.
    pub(crate) fn which(&self, point: &SeriesPoint) -> Which {
        Which {
            ranks: self.has_several_ranks().then_some(point.ranks),
            pair: point.pair.filter(|_| self.has_several_pairs()),
            variant: point.variant.clone().filter(|_| self.has_several_variants()),
        }
    }

    /// The points curve by curve; where they are over ranks, those of all ranks are on one.
    pub(crate) fn curves(&self) -> Vec<(Which, Vec<&SeriesPoint>)> {
        let over_ranks = self.is_over_ranks();
        let mut curves: BTreeMap<Which, Vec<&SeriesPoint>> = BTreeMap::new();
        for point in &self.points {
            let which = self.which(point);
            let ranks = which.ranks.filter(|_| !over_ranks);
            curves.entry(Which { ranks, ..which }).or_default().push(point);
        }
        let listed = self.listed_variants();
        let mut curves: Vec<_> = curves.into_iter().collect();
        curves.sort_by_cached_key(|(which, _)| {
            (which.ranks, which.pair, place(listed, &which.variant), which.variant.clone())
        });
        curves
    }

    /// The variants in the order in which they are told: that of the kernel's list where one follows on
    /// the other, as loads do. Algorithms are told by name.
    fn listed_variants(&self) -> &'static [&'static str] {
        match in_series(&self.name) {
            Ok((_, known)) if !known.by_algorithm() => known.variants,
            _ => &[],
        }
    }

    /// The first of its kernel's list, where one follows on the other.
    pub(crate) fn first_variant(&self) -> Option<&'static str> {
        self.listed_variants().first().copied()
    }

    /// Puts the points into their order.
    pub(crate) fn sort(&mut self) {
        let several = self.has_several_variants();
        let listed = self.listed_variants();
        self.points.sort_by_cached_key(|point| {
            let variant = point.variant.clone().filter(|_| several);
            let order = place(listed, &variant);
            (point.ranks, point.pair, order, variant, point.size())
        });
    }

    /// Whether the points differ in the number of ranks and not in size.
    pub(crate) fn is_over_ranks(&self) -> bool {
        self.has_several_ranks() && self.has_one_size()
    }

    /// Whether all points are of one size.
    pub(crate) fn has_one_size(&self) -> bool {
        self.points.iter().all(|point| point.size() == self.points[0].size())
    }

    /// Whether the points are of several curves.
    pub(crate) fn has_several_curves(&self) -> bool {
        self.points.iter().any(|point| self.which(point) != Which::default())
    }

    /// A curve in words: by its distance, where its points have one.
    pub(crate) fn curve_in_words(&self, which: &Which) -> String {
        let hops = self.points.iter().find(|point| self.which(point) == *which);
        match (which.pair, hops.and_then(|point| point.hops)) {
            (Some([a, b]), Some(hops)) => {
                format!("{} (ranks {a}, {b})", distant(hops))
            }
            _ => which.words(),
        }
    }

    /// The distance class of all points, if it is one.
    pub(crate) fn distance(&self) -> Option<&str> {
        let first = self.points.first()?.distance.as_deref();
        self.points.iter().all(|point| point.distance.as_deref() == first).then_some(first)?
    }

    /// Where a point is among the others, as far as they differ: `, 64 B, 4 ranks`.
    pub(crate) fn place(&self, point: &SeriesPoint) -> String {
        let size = self.has_bytes().then(|| point.size_in_words());
        let which = Some(self.which(point).words()).filter(|words| !words.is_empty());
        let distance = point.distance.clone().filter(|_| self.distance().is_none());
        let parts = [size, which, distance].into_iter().flatten();
        parts.map(|part| format!(", {part}")).collect()
    }
}

/// The place of a variant on a list; of all that are not on it the same.
fn place(listed: &[&str], variant: &Option<String>) -> Option<usize> {
    listed.iter().position(|listed| Some(*listed) == variant.as_deref())
}

impl SeriesPoint {
    /// What the algorithm costs: in LogGP's terms where these are known, else in Hockney's.
    pub(crate) fn modelled(&self) -> Option<&Quantity> {
        self.modelled_loggp.as_ref().or(self.modelled_hockney.as_ref())
    }

    /// The launches of the batches that count.
    pub(crate) fn launches(&self) -> BTreeSet<u32> {
        let counted = self.batches.iter().filter(|batch| batch.counts_in(&self.state));
        counted.map(|batch| batch.launch).collect()
    }

    /// The time in each launch, in nanoseconds.
    pub(crate) fn launch_times(&self) -> BTreeMap<u32, f64> {
        let mut values = BTreeMap::<u32, Vec<f64>>::new();
        let counted = self.batches.iter().filter(|batch| batch.counts_in(&self.state));
        for batch in counted.filter(|batch| !batch.samples.is_empty()) {
            let samples: Vec<f64> = batch.samples.iter().map(|time| time.ns().0).collect();
            values.entry(batch.launch).or_default().push(batch_value(&samples));
        }
        // The same mean inside the fence.
        values.into_iter().map(|(launch, of)| (launch, batch_value(&of))).collect()
    }

    /// What it is plotted over: rows, elements, or bytes.
    pub(crate) fn size(&self) -> u64 {
        self.dimension.or(self.elements).unwrap_or(self.bytes)
    }

    /// The same with its unit.
    pub(crate) fn size_in_words(&self) -> String {
        let extent = match (self.dimension, self.elements) {
            (Some(_), _) => Extent::Dimension,
            (None, Some(_)) => Extent::Doubles,
            (None, None) => Extent::Bytes,
        };
        size_in_words(extent, self.size())
    }

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
