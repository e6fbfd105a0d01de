//! A timeline in the JSON of Chrome's tracing, which Perfetto reads.

use std::collections::HashMap;
use std::io::{self, Write};

use serde::{Serialize, Serializer};
use serde_json::json;

use crate::goal::PathStep;
use crate::timeline::{Seen, Span};

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
    seen: &'a Seen,
}

/// Writes what is seen, event by event: a track for each processor of a rank, and one for the critical path.
///
/// # Errors
/// It cannot be written.
pub fn write_perfetto(seen: &Seen, to: &mut dyn Write) -> io::Result<()> {
    Ok(serde_json::to_writer(to, &Trace { unit: "ns", seen })?)
}

fn events<S: Serializer>(of: &Seen, to: S) -> Result<S::Ok, S::Error> {
    let Seen { timeline: seen, window, machine } = of;
    let named = |what: &str, pid: u8, tid: u32, name: String| json!({"ph": "M", "name": what, "pid": pid, "tid": tid, "args": {"name": name}});
    let processes = [(RANKS, format!("ranks on {machine}")), (PATH, "critical path".to_owned())];
    let processes = processes.map(|(pid, name)| named("process_name", pid, 0, name));
    let tracks = window.ranks.iter();
    let tracks = tracks.map(|rank| named("thread_name", RANKS, *rank, format!("rank {rank}")));
    // A flow has both its ends in view.
    let mut ends: HashMap<u64, u8> = HashMap::new();
    for message in seen.spans.iter().filter_map(|span| span.message) {
        *ends.entry(message).or_default() += 1;
    }
    let of_span = |span: &Span| {
        let cat = if span.is_critical { "critical" } else { "other" };
        let tid = u64::from(span.cpu) * seen.ranks as u64 + u64::from(span.rank);
        let (ts, took) = (span.begin as f64 / MICRO, (span.end - span.begin) as f64 / MICRO);
        let slice = json!({
            "ph": "X", "name": span.part, "cat": cat, "pid": RANKS, "tid": tid, "ts": ts, "dur": took,
            "args": {"peer": span.peer, "bytes": span.bytes},
        });
        // It ends at the slice around it.
        let ph = if span.part == "send" { "s" } else { "f" };
        let flow = span.message.filter(|message| ends[message] == 2).map(|message| {
            json!({
                "ph": ph, "bp": "e", "name": "message", "cat": cat, "id": message, "pid": RANKS,
                "tid": tid, "ts": ts,
            })
        });
        [Some(slice), flow]
    };
    let is_shown =
        |step: &&PathStep| step.end as u64 >= window.from && step.begin as u64 <= window.until;
    let steps = seen.path.steps.iter().filter(is_shown).map(|step| {
        let (ts, took) = (step.begin as f64 / MICRO, (step.end - step.begin) as f64 / MICRO);
        json!({
            "ph": "X", "name": step.part, "cat": "critical", "pid": PATH, "tid": 0, "ts": ts, "dur": took,
            "args": {"rank": step.rank, "operation": step.place.number},
        })
    });
    let spans = seen.spans.iter().flat_map(of_span).flatten();
    to.collect_seq(processes.into_iter().chain(tracks).chain(spans).chain(steps))
}
