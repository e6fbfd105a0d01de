use proptest::prelude::*;

use super::formula::Formula;
use super::*;

fn component(name: &str, ns: f64, spread: Option<f64>) -> Component {
    Component {
        name: name.into(),
        label: None,
        category: Category::Cpu,
        layer: Layer::Llp,
        side: Side::Initiator,
        time: Time::Given { ns, spread },
        provenance: Provenance::Measured,
        part_of: None,
        apart: false,
    }
}

fn derived(name: &str, formula: &str) -> Component {
    Component { time: Time::Derived(formula.into()), ..component(name, 0.0, None) }
}

fn model(name: &str, formula: &str) -> Declared {
    Declared { name: name.into(), label: None, formula: formula.into(), main: true, observed: None }
}

fn three() -> Vec<Component> {
    let wire = Component {
        category: Category::Network,
        layer: Layer::Hardware,
        side: Side::Network,
        ..component("wire", 30.0, Some(4.0))
    };
    vec![component("a", 10.0, Some(3.0)), component("b", 20.0, None), wire]
}

fn stack(models: &[(&str, &str)]) -> Result<Stack, StackError> {
    Stack::new(three(), models.iter().map(|(name, formula)| model(name, formula)).collect())
}

fn values(models: &[(&str, &str)]) -> Vec<f64> {
    let stack = stack(models).unwrap();
    stack.evaluated(&stack.state()).unwrap().iter().map(|model| model.value).collect()
}

fn why(models: &[(&str, &str)]) -> String {
    stack(models).unwrap_err().to_string()
}

#[test]
fn the_largest_of_several_is_what_the_model_holds() {
    // Of a = 10, b = 20, wire = 30.
    assert_eq!(
        values(&[("m", "max(wire, a + b, b)"), ("n", "2 * max(a, max(b, a)) - a")]),
        [30.0, 30.0]
    );
    // A component may be called so.
    let named =
        Stack::new(vec![component("max", 7.0, None)], vec![model("m", "max + max(max, 2 * max)")]);
    let named = named.unwrap();
    assert_eq!(named.evaluated(&named.state()).unwrap()[0].value, 21.0);

    let stack = stack(&[("m", "max(wire, a + b + 3 * a)")]).unwrap();
    let found = stack.evaluated(&stack.state()).unwrap().swap_remove(0);
    // 10 + 20 + 30: all of it is of a and b, and the error that of 4a.
    let parts = stack.divided(&found, &stack.state(), By::Component, None);
    assert_eq!(parts, [("a".to_owned(), 40.0), ("b".to_owned(), 20.0)]);
    assert_eq!(stack.deviation(&found.sources), Some(12.0));
    // Shorter ones save until the wire is longer: 40·0.2 + 20 < 30.
    let shorter = |what: &str| {
        let change = Change::Scale { what: what.into(), factor: 0.2 };
        stack.evaluated(&stack.changed(&[change]).unwrap()).unwrap()[0].value
    };
    assert_eq!([shorter("a"), shorter("cpu"), shorter("wire")], [30.0, 30.0, 60.0]);
    // All that the model names, also what is not the largest: then it is as much shorter.
    assert_eq!(shorter("m"), 12.0);
    let set = Change::Set { what: "m".into(), ns: 12.0 };
    let set = stack.evaluated(&stack.changed(&[set]).unwrap()).unwrap().swap_remove(0);
    assert!((set.value - 12.0).abs() < 1e-12, "{}", set.value);
    let over = self::stack(&[("n", "2 * m"), ("m", "max(sum:network, a)")]).unwrap();
    assert_eq!(over.meant("n").unwrap(), [0, 2]);

    assert!(why(&[("m", "max(a, 2)")]).contains("the largest of a time and of what is none"));
    assert!(why(&[("m", "max(a, b")]).contains("needs ',' or ')' at its character 9"));
    assert!(why(&[("m", "max()")]).contains("needs a name, a number or '('"));
    assert!(why(&[("m", "max(a, moon)")]).contains("'moon'"));
    for divided in ["a * b", "(b - b) * a"] {
        let formula = format!("max(a, {divided} / (wire - wire))");
        assert!(why(&[("m", &formula)]).contains("gives no finite number"));
    }
}

