//! A step of a series: a kernel, a size and ranks.

use bandgap_comm::passing::{INLINE, Way};
use bandgap_kernels::{
    AtSize, Buffers, Extent, Fact, Order, Over, Pair, ProcessorMesh, Refused, Series, Shape,
    in_series,
};
use serde::{Deserialize, Serialize};

use crate::data::Described;
use crate::key::Key;

/// A step of a series: operations of one size, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The series, by which its kernel is found.
    pub series: String,
    /// Its size along the series' extent: bytes of each message, elements or rows.
    pub size: u32,
    /// Operations per sample (M).
    pub messages: u32,
    /// Number of ranks of the operation, which are the first ones of the run. An operation of two
    /// ranks is measured with one number only.
    pub ranks: usize,
    /// The two ranks of an operation of two: who times, and its peer.
    pub pair: [usize; 2],
    /// Hops between these two, if the series is measured at several distances.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hops: Option<u32>,
    /// The series' variant. `None` if it has no variants, or to take the fastest in a first look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// Rows and columns of the mesh of ranks, if it is not the usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mesh: Option<[usize; 2]>,
    /// Messages in a window, if it is not the usual number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u32>,
    /// Where successive messages lie, if the kernel has a choice.
    #[serde(default)]
    pub buffers: Buffers,
    /// The way of long messages: in pieces or with a single copy. `None` to take the fastest way in
    /// a first look, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub way: Option<Way>,
    /// How it is timed.
    #[serde(default, skip_serializing_if = "Shape::is_usual")]
    pub shape: Shape,
}

/// The axis for the number of transfers in a burst.
pub const BURST: &str = "messages";

/// Smallest message that may travel with a single copy. A shorter one costs less than the system
/// call, or than the answer for which its sender waits.
const LEAST_SINGLE: u64 = 2 << 10;
/// A single copy of a message of any length.
pub(super) const SINGLE: Way = Way::Single { least: INLINE + 1 };

impl Step {
    /// `messages` operations of one size, between the first two or all of `ranks` ranks.
    pub fn new(series: &str, size: u32, messages: u32, ranks: usize) -> Self {
        let series = series.to_owned();
        Self { series, size, messages, ranks, pair: [0, 1], ..Self::default() }
    }

    /// The kernel and its series.
    ///
    /// # Errors
    /// No kernel has such a series.
    pub fn kernel(&self) -> Result<(Fact, Series), Refused> {
        in_series(&self.series)
    }

    /// The divisor of a sample's time: the number of parts of an operation, times the number of
    /// operations. A burst of transfers counts as one operation.
    pub(super) fn parts(&self, (fact, series): &(Fact, Series)) -> f64 {
        let messages = if fact.over == Over::Transfer { 1 } else { self.messages };
        f64::from(self.window.unwrap_or(series.parts)) * f64::from(messages)
    }

    /// Bytes that one operation has on their way at once: of a message, or of a window of them.
    pub(super) fn at_once(&self) -> u64 {
        let window = |series: Series| self.window.unwrap_or(series.parts);
        let window = self.kernel().map_or(1, |(_, of)| if of.windows { window(of) } else { 1 });
        self.bytes().unwrap_or(0).max(1).saturating_mul(window.into())
    }

    /// Describes this step's point; `done` is the step as carried out. `is_one_pair` says
    /// that all steps of its series are between the same ranks.
    ///
    /// # Errors
    /// No kernel has such a series.
    pub fn described(&self, done: &Self, is_one_pair: bool) -> Result<Described, Refused> {
        let kernel = self.kernel()?;
        let (fact, series) = &kernel;
        let [from, to] = self.pair;
        let mut point = Described {
            bytes: self.bytes()?,
            moved: self.moved()?,
            parts: series.parts,
            timed: self.parts(&kernel),
            pair: (!series.of_all || self.ranks == 2).then_some(self.pair),
            ..Described::default()
        };
        if series.extent != Extent::None {
            point = point.at(series.extent.axis(), self.size);
        }
        point = match (series.of_all, self.hops) {
            (true, _) => point.at("ranks", self.ranks),
            (false, Some(hops)) => point.at("hops", hops).with("from", from).with("to", to),
            (false, None) if is_one_pair => point.with("from", from).with("to", to),
            (false, None) => point.at("from", from).at("to", to),
        };
        let usual = || ProcessorMesh::for_ranks(self.ranks).ok().map(|of| [of.rows, of.columns]);
        let divides = series.extent == Extent::Dimension;
        let mesh = divides.then(|| self.mesh.or_else(usual)).flatten();
        let labels = [
            ("variant", done.variant.clone().filter(|_| self.variant.is_none())),
            ("way", done.way.map(|way| way.name().to_owned())),
            ("buffers", series.buffers.map(|_| self.buffers.to_string())),
            ("mesh", mesh.map(|[rows, columns]| format!("{rows}x{columns}"))),
        ];
        point = named(labels).fold(point, |point, (name, label)| point.with(name, label));
        // Of all ranks many operations follow one another, and one alone may take less or more.
        point = match series.windows {
            true => point.with("window", self.window.unwrap_or(series.parts)),
            false if series.of_all && self.shape.is_usual() => {
                point.with("in_a_row", self.messages)
            }
            false => point,
        };
        // Without a message on its way back, who times runs ahead of the others.
        let order = done.order(1)?;
        let receives = (fact.receives)(&order, self.ranks);
        let one_way = fact.over == Over::Comm && receives.is_ok_and(|count| count == 0);
        if one_way && (fact.needs)(&order, self.ranks)?.sends > 0 {
            point = point.with("timed", "rate of sending");
        }
        let axes = [("variant", self.variant.clone()), ("shape", self.unusual_shape())];
        point = named(axes).fold(point, |point, (axis, name)| point.at(axis, name));
        // A burst is no point of its own: it shows the gap of single transfers.
        let is_burst = fact.over == Over::Transfer && self.messages > 1;
        Ok(if is_burst { point.at(BURST, self.messages) } else { point })
    }

