//! `bandgap topology`.

use bandgap_host::Topology;
use bandgap_launch::{Classify, Exit, Failure};
use bandgap_report::{Block, Cell, Head, Table};

use crate::args::Output;
use crate::output::Sink;

/// Shows processors, caches and memory nodes, and one pair for each distance.
///
/// # Errors
/// The machine does not show its processors, or the record cannot be written.
pub fn run(output: &Output) -> Result<Exit, Failure> {
    let mut sink = Sink::open(&output.only_asked(), "topology", 0)?;
    let topology = Topology::read().class(Exit::Host)?;
    let summary = topology.summary();
    let pairs = topology.pairs_by_distance();
    sink.host(&serde_json::json!({
        "topology": topology, "summary": summary, "pairs_by_distance": pairs,
    }));
    let mut facts = Table::new(["", ""].map(Head::new));
    for (what, value) in [
        ("processors", format!("{} (allowed {})", summary.online, summary.allowed)),
        ("cores", format!("{}, {} threads each", summary.cores, summary.threads_per_core)),
        ("packages", summary.packages.to_string()),
        ("memory nodes", summary.nodes.to_string()),
    ] {
        facts.push([Cell::from(what), value.into()]);
    }
    for cache in &summary.caches {
        let size = cache.size.map_or_else(|| "unknown size".to_owned(), |size| size.to_string());
        let kind = format!("L{} {:?}", cache.level, cache.kind).to_lowercase();
        let value = format!("{} × {size}, each shared by {}", cache.count, cache.shared_by);
        facts.push([Cell::from(kind), value.into()]);
    }
    let mut distances = Table::new(["distance", "a pair of processors"].map(Head::new));
    for (distance, (a, b)) in &pairs {
        distances.push([Cell::from(distance.to_string()), format!("{a},{b}").into()]);
    }
    sink.say([Block::Table(facts), Block::Gap]);
    let hint = match pairs.last() {
        Some((_, (a, b))) => {
            sink.say([Block::Table(distances)]);
            format!("Measure between two of them: bandgap signature --cores {a},{b}")
        }
        None => "One core is allowed here; ranks would share it. Allow another (taskset, or the cpuset of the \
                 container or job)."
            .to_owned(),
    };
    sink.say([Block::Text(hint)]);
    sink.close(Exit::Fine)
}