#[test]
fn formulas_are_sums_products_and_parentheses() {
    // Of a = 10, b = 20, wire = 30.
    assert_eq!(values(&[("m", "a + b")]), [30.0]);
    assert_eq!(values(&[("m", "2 * (a + b) - wire / 3")]), [50.0]);
    assert_eq!(values(&[("m", "-a+b")]), [10.0]);
    assert_eq!(values(&[("m", "a * b / wire")]), [200.0 / 30.0]);
    assert_eq!(values(&[("m", "(a - (b - wire))")]), [20.0]);
    assert_eq!(values(&[("m", "`a` + 0.5*b")]), [20.0]);
    // A ratio is no time, and a model may use one declared after it.
    assert_eq!(values(&[("p", "m / a"), ("m", "a + b")]), [3.0, 30.0]);
    assert_eq!(values(&[("m", "sum:llp"), ("n", "sum:network + sum:all")]), [30.0, 90.0]);
}

#[test]
fn what_is_wrong_with_a_formula_is_told() {
    assert_eq!(
        why(&[("m", "a + ")]),
        "the formula needs a name, a number or '(' at its character 5, where the end is"
    );
    assert_eq!(
        why(&[("m", "a b")]),
        "the formula needs an operator at its character 3, where 'b' is"
    );
    assert!(why(&[("m", "(a")]).contains("needs ')'"));
    assert!(why(&[("m", "1.2.3 * a")]).contains("needs a number"));
    assert!(why(&[("m", "a@moon")]).contains("@moon is no side"));
    assert!(why(&[("m", "sum:moon")]).contains("sum:moon names no components"));
    assert!(why(&[("m", "")]).contains("the end"));
    assert_eq!(why(&[("m", "a + c")]), "'m' needs 'c', which is neither a component nor a model");
    assert_eq!(
        why(&[("m", "n + a"), ("n", "o"), ("o", "2 * m")]),
        "formulas lead back to where they began: m → n → o → m"
    );
    assert!(why(&[("m", "m")]).ends_with("m → m"));
    assert_eq!(why(&[("m", "a + 3")]), "the formula adds 'a', a time, and '3', no time");
    assert!(why(&[("m", "a * b")]).contains("neither a time nor a number"));
    assert!(why(&[("m", "a / (b - b)")]).contains("divides by nothing"));
    assert_eq!(why(&[("a", "b")]), "'a' is there twice");
    for name in ["m m", "", "a+b", "x@target", "2*3", "(m", "m:n", "m/n", "`m`", &"m".repeat(81)] {
        let told = why(&[(name, "b")]);
        assert!(
            told.ends_with("cannot be a name: 1 to 80 letters, digits, '_', '-' and '.'"),
            "{told}"
        );
    }
    for name in ["m-1_b.c", "2", &"é".repeat(80)] {
        assert_eq!(values(&[(name, "b"), ("n", &format!("2 * `{name}`"))]), [20.0, 40.0]);
    }
    let deep = "(".repeat(10_000) + "a" + &")".repeat(10_000);
    assert!(why(&[("m", &deep)]).contains("more than 32 parentheses"));
}

#[test]
fn a_time_is_divided_by_what_its_components_are() {
    let stack = stack(&[("m", "2 * a + b@target + wire")]).unwrap();
    let state = stack.state();
    let model = &stack.evaluated(&state).unwrap()[0];
    let divided = |by, only| {
        let parts = stack.divided(model, &state, by, only);
        parts.into_iter().map(|(key, time)| format!("{key} {time}")).collect::<Vec<_>>()
    };
    assert_eq!(divided(By::Component, None), ["a 20", "b 20", "wire 30"]);
    assert_eq!(divided(By::Category, None), ["cpu 40", "network 30"]);
    assert_eq!(divided(By::Layer, None), ["llp 40", "hardware 30"]);
    assert_eq!(divided(By::Side, None), ["initiator 20", "target 20", "network 30"]);
    assert_eq!(divided(By::Term, None), ["2 * a 20", "b@target 20", "wire 30"]);
    let target = Some(Group::Side(Side::Target));
    assert_eq!(divided(By::Component, target), ["b 20"]);
}

