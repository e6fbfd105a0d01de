//! Many trials, and what came of them.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::SoakError;
use crate::checks::{Broken, broken, broken_whatever_the_time, was_late};
use crate::each::each;
use crate::faults::{ALL, CONTROL, Does, Fault, Group, of};
use crate::plan::Plan;
use crate::stopped::Stopped;
use crate::table::{Table, Tally};
use crate::trial::{Seen, Tried, carry_out};

/// What is to be tried.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// The program under test.
    pub binary: PathBuf,
    /// This program.
    pub driver: PathBuf,
    /// From which everything is drawn.
    pub seed: u64,
    /// Trials at once.
    pub jobs: usize,
    /// Whether to begin no more.
    pub stopped: Stopped,
    /// Whether directories of failed trials stay.
    pub keep: bool,
    /// The trials: faults, and their numbers.
    pub trials: Vec<(&'static Fault, u64)>,
}

/// How often a trial is repeated in which the driver itself was held up.
const AGAIN: usize = 3;

/// Time budgets of a trial without a fault: a slow machine measures too little in the first.
const CONTROL_BUDGETS: [u64; 3] = [1, 4, 16];

/// Turns of the others for one of a fault of which a trial takes minutes.
const SELDOM: u64 = 10;

/// So many trials of a group, each fault in its turn, those that take minutes in every tenth.
pub fn shared(group: Group, count: u64) -> Vec<(&'static Fault, u64)> {
    let faults = of(group);
    let turn = |turn: u64| {
        faults.iter().filter_map(move |fault| match fault.does {
            Does::Crowd | Does::Datagrams => {
                turn.is_multiple_of(SELDOM).then_some((*fault, turn / SELDOM))
            }
            _ => Some((*fault, turn)),
        })
    };
    (0..).flat_map(turn).take(count as usize).collect()
}

/// Trials without a fault, with which a campaign begins: of so many commands.
pub fn controls(count: usize) -> impl Iterator<Item = (&'static Fault, u64)> {
    static FAULT: Fault = CONTROL;
    let all = FAULT.subjects().len();
    // Spread over the list of commands.
    (0..count.min(all)).map(move |at| (&FAULT, ((at + 1) * all / count.min(all) - 1) as u64))
}

/// One trial of each fault but those that take long by their nature: a pause beyond the deadline, many ranks, repetitions.
pub fn quick() -> Vec<(&'static Fault, u64)> {
    let takes_long = |fault: &&Fault| match fault.does {
        Does::Crowd | Does::Datagrams => true,
        Does::Signal { pause: Some((_, until)), .. } => until > 1.0,
        _ => false,
    };
    ALL.iter().filter(|fault| !takes_long(fault)).map(|fault| (fault, 0)).collect()
}

/// What came of a campaign.
pub struct Came {
    table: Table,
    skipped: BTreeSet<(&'static str, String)>,
    /// What kept the driver from a trial.
    errors: Vec<String>,
}

impl Campaign {
    /// Carries out all trials and prints what did not hold, and the table. Returns whether everything held.
    pub fn run(&self) -> bool {
        let names = [CONTROL.name].into_iter().chain(ALL.iter().map(|fault| fault.name));
        let came = Mutex::new(Came {
            table: Table::new(names),
            skipped: BTreeSet::new(),
            errors: Vec::new(),
        });
        let done: Result<(), Infallible> =
            each(self.jobs, &self.stopped, &self.trials, |(fault, number)| {
                let plan = Plan::draw(self.seed, fault, *number);
                let (plan, tried) = self.try_it(plan);
                self.take(&plan, tried, &mut came.lock().unwrap_or_else(PoisonError::into_inner));
                Ok(())
            });
        let Ok(()) = done;
        let came = came.into_inner().unwrap_or_else(PoisonError::into_inner);
        println!("\n{}", came.table);
        for (fault, why) in &came.skipped {
            println!("SKIPPED: {fault}: {why}");
        }
        for error in &came.errors {
            println!("the driver failed: {error}");
        }
        let (failed, skipped) = (came.table.failed(), came.table.skipped());
        let weak = came.table.weak();
        for weak in &weak {
            println!("FAILED: {weak}");
        }
        println!("{failed} trials failed, {skipped} were skipped; seed {}", self.seed);
        if self.stopped.is() {
            println!("stopped by a signal: not all trials were begun");
        }
        failed == 0 && weak.is_empty() && came.errors.is_empty() && !self.stopped.is()
    }

