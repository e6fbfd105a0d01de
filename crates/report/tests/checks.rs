//! The table of checks.

use bandgap_report::{Check, Grade, Layout, checks};

#[test]
fn checks_end_with_a_verdict() {
    let check = |name, grade, found, advice| Check { name, grade, found, advice };
    let good = check("clock", Grade::Good, "invariant TSC, 2.596 GHz, one step is 10.0 ns", "");
    let warned = check(
        "frequency governor",
        Grade::Warning,
        "powersave on cores 0-1",
        "choose the performance governor: cpupower frequency-set -g performance",
    );
    let bad = check("cores", Grade::Bad, "one core only", "give the machine a second core");
    let note = check("MPI", Grade::Note, "none found", "");
    let layout = Layout::default();
    insta::assert_snapshot!(checks(&[good, warned, note], &layout));
    assert!(checks(&[good], &layout).ends_with("This machine is fit to measure on.\n"));
    assert!(
        checks(&[warned, bad], &layout)
            .ends_with("Not fit to measure on: 1 of 2 checks are bad.\n")
    );
}
