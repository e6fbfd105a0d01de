//! One signature over several launches of the same measurement: all are read by the lines that all their observations
//! together choose.

use bandgap_stats::Interval;
use bandgap_stats::interval::{over_launches, widened};
use bandgap_stats::outlier::fence;
use bandgap_stats::quantile::mean;

use super::{ArmFit, Estimate, LEAST_CAPACITY, Options, Regime, Share, Signature, extract};
use crate::observation::Observation;

/// A launch's observations, and the time of its messages without bytes where they are not those.
pub type OfLaunch = (Vec<Observation>, Option<Estimate>);

const ESTIMATOR: &str = "mean of launches, t interval over launches or within";

impl Signature {
    /// Combines this signature, which is that of all launches' observations together, with the
    /// parameters and intervals of the individual launches.
    ///
    /// *Formula*: for each parameter, the mean x̄ of its values in the launches, with x̄ ± t(n − 1,
    /// confidence)·s/√n; s includes the variance within launches and between them. No end is nearer
    /// to x̄ than the same end of this signature is to its own value ([`over_launches`]).
    ///
    /// The sources:
    /// - From the launches: os, or, L, RTT; g and the idle time, read in every launch by the regime
    ///   below; the capacity, over the launches that show it, `None` unless these are more than
    ///   half.
    /// - From these parameters: the regime, and the beginning and cause of the transition.
    /// - From all observations together, since more observations show them better: the arms' delays
    ///   and slopes, the lines and steady states, and the findings. Also os + or and or of a near
    ///   arm, with intervals widened by the differences between launches at its delays
    ///   ([`widened`]).
    ///
    /// `launches` are those of [`Signature::each`].
    ///
    /// *Assumes* that launches are independent and alike. Fewer than two change nothing.
    pub fn over_launches(mut self, launches: &[Signature], confidence: f64) -> Signature {
        if launches.len() < 2 {
            return self;
        }
        let over = |pooled: Estimate, of: fn(&Signature) -> f64| {
            estimate(pooled, &launches.iter().map(of).collect::<Vec<_>>(), confidence)
        };
        let at_zero = self.steady.first().map_or(self.gap, |steady| steady.cost);
        self.send_overhead = over(self.send_overhead, |s| s.send_overhead.value);
        self.recv_overhead = over(self.recv_overhead, |s| s.recv_overhead.value);
        self.latency = over(self.latency, |s| s.latency.value);
        self.sent_latency = over(self.sent_latency, |s| s.sent_latency.value);
        self.rtt = over(self.rtt, |s| s.rtt.value);
        self.idle = over(self.idle, |s| slope(s) - overheads(s));
        let is_arm = self.regime == Regime::ProcessorBound;
        let cost = over(at_zero, slope);
        self.regime = Regime::of(&self.idle, cost.value, is_arm);
        let seen: Vec<f64> = launches.iter().filter_map(|s| Some(s.capacity?.value)).collect();
        match self.regime {
            Regime::NetworkBound | Regime::Overlapped | Regime::Undecided => {
                self.gap = cost;
                // More than half of at least two launches is at least two.
                let most = 2 * seen.len() > launches.len();
                // All observations together may show no capacity although launches do.
                let none = Estimate { value: 0.0, low: 0.0, high: 0.0, ..cost };
                let pooled = self.capacity.unwrap_or(none);
                self.capacity = most.then(|| estimate(pooled, &seen, confidence));
            }
            Regime::ProcessorBound => {
                self.gap = over(self.gap, overheads);
                self.capacity = None;
            }
        }
        self.arm.overheads = over(self.arm.overheads, overheads);
        self.arm.recv_overhead = self.recv_overhead;
        for near in &mut self.near_arms {
            let levels: Vec<[f64; 2]> = launches.iter().filter_map(|s| level(s, near)).collect();
            let widen = |estimate: &mut Estimate, values: Vec<f64>| {
                let pooled = Interval { low: estimate.low, high: estimate.high };
                let Interval { low, high } = widened(estimate.value, pooled, &values, confidence);
                (estimate.low, estimate.high) = (low, high);
            };
            widen(&mut near.overheads, levels.iter().map(|[both, _]| *both).collect());
            widen(&mut near.recv_overhead, levels.iter().map(|[_, or]| *or).collect());
        }
        self.with_consequences()
    }
}

impl Signature {
    /// The signatures of launches, of which only the values are their own. `None` for a launch that lacks a point of the lines.
    ///
    /// *Formula*: a parameter of this signature is Σ cᵢx̄ᵢ + constant over the means of all launches' points; that of
    /// launch l is Σ cᵢx̄ᵢₗ + constant. So the lines, the arm and the weights are those of all launches, and noise does
    /// not make each launch choose others.
    ///
    /// If fewer than two launches have the points of the lines, each is extracted by itself.
    pub fn each(&self, launches: &[OfLaunch], options: &Options) -> Vec<Option<Signature>> {
        let read = |(own, reply): &OfLaunch| self.read(own, reply.as_ref());
        let read: Vec<_> = launches.iter().map(read).collect();
        if read.iter().flatten().count() >= 2 {
            return read;
        }
        let extracted = |(own, reply): &OfLaunch| {
            let usable = own.iter().filter(|point| point.batches.len() >= 2).cloned();
            extract(&usable.collect::<Vec<_>>(), options, reply.as_ref()).ok()
        };
        launches.iter().map(extracted).collect()
    }

