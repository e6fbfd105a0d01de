//! Round trips between all pairs of ranks: the paper's table 3.

use bandgap_comm::Delay;
use bandgap_kernels::{Job, Kernel, Pattern};

use super::data::{Batch, Measured, Table};
use super::judge::MIN_BATCHES;
use super::key::Key;
use super::placement::straddles;
use super::runner::{Runner, Stop};
use super::signature::SignaturePlan;

/// Batches of one pair at most.
const MOST_BATCHES: usize = 40;

/// Measures the round trip of every pair of ranks, the lower rank asking, in rounds over all
/// pairs, until each interval is as narrow as asked or `budget` seconds are spent.
///
/// # Errors
/// Communication failed or the run was stopped.
pub fn measure<R: Runner>(
    runner: &mut R,
    plan: &SignaturePlan,
    budget: f64,
) -> Result<Table, Stop> {
    let size = runner.size();
    let mut table = Table::default();
    let mut open: Vec<(usize, usize)> =
        (0..size).flat_map(|a| (a + 1..size).map(move |b| (a, b))).collect();
    let begun = runner.elapsed().as_secs_f64();
    let samples = if runner.virtual_time() { 2 } else { plan.samples };
    let most = if runner.virtual_time() { 2 } else { MOST_BATCHES };
    for round in 0..most {
        for &(requester, replier) in &open {
            let done = runner.run(&Job {
                kernel: Kernel::Burst,
                pattern: Pattern::OneToOne { requester, replier },
                messages: 1,
                samples,
                bytes: 0,
                delay: Delay::NONE,
                probed: true,
            })?;
            let rejected = straddles(done.probe);
            let measured = Measured {
                key: key(requester, replier),
                batch: Batch {
                    samples: done.drained,
                    probe: done.probe,
                    delay: None,
                    launch: runner.launch(),
                    rejected,
                },
            };
            table.push(measured.clone());
            runner.keep(measured)?;
        }
        runner.progress(
            0.99_f64.min(round as f64 / MIN_BATCHES as f64),
            &format!("round trips of {} pairs", open.len()),
        )?;
        if round + 1 < MIN_BATCHES {
            continue;
        }
        let judged = plan.judge(&table);
        open.retain(|&(requester, replier)| !judged.converged(&key(requester, replier)));
        if open.is_empty() || runner.elapsed().as_secs_f64() - begun > budget {
            break;
        }
    }
    Ok(table)
}

/// The name of the round trips of pairs.
pub const PAIR_RTT: &str = "pair_rtt";

/// The key of the round trip of one request between two ranks.
pub fn key(requester: usize, replier: usize) -> Key {
    Key::new(PAIR_RTT).at("requester", requester).at("replier", replier)
}
