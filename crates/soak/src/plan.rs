//! A trial, which a seed, a fault and a number determine completely.

use std::time::Duration;

use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::faults::{Does, Fault};

/// A command that measures for a short time, and its number of ranks.
type Subject = (&'static str, usize);

const SUBJECTS: &[Subject] = &[
    ("signature", 2),
    ("signature --pairs", 4),
    ("signature --fan-in 2", 3),
    ("signature --fan-out", 3),
    ("pairs", 3),
    ("comms1 --sizes 0:256KiB", 2),
    ("comms2 --sizes 0:256KiB", 2),
    ("comms3 --sizes 0:4KiB", 3),
    ("synch1", 4),
    ("comet broadcast global_sum --sizes 0:4KiB", 3),
    ("comet overlap", 2),
    ("comet contention --sizes 0:4KiB", 4),
    ("bulk --sizes 8:16KiB --no-surface", 2),
    ("breakdown", 2),
];

/// A trial.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Seed of all trials.
    pub seed: u64,
    /// Number of the trial among those of its fault.
    pub number: u64,
    /// Fault.
    pub fault: &'static Fault,
    /// Command under test.
    pub command: &'static str,
    /// Transport.
    pub over: &'static str,
    /// Number of ranks.
    pub ranks: usize,
    /// Value of `--time-budget`.
    pub budget: Duration,
    /// Value of `--deadline`.
    pub deadline: Duration,
    /// Time from the start of the last rank to the fault.
    pub after: Duration,
    /// The rank that the fault affects.
    pub rank: usize,
    /// Length of the pause.
    pub pause: Option<Duration>,
    /// Size of the small disk, in bytes.
    pub disk: u64,
}

impl Plan {
    /// Draws the trial with this number.
    pub fn draw(seed: u64, fault: &'static Fault, number: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(mixed(seed, fault.name, number));
        let (command, ranks) = SUBJECTS.choose(&mut random).copied().unwrap_or(SUBJECTS[0]);
        let all: &[&str] = match fault.does {
            Does::Strangers => &["tcp"],
            _ => &["shm", "tcp", "unix"],
        };
        let over = all.choose(&mut random).copied().unwrap_or("tcp");
        let budget = random.random_range(0.2..0.9);
        let deadline = 5.0;
        // Slightly longer than the measurement, so that the end of the run is covered too.
        let after = random.random_range(0.0..0.3 + 1.2 * budget);
        let pause = match fault.does {
            Does::Signal { pause: Some((least, most)), .. } => {
                Some(deadline * random.random_range(least..most))
            }
            _ => None,
        };
        Self {
            seed,
            number,
            fault,
            command,
            over,
            ranks,
            budget: Duration::from_secs_f64(budget),
            deadline: Duration::from_secs_f64(deadline),
            after: Duration::from_secs_f64(after),
            rank: random.random_range(0..ranks),
            pause: pause.map(Duration::from_secs_f64),
            disk: random.random_range(4..300) << 10,
        }
    }

    /// Arguments of the command, for a run that is kept in `out`. The precision asked for cannot be
    /// reached, so the run uses its whole time budget.
    pub fn words(&self, out: &str) -> Vec<String> {
        let (ranks, over) = (self.ranks, self.over);
        let (budget, deadline) = (self.budget.as_millis(), self.deadline.as_secs());
        let fixed = format!(
            "{} -t {over} -n {ranks} --time-budget {budget}ms --deadline {deadline}s --precision 1e-9",
            self.command
        );
        fixed.split(' ').chain(["--out", out]).map(str::to_owned).collect()
    }

    /// The command that repeats this trial.
    pub fn repeats(&self) -> String {
        format!("./soak --seed {} --fault {} --trial {}", self.seed, self.fault.name, self.number)
    }
}

/// Seed of the trial with this number.
fn mixed(seed: u64, name: &str, number: u64) -> u64 {
    let bytes = seed.to_le_bytes().into_iter().chain(name.bytes()).chain(number.to_le_bytes());
    // FNV-1a.
    bytes.fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::{ALL, Whom};

    #[test]
    fn a_trial_is_drawn_from_seed_fault_and_number_alone_and_fits_its_fault() {
        for fault in ALL {
            for number in 0..100 {
                let plan = Plan::draw(3, fault, number);
                assert_eq!(format!("{plan:?}"), format!("{:?}", Plan::draw(3, fault, number)));
                assert!(plan.rank < plan.ranks);
                assert_eq!(
                    plan.pause.is_some_and(|pause| pause > plan.deadline),
                    fault.takes_long()
                );
                let launcher = matches!(fault.does, Does::Signal { to: Whom::Launcher, .. });
                assert!(fault.goes_on || launcher || !fault.codes.is_empty());
            }
        }
        assert_ne!(Plan::draw(1, &ALL[1], 0).after, Plan::draw(2, &ALL[1], 0).after);
    }
}