    fn unusual_shape(&self) -> Option<String> {
        (!self.shape.is_usual()).then(|| self.shape.to_string())
    }

    /// The kernel's parameters at this step, without a variant.
    fn at(&self) -> AtSize {
        let [requester, replier] = self.pair;
        AtSize {
            size: self.size as usize,
            messages: self.messages,
            ranks: self.ranks,
            pair: Pair { requester, replier },
            variant: None,
            mesh: self.mesh,
            window: self.window,
            buffers: self.buffers,
            shape: self.shape,
        }
    }

    /// Bytes of one of its messages.
    ///
    /// # Errors
    /// No kernel has such a series.
    pub fn bytes(&self) -> Result<u64, Refused> {
        Ok((self.kernel()?.1.message)(&self.at()))
    }

    /// Bytes that one operation moves between all its ranks.
    ///
    /// # Errors
    /// No kernel has such a series.
    pub fn moved(&self) -> Result<u64, Refused> {
        Ok(self.bytes()?.saturating_mul((self.kernel()?.1.moves)(self.ranks)))
    }

    /// The step in each of its variants; the step itself if it names one or has none.
    pub fn variants(&self) -> Vec<Self> {
        let all = self.kernel().map_or(&[][..], |(_, series)| series.variants);
        if self.variant.is_some() || all.is_empty() {
            return vec![self.clone()];
        }
        let with = |name: &&str| Self { variant: Some((*name).to_owned()), ..self.clone() };
        all.iter().map(with).collect()
    }

    /// The step in each way to do it: each variant with each way of long messages.
    pub fn manners(&self) -> Vec<Self> {
        let passes = self.kernel().is_ok_and(|(fact, _)| fact.over == Over::Comm);
        let is_long = self.bytes().is_ok_and(|bytes| bytes >= LEAST_SINGLE);
        let ways = if self.way.is_none() && passes && is_long {
            vec![Some(Way::Pieces), Some(SINGLE)]
        } else {
            vec![self.way]
        };
        let with = |step: Self| {
            let step = move |&way: &Option<Way>| Self { way, ..step.clone() };
            ways.iter().map(step).collect::<Vec<_>>()
        };
        self.variants().into_iter().flat_map(with).collect()
    }

    /// Whether there are several ways to do it.
    pub(super) fn leaves_a_choice(&self) -> bool {
        self.manners().len() > 1
    }

    /// A batch of this step.
    ///
    /// # Errors
    /// No kernel has such a series, or the series no such variant.
    pub fn order(&self, samples: u32) -> Result<Order, Refused> {
        let (fact, series) = self.kernel()?;
        let variant = self.variant.as_deref().map(|name| series.variant(name)).transpose()?;
        // Ranks beyond the two need not meet with them.
        let at = AtSize { variant, ..self.at() };
        let ranks = if series.of_all { self.ranks } else { at.pair.among() };
        let order = (fact.at)(at, samples, ranks)?;
        Ok(Order { way: self.way, shape: self.shape, ..order })
    }
}

/// The key of a step's batches. It contains the number of ranks, or the two ranks of an operation
/// of two.
pub fn key(step: &Step, part: &str) -> Key {
    let series = step.kernel().map(|(_, series)| series);
    let axis = series.as_ref().map_or("size", |series| series.extent.axis());
    let key = Key::new(&step.series).at(axis, step.size).at("messages", step.messages);
    let key = if series.is_ok_and(|series| series.of_all) {
        key.at("ranks", step.ranks)
    } else {
        key.at("from", step.pair[0]).at("to", step.pair[1])
    };
    let way = step.way.map(|way| way.name().to_owned());
    let axes = [("variant", step.variant.clone()), ("way", way), ("shape", step.unusual_shape())];
    named(axes).fold(key, |key, (axis, name)| key.at(axis, name)).at("part", part)
}

/// The pairs that have a name.
fn named<const N: usize>(all: [(&str, Option<String>); N]) -> impl Iterator<Item = (&str, String)> {
    all.into_iter().filter_map(|(axis, name)| Some((axis, name?)))
}
