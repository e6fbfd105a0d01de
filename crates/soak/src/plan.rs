//! A trial, drawn wholly from a seed, the fault and a number.

use std::time::Duration;

use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::faults::{Does, Fault};
use crate::subject::Subject;

/// What is to be tried.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The seed of the campaign.
    pub seed: u64,
    /// The number of the trial among those of its fault.
    pub number: u64,
    /// What is done.
    pub fault: &'static Fault,
    /// To which command.
    pub subject: &'static Subject,
    /// Over which transport, where it takes one.
    pub over: Option<&'static str>,
    /// On how many ranks.
    pub ranks: usize,
    /// `--time-budget`.
    pub budget: Duration,
    /// `--deadline`.
    pub deadline: Duration,
    /// How much longer than its deadline the run may take to end.
    pub grace: Duration,
    /// What a run that goes on may take beside what it was given, on a machine as slow and busy as those that tests run on.
    pub slack: Duration,
    /// When it is done.
    pub moment: Moment,
    /// The rank that it is done to.
    pub rank: usize,
    /// How long a pause lasts.
    pub pause: Option<Duration>,
    /// How far a limit goes, from 0 to 1: the fault knows what that means.
    pub limit: f64,
    /// For whatever else is random.
    pub draw: u64,
}

/// How much longer than its deadline a run may take to end.
const GRACE: Duration = Duration::from_secs(5);
/// What a run that goes on may take beside what it was given.
const SLACK: Duration = Duration::from_secs(60);

/// When something is done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Moment {
    /// So long after the program was started.
    Started(Duration),
    /// So long after all ranks were there.
    Ranks(Duration),
}

impl Plan {
    /// The trial of this number.
    pub fn draw(seed: u64, fault: &'static Fault, number: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(mixed(seed, fault.name, number));
        let subjects = fault.subjects();
        let mut subject = subjects.choose(&mut random).copied().unwrap_or(&crate::subject::FEW[0]);
        if fault.does == Does::Nothing {
            subject = subjects[number as usize % subjects.len()];
        }
        let fits = |name: &&&str| fault.over.is_empty() || fault.over.contains(name);
        let over: Vec<&str> = subject.over.iter().filter(fits).copied().collect();
        let mut over_one = over.choose(&mut random).copied();
        if fault.does == Does::Nothing {
            // The one that measures most in a time.
            over_one = over.first().copied();
        }
        let over = over_one;
        let ranks = subject.ranks.choose(&mut random).copied().unwrap_or(2);
        let crowd = fault.does == Does::Crowd;
        let budget = random.random_range(0.2..0.9) * if crowd { 3.0 } else { 1.0 };
        // Many ranks on few processors, and a network that loses much, keep a rank waiting for longer.
        let waits = crowd || fault.does == Does::Datagrams;
        let deadline = if waits { 20.0 } else { [3.0, 4.0][random.random_range(0..2)] };
        let early = random.random_bool(0.15);
        let share: f64 = random.random();
        let needs_ranks = matches!(
            fault.does,
            Does::Strangers | Does::ProcessesLater | Does::DescriptorsLater
        ) || matches!(fault.does, Does::Signal { to, .. } if to != crate::faults::Whom::Launcher);
        let moment = if early && !needs_ranks {
            Moment::Started(Duration::from_secs_f64(0.4 * share))
        } else {
            // A little more than the measurement, so that its end is reached as well.
            Moment::Ranks(Duration::from_secs_f64(share * (0.3 + 1.2 * budget)))
        };
        let rank = random.random_range(0..ranks);
        let share: f64 = random.random();
        let pause = match fault.does {
            Does::Signal { pause: Some((from, until)), .. } => {
                Some(Duration::from_secs_f64(deadline * (from + share * (until - from))))
            }
            _ => None,
        };
        let (limit, draw) = (random.random(), random.random());
        let [budget, deadline] = [budget, deadline].map(Duration::from_secs_f64);
        Self {
            seed,
            number,
            fault,
            subject,
            over,
            ranks,
            budget,
            deadline,
            grace: GRACE,
            slack: if waits { 4 * SLACK } else { SLACK },
            moment,
            rank,
            pause,
            limit,
            draw,
        }
    }

