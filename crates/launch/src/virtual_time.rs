//! The runner in virtual time, which records the program of each rank and replays them on a machine.

use std::time::{Duration, Instant};

use bandgap_campaign::data::{Kept, Measurements, Probe};
use bandgap_campaign::runner::{Executed, Runner, Stop};
use bandgap_comm::Delay;
use bandgap_kernels::{Order, fact, program};
use bandgap_sim::{Machine, Recorder, record_for, replay};

use crate::Progress;
use crate::replayed::Replayed;
use crate::signals::signalled;

/// Carries out orders on a simulated LogGP machine.
pub struct VirtualRunner<'a> {
    machine: &'a Machine,
    size: usize,
    /// The launch.
    pub launch: u32,
    /// When the measurement began.
    begun: Instant,
    /// The measured batches.
    pub kept: Measurements,
    replayed: Replayed,
    progress: Progress<'a>,
}

const PICOSECONDS: f64 = 1e3;

impl<'a> VirtualRunner<'a> {
    /// A runner of `size` ranks.
    pub fn new(machine: &'a Machine, size: usize, progress: Progress<'a>) -> Self {
        let (begun, kept, replayed) =
            (Instant::now(), Measurements::default(), Replayed::default());
        Self { machine, size, launch: 0, begun, kept, replayed, progress }
    }

    /// Records the programs of all ranks and replays them.
    fn replay(&self, order: &Order) -> Result<Executed, Stop> {
        let fact = fact(&order.kernel)?;
        let rank = program::<Recorder>(order)?;
        let replayed = record_for(self.machine, order.ranks, |recorder| rank(recorder))
            .and_then(|schedule| replay(&schedule, self.machine))
            .map_err(|error| Stop::Sim(Box::new(error)))?;
        let samples = (fact.samples)(order, self.size, &replayed.marks)?;
        let ns = |ticks: &[u64]| ticks.iter().map(|ps| *ps as f64 / PICOSECONDS).collect();
        let column = |name| (name, ns(samples.column(name)));
        Ok(Executed { samples: samples.names().map(column).collect(), ..Executed::default() })
    }
}

impl Runner for VirtualRunner<'_> {
    fn size(&self) -> usize {
        self.size
    }

    fn capacity(&self) -> usize {
        self.machine.capacity as usize
    }

    fn hops(&self, [from, to]: [usize; 2]) -> Option<u32> {
        Some(self.machine.network.distance(from, to))
    }

    fn virtual_time(&self) -> bool {
        true
    }

    fn launch(&self) -> u32 {
        self.launch
    }

    fn run(&mut self, order: &Order) -> Result<Executed, Stop> {
        if signalled().is_some() {
            return Err(Stop::Interrupted);
        }
        if let Some(batch) = self.replayed.get(order) {
            return Ok(batch.clone());
        }
        let batch = self.replay(order)?;
        self.replayed.keep(order, &batch);
        Ok(batch)
    }

    fn look(&mut self, _order: &Order) -> Result<Option<Probe>, Stop> {
        Ok(None)
    }

    fn delay(&self, ns: f64) -> Delay {
        Delay { iterations: 1, picoseconds: (ns * PICOSECONDS).round() as u64 }
    }

    fn daxpy(&self, elements: u32) -> Delay {
        Delay { iterations: elements, picoseconds: self.machine.daxpy(elements) }
    }

    fn time_delay(&mut self, delay: Delay, _messages: u32, samples: u32) -> Vec<f64> {
        vec![delay.picoseconds as f64 / PICOSECONDS; samples as usize]
    }

    fn keep(&mut self, kept: Kept) -> Result<(), Stop> {
        self.kept.push(kept);
        Ok(())
    }

    fn progress(&mut self, done: f64, doing: &str) -> Result<(), Stop> {
        (self.progress)(done, doing);
        Ok(())
    }

    fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }
}

#[cfg(test)]
mod tests {
    use bandgap_campaign::plan::Asked;
    use bandgap_campaign::signature::{SignaturePattern, SignaturePlan};
    use bandgap_kernels::facts;

