//! `bandgap topology`.

use bandgap_host::Topology;
use bandgap_launch::{Agent, Classify, Exit, Result, Stage};
use bandgap_report::{Block, Cell, Head, Table};

use crate::args::{Output, Reach};
use crate::output::Sink;

/// A row for each host.
fn of_hosts(agents: &[Agent]) -> Table {
    let heads = ["host", "processors", "cores", "packages", "memory nodes", "address"];
    let mut table = Table::new(heads.map(Head::new));
    for Agent { host, hello, .. } in agents {
        let of = hello.topology.summary();
        let processors = format!("{} (allowed {})", of.online, of.allowed);
        let address = hello.address.map_or(String::new(), |address| address.to_string());
        let [cores, packages, nodes] = [of.cores, of.packages, of.nodes].map(|of| of.to_string());
        let row = [host.clone(), processors, cores, packages, nodes, address];
        table.push(row.map(Cell::from));
    }
    table
}

/// Prints processors, caches, memory nodes, and a pair of processors for each distance.
///
/// # Errors
/// The machine does not show its processors, or the record cannot be written.
pub fn run(output: &Output, reach: &Reach) -> Result<Exit> {
    reach.check(false)?;
    let mut sink = Sink::open(&output.only_asked(), "topology", 0)?;
    if let Some(hosts) = reach.hosts()? {
        let mut stage = Stage::new(|| ())?;
        stage.reach(hosts)?;
        sink.hosts(&stage.agents());
        sink.say([Block::Table(of_hosts(&stage.agents()))]);
        return sink.close(Exit::Fine);
    }
    let topology = Topology::read().class(Exit::Host)?;
    let summary = topology.summary();
    let pairs = topology.pairs_by_distance();
    sink.described(&serde_json::json!({
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
    sink.say([Block::Table(facts), Block::section("distances", "")]);
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