#[test]
fn spreads_add_as_squares_times_derivatives() {
    // m = 2a + wire: √((2·3)² + 4²) = √52. b has no spread.
    let stack = stack(&[("m", "2*a + b + wire"), ("n", "b"), ("r", "wire / a")]).unwrap();
    let all = stack.evaluated(&stack.state()).unwrap();
    let deviation = |at: usize| stack.deviation(&all[at].sources);
    assert!((deviation(0).unwrap() - 52f64.sqrt()).abs() < 1e-12);
    assert_eq!(stack.spread_of(&all[0]), (2, 3));
    assert_eq!(deviation(1), None);
    // r = wire/a: √((4/10)² + (30·3/10²)²) = √(0.16 + 0.81).
    assert!((deviation(2).unwrap() - 0.97f64.sqrt()).abs() < 1e-12);
    // The error of what both hold cancels: a − a is known.
    let same =
        Stack::new(three(), vec![model("m", "a + wire"), model("z", "m - a - wire")]).unwrap();
    let all = same.evaluated(&same.state()).unwrap();
    assert_eq!((all[1].value, same.deviation(&all[1].sources)), (0.0, Some(0.0)));
}

#[test]
fn a_whole_is_the_sum_of_its_parts() {
    let parts = |rest: &str| {
        let low = Component { part_of: Some("a".into()), ..derived("low", "b / 10") };
        let high =
            Component { layer: Layer::Hlp, part_of: Some("a".into()), ..derived("high", rest) };
        Stack::new([three(), vec![high, low]].concat(), vec![model("m", "a + wire")])
    };
    let stack = parts("a - low").unwrap();
    let state = stack.state();
    let m = &stack.evaluated(&state).unwrap()[0];
    assert_eq!(m.value, 40.0);
    let layers = stack.divided(m, &state, By::Layer, None);
    assert_eq!(layers, [("hlp".into(), 8.0), ("llp".into(), 2.0), ("hardware".into(), 30.0)]);
    // However it is divided, its error is that of the whole: b's part cancels, and so does its absence.
    assert!((stack.deviation(&m.sources).unwrap() - 5.0).abs() < 1e-12);
    // A change of the whole changes its parts.
    let half = stack.changed(&[Change::Scale { what: "a".into(), factor: 0.5 }]).unwrap();
    assert_eq!(stack.evaluated(&half).unwrap()[0].value, 35.0);
    let set = stack.changed(&[Change::Set { what: "a".into(), ns: 5.0 }]).unwrap();
    assert_eq!(stack.evaluated(&set).unwrap()[0].value, 35.0);
    let why = parts("a - 2*low").unwrap_err().to_string();
    assert_eq!(why, "the parts of 'a' sum up to 8 ns, and it takes 10 ns");
    assert!(parts("low - a").unwrap_err().to_string().contains("derived as -8 ns"));
    // A whole that is the sum of its group stands for its parts, which are in that.
    let whole = parts("sum:io").unwrap_err().to_string();
    assert!(whole.contains("sum up to 2 ns"), "{whole}");
    assert!(parts("low / a").unwrap_err().to_string().contains("gives no time"));
    assert!(parts("m").unwrap_err().to_string().contains("needs 'm', which is no component"));
    assert!(parts("high + a").unwrap_err().to_string().ends_with("high → high"));
}

#[test]
fn impossible_times_are_refused() {
    for (ns, spread) in [(-1.0, None), (f64::NAN, None), (f64::INFINITY, None), (1.0, Some(-1.0))] {
        let error = Stack::new(vec![component("x", ns, spread)], vec![]).unwrap_err();
        assert_eq!(error.subject, "x");
        assert!(error.why.contains("it must be"), "{error}");
    }
}

