//! Rate of recording and replay: floods of requests, and operations of many ranks.
//!
//! `cargo bench -p bandgap-sim [NAME [RANKS]]`, of which each runs all if it is left out.

use std::time::Instant;

use bandgap_comm::collectives::Broadcast;
use bandgap_comm::{Am, Comm, CommError, Delay, HandlerId, Part, Processor, Verb, Work};
use bandgap_sim::{Machine, Recorder, record, replay};

const ECHO: Verb = Verb { handler: HandlerId(0), replies: true };
const SAMPLES: u64 = 50;
const MESSAGES: u64 = 4096;
const NOTHING: Part = Part::new(0, 0);

type Program = fn(&mut Recorder) -> Result<(), CommError>;

/// The first `requesters` ranks flood the others.
fn flood(am: &mut Recorder, requesters: usize, picoseconds: u64) -> Result<(), CommError> {
    let (rank, repliers) = (am.rank(), am.size() - requesters);
    if rank >= requesters {
        return am.serve(SAMPLES * MESSAGES * (requesters / repliers) as u64);
    }
    for _ in 0..SAMPLES {
        am.mark();
        for word in 0..MESSAGES {
            am.request(requesters + rank % repliers, ECHO, word)?;
            compute(am, picoseconds);
        }
        am.mark();
        am.await_replies()?;
        am.mark();
    }
    Ok(())
}

fn compute(rank: &mut Recorder, picoseconds: u64) {
    rank.compute(Work::Chain(Delay { iterations: 0, picoseconds }));
}

/// One round of all, in which a rank sends to one and receives from one.
fn shift(comm: &mut Recorder, tag: u32, to: usize, from: usize) -> Result<(), CommError> {
    let size = comm.size();
    comm.send(to % size, tag, NOTHING)?;
    comm.recv(from % size, tag, NOTHING)
}

/// As [`shift`], after up to 2²⁰ ps that are others for every rank and round.
fn uneven(comm: &mut Recorder, tag: u32, to: usize, from: usize) -> Result<(), CommError> {
    let seed = (comm.rank() as u64) << 24 | u64::from(tag);
    compute(comm, seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 44);
    shift(comm, tag, to, from)
}

type Turn = fn(&mut Recorder, u32, usize, usize) -> Result<(), CommError>;

fn dissemination(comm: &mut Recorder, turn: Turn) -> Result<(), CommError> {
    let (rank, size) = (comm.rank(), comm.size());
    let rounds = size.next_power_of_two().ilog2();
    (0..rounds).try_for_each(|tag| turn(comm, tag, rank + (1 << tag), rank + size - (1 << tag)))
}

fn doubling(comm: &mut Recorder, turn: Turn) -> Result<(), CommError> {
    let (rank, rounds) = (comm.rank(), comm.size().ilog2());
    (0..rounds).try_for_each(|tag| turn(comm, tag, rank ^ 1 << tag, rank ^ 1 << tag))
}

fn ring(comm: &mut Recorder, turn: Turn) -> Result<(), CommError> {
    let (rank, size) = (comm.rank(), comm.size());
    (0..20).try_for_each(|tag| turn(comm, tag, rank + 1, rank + size - 1))
}

fn pairwise(comm: &mut Recorder) -> Result<(), CommError> {
    let (rank, size) = (comm.rank(), comm.size());
    (1..size).try_for_each(|by| shift(comm, 0, rank + by, rank + size - by))
}

/// The rounds of a tournament: whom a rank meets is no matter of its distance.
fn tournament(comm: &mut Recorder) -> Result<(), CommError> {
    let (rank, others) = (comm.rank(), comm.size() - 1);
    (0..others).try_for_each(|round| {
        let peer = match (2 * round + others - rank % others) % others {
            _ if rank == others => round,
            _ if rank == round => others,
            peer => peer,
        };
        comm.exchange(peer, 0, NOTHING, NOTHING)
    })
}

