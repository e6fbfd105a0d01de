//! A timeline in the JSON of Chrome's tracing, which Perfetto reads.

use std::collections::HashMap;
use std::io::{self, Write};

use bandgap_sim::{PathStep, Span, Timeline, Window};
use serde::{Serialize, Serializer};

/// Picoseconds of a microsecond, the unit of these files.
const MICRO: f64 = 1e6;
/// The process of the ranks, and that of the critical path.
const RANKS: u8 = 0;
const PATH: u8 = 1;

#[derive(Serialize)]
struct Trace<'a> {
    #[serde(rename = "displayTimeUnit")]
    unit: &'static str,
    #[serde(rename = "traceEvents", serialize_with = "events")]
    seen: &'a (Timeline, Window),
}

/// An event; the names are the format's.
#[derive(Default, Serialize)]
struct Event {
    name: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    cat: &'static str,
    ph: &'static str,
    pid: u8,
    tid: u64,
    ts: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    /// That a flow ends at the slice around it.
    #[serde(skip_serializing_if = "Option::is_none")]
    bp: Option<&'static str>,
    args: Args,
}

#[derive(Default, Serialize)]
struct Args {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rank: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    peer: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    operation: Option<u32>,
}

/// Writes what is seen, event by event: a track for each processor of a rank, and one for the critical path.
///
/// # Errors
/// It cannot be written.
pub fn write(seen: &(Timeline, Window), to: &mut dyn Write) -> io::Result<()> {
    Ok(serde_json::to_writer(to, &Trace { unit: "ns", seen })?)
}

fn events<S: Serializer>((seen, window): &(Timeline, Window), to: S) -> Result<S::Ok, S::Error> {
    let track = |rank: u32, cpu: u8| u64::from(cpu) * seen.ranks as u64 + u64::from(rank);
    let named = |name, pid, tid, of: String| Event {
        name,
        ph: "M",
        pid,
        tid,
        args: Args { name: Some(of), ..Args::default() },
        ..Event::default()
    };
    let processes = [(RANKS, "ranks"), (PATH, "critical path")];
    let processes = processes.map(|(pid, name)| named("process_name", pid, 0, name.to_owned()));
    let tracks = window
        .ranks
        .iter()
        .map(|rank| named("thread_name", RANKS, track(*rank, 0), format!("rank {rank}")));
    let slice = |span: &Span| Event {
        name: span.part,
        cat: if span.is_critical { "critical" } else { "other" },
        ph: "X",
        pid: RANKS,
        tid: track(span.rank, span.cpu),
        ts: span.begin as f64 / MICRO,
        dur: Some((span.end - span.begin) as f64 / MICRO),
        args: Args { peer: span.peer, bytes: span.bytes, ..Args::default() },
        ..Event::default()
    };
    // A flow has both its ends in view.
    let mut ends: HashMap<u64, u8> = HashMap::new();
    for message in seen.spans.iter().filter_map(|span| span.message) {
        *ends.entry(message).or_default() += 1;
    }
    let flow = |span: &Span| {
        let message = span.message.filter(|message| ends[message] == 2)?;
        let (ph, bp) = if span.part == "send" { ("s", None) } else { ("f", Some("e")) };
        let Event { pid, tid, ts, cat, .. } = slice(span);
        Some(Event {
            name: "message",
            cat,
            ph,
            pid,
            tid,
            ts,
            id: Some(message),
            bp,
            ..Event::default()
        })
    };
    let shown =
        |step: &&PathStep| step.end as u64 >= window.from && step.begin as u64 <= window.until;
    let steps = seen.path.steps.iter().filter(shown).map(|step| Event {
        name: step.part,
        cat: "critical",
        ph: "X",
        pid: PATH,
        ts: step.begin as f64 / MICRO,
        dur: Some((step.end - step.begin) as f64 / MICRO),
        args: Args { rank: Some(step.rank), operation: Some(step.place.number), ..Args::default() },
        ..Event::default()
    });
    let spans = seen.spans.iter().flat_map(|span| [Some(slice(span)), flow(span)]).flatten();
    to.collect_seq(processes.into_iter().chain(tracks).chain(spans).chain(steps))
}
