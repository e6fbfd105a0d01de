//! Tables of components and models.

use bandgap_record::read_component_table;
use bandgap_report::Layout;
use bandgap_results::breakdown::assemble::breakdown;
use bandgap_results::whatif::assemble::whatif;
use bandgap_results::{AssembleError, Outcome, text};
use bandgap_stats::Rule;

use crate::{Shape, Target, Verdict};

pub(super) const TABLE: Target = Target {
    name: "component-table",
    about: "components and models: CSV",
    shape: Shape::Lines,
    real: &["docs/examples/sockets.csv", "crates/record/presets"],
    made: || vec![CSV.to_vec(), SMALL.to_vec()],
    wrong: || vec![row("1e160,,"), row("1,1e160,"), row("1e-320,,"), row("1,,1e300")],
    words: &[
        "name",
        "category",
        "layer",
        "side",
        "time_ns",
        "spread_ns",
        "provenance",
        "observed",
        "observed_spread",
        "parameter",
        "1/c",
        "-1/64",
        "cpu",
        "io",
        "network",
        "hlp",
        "llp",
        "hardware",
        "initiator",
        "target",
        "both",
        "measured",
        "derived",
        "assumed",
    ],
    read,
    share: 4,
};

const CSV: &[u8] = b"name,category,layer,side,time_ns,spread_ns,provenance
llp_post,cpu,llp,initiator,175.42,3,measured
pcie,io,hardware,both,137.49,,
network,network,hardware,network,382.81,1,derived
";

const SMALL: &[u8] = b"name,category,layer,side,time_ns,m,m,n
c,parameter,,,4,,,
send,cpu,llp,initiator,1500,1,,1/c
send,cpu,hlp,initiator,,,,-1/4
half,io,hardware,both,70,2,,
way,network,hardware,network,70,,3,1
observed,observed,,,,1600,,
observed_spread,observed_spread,,,,3,,
";

/// A table of one component, with numbers that cannot be counted with.
fn row(numbers: &str) -> Vec<u8> {
    format!("name,category,layer,side,time_ns,spread_ns,m\na,cpu,llp,target,{numbers}\n").into()
}

fn read(input: &[u8]) -> Verdict {
    let table = match read_component_table(input) {
        Ok(table) => table,
        Err(_) => return Verdict::Refused,
    };
    let written = table.to_csv().expect("what was read can be written");
    let again = read_component_table(&written[..]);
    let again = again.expect("what was read and written can be read").stack;
    assert_eq!(again.components, table.stack.components);
    let rule = Rule { precision: 0.05, stamp: 0.0 };
    let result = breakdown(&table, rule, 0.95).expect("what is accepted can be recorded");
    assert!(result.table().is_ok());
    let page = text(&[Outcome::from(result)], &Layout::default());
    assert!(!page.is_empty());
    // Without a main model that takes any time there is no question.
    match whatif(&table, &[], None, rule, 0.95) {
        Ok(result) => assert!(!text(&[Outcome::from(result)], &Layout::default()).is_empty()),
        Err(AssembleError::Components(_)) => {}
        Err(error) => panic!("what is accepted can be asked about: {error}"),
    }
    Verdict::Accepted
}