#[test]
fn times_and_what_follows_from_them_are_numbers_that_can_be_squared_and_divided() {
    let given = |ns, spread| Stack::new(vec![component("x", ns, spread)], vec![model("m", "x")]);
    for (ns, spread) in [(0.0, Some(0.0)), (1e-21, Some(1e-300)), (1e18, Some(1e18))] {
        assert!(given(ns, spread).is_ok(), "{ns} {spread:?}");
    }
    let why = |ns, spread| given(ns, spread).unwrap_err().to_string();
    let expected = "the time of 'x' is 1e160 ns: it must be 0, or from 1e-21 to 1e18 ns (1e9 s)";
    assert_eq!(why(1e160, None), expected);
    assert!(why(1e-320, None).contains("must be 0, or from"));
    assert!(why(1.0, Some(1e160)).contains("the spread of 'x' is 1e160 ns: it must be from 0 to"));

    let observed = |value, spread| {
        let observed = Some(Observed { value, spread });
        Stack::new(three(), vec![Declared { observed, ..model("m", "a") }])
    };
    assert!(observed(1e-21, Some(1e18)).is_ok());
    for (value, spread) in [(0.0, None), (1e-320, None), (1e19, None), (1.0, Some(1e300))] {
        let error = observed(value, spread).unwrap_err();
        assert_eq!(error.subject, "m");
        assert!(error.why.contains("what was observed of 'm' is"), "{error}");
    }

    // A large factor, a large derivative of a small value, large terms that cancel, and a tiny value.
    let (large, tiny) = ("1".to_owned() + &"0".repeat(31), format!("0.{}1", "0".repeat(31)));
    for formula in [
        format!("{large} * a"),
        format!("(b - 2 * a) * {large}"),
        format!("{large} * a - {large} * a"),
        format!("{tiny} * a"),
    ] {
        let error = stack(&[("m", &formula)]).unwrap_err();
        assert!(error.why.contains("too large or too small a number"), "{formula}: {error}");
    }
    let by = |formula: &str| Stack::new([three(), vec![derived("d", formula)]].concat(), vec![]);
    assert!(by("a / 2").is_ok());
    let error = by(&format!("{large} * a")).unwrap_err();
    assert_eq!(error.subject, "d");
    assert!(error.why.contains("e31 ns: it must be 0, or from"), "{error}");
    let error = by(&format!("{large} * (b - 2 * a)")).unwrap_err();
    assert!(error.why.contains("changes too much"), "{error}");
}

#[test]
fn a_time_may_be_derived_from_a_sum_over_a_group() {
    // Of a = 10, b = 20, wire = 30 with spreads 3, none and 4.
    let by = |formula: &str| {
        let io = Component { category: Category::Io, ..derived("d", formula) };
        Stack::new([vec![io], three()].concat(), vec![model("m", "d")])
    };
    for (formula, time) in [
        ("sum:network", 30.0),
        ("sum:cpu", 30.0),
        ("wire + sum:hardware / 2", 45.0),
        ("max(sum:cpu, 2 * sum:network)", 60.0),
        ("a + sum:hlp", 10.0),
    ] {
        let stack = by(formula).unwrap();
        let found = stack.evaluated(&stack.state()).unwrap().swap_remove(0);
        assert_eq!(found.value, time, "{formula}");
    }
    // d = wire + (a + b)/2: √(4² + 1.5²), of three given times.
    let stack = by("sum:network + sum:cpu / 2").unwrap();
    let found = stack.evaluated(&stack.state()).unwrap().swap_remove(0);
    assert!((stack.deviation(&found.sources).unwrap() - 18.25f64.sqrt()).abs() < 1e-12);
    assert_eq!(stack.spread_of(&found), (2, 3));
    // By way of another derived time: e = d + a = 40, and of a sum that holds one.
    let more = vec![component("a", 10.0, None), derived("e", "d + a"), derived("d", "sum:network")];
    let more = more.into_iter().chain([three().swap_remove(2)]).collect();
    let more = Stack::new(more, vec![model("m", "e"), model("total", "sum:llp")]).unwrap();
    let found = more.evaluated(&more.state()).unwrap();
    assert_eq!([found[0].value, found[1].value], [40.0, 80.0]);
    // One that is in the group that it sums up.
    let circle = by("a + sum:io").unwrap_err();
    assert_eq!(circle.subject, "d");
    assert!(circle.why.ends_with("began: d → sum:io → d"), "{circle}");
    assert!(by("sum:all").unwrap_err().why.ends_with("d → sum:all → d"));
    // It is told of a component also where a sum is met first.
    let io = Component { category: Category::Io, ..derived("e", "sum:io") };
    let two = vec![derived("d", "sum:io"), io];
    assert_eq!(Stack::new(two, vec![]).unwrap_err().subject, "e");
}

