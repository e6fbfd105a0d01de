//! Files of simulated machines, damaged at random.

use std::fs;
use std::path::Path;

use bandgap_sim::Machine;
use proptest::prelude::*;

use crate::damaged::{cases, damaged};

const TORUS: &str = "name = \"t\"\nsend_overhead_ns = 1\nrecv_overhead_ns = 1\ngap_ns = 1\nlatency_ns = 1\nranks = 9\n\
    [network]\ntopology = \"torus\"\nrows = 3\ncolumns = 3\nhop_ns = 400\n\
    [[protocol]]\nup_to_bytes = 512\nsend_overhead_ns = 1\nrecv_overhead_ns = 2\nlatency_ns = 3\ngap_per_byte_ns = 4\n\
    [[protocol]]\nsend_overhead_ns = 1\nrecv_overhead_ns = 2\nlatency_ns = 3\ngap_per_byte_ns = 7.1\nhop_ns = 1200\n\
    [variation]\nsigma = 0.1\nfactor = 3\nshare = 0.3\nper = \"launch\"\n";

/// The machines that are built in, and one with a network.
fn examples() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("machines");
    let files = fs::read_dir(folder).unwrap();
    let built_in = files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
    built_in.chain([TORUS.to_owned()]).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(2000), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_damaged_file_is_a_machine_that_can_be_simulated_or_is_refused(text in damaged(examples())) {
        if let Ok(machine) = Machine::parse(&text, "damaged") {
            let nodes = machine.network.size();
            prop_assert!((1..=nodes).contains(&machine.ranks), "{} of {nodes}", machine.ranks);
            prop_assert!(machine.capacity > 0 && machine.gap > 0);
            let far = machine.network.distance(0, machine.ranks - 1);
            prop_assert!(far <= machine.network.diameter());
            let _ = machine.daxpy(u32::MAX);
            prop_assert!(machine.of_launch(1, 2).gap > 0);
        }
    }
}
