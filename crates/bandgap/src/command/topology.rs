//! `bandgap topology`.

use std::fmt::Write;

use bandgap_host::{Distance, Topology, TopologySummary};
use bandgap_launch::{Classify, Exit, Failure};

use crate::args::{Measure, Output};
use crate::output::Sink;

/// Shows processors, caches and memory nodes, and one pair for each distance.
///
/// # Errors
/// The machine does not show its processors, or the record cannot be written.
pub fn run(measure: &Measure, output: &Output) -> Result<Exit, Failure> {
    let mut sink = Sink::open(&output.only_asked(), "topology", measure)?;
    let topology = Topology::read().class(Exit::Host)?;
    let summary = topology.summary();
    let pairs = topology.pairs_by_distance();
    sink.host(&serde_json::json!({
        "topology": topology, "summary": summary, "pairs_by_distance": pairs,
    }));
    let exit = sink.add_below(&describe(&summary, &pairs), Vec::new())?;
    sink.close(exit)
}

fn describe(summary: &TopologySummary, pairs: &[(Distance, (usize, usize))]) -> String {
    let mut text = String::new();
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    // Writing to a string does not fail.
    let _ = writeln!(
        text,
        "processors {} (allowed {}): {} core{}, {} thread{} each, {} package{}, {} memory node{}",
        summary.online,
        summary.allowed,
        summary.cores,
        plural(summary.cores),
        summary.threads_per_core,
        plural(summary.threads_per_core),
        summary.packages,
        plural(summary.packages),
        summary.nodes,
        plural(summary.nodes),
    );
    for cache in &summary.caches {
        let size = cache.size.map_or_else(|| "unknown size".to_owned(), |size| size.to_string());
        let _ = writeln!(
            text,
            "L{} {:<12} {} × {size}, each shared by {}",
            cache.level,
            format!("{:?}", cache.kind).to_lowercase(),
            cache.count,
            cache.shared_by,
        );
    }
    let _ = writeln!(text, "\n{:<10} {:>4}  pair of processors", "distance", "");
    for (distance, (a, b)) in pairs {
        let _ = writeln!(text, "{:<15}  {a},{b}", distance.to_string());
    }
    let (a, b) = pairs.last().map_or((0, 1), |(_, farthest)| *farthest);
    let _ = writeln!(
        text,
        "\nMeasure between two of them with --cores, as in: bandgap signature --cores {a},{b}"
    );
    text
}