#[test]
fn changes_meet_and_say_what_they_save() {
    let stack = stack(&[("m", "2*a + b + wire"), ("p", "wire / a")]).unwrap();
    let before = stack.evaluated(&stack.state()).unwrap();
    let saved = |changes: &[Change]| {
        let state = stack.changed(changes).unwrap();
        stack.saved(&before[0], &stack.evaluated(&state).unwrap()[0])
    };
    let scale = |what: &str, factor| Change::Scale { what: what.into(), factor };
    let set = |what: &str, ns| Change::Set { what: what.into(), ns };
    // m = 70. Half of a saves 10; with LLP reduced by half as well, 15 and 10.
    assert_eq!(saved(&[scale("a", 0.5)]).share, 10.0 / 70.0);
    assert_eq!(saved(&[scale("a", 0.5), scale("llp", 0.5)]).share, 25.0 / 70.0);
    assert_eq!(saved(&[set("b", 6.0), scale("wire", 1.5)]).share, -1.0 / 70.0);
    assert_eq!(saved(&[scale("m", 0.9)]).share, (70.0 - 63.0) / 70.0);
    assert_eq!(saved(&[set("m", 35.0)]).share, 0.5);
    // By the chain rule with x = 2a: s = x/2/(x + b + w); ds/dx = (b + w)/2/70², ds/dw = −x/2/70².
    let expected = (50.0 / 2.0 * 6.0 / 4900.0_f64).hypot(10.0 * 4.0 / 4900.0);
    assert!((saved(&[scale("a", 0.5)]).off.unwrap().deviation - expected).abs() < 1e-12);
    // All alike: the share is exact, whatever the times are.
    assert!(saved(&[scale("all", 0.5)]).off.unwrap().deviation < 1e-12);

    let refused = |changes: &[Change]| stack.changed(changes).unwrap_err().to_string();
    assert!(refused(&[scale("moon", 0.5)]).starts_with("'moon' is no component"));
    assert!(refused(&[set("b", 1.0), scale("cpu", 0.5)]).contains("'b' is set, and changed"));
    assert_eq!(refused(&[set("b", 1.0), set("b", 2.0)]), "'b' is set twice");
    assert_eq!(refused(&[set("b", 1.0), set("cpu", 2.0)]), "'b' is set twice, by 'b' and 'cpu'");
    assert_eq!(refused(&[set("b", 1.0), scale("b", 0.5)]), "'b' is set, and scaled too");
    assert!(refused(&[scale("p", 0.5)]).contains("'p' is no time"));
    assert!(refused(&[set("p", 1.0)]).contains("'p' is no time"));
    // A component may vanish, and with it what was divided by it.
    let none = stack.changed(&[scale("a", 0.0)]).unwrap();
    assert!(stack.evaluated(&none).unwrap()[1].value.is_infinite());

    let ranked = stack.ranked(0, 0.2).unwrap();
    let names: Vec<&str> =
        ranked.iter().map(|one| stack.components()[one.component].name.as_str()).collect();
    assert_eq!((names[0], names.len()), ("wire", 3));
    assert!((ranked[0].saved.share - 0.2 * 30.0 / 70.0).abs() < 1e-12);
    // Of the wire 6 ± 0.8 are saved, of a, twice, 4 ± 1.2; of b 4, of which nothing is known to be uncertain.
    let behind: Vec<(f64, f64)> =
        ranked.iter().map(|one| (one.behind.0, one.behind.1.unwrap())).collect();
    assert_eq!(behind[0], (0.0, 0.0));
    let mut others = behind[1..].to_vec();
    others.sort_by(|(_, one), (_, other)| one.total_cmp(other));
    for ((by, deviation), expected) in others.into_iter().zip([0.8, 1.2_f64.hypot(0.8)]) {
        assert!((by - 2.0).abs() < 1e-9 && (deviation - expected).abs() < 1e-9, "{by} {deviation}");
    }
}

