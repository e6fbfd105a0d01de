//! One signature over several launches of the same measurement.

use bandgap_stats::interval::mean_interval;
use bandgap_stats::quantile::mean;

use super::{Estimate, Signature};

const ESTIMATOR: &str = "mean of launches, t interval over launches";

impl Signature {
    /// This signature with the parameters and intervals of several launches.
    ///
    /// *Formula*: of each parameter the mean x̄ of its values in the launches, with
    /// x̄ ± t(n − 1, confidence)·s/√n; s holds the variance within launches and between them.
    /// *Assumes* launches that are independent and alike. Fewer than two change nothing.
    #[must_use]
    pub fn over_launches(mut self, launches: &[Signature], confidence: f64) -> Signature {
        if launches.len() < 2 {
            return self;
        }
        let over = |of: fn(&Signature) -> Estimate| {
            let values: Vec<f64> = launches.iter().map(|launch| of(launch).value).collect();
            let value = mean(&values);
            let interval = mean_interval(&values, confidence);
            let (low, high) = interval.map_or((value, value), |i| (i.low, i.high));
            Estimate { value, low, high, samples: values.len(), estimator: ESTIMATOR }
        };
        self.send_overhead = over(|s| s.send_overhead);
        self.recv_overhead = over(|s| s.recv_overhead);
        self.gap = over(|s| s.gap);
        self.latency = over(|s| s.latency);
        self.rtt = over(|s| s.rtt);
        self.idle = over(|s| s.idle);
        self
    }
}
