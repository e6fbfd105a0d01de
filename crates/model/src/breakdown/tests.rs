use proptest::prelude::*;

use super::*;

fn component(name: &str, ns: f64, spread: Option<f64>) -> Component {
    let one = Component {
        name: name.into(),
        category: Category::Cpu,
        layer: Layer::Llp,
        side: Side::Initiator,
        ns,
        errors: Errors::new(),
        provenance: Provenance::Measured,
    };
    one.spread(spread)
}

/// a = 10 ± 3, b = 20, wire = 30 ± 4.
fn stack(rows: &[&[(usize, f64)]]) -> Stack {
    let wire = Component {
        category: Category::Network,
        layer: Layer::Hardware,
        side: Side::Network,
        ..component("wire", 30.0, Some(4.0))
    };
    let components = vec![component("a", 10.0, Some(3.0)), component("b", 20.0, None), wire];
    let mut stack = Stack { components, ..Stack::default() };
    let term = |(at, times): &(usize, f64)| stack.term(*at, *times);
    let rows = rows.iter().map(|row| row.iter().map(term).collect()).collect();
    stack.models.push(Model { name: "m".into(), rows, main: true, observed: None });
    stack
}

fn value(stack: &Stack, changes: &[Change]) -> Value {
    stack.value(&stack.models[0], &stack.changed(changes).unwrap())
}

fn reduce(what: &str, share: f64) -> Change {
    Change { what: what.into(), becomes: Becomes::Shorter(share) }
}

fn set(what: &str, value: f64) -> Change {
    Change { what: what.into(), becomes: Becomes::Value(value) }
}

#[track_caller]
fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-12 * expected.abs(), "{found} is not {expected}");
}

#[test]
fn a_model_is_the_sum_of_its_terms_and_of_several_rows_the_longest_counts() {
    let sum = value(&stack(&[&[(0, 2.0), (1, -0.5), (2, 1.0)]]), &[]);
    near(sum.ns, 40.0);
    // 2·3 and 4; b has no spread.
    near(sum.deviation().unwrap(), 52f64.sqrt());
    let both = stack(&[&[(2, 1.0)], &[(0, 1.0), (1, 1.5)]]);
    near(value(&both, &[]).ns, 40.0);
    near(value(&both, &[]).deviation().unwrap(), 3.0);
    near(value(&both, &[reduce("cpu", 0.5)]).ns, 30.0);
    assert_eq!(value(&stack(&[&[(1, 1.0)]]), &[]).deviation(), None);
}

#[test]
fn an_error_in_common_counts_once() {
    let mut all = stack(&[&[(0, 2.0), (2, 1.0)]]);
    // What is left of 50 ± 1 once 2a is taken off.
    all.components[2].errors = Errors::from([("whole".into(), 1.0), ("a".into(), -6.0)]);
    near(value(&all, &[]).deviation().unwrap(), 1.0);
    near(deviation(&all.components[2].errors).unwrap(), 37f64.sqrt());
    // (b − a)/b of what saves nothing of its own: only what the change scales is off.
    let saved = value(&all, &[]).saved(&value(&all, &[reduce("a", 0.5)]));
    near(saved.0, 0.2);
    // ∂/∂a of 1 − (30 + a)/(30 + 2a), and the whole's part of it.
    let (before, rest) = (50.0, 0.8);
    let of_a = (6.0 - 6.0) * rest / before - (3.0 - 6.0) / before;
    let of_whole = rest / before - 1.0 / before;
    near(saved.1.unwrap(), f64::hypot(of_a, of_whole));
}

#[test]
fn errors_of_models_and_observations_are_independent() {
    let found = value(&stack(&[&[(0, 1.0), (2, 1.0)]]), &[]);
    let (error, off) = found.error(Observed { ns: 50.0, spread: Some(2.0) });
    near(error, -0.2);
    near(off.unwrap(), f64::hypot(5.0 / 50.0, 40.0 * 2.0 / 2500.0));
    assert_eq!(found.error(Observed { ns: 50.0, spread: None }).1, Some(0.1));
    for ((low, high), holds) in [
        ((-0.05, 0.05), Some(true)),
        ((0.051, 0.2), Some(false)),
        ((-0.2, -0.051), Some(false)),
        ((0.04, 0.06), None),
        ((-1.0, 1.0), None),
    ] {
        assert_eq!(verdict((low, high), 0.05), holds, "{low} {high}");
    }
}

