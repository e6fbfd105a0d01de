//! Simulated machines.

use bandgap_sim::Machine;

use crate::{Shape, Target, Verdict};

pub(super) const MACHINE: Target = Target {
    name: "machine",
    about: "simulated machines in TOML",
    shape: Shape::Lines,
    real: &["crates/sim/machines", "docs/examples/two-rooms.toml"],
    made: || vec![TORUS.to_vec()],
    wrong: Vec::new,
    words: &[
        "name",
        "send_overhead_ns",
        "recv_overhead_ns",
        "gap_ns",
        "latency_ns",
        "gap_per_byte_ns",
        "capacity",
        "ranks",
        "topology",
        "progress",
        "nonblocking_ns",
        "daxpy_ns",
        "[network]",
        "rows",
        "columns",
        "dimensions",
        "arity",
        "levels",
        "hop_ns",
        "[[protocol]]",
        "up_to_bytes",
        "\"torus\"",
        "\"mesh\"",
        "\"hypercube\"",
        "\"fat_tree\"",
        "\"crossbar\"",
        "\"synchronous\"",
        "\"\\u001b[2J\"",
        "1048576",
        "1048577",
    ],
    read,
    share: 10,
};

const TORUS: &[u8] = b"name = \"t\"
send_overhead_ns = 1
recv_overhead_ns = 1
gap_ns = 1
latency_ns = 1
ranks = 9
[network]
topology = \"torus\"
rows = 3
columns = 3
hop_ns = 400
[[protocol]]
up_to_bytes = 512
send_overhead_ns = 1
recv_overhead_ns = 2
latency_ns = 3
gap_per_byte_ns = 4
[[protocol]]
send_overhead_ns = 1
recv_overhead_ns = 2
latency_ns = 3
gap_per_byte_ns = 7.1
hop_ns = 1200
";

fn read(input: &[u8]) -> Verdict {
    let Ok(text) = str::from_utf8(input) else { return Verdict::Refused };
    let read = Machine::parse(text, "input");
    match &read {
        Ok(machine) => {
            let nodes = machine.topology().size();
            assert!((1..=nodes).contains(&machine.ranks), "{} of {nodes}", machine.ranks);
            assert!(machine.capacity > 0 && machine.gap > 0);
            let (first, last) = (0, machine.ranks - 1);
            assert!(machine.topology().distance(first, last) <= machine.topology().diameter());
            let _ = machine.daxpy(u32::MAX);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    Verdict::from(&read)
}