#[test]
fn what_a_change_does_not_touch_is_saved_nothing_of_to_the_last_digit() {
    // 0.1 + 0.2 and its like leave remainders.
    let stack = stack(&[("m", "a/3 + b/7 + 0.1*wire + 0.3*a"), ("n", "b")]).unwrap();
    let before = &stack.evaluated(&stack.state()).unwrap()[0];
    for (what, factor) in [("io", 0.9), ("wire", 1.0)] {
        let state = stack.changed(&[Change::Scale { what: what.into(), factor }]).unwrap();
        let saved = stack.saved(before, &stack.evaluated(&state).unwrap()[0]);
        assert_eq!(saved.share, 0.0, "{what}");
        assert_eq!(saved.off.unwrap().ends(0.0, 2.0), Some((0.0, 0.0)), "{what}");
    }
    // As long as it was, but for what the division leaves.
    let set = stack.changed(&[Change::Set { what: "cpu".into(), ns: 0.1 + 0.2 + 29.7 }]).unwrap();
    assert_eq!(stack.saved(before, &stack.evaluated(&set).unwrap()[0]).share, 0.0);
}

#[test]
fn names_are_found_in_letters_of_either_case_where_one_reads_so() {
    let all = vec![component("Wait", 1.0, None), component("L", 1.0, None)];
    let stack = Stack::new(all, vec![model("m", "L"), model("l", "Wait")]).unwrap();
    let spelled = ["wait", "CPU", "M", "L", "l", "moon"].map(|name| stack.spelled(name));
    assert_eq!(spelled, ["Wait", "cpu", "m", "L", "l", "moon"]);
    let two = vec![component("pio", 1.0, None), component("Pio", 1.0, None)];
    let two = Stack::new(two, vec![model("m", "pio")]).unwrap();
    assert_eq!(two.spelled("PIO"), "PIO");
}

#[test]
fn a_name_of_a_group_is_refused_and_a_reason_is_told_for_what_is_lacking() {
    for name in ["hlp", "cpu", "target", "both", "All"] {
        let named = Stack::new(vec![component(name, 1.0, None)], vec![]).unwrap_err();
        assert!(named.why.contains("would not be clear"), "{named}");
        assert_eq!(named.subject, name);
    }
    let llp = Stack::new(vec![component("llp", 1.0, None)], vec![]).unwrap_err();
    assert!(llp.why.ends_with("whether it is meant or the layer llp"), "{llp}");
    // The network is both, unless it is something else.
    let network = |category| Component { category, ..component("network", 1.0, None) };
    assert!(Stack::new(vec![network(Category::Network)], vec![]).is_ok());
    assert!(Stack::new(vec![network(Category::Cpu)], vec![]).is_err());
    assert!(stack(&[("network", "wire")]).is_ok());
    // A model would hide it as well.
    for name in ["hlp", "cpu", "target", "both", "All"] {
        let named = stack(&[(name, "a")]).unwrap_err();
        assert_eq!(named.subject, name);
    }
    let cpu = stack(&[("cpu", "a")]).unwrap_err();
    assert!(cpu.why.ends_with("whether it is meant or the category cpu"), "{cpu}");
}