    fn read(&self, own: &[Observation], reply: Option<&Estimate>) -> Option<Signature> {
        let mut launch = self.clone();
        let mut intercept = self.steady.first()?.line.intercept;
        for share in &self.shares {
            let [of_all @ .., of_slope] = share.coefficients;
            let needed = of_all != [0.0; 4] || share.delay == 0.0 && of_slope != 0.0;
            let Some(mean) = share.mean_of(own) else {
                if needed {
                    return None;
                }
                continue;
            };
            let [os, or, rtt, begin] = of_all.map(|coefficient| coefficient * (mean - share.mean));
            launch.send_overhead.value += os;
            launch.recv_overhead.value += or;
            launch.rtt.value += rtt;
            intercept += begin;
            for steady in launch.steady.iter_mut().filter(|at| at.delay == share.delay) {
                steady.cost.value += of_slope * (mean - share.mean);
            }
        }
        let [os, or, rtt] =
            [launch.send_overhead, launch.recv_overhead, launch.rtt].map(|of| of.value);
        let way = reply.map_or(rtt / 2.0, |reply| rtt - reply.value);
        launch.latency.value = way - os - or;
        launch.sent_latency.value = way - or;
        let gap = slope(&launch);
        let capacity = (rtt + os - intercept) / gap - 1.0;
        let known = self.gap;
        launch.capacity =
            (capacity >= LEAST_CAPACITY).then_some(Estimate { value: capacity, ..known });
        let [_, _, gap, _, _, idle, ..] = launch.in_regime(self.regime);
        launch.gap.value = gap?;
        launch.idle.value = idle?;
        Some(launch)
    }
}

impl Share {
    /// The mean of a launch's batches at this point: of those inside the fence of all launches, or, if most are outside,
    /// inside their own, since the launch is of another kind.
    fn mean_of(&self, own: &[Observation]) -> Option<f64> {
        let is_it = |of: &&Observation| {
            (of.kind, of.messages, of.delay) == (self.kind, self.messages, self.delay)
        };
        let own = &own.iter().find(is_it).filter(|of| !of.batches.is_empty())?.batches;
        let within = |inside: &Interval| -> Vec<f64> {
            own.iter().copied().filter(|batch| inside.contains(*batch)).collect()
        };
        let known = within(&self.inside);
        Some(mean(&if 2 * known.len() >= own.len() { known } else { within(&fence(own)) }))
    }
}

fn estimate(pooled: Estimate, values: &[f64], confidence: f64) -> Estimate {
    let interval = Interval { low: pooled.low, high: pooled.high };
    let (value, Interval { low, high }) =
        over_launches((pooled.value, interval), values, confidence);
    Estimate { value, low, high, samples: values.len(), estimator: ESTIMATOR }
}

impl Signature {
    /// The parameters of a launch where the launches' regime is this one: os, or, g, L, RTT, the idle time, the
    /// capacity if it shows one, os + L, and os + or.
    pub fn in_regime(&self, regime: Regime) -> [Option<f64>; 9] {
        let (slope, overheads) = (slope(self), overheads(self));
        let gap = if regime == Regime::ProcessorBound { overheads } else { slope };
        let [os, or, latency, rtt] =
            [self.send_overhead, self.recv_overhead, self.latency, self.rtt].map(|of| of.value);
        let capacity = self.capacity.map(|of| of.value);
        let [os, or, gap, latency, rtt, idle] =
            [os, or, gap, latency, rtt, slope - overheads].map(Some);
        [os, or, gap, latency, rtt, idle, capacity, Some(self.sent_latency.value), Some(overheads)]
    }
}

/// The slope of elapsed(M) at Δ = 0, which is a launch's gap only if the launch is network-bound.
fn slope(launch: &Signature) -> f64 {
    launch.steady.first().map_or(launch.gap.value, |steady| steady.cost.value)
}

/// The mean of g'(Δ) − Δ of a launch over the delays of an arm, and the same less os.
fn level(launch: &Signature, arm: &ArmFit) -> Option<[f64; 2]> {
    let on = launch.steady.iter().filter(|steady| arm.has(steady.delay));
    let levels: Vec<f64> = on.map(|steady| steady.cost.value - steady.delay).collect();
    let both = (!levels.is_empty()).then(|| mean(&levels))?;
    Some([both, both - launch.send_overhead.value])
}

fn overheads(launch: &Signature) -> f64 {
    launch.send_overhead.value + launch.recv_overhead.value
}

#[cfg(test)]
mod tests;
