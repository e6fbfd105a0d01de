//! Components of the hardware, from the times in one or two traces.

use bandgap_stats::Stream;
use bandgap_stats::interval::normal_factor;
use derive_more::Display;

use super::trace::Trace;
use crate::breakdown::{Errors, deviation};

/// One in this many posts is the least that makes a section of a trace.
const SHARE: u64 = 20;

/// A time in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timed {
    /// The time.
    pub ns: f64,
    /// Standard deviations by source; empty if unknown.
    pub errors: Errors,
    /// Number of samples; 0 if the time is not a mean.
    pub samples: u64,
}

/// Why a time cannot be derived from a trace.
#[derive(Clone, Copy, Debug, Display, PartialEq, Eq)]
#[display(rename_all = "snake_case")]
pub enum Why {
    /// Fewer than two posts (MWr of 64 bytes down).
    NoPosts,
    /// No completion (MWr of 64 bytes up).
    NoCompletions,
    /// No acknowledgement (ACK down), or none that covers a single completion.
    NoAcknowledgements,
    /// Payloads return between posts, so messages are not injected one after another.
    PingPong,
    /// Too few posts are pings, each alone between two pongs.
    NoPingPong,
    /// More writes of 64 bytes go up than there are posts: without addresses, answers cannot be
    /// told from completions.
    NoAddresses,
    /// No trace without a switch was given.
    NoDirectTrace,
    /// It needs LLP_post and LLP_prog, which are in no trace.
    NoSoftware,
    /// The result would be below 0: the traces are swapped, or the software's times are too long.
    Negative,
}

/// The time of a component, or why it is unknown.
pub type Known = Result<Timed, Why>;

/// Times of the low-level protocol, which no trace contains.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Software {
    /// LLP_post.
    pub post: Option<Timed>,
    /// LLP_prog.
    pub prog: Option<Timed>,
}

/// Times of the hardware, as derived from traces.
#[derive(Clone, Debug, PartialEq)]
pub struct Hardware {
    /// Time from one post to the next while messages are injected.
    pub injection: Known,
    /// *Formula*: half of the time from a completion to its acknowledgement.
    pub pcie: Known,
    /// *Formula*: half of the time from a ping to its completion.
    pub network: Known,
    /// *Formula*: Network of the trace without a switch.
    pub wire: Known,
    /// *Formula*: Network − Wire.
    pub switch: Known,
    /// *Formula*: time from a pong to the next ping − 2·PCIe − LLP_prog − LLP_post.
    pub rc_to_mem: Known,
}

/// The times between packets in a trace, with their names.
pub type Times<'a> = [(&'static str, &'a Stream); 4];

impl Trace {
    /// The times between packets; `None` before the trace is finished.
    pub fn streams(&self) -> Option<Times<'_>> {
        let (acks, rounds) = self.times()?;
        Some([
            ("injection", &rounds.posts),
            ("acknowledgement", &acks.round_trips),
            ("ping", &rounds.pings),
            ("pong", &rounds.pongs),
        ])
    }
}

impl Timed {
    /// The mean of a stream of picoseconds, with its error named after this trace; `None` without
    /// samples.
    fn of(stream: &Stream, of: &str, trace: &str) -> Option<Timed> {
        // Any level gives the same deviation, apart from the degrees of freedom.
        const LEVEL: f64 = 0.95;
        let off =
            stream.mean_interval(LEVEL).map(|of| of.half_width() / 1e3 / normal_factor(LEVEL));
        Some(Timed {
            ns: stream.mean()? / 1e3,
            errors: off.map(|off| (format!("{of} in {trace}"), off)).into_iter().collect(),
            samples: stream.count(),
        })
    }

    /// The weighted sum of times, which must not be below 0. An error that several times have in
    /// common counts once.
    fn sum(parts: &[(f64, &Timed)]) -> Known {
        let mut sum = Timed { samples: u64::MAX, ..Timed::default() };
        for (times, part) in parts {
            sum.ns += times * part.ns;
            if part.samples > 0 {
                sum.samples = sum.samples.min(part.samples);
            }
            for (source, error) in &part.errors {
                *sum.errors.entry(source.clone()).or_default() += times * error;
            }
        }
        if sum.ns >= 0.0 { Ok(sum) } else { Err(Why::Negative) }
    }

    /// Standard deviation.
    pub fn deviation(&self) -> Option<f64> {
        deviation(&self.errors)
    }
}

impl Hardware {
    /// From a trace, an optional trace without a switch, and times that are in neither. Traces are
    /// given with their names.
    pub fn of(
        (name, trace): (&str, &Trace),
        direct: Option<(&str, &Trace)>,
        software: &Software,
    ) -> Hardware {
        let (pcie, network) = (pcie(name, trace), network(name, trace));
        let wire =
            direct.map_or(Err(Why::NoDirectTrace), |(name, direct)| self::network(name, direct));
        let switch = || Timed::sum(&[(1.0, &network.clone()?), (-1.0, &wire.clone()?)]);
        let rc_to_mem = || {
            let turn = ping_pong(name, trace, "pong")?;
            let pcie = pcie.clone()?;
            let Software { post: Some(post), prog: Some(prog) } = software else {
                return Err(Why::NoSoftware);
            };
            Timed::sum(&[(1.0, &turn), (-2.0, &pcie), (-1.0, prog), (-1.0, post)])
        };
        let (switch, rc_to_mem) = (switch(), rc_to_mem());
        Hardware { injection: injection(name, trace), pcie, network, wire, switch, rc_to_mem }
    }
}

fn injection(name: &str, trace: &Trace) -> Known {
    let Some((_, rounds)) = trace.times() else { return Err(Why::NoPosts) };
    let (counted, found) = (trace.counted, rounds.posts.count());
    if counted.payloads == 0 && 2 * counted.completions > 3 * counted.posts && counted.posts > 0 {
        return Err(Why::NoAddresses);
    }
    if found * SHARE < found + rounds.answers {
        return Err(Why::PingPong);
    }
    Timed::of(&rounds.posts, "injection", name).ok_or(Why::NoPosts)
}

fn pcie(name: &str, trace: &Trace) -> Known {
    if trace.counted.completions == 0 {
        return Err(Why::NoCompletions);
    }
    let trips =
        trace.times().and_then(|(acks, _)| Timed::of(&acks.round_trips, "acknowledgement", name));
    trips.ok_or(Why::NoAcknowledgements).and_then(|trip| Timed::sum(&[(0.5, &trip)]))
}

/// The mean of a ping-pong's samples, if there are enough of them.
fn ping_pong(name: &str, trace: &Trace, of: &str) -> Known {
    let Some((_, rounds)) = trace.times() else { return Err(Why::NoPosts) };
    if trace.counted.posts == 0 {
        return Err(Why::NoPosts);
    }
    if trace.counted.completions == 0 {
        return Err(Why::NoCompletions);
    }
    let stream = if of == "pong" { &rounds.pongs } else { &rounds.pings };
    let enough = stream.count() > 0 && stream.count() * SHARE >= rounds.posts.count();
    enough.then(|| Timed::of(stream, of, name)).flatten().ok_or(Why::NoPingPong)
}

fn network(name: &str, trace: &Trace) -> Known {
    Timed::sum(&[(0.5, &ping_pong(name, trace, "ping")?)])
}
