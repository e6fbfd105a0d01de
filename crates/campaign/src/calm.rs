//! Waiting for a moment in which nothing else uses the ranks' cores.
//!
//! Batches that were slowed are set aside, and most of a batch costs more than a probe: where
//! slowed stretches are frequent, it pays to look before.

use bandgap_stats::quantile::quantile;

use bandgap_kernels::Job;

use super::data::Probe;
use super::placement::{FULL, SLOWED};
use super::runner::{Runner, Stop};

/// Probes remembered.
const REMEMBERED: usize = 1024;
/// Probes from which on the full pace is known.
const KNOWN: usize = 64;
/// Looks before one batch at most; then it is taken as it comes.
const LOOKS: u32 = 32;
/// Share of the time that may pass with looking.
const SHARE: f64 = 0.4;

/// Who waits, and for how long that has been.
#[derive(Clone, Debug, Default)]
pub struct Watchful {
    calm: Calm,
    /// Seconds spent with looking; infinite where nothing can be seen.
    waited: f64,
}

impl Watchful {
    /// Notes the probes of a batch.
    pub fn note(&mut self, probes: Option<[Probe; 2]>) {
        self.calm.note(probes);
    }

    /// Looks at the pace of the processors that `job` will use until nothing slows them, for a
    /// while.
    ///
    /// # Errors
    /// Communication failed or the run was stopped.
    pub fn await_calm<R: Runner>(&mut self, runner: &mut R, job: &Job) -> Result<(), Stop> {
        let begun = runner.elapsed().as_secs_f64();
        if runner.virtual_time() || self.waited > SHARE * begun {
            return Ok(());
        }
        for _ in 0..LOOKS {
            let look = runner.run(&Job { samples: 0, probed: true, ..*job })?.probe;
            if look.is_none() {
                self.waited = f64::INFINITY;
            }
            self.calm.note(look);
            if self.calm.is_calm(look) {
                break;
            }
        }
        self.waited += runner.elapsed().as_secs_f64() - begun;
        Ok(())
    }
}

/// What the probes so far say of the full pace.
#[derive(Clone, Debug, Default)]
struct Calm {
    paces: Vec<f64>,
    noted: usize,
    full: Option<f64>,
}

impl Calm {
    /// Notes the probes of a batch or of a look.
    fn note(&mut self, probes: Option<[Probe; 2]>) {
        for probe in probes.iter().flatten() {
            if self.paces.len() < REMEMBERED {
                self.paces.push(probe.pace);
            } else {
                self.paces[self.noted % REMEMBERED] = probe.pace;
            }
            self.noted += 1;
            if self.noted.is_multiple_of(KNOWN) {
                self.full = Some(quantile(&self.paces, FULL));
            }
        }
    }

    /// Whether the processors run at full pace, as far as that is known; without probes they do.
    fn is_calm(&self, probes: Option<[Probe; 2]>) -> bool {
        let (Some([_, now]), Some(full)) = (probes, self.full) else { return true };
        now.pace <= SLOWED * full
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calm_is_the_pace_that_the_fast_probes_had() {
        let probes = |pace| Some([Probe { cache_line: 140.0, pace }; 2]);
        let mut calm = Calm::default();
        assert!(calm.is_calm(probes(900.0)));
        // One in eight at full pace: the 5 % quantile is 400, and 1.1 × 400 = 440.
        for i in 0..128 {
            calm.note(probes(if i % 8 == 0 { 400.0 } else { 700.0 }));
        }
        assert!(calm.is_calm(probes(435.0)));
        assert!(!calm.is_calm(probes(445.0)));
        assert!(calm.is_calm(None));
        // The processors moved to where 700 is all there is: after 1024 further probes that is calm.
        for _ in 0..512 {
            calm.note(probes(700.0));
        }
        assert!(calm.is_calm(probes(700.0)));
    }
}
