use super::*;
use crate::tests::Synthetic;
use bandgap_campaign::Described;

/// Rounds of each launch, each with T_b, T_n, T_x, T_c, T_o of 8 B beside 10 elements.
fn of(rounds: &[[f64; 5]]) -> Synthetic {
    let mut of = Synthetic::new();
    let keys = OverlapMode::ALL.map(|mode| Cell::of(mode, 8, 10).key());
    of.point(&keys[0], Described::default().at("bytes", 8_u32).at("elements", 10_u32));
    for launch in 0..2 {
        for (round, row) in rounds.iter().enumerate() {
            for (key, ns) in keys.iter().zip(row) {
                of.batch(key, *ns, (launch, round as u32));
            }
        }
    }
    of
}

fn value(made: &Made, column: &str) -> Option<f64> {
    made.value(&format!("series/overlap/shm/bytes=8/elements=10/{column}"))
}

#[test]
fn the_share_is_of_what_is_no_overhead_and_a_loss_is_negative() {
    // T_x − T_o = 60, T_c = 100: of 60 the gain of −15 is −25 %.
    let made = of(&[[200.0, 215.0, 100.0, 100.0, 40.0]; 5]).made(overlap).unwrap();
    assert_eq!(value(&made, "hidden"), Some(-0.25));
    assert_eq!(value(&made, "gain_share"), Some(-0.075));
    let near = |column, ns: f64| (value(&made, column).unwrap() / (ns * 1e-9) - 1.0).abs() < 1e-6;
    assert!(near("gain", -15.0) && near("hideable", 60.0) && near("overheads", 40.0));
    // T_c = 30 is the shorter part.
    let made = of(&[[130.0, 100.0, 100.0, 30.0, 40.0]; 5]).made(overlap).unwrap();
    assert_eq!(value(&made, "hidden"), Some(1.0));
}

#[test]
fn a_share_of_what_may_be_nothing_is_none() {
    let rows: Vec<[f64; 5]> =
        [-9.0, 8.0, -7.0, 9.0, 0.0].map(|off| [200.0, 190.0, 100.0, 300.0, 100.0 + off]).into();
    let made = of(&rows).made(overlap).unwrap();
    assert!(value(&made, "hideable").is_some() && value(&made, "hidden").is_none());
    assert_eq!(made.codes(), ["hidden_undecided"]);
}

#[test]
fn all_times_are_of_rounds_that_have_all_five() {
    let mut table = of(&[[130.0, 100.0, 100.0, 30.0, 40.0]; 5]);
    table.batch(&Cell::of(OverlapMode::Blocking, 8, 10).key(), 9000.0, (0, 9));
    let made = table.made(overlap).unwrap();
    assert!((value(&made, "blocking").unwrap() / 130e-9 - 1.0).abs() < 1e-6);
    let empty = of(&[]);
    assert!(matches!(empty.made(overlap), Err(AssembleError::Empty)));
}
