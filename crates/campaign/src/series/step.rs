//! One step of a series: a kernel, a size and ranks.

use bandgap_kernels::{AtSize, Fact, ISSUE, Order, Over, Pair, Refused, Series, WHOLE, in_series};
use serde::{Deserialize, Serialize};

use crate::key::Key;

/// What is timed of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// From its begin until nothing is under way.
    Whole,
    /// From its begin until the last operation was issued.
    Issue,
}

impl Part {
    /// The column of a batch's samples that holds it, which is also its name in keys.
    pub(super) fn column(self) -> &'static str {
        match self {
            Self::Whole => WHOLE,
            Self::Issue => ISSUE,
        }
    }
}

/// One step of a series: so many operations of one size, one after the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The series, by which its kernel is found.
    pub series: String,
    /// Bytes of each message.
    pub bytes: u32,
    /// Operations of one sample (M).
    pub messages: u32,
    /// Ranks of the operation: the first so many of all. An operation of two ranks is measured with
    /// one number only.
    pub ranks: usize,
}

impl Step {
    /// The same steps with each of these numbers of ranks: a sweep.
    pub fn sweep(steps: &[Self], ranks: &[usize]) -> Vec<Self> {
        let with = |&ranks: &usize| steps.iter().map(move |step| Self { ranks, ..step.clone() });
        ranks.iter().flat_map(with).collect()
    }

    /// The kernel, and how it is measured over sizes.
    ///
    /// # Errors
    /// No kernel has such a series.
    pub fn kernel(&self) -> Result<(Fact, Series), Refused> {
        in_series(&self.series)
    }

    /// What one sample's time is divided by: the parts of an operation, of all operations.
    /// Operations of message passing are done several times because one is short; bursts of
    /// transfers are looked at as they are.
    pub(super) fn parts(&self, (fact, series): &(Fact, Series)) -> f64 {
        let messages = if fact.over == Over::Transfer { 1 } else { self.messages };
        f64::from(series.parts) * f64::from(messages)
    }

    /// A batch of it, where only two ranks take part between these.
    ///
    /// # Errors
    /// No kernel has such a series.
    pub fn order(&self, pair: Pair, samples: u32) -> Result<Order, Refused> {
        let (fact, _) = self.kernel()?;
        let point = AtSize { bytes: self.bytes as usize, messages: self.messages, pair };
        (fact.at)(point, samples, self.ranks)
    }
}

/// The key under which a step's batches are kept. The number of ranks is part of it where all take
/// part.
pub fn key(step: &Step, part: Part) -> Key {
    let Step { series, bytes, messages, ranks } = step;
    let key = Key::new(series).at("bytes", *bytes).at("messages", *messages);
    let of_all = step.kernel().is_ok_and(|(_, series)| series.of_all);
    let key = if of_all { key.at("ranks", *ranks) } else { key };
    key.at("part", part.column())
}
