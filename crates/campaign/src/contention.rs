//! K requesters to one replier: the paper's table 5, for K = 1 up to the number asked for.

use bandgap_comm::Delay;
use bandgap_kernels::{Job, Kernel, Pattern};

use super::data::{Batch, Measured, Table};
use super::judge::MIN_BATCHES;
use super::key::Key;
use super::placement::straddles;
use super::runner::{Runner, Stop};
use super::signature::SignaturePlan;

/// Batches of one K at most.
const MOST_BATCHES: usize = 40;
/// Samples of one batch: each is a stretch of a steady stream.
const SAMPLES: u32 = 16;

/// Measures the gap that each of K requesters sees, for K = 1 … `most`, in rounds over all K.
///
/// The replier times: a sample is the time in which it served `messages` requests of each
/// requester, so the gap is that time over `messages`, whichever requester went ahead.
///
/// # Errors
/// Communication failed or the run was stopped.
pub fn measure<R: Runner>(
    runner: &mut R,
    plan: &SignaturePlan,
    most: usize,
    budget: f64,
) -> Result<Table, Stop> {
    let mut table = Table::default();
    let messages = 4 * runner.capacity().clamp(16, 1 << 10) as u32;
    let begun = runner.elapsed().as_secs_f64();
    let mut open: Vec<usize> = (1..=most).collect();
    let rounds = if runner.virtual_time() { 2 } else { MOST_BATCHES };
    for round in 0..rounds {
        for &requesters in &open {
            let done = runner.run(&Job {
                kernel: Kernel::Burst,
                pattern: Pattern::FanIn { requesters },
                messages,
                samples: if runner.virtual_time() { 2 } else { SAMPLES },
                bytes: 0,
                delay: Delay::NONE,
                probed: true,
            })?;
            let rejected = straddles(done.probe);
            let samples = done.issue.iter().map(|time| time / f64::from(messages)).collect();
            let measured = Measured {
                key: key(requesters),
                batch: Batch {
                    samples,
                    probe: done.probe,
                    delay: None,
                    launch: runner.launch(),
                    rejected,
                },
            };
            table.push(measured.clone());
            runner.keep(measured)?;
            runner.progress(
                0.99_f64.min(round as f64 / MIN_BATCHES as f64),
                &format!("fan-in, K = {requesters}"),
            )?;
        }
        if round + 1 < MIN_BATCHES {
            continue;
        }
        let judged = plan.judge(&table);
        open.retain(|&requesters| !judged.converged(&key(requesters)));
        if open.is_empty() || runner.elapsed().as_secs_f64() - begun > budget {
            break;
        }
    }
    Ok(table)
}

/// The name of the gaps under contention.
pub const CONTENDED: &str = "contended";

/// The key of the time per message and requester of a replier with this many requesters.
pub fn key(requesters: usize) -> Key {
    Key::new(CONTENDED).at("requesters", requesters)
}