/// All sends first, then the receives: in their order, or from rank 0 on.
fn at_once(comm: &mut Recorder, sorted: bool) -> Result<(), CommError> {
    let (rank, size) = (comm.rank(), comm.size());
    (1..size).try_for_each(|by| comm.send((rank + by) % size, 0, NOTHING))?;
    match sorted {
        true => (0..size).filter(|from| *from != rank).try_for_each(|r| comm.recv(r, 0, NOTHING)),
        false => (1..size).try_for_each(|by| comm.recv((rank + size - by) % size, 0, NOTHING)),
    }
}

const LARGE: &[usize] = &[1 << 14, 1 << 16, 1 << 18, 1 << 20];

const PROGRAMS: &[(&str, &[usize], Program)] = &[
    ("pair", &[2], |am| flood(am, 1, 0)),
    ("pair-delta", &[2], |am| flood(am, 1, 16_000_000)),
    ("pairs", &[16], |am| flood(am, 8, 0)),
    ("fan-in", &[16], |am| flood(am, 15, 0)),
    ("barrier", LARGE, |comm| comm.barrier()),
    ("doubling", LARGE, |comm| doubling(comm, shift)),
    ("ring", LARGE, |comm| ring(comm, shift)),
    ("uneven", LARGE, |comm| dissemination(comm, uneven)),
    ("uneven-doubling", LARGE, |comm| doubling(comm, uneven)),
    ("uneven-ring", LARGE, |comm| ring(comm, uneven)),
    ("broadcast", LARGE, |comm| Broadcast::Binomial.run(comm, 0, NOTHING)),
    ("linear", &[1 << 20], |comm| Broadcast::Linear.run(comm, 0, NOTHING)),
    ("pairwise", &[1024, 4096], pairwise),
    ("tournament", &[1024, 4096], tournament),
    ("at-once", &[1024, 4096], |comm| at_once(comm, false)),
    ("at-once-sorted", &[1024, 4096], |comm| at_once(comm, true)),
];

/// The Paragon's times.
const COSTS: &str = "name = 'bench'\nsend_overhead_ns = 1400\nrecv_overhead_ns = 2200\n\
    gap_ns = 7600\nlatency_ns = 6350\n";

fn run(name: &str, size: usize, program: Program, machine: &Machine) {
    let start = Instant::now();
    let schedule = record(size, program).expect("the program names only its peers");
    let recorded = start.elapsed().as_secs_f64();
    let replay = replay(&schedule, machine).expect("the program ends");
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{name:16} {size:8} ranks: recorded in {recorded:.3} s ({} operations stored), all in \
         {seconds:.3} s, {} messages: {:.1} M messages/s; ends at {} ns, {} MiB at most so far",
        schedule.stored(),
        replay.messages,
        replay.messages as f64 / seconds / 1e6,
        replay.ends.iter().max().map_or(0, |end| end / 1000),
        peak(),
    );
}

/// The most memory that this process had, in MiB; 0 where the system does not say.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) / 1024
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let asked = |at: usize, what: &str| arguments.get(at).is_none_or(|asked| asked == what);
    let crossbar = format!("{COSTS}topology = 'crossbar'");
    let crossbar = Machine::parse(&crossbar, "crossbar").expect("a machine");
    for &(name, sizes, program) in PROGRAMS.iter().filter(|(name, ..)| asked(0, name)) {
        sizes.iter().filter(|size| asked(1, &size.to_string())).for_each(|size| {
            run(name, *size, program, &crossbar);
        });
    }
    let networks = [
        ("cube", "topology = 'hypercube'\ndimensions = 16"),
        ("torus", "topology = 'torus'\nrows = 256\ncolumns = 256"),
        ("fat-tree", "topology = 'fat_tree'\narity = 16\nlevels = 4"),
        (
            "dragonfly",
            "topology = 'dragonfly'\nrouters_per_group = 16\nnodes_per_router = 16\n\
             links_per_router = 16",
        ),
        ("hosts", "topology = 'hosts'\nhosts = 8192\nranks_per_host = 8"),
    ];
    for (name, network) in networks.into_iter().filter(|(name, _)| asked(0, name)) {
        let machine = Machine::parse(&format!("{COSTS}[network]\nhop_ns = 10\n{network}"), name)
            .expect("a machine");
        run(name, 1 << 16, |comm| comm.barrier(), &machine);
        run(name, 1 << 16, |comm| doubling(comm, shift), &machine);
    }
}
