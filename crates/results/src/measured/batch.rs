//! Batches and the distribution of their samples, as they are recorded.

use bandgap_campaign::data;
use bandgap_campaign::judge::Judged;
use bandgap_record::{Evidence, Quantity, Seconds};
use bandgap_units::Ns;
use serde::{Deserialize, Serialize};

use crate::error::AssembleError;
use crate::measured::state::State;

/// Samples taken one after another, between two probes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    /// Elapsed times.
    pub samples: Vec<Seconds>,
    /// Label of the machine state it was taken in.
    pub state: String,
    /// The cache-line probe before and after.
    pub probe: Option<[Seconds; 2]>,
    /// The pace before and after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace: Option<[Seconds; 2]>,
    /// Δ measured by itself around the batch; absent where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Seconds>,
    /// Which launch of the processes.
    pub launch: u32,
    /// Why it counts for nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejected: Option<String>,
}

impl Batch {
    /// A batch as it was measured.
    pub(crate) fn of(batch: &data::Batch, judged: &Judged<'_>) -> Batch {
        let state = if judged.states().states().is_empty() {
            State::only().label
        } else {
            judged.name(judged.state(batch)).unwrap_or_else(|| "unknown".to_owned())
        };
        Batch {
            samples: batch.samples.iter().map(|ns| round(*ns)).collect(),
            state,
            probe: batch.probe.map(|probe| probe.map(|probe| round(probe.cache_line))),
            pace: batch.probe.map(|probe| probe.map(|probe| round(probe.pace))),
            delay: batch.delay.map(round),
            launch: batch.launch,
            rejected: batch.rejected.clone(),
        }
    }

    /// Whether its samples count in the state of this name.
    pub(crate) fn counts_in(&self, state: &str) -> bool {
        self.rejected.is_none() && self.state == state
    }

    /// Times that somebody else measured.
    pub(crate) fn tabled(times_ns: &[f64]) -> Batch {
        Batch {
            samples: times_ns.iter().map(|time| Ns(*time).into()).collect(),
            state: State::only().label,
            probe: None,
            pace: None,
            delay: None,
            launch: 0,
            rejected: None,
        }
    }
}

/// A time to the picosecond: the clock tells no more.
fn round(ns: f64) -> Seconds {
    Seconds::from(Ns((ns * 1e3).round() / 1e3))
}

/// A distribution in a few numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The papers' estimator.
    pub mean: Seconds,
    /// The median with its interval.
    pub median: Quantity,
    /// Smallest sample.
    pub min: Seconds,
    /// 90th percentile.
    pub p90: Seconds,
    /// 99th percentile.
    pub p99: Seconds,
    /// 99.9th percentile.
    pub p999: Seconds,
    /// Largest sample.
    pub max: Seconds,
    /// Number of samples.
    pub samples: u64,
}

impl Summary {
    /// The distribution of samples in nanoseconds.
    pub(crate) fn of(samples: &[f64], confidence: f64) -> Result<Summary, AssembleError> {
        let found = bandgap_stats::Summary::of(samples, confidence).ok_or(AssembleError::Empty)?;
        let interval = found.median_interval.map(|i| (Ns(i.low), Ns(i.high)));
        let count = found.samples as u64;
        let by = Evidence::new("median, order-statistic interval over samples", count, true);
        Ok(Summary {
            mean: Ns(found.mean).into(),
            median: Quantity::time(Ns(found.median), interval, by)?,
            min: Ns(found.min).into(),
            p90: Ns(found.p90).into(),
            p99: Ns(found.p99).into(),
            p999: Ns(found.p99_9).into(),
            max: Ns(found.max).into(),
            samples: count,
        })
    }
}