#[test]
fn most_is_said_only_of_what_is_more_than_half_with_its_interval() {
    let said = |a: (f64, f64), wire: (f64, f64)| {
        let given = |(ns, spread)| Time::Given { ns, spread: Some(spread) };
        let mut components = three();
        components[0].time = given(a);
        components[2].time = given(wire);
        let stack = Stack::new(components, vec![model("m", "a@target + wire")]).unwrap();
        let most = |by| Question::Most { model: "m".into(), by, only: None };
        let told = |by| stack.answer(&most(by), 2.0).unwrap().unwrap();
        [By::Category, By::Side].map(told)
    };
    // Of a − θ(a + w), whose variance is (1 − θ)²s² + θ²t². Two deviations of it at a half: √(s² + t²).
    let sure = said((60.0, 1.0), (40.0, 1.0));
    assert_eq!(sure[0], "Most of m is CPU: 60 %, then network 40 %.");
    assert_eq!(sure[1], "Most of m is spent at the target: 60 %, then network 40 %.");
    // 10, which is what 60 is above a half of 100, against 7.07.
    let near = said((60.0, 5.0), (40.0, 5.0));
    assert_eq!(near[0], "Most of m is CPU: 60 %, then network 40 %.");
    // θ²·9800 − 2θ·5400 + 2925 = 0 at both ends.
    let open = said((55.0, 5.0), (45.0, 5.0));
    assert_eq!(
        open[0],
        "Whether any category takes more than half of m is open: CPU 55 % (interval 47.9 % to 62.3 %), \
         network 45 % (interval 37.7 % to 52.1 %)."
    );
    // Nearly all of it, but it may be anything, also less than nothing.
    let any = said((93.0, 60.0), (7.0, 0.1));
    assert_eq!(
        any[1],
        "Whether any side takes more than half of m is open, as the interval of m holds 0: target 93 %, network 7 %."
    );
    // The quotient looks narrow, (7·46)/100² = 3 %; 43 above a half of 100 is less than two halves of 46.
    let steep = said((93.0, 46.0), (7.0, 0.1));
    assert!(steep[1].starts_with("Whether any side takes more than half"), "{steep:?}");
    // More by less than is written.
    let half = said((50.01, 0.0), (49.99, 0.0));
    assert!(half[0].starts_with("No category takes more than half of m: CPU 50 %"), "{half:?}");
}

#[test]
fn a_name_is_written_beside_the_label_unless_it_is_in_it() {
    use super::insights::called;
    assert_eq!(called("PIO copy (64 bytes)", "pio"), "PIO copy (64 bytes) (pio)");
    assert_eq!(called("send overhead (os)", "os"), "send overhead (os)");
    assert_eq!(called("wire", "wire"), "wire");
}

#[test]
fn sentences_follow_the_numbers() {
    let said = |wire: f64, question: &Question| {
        let mut components = three();
        components[2].time = Time::Given { ns: wire, spread: None };
        components[0].time = Time::Given { ns: 10.0, spread: None };
        let models = vec![model("m", "a + b + wire"), model("net", "wire"), model("soft", "a + b")];
        Stack::new(components, models).unwrap().answer(question, 2.0).unwrap().unwrap()
    };
    let most = Question::Most { model: "m".into(), by: By::Category, only: None };
    assert_eq!(said(10.0, &most), "Most of m is CPU: 75 %, then network 25 %.");
    assert_eq!(said(90.0, &most), "Most of m is network: 75 %, then CPU 25 %.");
    assert_eq!(said(30.0, &most), "No category takes more than half of m: CPU 50 %, network 50 %.");
    let share = Question::Share { of: "net".into(), to: "m".into() };
    assert_eq!(said(10.0, &share), "Net is 25 % of m, less than a third; the rest is 75 %.");
    assert_eq!(said(90.0, &share), "Net is 75 % of m, more than two thirds; the rest is 25 %.");
    let ratio = Question::Ratio { of: "net".into(), to: "soft".into() };
    assert_eq!(said(90.0, &ratio), "Net takes 3.00 times as long as soft.");
    assert_eq!(said(10.0, &ratio), "Soft takes 3.00 times as long as net.");
    // With a spread of 4 on 30 beside 20: ±2·4/20.
    let stack = stack(&[("net", "wire"), ("soft", "b")]).unwrap();
    let told = stack.answer(&ratio, 2.0).unwrap().unwrap();
    assert_eq!(told, "Net takes 1.50 times as long as soft (interval 1.10 to 1.90).");
    // How large a share is, is said of its whole interval: of 30 in 60 that is on both sides of a half.
    let of_all = self::stack(&[("m", "a + b + wire"), ("net", "wire"), ("soft", "a")]).unwrap();
    let told = of_all.answer(&share, 2.0).unwrap().unwrap();
    assert_eq!(told, "Net is 50 % (interval 41.7 % to 58.3 %) of m; the rest is 50 %.");
    let little = Question::Share { of: "soft".into(), to: "m".into() };
    let told = of_all.answer(&little, 2.0).unwrap().unwrap();
    assert!(told.ends_with("of m, less than a third; the rest is 83.3 %."), "{told}");
    let lost = Question::Ratio { of: "moon".into(), to: "soft".into() };
    assert!(stack.answer(&lost, 2.0).unwrap_err().to_string().contains("'moon'"));
}

