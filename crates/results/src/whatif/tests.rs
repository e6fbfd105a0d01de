use super::*;
use crate::breakdown::tests::lines;
use crate::logp::tests::{run, time};

fn sample(models: usize, name: &str, within: Within) -> WhatIf {
    let number = |of: f64| {
        Quantity::new(of, Some((of - 0.01, of + 0.01)), Unit::One, ("share", 9, true)).unwrap()
    };
    let change = |at: usize| ModelChange {
        name: format!("{name}{at}"),
        before: time(1000.0, 12.0, true),
        error: Some(number(-0.1)),
        within: Some(within),
        after: time(900.0, 11.0, true),
        speedup: number(0.1),
    };
    let component = |at: usize| RankedComponent {
        component: format!("{name}{at}"),
        speedup: number(0.1 / (1 + at) as f64),
    };
    let ranking = |at: usize| Ranking {
        model: format!("{name}{at}"),
        reduction: Number(0.2),
        components: (0..9).map(component).collect(),
    };
    let curve = SpeedUpCurve {
        model: format!("{name}0"),
        of: "cpu".into(),
        category: None,
        points: vec![(Number(0.1), Number(0.01)), (Number(0.2), Number(0.02))],
    };
    WhatIf {
        name: "table".into(),
        changes: vec![ChangeMade {
            component: "pio".into(),
            reduction: Some(Number(0.84)),
            set: Some(Seconds(Number(15e-9))),
            number: None,
        }],
        models: (0..models).map(change).collect(),
        ranking: (0..models).map(ranking).collect(),
        curves: vec![curve],
    }
}

#[test]
fn a_screen_is_short_however_many_models_there_are() {
    for (models, name) in [(1, "m"), (4, "llp_injection"), (40, &*"long".repeat(19))] {
        let (lines, columns) = lines(&run([sample(models, name, Within::Off).into()], Vec::new()));
        assert!(lines <= 30 && columns <= 100, "{models}: {lines} {columns}");
    }
}

#[test]
fn ids_figures_and_the_verdict_are_those_of_its_models() {
    let of = sample(2, "m", Within::Off);
    let ids: Vec<String> = of.quantities().into_iter().map(|(id, ..)| id).collect();
    assert!(ids.contains(&"whatif/table/model=m1/speedup".to_owned()));
    assert!(ids.contains(&"whatif/table/model=m1/component=m3/speedup".to_owned()));
    assert!(!of.negative().is_empty() && sample(2, "m", Within::Undecided).negative().is_empty());
    let run = run([of.into()], Vec::new());
    let blocks = run.results[0].as_shown().detail(&crate::run::context(&run));
    let figures = blocks.iter().filter(|block| matches!(block, Block::Figure(_)));
    // The second model has no curve.
    assert_eq!(figures.count(), 1);
}

/// Figure 17: a panel for each category.
#[test]
fn many_curves_are_apart_by_category() {
    use Category::{Cpu, Io};
    let mut of = sample(1, "m", Within::Off);
    let first = of.curves[0].clone();
    let all = [
        ("cpu", Some(Cpu)),
        ("io", Some(Io)),
        ("hardware", None),
        ("pio", Some(Cpu)),
        ("pcie", Some(Io)),
    ];
    let all = all.into_iter().chain([("post", Some(Cpu)), ("poll", Some(Cpu))]);
    of.curves = all
        .map(|(of, category)| SpeedUpCurve { of: of.into(), category, ..first.clone() })
        .collect();
    let drawn = |of: &WhatIf| -> Vec<Vec<String>> {
        let names = |figure: Figure| figure.series.into_iter().map(|of| of.name).collect();
        of.figures("m0").into_iter().map(names).collect()
    };
    let expected =
        [&["cpu", "io", "hardware"][..], &["cpu", "pio", "post", "poll"], &["io", "pcie"]];
    assert_eq!(drawn(&of), expected);
    of.curves.truncate(3);
    assert_eq!(drawn(&of), [["cpu", "io", "hardware"]]);
}