    /// Whether something is done at a moment; limits are there from the start.
    pub fn waits(&self) -> bool {
        use Does::{DescriptorsLater, ProcessesLater, Removed, Signal, Strangers};
        matches!(
            self.fault.does,
            Signal { .. } | Removed | Strangers | ProcessesLater | DescriptorsLater
        )
    }

    /// A whole number between these two, as the limit says.
    pub fn between(&self, least: u64, most: u64) -> u64 {
        least + (self.limit * (most - least) as f64).round() as u64
    }

    /// The words of the command, for a run that is kept in `out`.
    pub fn words(&self, out: &str) -> Vec<String> {
        let fixed = self.subject.words.iter().map(|word| (*word).to_owned());
        let over = self.over.into_iter().flat_map(|over| ["-t".to_owned(), over.to_owned()]);
        let own = [
            ("-n", self.ranks.to_string()),
            ("--time-budget", format!("{}ms", self.budget.as_millis())),
            ("--deadline", format!("{}s", self.deadline.as_secs())),
            ("--precision", "0.1%".to_owned()),
            ("--out", out.to_owned()),
        ];
        let own = own.into_iter().flat_map(|(name, value)| [name.to_owned(), value]);
        fixed.chain(over).chain(own).collect()
    }

    /// The command that carries out this trial again.
    pub fn repeats(&self, binary: &str) -> String {
        let Self { seed, number, fault, .. } = self;
        format!("./soak --seed {seed} --fault {} --trial {number} --binary {binary}", fault.name)
    }
}

/// A seed for the trial of this number.
fn mixed(seed: u64, name: &str, number: u64) -> u64 {
    let bytes = seed.to_le_bytes().into_iter().chain(name.bytes()).chain(number.to_le_bytes());
    // FNV-1a.
    bytes.fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::faults::{ALL, Whom, named};

    #[test]
    fn a_trial_is_drawn_from_seed_fault_and_number_alone() {
        for fault in ALL {
            for number in 0..50 {
                let [one, again] = [(); 2].map(|()| format!("{:?}", Plan::draw(3, fault, number)));
                assert_eq!(one, again);
            }
        }
        let of = |seed, number| format!("{:?}", Plan::draw(seed, &ALL[0], number).moment);
        let all: BTreeSet<String> = (0..10).flat_map(|n| [of(1, n), of(2, n)]).collect();
        assert_eq!(all.len(), 20, "no two at one moment");
    }

    #[test]
    fn what_is_drawn_fits_the_fault() {
        for fault in ALL {
            for number in 0..200 {
                let plan = Plan::draw(1, fault, number);
                assert!(plan.rank < plan.ranks && plan.subject.ranks.contains(&plan.ranks));
                assert!(
                    plan.over
                        .is_none_or(|over| fault.over.is_empty() || fault.over.contains(&over))
                );
                assert_eq!(plan.over.is_none(), plan.subject.over.is_empty());
                let to_ranks =
                    matches!(fault.does, Does::Signal { to, .. } if to != Whom::Launcher);
                assert!(!to_ranks || matches!(plan.moment, Moment::Ranks(_)));
                if fault.name.ends_with("briefly") {
                    assert!(plan.pause.unwrap() < plan.deadline / 2);
                }
            }
        }
        let long = named("stop-launcher").unwrap();
        assert!((0..50).all(|n| {
            let plan = Plan::draw(1, long, n);
            plan.pause.unwrap() > plan.deadline
        }));
    }

    #[test]
    fn limits_cover_their_range() {
        let plan = |limit| Plan { limit, ..Plan::draw(1, &ALL[0], 0) };
        assert_eq!([0.0, 0.5, 1.0].map(|limit| plan(limit).between(10, 20)), [10, 15, 20]);
    }
}
