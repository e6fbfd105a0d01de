//! The components of the hardware, from the times in one or two traces.

use bandgap_stats::Stream;

use super::trace::Read;

/// Of fewer samples a mean is not what the paper calls measured.
/// *Source*: "Breaking Band", section 3: "each reported measurement is a mean of at least 100 samples".
pub const ENOUGH: u64 = 100;

/// What is less than this share of the posts does not make a section of a trace.
const SHARE: u64 = 20;

/// A time in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timed {
    /// The time.
    pub ns: f64,
    /// Half the width of its interval; `None` where there is none.
    pub half: Option<f64>,
    /// Values that the interval rests on.
    pub values: u64,
    /// Samples.
    pub samples: u64,
}

impl Timed {
    /// The mean of a stream of picoseconds; `None` without samples.
    pub fn of(stream: &Stream, confidence: f64) -> Option<Timed> {
        Some(Timed {
            ns: stream.mean()? / 1e3,
            half: stream.mean_interval(confidence).map(|interval| interval.half_width() / 1e3),
            values: stream.batches() as u64,
            samples: stream.count(),
        })
    }

    /// A time without an interval.
    pub fn given(ns: f64, half: Option<f64>) -> Timed {
        Timed { ns, half, values: 1, samples: 1 }
    }

    fn half_of(self) -> Timed {
        Timed { ns: self.ns / 2.0, half: self.half.map(|half| half / 2.0), ..self }
    }

    /// The sum of times, each so many times over. Their errors are independent. One without an interval
    /// adds nothing to that of the sum.
    fn sum(parts: &[(f64, Timed)]) -> Timed {
        let squares = parts.iter().filter_map(|(times, part)| Some((times * part.half?).powi(2)));
        let squares: Vec<f64> = squares.collect();
        let least = |of: fn(&Timed) -> u64| {
            let measured = parts.iter().map(|(_, part)| of(part)).filter(|count| *count > 1);
            measured.min().unwrap_or(1)
        };
        Timed {
            ns: parts.iter().map(|(times, part)| times * part.ns).sum(),
            half: (!squares.is_empty()).then(|| squares.iter().sum::<f64>().sqrt()),
            values: least(|part| part.values),
            samples: least(|part| part.samples),
        }
    }
}

/// A component that is known, or why it is not.
pub type Known = Result<Timed, String>;

/// Times of the low-level protocol that a trace does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Software {
    /// LLP_post.
    pub post: Option<Timed>,
    /// LLP_prog.
    pub prog: Option<Timed>,
}

/// What traces say of the hardware.
#[derive(Clone, Debug, PartialEq)]
pub struct Hardware {
    /// From one post to the next while messages are injected.
    pub injection: Known,
    /// *Formula*: half of the time from a completion to its acknowledgement.
    pub pcie: Known,
    /// *Formula*: half of the time from a ping to its completion.
    pub network: Known,
    /// *Formula*: Network of the trace without a switch.
    pub wire: Known,
    /// *Formula*: Network − Wire.
    pub switch: Known,
    /// *Formula*: time from a pong to the next ping.
    pub turn: Known,
    /// *Formula*: the same − 2·PCIe − LLP_prog − LLP_post.
    pub rc_to_mem: Known,
}

impl Hardware {
    /// From a trace, another one without a switch, and times that are not in them.
    pub fn of(
        trace: &Read,
        direct: Option<&Read>,
        software: Software,
        confidence: f64,
    ) -> Hardware {
        let pcie = pcie(trace, confidence);
        let network = network(trace, confidence);
        let wire = match direct {
            None => Err("there is no trace without a switch".to_owned()),
            Some(direct) => network_in(direct, confidence, "in the trace without a switch: "),
        };
        let switch = match (&network, &wire) {
            (Ok(network), Ok(wire)) => {
                not_negative(Timed::sum(&[(1.0, *network), (-1.0, *wire)]), |ns| {
                    format!(
                        "Network is {ns} ns shorter with the switch than without: are the traces \
                         exchanged?"
                    )
                })
            }
            (Err(why), _) | (_, Err(why)) => Err(why.clone()),
        };
        let turn = turn(trace, confidence);
        let rc_to_mem = rc_to_mem(&turn, &pcie, software);
        let injection = injection(trace, confidence);
        Hardware { injection, pcie, network, wire, switch, turn, rc_to_mem }
    }
}

