//! Rank programs and shorthands for the tests.

use bandgap_comm::{Am, CommError, Delay, HandlerId, Processor, Verb, Work};
use bandgap_sim::{Machine, Recorder, record_for, replay};

pub const ECHO: Verb = Verb { handler: HandlerId(0), replies: true };
pub const NOTE: Verb = Verb { handler: HandlerId(1), replies: false };

/// os, or, g, L, G of a [`byte_machine`], in ns.
pub const COSTS: [u64; 5] = [20, 30, 25, 100, 3];

/// Picoseconds.
pub const NS: u64 = 1000;

/// A computation that takes so long.
pub fn wait(picoseconds: u64) -> Work {
    Work::Chain(Delay { iterations: 0, picoseconds })
}

/// A machine of whole nanoseconds.
pub fn machine(os: u64, or: u64, gap: u64, latency: u64, capacity: Option<u32>) -> Machine {
    let capacity = capacity.map_or(String::new(), |c| format!("capacity = {c}"));
    let text = format!(
        "name = 'test'\nsend_overhead_ns = {os}\nrecv_overhead_ns = {or}\ngap_ns = {gap}\n\
         latency_ns = {latency}\n{capacity}"
    );
    Machine::parse(&text, "test").unwrap()
}

/// A machine of whole nanoseconds: os, or, g, L, G.
pub fn byte_machine(costs: [u64; 5]) -> Machine {
    byte_machine_with(costs, "")
}

/// The same, whose file goes on so.
pub fn byte_machine_with([os, or, gap, latency, byte]: [u64; 5], rest: &str) -> Machine {
    let text = format!(
        "name = 'test'\nsend_overhead_ns = {os}\nrecv_overhead_ns = {or}\ngap_ns = {gap}\n\
         latency_ns = {latency}\ngap_per_byte_ns = {byte}\n{rest}"
    );
    Machine::parse(&text, "test").unwrap()
}

/// The paper's microbenchmark: the first `requesters` ranks issue `m` requests each, `samples`
/// times, spread over the other ranks; stamps before, after issuing, and after the last reply.
pub fn flood(
    am: &mut impl Am,
    m: u64,
    requesters: usize,
    samples: u64,
    delay: u64,
) -> Result<(), CommError> {
    let repliers = am.size() - requesters;
    let rank = am.rank();
    if rank >= requesters {
        let asked_by = (0..requesters).filter(|r| r % repliers == rank - requesters).count();
        return am.serve(samples * m * asked_by as u64);
    }
    let peer = requesters + rank % repliers;
    for _ in 0..samples {
        am.mark();
        for word in 0..m {
            am.request(peer, ECHO, word)?;
            am.compute(wait(delay));
        }
        am.mark();
        am.await_replies()?;
        am.mark();
    }
    Ok(())
}

/// `n` requests without reply.
pub fn one_way(am: &mut impl Am, n: u64) -> Result<(), CommError> {
    if am.rank() == 1 {
        am.serve(n)?;
        am.mark();
        return Ok(());
    }
    for word in 0..n {
        am.request(1, NOTE, word)?;
    }
    am.mark();
    am.await_replies()?;
    am.mark();
    Ok(())
}

/// One request to a rank that computes first.
pub fn late_replier(am: &mut impl Am, picoseconds: u64) -> Result<(), CommError> {
    if am.rank() == 1 || am.size() == 1 {
        am.compute(wait(picoseconds));
        return if am.size() == 1 { Ok(()) } else { am.serve(1) };
    }
    am.request(1, ECHO, 0)?;
    am.await_replies()?;
    am.mark();
    Ok(())
}

/// Three ranks that wait for ever and one that does nothing.
pub fn stuck(am: &mut Recorder) -> Result<(), CommError> {
    match am.rank() {
        0 => am.serve(3),
        1 => {
            am.request(0, ECHO, 0)?;
            am.request(3, ECHO, 0)?;
            am.await_replies()
        }
        2 => {
            for word in 0..3 {
                am.request(3, ECHO, word)?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The stamps of a program on `size` ranks.
pub fn marks(
    machine: &Machine,
    size: usize,
    program: impl FnMut(&mut Recorder) -> Result<(), CommError>,
) -> Vec<Vec<u64>> {
    replay(&record_for(machine, size, program).unwrap(), machine).unwrap().marks
}

/// Elapsed time of the issue phase of one pair, in ps.
pub fn issue(machine: &Machine, m: u64, delay: u64) -> u64 {
    let stamps = marks(machine, 2, |am| flood(am, m, 1, 1, delay));
    stamps[0][1] - stamps[0][0]
}

/// Cost of each further message between `short` and `long` messages, in ps.
pub fn slope(machine: &Machine, short: u64, long: u64, delay: u64) -> f64 {
    let elapsed = issue(machine, long, delay) - issue(machine, short, delay);
    elapsed as f64 / (long - short) as f64
}
