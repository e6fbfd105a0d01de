//! Rate of the replay: half the ranks flood the other half, and all flood one.

use std::time::Instant;

use bandgap_comm::{Am, CommError, Delay, HandlerId, Processor, Verb, Work};
use bandgap_sim::{Machine, Recorder, record, replay};

const ECHO: Verb = Verb { handler: HandlerId(0), replies: true };
const SAMPLES: u64 = 50;
const MESSAGES: u64 = 4096;

fn flood(am: &mut Recorder, requesters: usize, delay: Delay) -> Result<(), CommError> {
    let (rank, repliers) = (am.rank(), am.size() - requesters);
    if rank >= requesters {
        return am.serve(SAMPLES * MESSAGES * (requesters / repliers) as u64);
    }
    for _ in 0..SAMPLES {
        am.mark();
        for word in 0..MESSAGES {
            am.request(requesters + rank % repliers, ECHO, word)?;
            am.compute(Work::Chain(delay));
        }
        am.mark();
        am.await_replies()?;
        am.mark();
    }
    Ok(())
}

fn main() {
    let machine = Machine::load("paragon").expect("built in");
    for (name, size, requesters, picoseconds) in [
        ("1 pair", 2, 1, 0),
        ("1 pair, Δ = 16 µs", 2, 1, 16_000_000),
        ("8 pairs", 16, 8, 0),
        ("15 to 1", 16, 15, 0),
    ] {
        let start = Instant::now();
        let schedule =
            record(size, |am| flood(am, requesters, Delay { iterations: 0, picoseconds }))
                .expect("the program names only its peers");
        let recorded = start.elapsed();
        let start = Instant::now();
        let replay = replay(&schedule, &machine).expect("the program ends");
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{name:20} recorded in {recorded:>9.2?}; {} messages in {seconds:.3} s: \
             {:.1} M messages/s, {:.1} M events/s",
            replay.messages,
            replay.messages as f64 / seconds / 1e6,
            replay.events as f64 / seconds / 1e6,
        );
    }
}
