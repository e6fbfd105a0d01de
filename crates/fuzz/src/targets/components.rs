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
    about: "components and models: TOML and CSV",
    shape: Shape::Lines,
    real: &["docs/examples/sockets.toml", "crates/record/presets"],
    made: || vec![CSV.to_vec(), SMALL.to_vec()],
    wrong: || vec![LONG.to_vec(), WIDE.to_vec(), tiny("observed_ns"), tiny("time_ns")],
    words: &[
        "[[component]]",
        "[[model]]",
        "[[figure]]",
        "[[insight]]",
        "[[curves]]",
        "[[case]]",
        "name",
        "formula",
        "time_ns",
        "time",
        "spread_ns",
        "part_of",
        "apart",
        "observed_ns",
        "observed_spread_ns",
        "provenance",
        "main",
        "sum:all",
        "sum:network",
        "max(",
        "@target",
        "@initiator",
        "cpu",
        "io",
        "network",
        "hlp",
        "llp",
        "hardware",
        "both",
        "measured",
        "derived",
        "assumed",
        "ratio",
        "share",
        "most",
        "by",
        "only",
        "reduce",
        "increase",
        "set",
        "'''",
        "\"\"\"",
        "{ a = 1 }",
    ],
    read,
    share: 4,
};

const CSV: &[u8] = b"name,category,layer,side,time_ns,spread_ns,provenance
llp_post,cpu,llp,initiator,175.42,3,measured
pcie,io,hardware,both,137.49,,
network,network,hardware,network,382.81,1,derived
";

const SMALL: &[u8] = b"name = \"two\"
[[component]]
name = \"send\"
category = \"cpu\"
layer = \"llp\"
side = \"initiator\"
time = \"1.5us\"
[[component]]
name = \"half\"
category = \"io\"
layer = \"hardware\"
side = \"both\"
formula = \"send / 2 + sum:network\"
[[model]]
name = \"m\"
formula = \"max(send, 2 * half) + half@target - sum:io\"
[[case]]
name = \"faster\"
reduce = { send = \"50%\" }
";

/// A time that has no square.
const LONG: &[u8] = b"name,category,layer,side,time_ns
a,cpu,llp,target,1e160
";

/// A spread that has no square.
const WIDE: &[u8] = b"name,category,layer,side,time_ns,spread_ns
a,cpu,llp,target,1,1e160
";

/// A time by which nothing can be divided.
fn tiny(key: &str) -> Vec<u8> {
    let (time, observed) = if key == "time_ns" { ("1e-320", "1") } else { ("1", "1e-320") };
    format!(
        "name = \"t\"\n[[component]]\nname = \"a\"\ncategory = \"cpu\"\nlayer = \"llp\"\nside = \"both\"\n\
         time_ns = {time}\n[[model]]\nname = \"m\"\nformula = \"a\"\nobserved_ns = {observed}\n"
    )
    .into_bytes()
}

fn read(input: &[u8]) -> Verdict {
    let table = match read_component_table(input) {
        Ok(table) => table,
        Err(_) => return Verdict::Refused,
    };
    let again = read_component_table(table.to_toml().as_bytes());
    let again = again.expect("what was read and written can be read").stack;
    assert_eq!(again.components(), table.stack.components());
    assert!(again.models().eq(table.stack.models()));
    let rule = Rule { precision: 0.05, stamp: 0.0 };
    let result = breakdown(&table, rule, 0.95).expect("what is accepted can be recorded");
    let page = text(&[Outcome::from(result)], &Layout::default());
    assert!(!page.is_empty());
    // Without a main model that takes any time there is no question.
    match whatif(&table, &[], None, rule, 0.95) {
        Ok(result) => assert!(!text(&[Outcome::from(result)], &Layout::default()).is_empty()),
        Err(AssembleError::Stack(_)) => {}
        Err(error) => panic!("what is accepted can be asked about: {error}"),
    }
    Verdict::Accepted
}