/// A time that is not negative, or what is wrong.
fn not_negative(time: Timed, why: impl Fn(String) -> String) -> Known {
    if time.ns >= 0.0 { Ok(time) } else { Err(why(format!("{:.2}", -time.ns))) }
}

fn injection(trace: &Read, confidence: f64) -> Known {
    let rounds = &trace.rounds;
    let (counted, found) = (trace.counted, rounds.posts.count());
    let pairs = found + rounds.answers;
    if counted.posts < 2 {
        return Err(match counted.posts {
            0 => "the trace has no post (MWr of 64 bytes down)".to_owned(),
            _ => "the trace has only one post".to_owned(),
        });
    }
    if counted.payloads == 0 && 2 * counted.completions > 3 * counted.posts {
        return Err(format!(
            "{} writes of 64 bytes go up for {} posts: answers among them cannot be told from completions \
             without addresses",
            counted.completions, counted.posts
        ));
    }
    if pairs == 0 {
        return Err("packets are missing between all posts".to_owned());
    }
    if found * SHARE < pairs || found == 0 {
        return Err(format!(
            "payloads come back between {} of {pairs} pairs of posts: it is a ping-pong, and messages are \
             not injected one after another",
            rounds.answers
        ));
    }
    Timed::of(&rounds.posts, confidence).ok_or_else(String::new)
}

fn pcie(trace: &Read, confidence: f64) -> Known {
    let acks = &trace.acks;
    Timed::of(&acks.round_trips, confidence).map(Timed::half_of).ok_or_else(|| {
        if trace.counted.completions == 0 {
            return "the trace has no completion (MWr of 64 bytes up)".to_owned();
        }
        if trace.counted.acknowledgements == 0 {
            return "the trace has no acknowledgement (ACK down)".to_owned();
        }
        format!(
            "no acknowledgement is that of one completion alone: {} have no packet, {} completions are \
             acknowledged with others",
            acks.alone, acks.shared
        )
    })
}

/// Samples of a ping-pong, if they are so many that there is one.
fn of_ping_pong<'a>(trace: &Read, stream: &'a Stream) -> Result<&'a Stream, String> {
    let counted = trace.counted;
    if counted.posts == 0 {
        return Err("the trace has no post (MWr of 64 bytes down)".to_owned());
    }
    if counted.completions == 0 {
        return Err("the trace has no completion (MWr of 64 bytes up)".to_owned());
    }
    if stream.count() > 0 && stream.count() * SHARE >= trace.rounds.posts.count() {
        return Ok(stream);
    }
    if counted.payloads == 0 {
        return Err(
            "no payload comes back: it is no ping-pong, and which completion belongs to which \
                    post is not known"
                .to_owned(),
        );
    }
    Err(format!(
        "only {} of {} posts are a ping by themselves, between pongs",
        stream.count(),
        counted.posts
    ))
}

fn network_in(trace: &Read, confidence: f64, place: &str) -> Known {
    network(trace, confidence).map_err(|why| format!("{place}{why}"))
}

fn network(trace: &Read, confidence: f64) -> Known {
    let pings = of_ping_pong(trace, &trace.rounds.pings)?;
    Timed::of(pings, confidence).map(Timed::half_of).ok_or_else(String::new)
}

fn turn(trace: &Read, confidence: f64) -> Known {
    let pongs = of_ping_pong(trace, &trace.rounds.pongs)?;
    Timed::of(pongs, confidence).ok_or_else(String::new)
}

fn rc_to_mem(turn: &Known, pcie: &Known, software: Software) -> Known {
    let turn = turn.as_ref().map_err(String::clone)?;
    let pcie = pcie.as_ref().map_err(|why| format!("it takes PCIe, and {why}"))?;
    let (post, prog) = match (software.post, software.prog) {
        (Some(post), Some(prog)) => (post, prog),
        (None, Some(_)) => return Err("it takes LLP_post, which no trace has".to_owned()),
        (Some(_), None) => return Err("it takes LLP_prog, which no trace has".to_owned()),
        (None, None) => {
            return Err("it takes LLP_post and LLP_prog, which no trace has".to_owned());
        }
    };
    let time = Timed::sum(&[(1.0, *turn), (-2.0, *pcie), (-1.0, prog), (-1.0, post)]);
    not_negative(time, |ns| {
        format!(
            "2·PCIe + LLP_prog + LLP_post is {ns} ns longer than the {:.2} ns from a pong to the next ping",
            turn.ns
        )
    })
}
