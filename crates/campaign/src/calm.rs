//! Waiting until nothing slows the ranks' cores, and noticing when that changes.
//!
//! Slowed batches are set aside, and a batch costs more than a probe. Where the cores are often
//! slowed, it pays to probe first.

use std::time::Duration;

use bandgap_kernels::Order;
use bandgap_stats::quantile::quantile;

use crate::data::{Probe, Rejected};
use crate::placement::{FASTEST, SLOWED};
use crate::runner::{Runner, Stop};

/// Number of probes that are remembered.
const REMEMBERED: usize = 1024;
/// Number of probes after which the fastest pace is known.
const KNOWN: usize = 64;
/// Largest number of probes before one batch, which then runs in any case.
const LOOKS: u32 = 32;
/// Largest share of the time spent on waiting.
const SHARE: f64 = 0.4;

/// The fastest pace found so far, and the time spent waiting for it.
#[derive(Clone, Debug)]
pub struct Watchful {
    /// When watching began.
    since: Duration,
    /// Seconds spent waiting; infinite if the ranks cannot be probed.
    waited: f64,
    paces: Vec<f64>,
    noted: usize,
    fastest: Option<f64>,
}

impl Watchful {
    /// Starts watching at this time of the runner's clock.
    pub fn since(now: Duration) -> Self {
        Self { since: now, waited: 0.0, paces: Vec::new(), noted: 0, fastest: None }
    }

    /// Probes the processors that `order` will use until nothing slows them, for a limited time.
    ///
    /// # Errors
    /// Communication failed or the run was stopped.
    pub fn await_calm(&mut self, runner: &mut dyn Runner, order: &Order) -> Result<(), Stop> {
        let begun = runner.elapsed();
        let since = begun.saturating_sub(self.since).as_secs_f64();
        if runner.virtual_time() || self.waited > SHARE * since {
            return Ok(());
        }
        for _ in 0..LOOKS {
            let Some(now) = runner.look(order)? else {
                self.waited = f64::INFINITY;
                return Ok(());
            };
            self.note([now]);
            if self.is_calm(now) {
                break;
            }
        }
        self.waited += runner.elapsed().saturating_sub(begun).as_secs_f64();
        Ok(())
    }

    /// Remembers probes.
    pub fn note(&mut self, probes: impl IntoIterator<Item = Probe>) {
        for probe in probes {
            if self.paces.len() < REMEMBERED {
                self.paces.push(probe.pace);
            } else {
                self.paces[self.noted % REMEMBERED] = probe.pace;
            }
            self.noted += 1;
            if self.noted.is_multiple_of(KNOWN) {
                self.fastest = Some(quantile(&self.paces, FASTEST));
            }
        }
    }

    /// Whether the processors run at the fastest pace; true while it is unknown.
    fn is_calm(&self, now: Probe) -> bool {
        self.fastest.is_none_or(|fastest| now.pace <= SLOWED * fastest)
    }

    /// Rejects a batch if only one of the probes before and after it is slowed.
    pub fn straddles(&self, probe: Option<[Probe; 2]>) -> Option<Rejected> {
        let (probe, _) = (probe?, self.fastest?);
        (self.is_calm(probe[0]) != self.is_calm(probe[1])).then_some(Rejected::PaceChanged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calm_is_the_pace_that_the_fast_probes_had() {
        let probe = |pace| Probe { cache_line: 140.0, pace };
        let mut calm = Watchful::since(Duration::ZERO);
        assert!(calm.is_calm(probe(900.0)));
        // One in eight at the fastest pace: the 5 % quantile is 400, and 1.1 × 400 = 440.
        for i in 0..512 {
            calm.note([probe(if i % 8 == 0 { 400.0 } else { 700.0 }); 2]);
        }
        assert!(calm.is_calm(probe(435.0)));
        assert!(!calm.is_calm(probe(445.0)));
        let across = |before, after| calm.straddles(Some([probe(before), probe(after)]));
        assert_eq!(across(400.0, 600.0), Some(Rejected::PaceChanged));
        assert!(across(600.0, 400.0).is_some());
        // Both fast; both slowed, however much.
        assert_eq!(
            [across(400.0, 435.0), across(450.0, 900.0), calm.straddles(None)],
            [const { None }; 3]
        );
        assert_eq!(Watchful::since(Duration::ZERO).straddles(Some([probe(1.0), probe(9.0)])), None);
        // The processors moved to where 700 is all there is: after 1024 further probes that is calm.
        for _ in 0..512 {
            calm.note([probe(700.0); 2]);
        }
        assert!(calm.is_calm(probe(700.0)));
    }
}