#[test]
fn many_components_are_summed() {
    let components: Vec<Component> =
        (0..10_000).map(|at| component(&format!("c{at}"), f64::from(at), Some(1.0))).collect();
    let all: Vec<String> = (0..10_000).map(|at| format!("c{at}")).collect();
    // A long chain of models too, each of which names the one before: as many as there may be.
    let mut models = vec![model("total", &all.join(" + ")), model("m0", "c1")];
    models.extend((1..199).map(|at| model(&format!("m{at}"), &format!("m{} + c1", at - 1))));
    let stack = Stack::new(components, models).unwrap();
    let found = stack.evaluated(&stack.state()).unwrap();
    // Σ 0 … 9999, and √10,000.
    assert_eq!(found[0].value, 49_995_000.0);
    assert!((stack.deviation(&found[0].sources).unwrap() - 100.0).abs() < 1e-9);
    assert_eq!(found[199].value, 199.0);
    assert_eq!(stack.ranked(0, 0.2).unwrap()[0].component, 9_999);
}

#[test]
fn what_is_added_up_is_counted_as_often_as_it_is_added() {
    // The same component over and over, by itself, as a group, and by another model of three.
    let often = |text: &str, times: usize| vec![text; times].join(" + ");
    assert!(stack(&[("m", &often("a", 30_000))]).is_ok());
    for (text, times) in
        [("a", 33_000), ("sum:all", 11_000), ("sum:hlp", 33_000), ("2*(a)", 33_000)]
    {
        let told = why(&[("m", &often(text, times))]);
        assert!(told.contains("of the models use components more than 32768 times"), "{told}");
    }
    let told = why(&[("m", &often("n", 11_000)), ("n", "sum:all")]);
    assert!(told.contains("of the models use"), "{told}");
    // Of a derived time too: a and b are the processor's, and nothing is at the target.
    for (text, times) in [("a", 33_000), ("sum:cpu", 17_000), ("sum:target", 33_000)] {
        let io = Component { category: Category::Io, ..derived("d", &often(text, times)) };
        let told = Stack::new([three(), vec![io]].concat(), vec![]).unwrap_err().to_string();
        assert!(told.contains("of the components use components more than"), "{told}");
    }
}

proptest! {
    #[test]
    fn no_text_panics(text: String) {
        let _ = Formula::parse(&text);
    }

    /// Contributions sum up to the model, whatever its formula.
    #[test]
    fn contributions_sum_up(times in prop::collection::vec(1.0..1e3f64, 3)) {
        let components = three().into_iter().zip(&times).map(|(one, ns)| Component {
            time: Time::Given { ns: *ns, spread: None }, ..one
        }).collect();
        let formula = "2*(a + wire) - b/3 + a*b/(a + wire)";
        let stack = Stack::new(components, vec![model("m", formula)]).unwrap();
        let state = stack.state();
        let m = &stack.evaluated(&state).unwrap()[0];
        let sum: f64 = stack.divided(m, &state, By::Component, None).iter().map(|(_, time)| time).sum();
        prop_assert!((sum - m.value).abs() < 1e-9 * m.value.abs().max(1.0));
    }
}