    /// Carries out a trial, again where the driver itself was held up; one without a fault also with more time, where too
    /// little was measured.
    fn try_it(&self, plan: Plan) -> (Plan, Result<Tried, SoakError>) {
        let once = |plan: &Plan| {
            let mut tried = carry_out(plan, &self.binary, &self.driver);
            for _ in 0..AGAIN {
                let Ok(Tried::Seen(seen, _)) = &tried else { break };
                if !seen.held_up || !broken_whatever_the_time(plan, seen).is_empty() {
                    break;
                }
                tried = carry_out(plan, &self.binary, &self.driver);
            }
            tried
        };
        if plan.fault.does != Does::Nothing {
            let tried = once(&plan);
            return (plan, tried);
        }
        let mut last = None;
        for seconds in CONTROL_BUDGETS {
            let plan = Plan { budget: Duration::from_secs(seconds), ..plan.clone() };
            let tried = once(&plan);
            let too_little = matches!(
                &tried,
                Ok(Tried::Seen(seen, _)) if seen.status.and_then(|status| status.code()) == Some(8)
            );
            last = Some((plan, tried));
            if !too_little {
                break;
            }
        }
        last.unwrap_or_else(|| (plan, Ok(Tried::Skipped("no time is given".to_owned()))))
    }

    fn take(&self, plan: &Plan, tried: Result<Tried, SoakError>, came: &mut Came) {
        let name = plan.fault.name;
        match tried {
            Err(error) => came.errors.push(format!("{}: {error}", plan.repeats(&self.name()))),
            Ok(Tried::Skipped(why)) => {
                came.table.skip(name);
                came.skipped.insert((name, why));
            }
            Ok(Tried::Seen(seen, place)) => {
                let broken = match seen.held_up {
                    true => broken_whatever_the_time(plan, &seen),
                    false => broken(plan, &seen),
                };
                if seen.held_up && broken.is_empty() {
                    came.table.skip(name);
                    let why = "the driver itself was held up, again and again";
                    came.skipped.insert((name, why.to_owned()));
                    return;
                }
                let too_little = seen.status.is_some_and(|status| status.code() == Some(8));
                came.table.add(name, Tally { late: was_late(plan, &seen), too_little }, &broken);
                if !broken.is_empty() {
                    self.tell(plan, &seen, &broken);
                    if self.keep {
                        let kept = place.keep();
                        let said = std::fs::write(kept.join("output"), &seen.output)
                            .and_then(|()| std::fs::write(kept.join("message"), &seen.message));
                        match said {
                            Ok(()) => println!("  kept in {}", kept.display()),
                            Err(error) => println!("  kept in {}: {error}", kept.display()),
                        }
                    }
                }
            }
        }
        // A reader that is gone ends nothing.
        let _ = std::io::stdout().flush();
    }

    fn tell(&self, plan: &Plan, seen: &Seen, broken: &[Broken]) {
        println!("FAILED: {}", plan.repeats(&self.name()));
        println!("  {}", plan.words("DIR").join(" "));
        let ended = seen.status.map_or("did not end".to_owned(), |status| status.to_string());
        println!("  {}; {:?} after it was started; {ended}", plan.fault.name, plan.moment);
        for Broken { rule, what } in broken {
            println!("  {rule}: {what}");
        }
    }

    fn name(&self) -> String {
        self.binary.display().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fault_has_its_turn() {
        let all = of(Group::Kills).len() as u64;
        let trials = shared(Group::Kills, 2 * all + 1);
        let first = |number| trials.iter().filter(|(_, n)| *n == number).count() as u64;
        assert_eq!([first(0), first(1), first(2)], [all, all, 1]);
        let names: BTreeSet<&str> = trials.iter().map(|(fault, _)| fault.name).collect();
        assert_eq!(names.len() as u64, all);
        assert!(shared(Group::Others, 0).is_empty());
        let others = shared(Group::Others, 1000);
        assert_eq!(others.len(), 1000);
        let numbers = |does: Does| {
            let of = others.iter().filter(|(fault, _)| fault.does == does);
            of.map(|(_, number)| *number).collect::<Vec<_>>()
        };
        assert_eq!(numbers(Does::Datagrams), (0..5).collect::<Vec<_>>());
        // As many as tell whether a fault is late too often.
        assert!(numbers(Does::Removed).len() >= 40);
        let quick: Vec<&str> = quick().iter().map(|(fault, _)| fault.name).collect();
        assert!(quick.contains(&"stop-rank") && !quick.contains(&"crowd"));
    }
}
