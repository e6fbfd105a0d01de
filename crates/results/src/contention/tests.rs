use super::*;
use crate::measured::examples::{number, time};

pub(crate) fn sample() -> Contention {
    // The paper's table 5: Meiko, K = 15 gives 16.8.
    let row = |requesters, gap, ratio| ContentionRow {
        requesters,
        gap: time(gap, true),
        ratio: number(ratio),
    };
    Contention {
        pattern: Pattern::FanIn,
        transport: "sim:meiko".into(),
        lost_launches: Vec::new(),
        findings: Vec::new(),
        rows: vec![row(1, 13_600.0, 1.0), row(7, 97_000.0, 7.13), row(15, 228_480.0, 16.8)],
    }
}

#[test]
fn contention_stands_beside_the_expectation() {
    insta::assert_snapshot!(sample().text(&Among::new([]), &Layout::default()));
}

#[test]
fn the_confidence_that_was_asked_for_heads_the_intervals() {
    let text = |confidence| {
        let confidence = bandgap_units::Fraction(confidence);
        sample().text(&Among::new([]), &Layout { confidence, ..Layout::default() })
    };
    assert_eq!([text(0.95), text(0.9)].map(|it| it.matches("95 % interval").count()), [2, 0]);
    assert_eq!(text(0.9).matches("90 % interval").count(), 2);
}

#[test]
fn a_gap_that_scatters_is_a_doubt() {
    let mut one = sample();
    assert_eq!(one.verdict(), Verdict::Good);
    one.rows[1].gap.converged = false;
    let named = Shown::quantities(&one)[1].0.clone();
    assert!(named.starts_with("gap of "), "{named}");
    assert_eq!(one.verdict(), Verdict::Doubtful(vec![named]));
}
