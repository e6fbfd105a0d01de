//! The LogP signature and its extraction.

mod arms;
mod consequences;
mod estimator;
mod extract;
mod launches;
mod shape;
mod table;

pub use extract::extract;
pub use launches::OfLaunch;

use bandgap_stats::interval::Interval;
use derive_more::Display;
use serde::{Deserialize, Serialize};

use crate::finding::Finding;
use crate::observation::Phase;

/// Finding: one message alone gives os.
const SEND_ONLY_UNSEEN: &str = "send_only_unseen";

/// The smallest capacity that is visible.
const LEAST_CAPACITY: f64 = 0.5;

/// Options of an extraction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Confidence of all intervals, strictly between 0 and 1.
    pub confidence: f64,
    /// Number of bootstrap resamples; with fewer than 100, intervals say little.
    pub resamples: usize,
    /// Seed of the resampling. The same seed and data give the same signature.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options { confidence: 0.95, resamples: 1000, seed: 1 }
    }
}

/// A value with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Number of batch values behind it.
    pub samples: usize,
    /// The estimation method.
    pub estimator: &'static str,
}

impl Estimate {
    /// With an interval that includes that of an independent value, which was added or subtracted.
    /// Both may be asymmetric, so their lower and upper parts are added separately.
    pub(crate) fn widened(self, by: &Estimate) -> Estimate {
        let low = self.value - (self.value - self.low).hypot(by.high - by.value);
        let high = self.value + (self.high - self.value).hypot(by.value - by.low);
        Estimate { low, high, ..self }
    }

    /// The difference of this and an independent value.
    pub fn less(self, other: &Estimate) -> Estimate {
        let [value, low, high] = [self.value, self.low, self.high].map(|at| at - other.value);
        Estimate { value, low, high, ..self }.widened(other)
    }
}

/// What limits the rate of messages. The idle time g − os − or counts as none if it is within 5 %
/// of g; otherwise its sign decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Regime {
    /// The network: the sender idles at full rate.
    NetworkBound,
    /// The processor: there is no idle time, and g = os + or.
    ProcessorBound,
    /// The overheads of neighbouring messages overlap at full rate, so that g < os + or.
    Overlapped,
    /// The interval of the idle time does not decide.
    #[default]
    Undecided,
}

/// What ends the send-only regime.
#[derive(Clone, Copy, Debug, Display, PartialEq, Eq)]
#[display(rename_all = "snake_case")]
pub enum Cause {
    /// The first replies return, after RTT/os messages.
    RoundTrip,
    /// The network holds no more requests.
    Capacity,
}

/// Where the transition from the send-only regime begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transition {
    /// Number of messages issued by then.
    pub messages: f64,
    /// What ends the regime.
    pub cause: Cause,
}

/// An arm of the hinge g'(Δ) = max(g, os + or + Δ): delays over which the cost rises with slope 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmFit {
    /// The shortest delay of the fit, in nanoseconds.
    pub from_delay: f64,
    /// The longest delay of the fit, in nanoseconds.
    pub to_delay: f64,
    /// Number of delays in the fit.
    pub delays: usize,
    /// os + or: the mean of g'(Δ) − Δ over the arm.
    pub overheads: Estimate,
    /// or: `overheads` less os.
    pub recv_overhead: Estimate,
    /// Its slope, which is 1 in the model; `None` if only a single delay raises the cost.
    pub slope: Option<Estimate>,
    /// Whether the slope is 1 within 5 %: true or false if its whole interval is inside or outside
    /// that range. `None` if neither holds, or if the arm has a single delay.
    pub holds: Option<bool>,
}

impl ArmFit {
    /// Whether a delay lies in its range.
    pub fn has(&self, delay: f64) -> bool {
        (self.from_delay..=self.to_delay).contains(&delay)
    }
}