    use crate::examples::examples;

    use super::*;

    fn with<T>(machine: &Machine, run: impl FnOnce(&mut VirtualRunner<'_>) -> T) -> T {
        of_size(machine, 4, run)
    }

    fn of_size<T>(
        machine: &Machine,
        size: usize,
        run: impl FnOnce(&mut VirtualRunner<'_>) -> T,
    ) -> T {
        run(&mut VirtualRunner::new(machine, size, &mut |_, _| {}))
    }

    #[test]
    fn what_was_replayed_before_changes_no_result() {
        let machine = Machine::load("ipsc860").unwrap();
        let orders: Vec<Order> = facts()
            .iter()
            .flat_map(|fact| [2, 3].into_iter().flat_map(|samples| examples(fact, 4, samples)))
            .collect();
        assert!(orders.len() > 20);
        let fresh = |order: &Order| with(&machine, |runner| runner.run(order).unwrap());
        let expected: Vec<Executed> = orders.iter().map(fresh).collect();
        with(&machine, |runner| {
            for round in 0..2 {
                for (order, expected) in orders.iter().zip(&expected) {
                    assert_eq!(runner.run(order).unwrap(), *expected, "{round} {order:?}");
                }
            }
        });
    }

    /// A requester of many peers has the same parameters as one of a single peer: its interface needs g for each message.
    #[test]
    fn a_fan_out_to_any_number_of_peers_gives_back_the_machine() {
        let (precision, confidence, budget, seed, stamp, check) = (0.05, 0.95, 10.0, 1, 0.0, false);
        let asked = Asked { precision, confidence, budget, seed, stamp, check };
        let pattern = SignaturePattern::FanOut;
        let plan = SignaturePlan { samples: 2, ..SignaturePlan::new(asked, pattern) };
        for name in ["paragon", "meiko-cs2", "myrinet", "ipsc860"] {
            let machine = Machine::load(name).unwrap();
            for ranks in (2..=16).chain([23, 32, 47, 64]) {
                let found = of_size(&machine, ranks, |runner| {
                    plan.measure(runner, 0.0..1.0).unwrap();
                    plan.asked.judge(&runner.kept).signature(100, None).unwrap()
                });
                let close = |found: f64, truth: u64| {
                    let off = found * PICOSECONDS / truth as f64 - 1.0;
                    assert!(off.abs() < 0.01, "{name}, {ranks} ranks: {found} ns, not {truth} ps");
                };
                close(found.send_overhead.value, machine.send_overhead);
                close(found.recv_overhead.value, machine.recv_overhead);
                let overheads = machine.send_overhead + machine.recv_overhead;
                close(found.gap.value, machine.gap.max(overheads));
                // Between the first two ranks.
                let hops = u64::from(machine.network.distance(0, 1) - 1);
                close(found.latency.value, machine.latency + hops * machine.hop);
                // Bound by the network: each peer takes as many requests.
                let capacity = found.capacity.map(|capacity| capacity.value / (ranks - 1) as f64);
                let expected = (machine.gap > overheads).then_some(f64::from(machine.capacity));
                assert_eq!(capacity.map(f64::round), expected, "{name}, {ranks} ranks");
            }
        }
    }

    #[test]
    fn an_order_is_replayed_once() {
        let machine = Machine::load("ipsc860").unwrap();
        let order = examples(&fact("ping_pong").unwrap(), 4, 3).remove(0);
        with(&machine, |runner| {
            // A batch that no replay can produce.
            let kept = Executed { unavailable: Some("kept".into()), ..Executed::default() };
            runner.replayed.keep(&order, &kept);
            assert_eq!(runner.run(&order).unwrap(), kept);
            let other = Order { samples: 2, ..order };
            let replayed = runner.run(&other).unwrap();
            assert_eq!(runner.replayed.get(&other), Some(&replayed));
            assert_eq!(replayed.column("whole").len(), 2);
        });
    }
}