#[test]
fn a_time_is_divided_by_what_its_terms_are() {
    let mut all = stack(&[&[(0, 2.0), (1, 1.0), (2, 1.0)]]);
    all.models[0].rows[0][0].side = Side::Both;
    all.models[0].rows[0][1].layer = Layer::Hlp;
    let found = value(&all, &[]);
    let divided = |by| {
        let parts = all.divided(&found, by);
        parts.into_iter().map(|(name, ns)| format!("{name} {ns}")).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(divided(By::Component), "a 20, b 20, wire 30");
    assert_eq!(divided(By::Category), "cpu 40, network 30");
    assert_eq!(divided(By::Layer), "hlp 20, llp 20, hardware 30");
    assert_eq!(divided(By::Side), "initiator 30, target 10, network 30");
    // A layer's reduction is of the terms that are its, wherever else the component is.
    near(value(&all, &[reduce("hlp", 0.5)]).ns, 60.0);
    near(value(&all, &[reduce("llp", 0.5), reduce("cpu", 0.5)]).ns, 5.0 + 10.0 + 30.0);
}

#[test]
fn changes_are_of_components_models_groups_and_parameters() {
    let mut all = stack(&[&[(0, 1.0), (1, 1.0), (2, 1.0)]]);
    all.parameters.insert("c".into(), 2.0);
    all.models[0].rows[0][1].per = Some("c".into());
    all.check().unwrap();
    for (changes, ns) in [
        (vec![], 50.0),
        (vec![set("c", 8.0)], 42.5),
        (vec![set("a", 0.0)], 40.0),
        (vec![reduce("wire", 0.5), reduce("a", 0.1)], 34.0),
        (vec![reduce("a", 0.5), reduce("a", 0.5)], 42.5),
        (vec![reduce("m", 0.2)], 40.0),
        (vec![reduce("NETWORK", 1.0)], 20.0),
    ] {
        near(value(&all, &changes).ns, ns);
    }
    // What is set is known; a model keeps its proportions.
    let exact = value(&all, &[set("m", 100.0)]);
    near(exact.ns, 100.0);
    assert_eq!(exact.deviation(), Some(0.0));
    for refused in [
        vec![reduce("moon", 0.1)],
        vec![set("cpu", 1.0)],
        vec![reduce("c", 0.1)],
        vec![set("c", 0.0)],
        vec![set("a", -1.0)],
        vec![set("a", f64::NAN)],
        vec![set("a", 1.0), set("a", 2.0)],
        vec![set("a", 1.0), reduce("m", 0.5)],
    ] {
        assert!(all.changed(&refused).is_err(), "{refused:?}");
    }
}

#[test]
fn what_cannot_be_evaluated_is_refused_with_its_name() {
    let spoiled = |spoil: fn(&mut Stack)| {
        let mut all = stack(&[&[(0, 1.0), (2, 1.0)]]);
        spoil(&mut all);
        all.check().map_err(|(name, _)| name)
    };
    assert_eq!(spoiled(|_| {}), Ok(()));
    for (name, spoil) in [
        ("a", (|all| all.components[0].ns = -1.0) as fn(&mut Stack)),
        ("a", |all| all.components[0].ns = 1e160),
        ("a", |all| all.components[0].errors = Errors::from([("a".into(), f64::NAN)])),
        ("a", |all| all.components[1].name = "a".into()),
        ("wire", |all| all.models[0].name = "wire".into()),
        ("", |all| all.components[0].name.clear()),
        ("m", |all| all.models[0].rows[0][0].component = 3),
        ("m", |all| all.models[0].rows[0][0].times = f64::INFINITY),
        ("m", |all| all.models[0].rows[0][0].per = Some("c".into())),
        ("m", |all| all.models[0].rows[0][1] = all.term(0, 2.0)),
        ("m", |all| all.models[0].rows.clear()),
        ("m", |all| all.models[0].observed = Some(Observed { ns: 0.0, spread: None })),
        ("c", |all| all.parameters = [("c".to_owned(), 0.0)].into()),
    ] {
        assert_eq!(spoiled(spoil), Err(name.to_owned()));
    }
}

/// Rows of a template: post = 2a, way = post/c + wire, and b that cancels.
fn template() -> Stack {
    let mut all = stack(&[&[(0, 2.0)]]);
    all.models[0].name = "post".into();
    all.parameters.insert("c".into(), 4.0);
    let mut row = vec![all.term(0, 2.0), all.term(2, 1.0), all.term(1, 0.25), all.term(1, -1.0)];
    (row[2].layer, row[3].per) = (Layer::Hlp, Some("c".into()));
    let also = vec![all.term(1, 1.0)];
    let observed = Some(Observed { ns: 60.0, spread: None });
    all.models.push(Model { name: "way".into(), rows: vec![row, also], main: true, observed });
    all.models[0].main = false;
    all.check().unwrap();
    all
}

#[test]
fn models_are_computed_as_far_as_their_components_are_there() {
    let over = |names: &[(&str, f64)]| {
        template().over(names.iter().map(|(name, ns)| component(name, *ns, None)).collect())
    };
    let values = |stack: &Stack| -> Vec<(String, f64)> {
        let value = |model| stack.value(model, &stack.state()).ns;
        stack.models.iter().map(|model| (model.name.clone(), value(model))).collect()
    };
    // b cancels, so it need not be there; the row of it alone is left out then.
    let (found, lacking) = over(&[("a", 1.0), ("wire", 5.0)]);
    assert_eq!(values(&found), [("post".into(), 2.0), ("way".into(), 7.0)]);
    assert_eq!((lacking, found.parameters.len()), (vec![], 0));
    let (found, _) = over(&[("a", 1.0), ("wire", 5.0), ("b", 9.0)]);
    assert_eq!(values(&found)[1], ("way".into(), 9.0));
    assert_eq!(found.parameters.len(), 1);
    // A component that has a model's name stands for it.
    let (found, lacking) = over(&[("post", 3.0), ("wire", 5.0)]);
    assert_eq!((values(&found), lacking), (vec![("way".into(), 8.0)], vec![]));
    // What lacks is named, of main models, and the others are computed.
    let (found, lacking) = over(&[("a", 1.0), ("more", 1.0)]);
    assert_eq!(values(&found), [("post".into(), 2.0)]);
    assert!(found.models[0].main);
    assert_eq!(lacking, [Lacking { model: "way".into(), components: vec!["wire".into()] }]);
    // Without any model there is the sum.
    for names in [&[("wire", 5.0), ("more", 1.0)], &[("x", 5.0), ("y", 1.0)]] {
        let (found, lacking) = over(names);
        assert_eq!(values(&found), [("total".into(), 6.0)]);
        assert_eq!(lacking.len(), usize::from(names[0].0 == "wire"));
    }
}

proptest! {
    #[test]
    fn parts_sum_up_and_reductions_are_linear(
        times in prop::collection::vec((0.0..1e6f64, 0.0..10f64), 1..20),
        share in 0.0..1f64,
    ) {
        let mut all = Stack::default();
        for (at, (ns, _)) in times.iter().enumerate() {
            let mut one = component(&format!("c{at}"), *ns, Some(ns / 10.0));
            (one.category, one.side) = (Category::ALL[at % 3], Side::ALL[at % 4]);
            all.push(one);
        }
        let row = times.iter().enumerate().map(|(at, (_, of))| all.term(at, *of)).collect();
        all.models.push(Model { name: "m".into(), rows: vec![row], main: true, observed: None });
        let whole = value(&all, &[]);
        for (by, _) in By::ALL {
            let sum: f64 = all.divided(&whole, by).iter().map(|(_, ns)| ns).sum();
            prop_assert!((sum - whole.ns).abs() <= 1e-9 * whole.ns);
        }
        let parts = all.divided(&whole, By::Component);
        for (name, ns) in parts {
            let less = value(&all, &[reduce(&name, share)]);
            prop_assert!((whole.ns - less.ns - share * ns).abs() <= 1e-9 * whole.ns);
        }
        let squares: f64 = times.iter().map(|(ns, of)| (of * ns / 10.0).powi(2)).sum();
        prop_assert!((whole.deviation().unwrap() - squares.sqrt()).abs() <= 1e-9 * whole.ns);
    }
}