/// A line of elapsed time over messages, for drawing: intercept + slope·M.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IssueLine {
    /// Nanoseconds per message.
    pub slope: f64,
    /// Nanoseconds at M = 0.
    pub intercept: f64,
    /// Smallest M of the fit.
    pub from_messages: u64,
    /// Largest M of the fit.
    pub to_messages: u64,
}

/// The steady state at one delay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steady {
    /// Δ in nanoseconds.
    pub delay: f64,
    /// g'(Δ): the slope of the line.
    pub cost: Estimate,
    /// The line itself.
    pub line: IssueLine,
    /// Whether further points confirm the slope. Also false if they scatter beyond their noise.
    pub settled: bool,
}

/// How much one observation counts in the parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// What was timed.
    pub kind: Phase,
    /// M.
    pub messages: u64,
    /// Δ in nanoseconds.
    pub delay: f64,
    /// Number of its batches.
    pub batches: usize,
    /// Their mean, in nanoseconds, and the range of those that count.
    pub mean: f64,
    /// See `mean`.
    pub inside: Interval,
    /// The variance of the mean, in square nanoseconds.
    pub variance: f64,
    /// How much the mean counts in os, or, RTT, the line at Δ = 0 where it begins, and the slope of the line at its Δ.
    pub coefficients: [f64; 5],
}

impl Share {
    /// What its scatter adds to the variances of os, or, g and RTT in this regime, in square nanoseconds.
    pub fn variances(&self, regime: Regime) -> [f64; 4] {
        let [os, or, rtt, _, slope] = self.coefficients;
        let gap = match regime {
            Regime::ProcessorBound => os + or,
            _ if self.delay == 0.0 => slope,
            _ => 0.0,
        };
        [os, or, gap, rtt].map(|coefficient| coefficient.powi(2) * self.variance)
    }
}

/// LogP parameters of small messages, and how they were found. Times are in nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Signature {
    /// os: the slope of elapsed(M) at Δ = 0 in the send-only regime; the issue time of a single
    /// message if a second one is already outside that regime.
    pub send_overhead: Estimate,
    /// or: the mean of g'(Δ) − os − Δ over the far arm.
    pub recv_overhead: Estimate,
    /// g: the slope of elapsed(M) at Δ = 0 in the steady state; os + or if processor-bound.
    pub gap: Estimate,
    /// L = RTT/2 − os − or; for transfers, RTT − os − or − RTT(0)/2. Negative if the overheads
    /// overlap the transfer.
    pub latency: Estimate,
    /// os + L of the way that carries the bytes, whoever sends them: RTT/2 − or; for transfers,
    /// RTT − or − RTT(0)/2.
    pub sent_latency: Estimate,
    /// The time of a single request with its reply.
    pub rtt: Estimate,
    /// g'(0) − os − or, with the measured g'(0). Negative if overheads overlap.
    pub idle: Estimate,
    /// C = (RTT + os − a)/g − 1 from the steady line a + g·M at Δ = 0, in outstanding requests;
    /// `None` if it is not visible. Its interval is cut at 0.
    ///
    /// Reply k is taken at RTT + (k − 1)·g and request M waits for reply M − C, so the line is
    /// elapsed(M) = RTT + (M − C − 1)·g + os.
    pub capacity: Option<Estimate>,
    /// What limits the rate.
    pub regime: Regime,
    /// Where the send-only regime ends; `None` if the regime was not observed, or nothing is known
    /// to end it.
    pub transition: Option<Transition>,
    /// The far arm of the hinge.
    pub arm: ArmFit,
    /// Arms at shorter delays, ascending; their slopes are 1 or undecided.
    pub near_arms: Vec<ArmFit>,
    /// The send-only line.
    pub send_only: IssueLine,
    /// The steady states, Δ ascending; the first is Δ = 0.
    pub steady: Vec<Steady>,
    /// Assumptions that fail or are unchecked.
    pub findings: Vec<Finding>,
    /// How much each observation counts.
    pub shares: Vec<Share>,
}
