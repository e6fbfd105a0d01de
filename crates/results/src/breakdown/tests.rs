use bandgap_record::Unit;
use bandgap_report::{Block, Layout, svg, text};

use super::*;
use crate::logp::tests::{example, run, time};
use crate::{Run, Shown, View, detail, screen};

/// A breakdown whose two models are sums of as many components of 10 ns, three categories in turn.
pub(crate) fn sample(components: usize, name: &str, within: Within) -> Breakdown {
    let name = |at: usize| format!("{name}{at}");
    let whole = 10.0 * components as f64;
    let component = |at: usize| ComponentTime {
        name: name(at),
        category: Category::ALL[at % 3],
        layer: Layer::Llp,
        side: Side::Target,
        time: time(10.0, 1.0, true),
        provenance: Provenance::Measured,
        errors: BTreeMap::new(),
    };
    let part = |name: String, count: usize| {
        let ns = 10.0 * count as f64;
        PartTime { name, time: Seconds(Number(ns * 1e-9)), share: Number(ns / whole) }
    };
    let category = |at: usize| (0..components).filter(|one| one % 3 == at).count();
    let divided = [
        ("component", (0..components).map(|at| part(name(at), 1)).collect::<Vec<_>>()),
        ("category", (0..3).map(|at| part(Category::ALL[at].to_string(), category(at))).collect()),
        ("layer", vec![part("llp".into(), components)]),
        ("side", vec![part("target".into(), components)]),
    ];
    let error = Quantity::new(-0.06, Some((-0.07, -0.051)), Unit::One, ("ratio", 9, true)).unwrap();
    let model = |name: &str| ModelTime {
        name: name.to_owned(),
        main: true,
        modelled: time(whole, 9.0, true),
        observed: Some(time(1.06 * whole, 9.0, false)),
        error: Some(error.clone()),
        within: Some(within),
        rows: vec![Vec::new()],
        divided: divided.clone().map(|(by, parts)| PartsBy { by: by.into(), parts }).into(),
    };
    Breakdown {
        name: "unix".into(),
        components: (0..components).map(component).collect(),
        parameters: BTreeMap::new(),
        models: vec![model("latency"), model("injection")],
        measured: Some(Beside::default()),
    }
}

/// The lines of a screen of a run at 100 columns, and their columns.
pub(crate) fn lines(run: &Run) -> (usize, usize) {
    let layout = Layout { width: 100, ..Layout::default() };
    let text = text(&screen(run, View::default()), &layout);
    (text.lines().count(), text.lines().map(|line| line.chars().count()).max().unwrap_or(0))
}

#[test]
fn ids_name_the_component_or_the_model_and_the_whole_counts() {
    let of = sample(2, "c", Within::Holds);
    let ids: Vec<(String, bool)> =
        of.quantities().into_iter().map(|(id, _, counts)| (id, counts)).collect();
    let expected = [
        ("component=c0/time", false),
        ("component=c1/time", false),
        ("model=latency/modelled", true),
        ("model=latency/observed", true),
        ("model=latency/error", false),
        ("model=injection/modelled", true),
        ("model=injection/observed", true),
        ("model=injection/error", false),
    ];
    assert_eq!(ids, expected.map(|(id, counts)| (format!("breakdown/unix/{id}"), counts)));
    // What was given need not converge.
    let given = Breakdown { measured: None, ..of };
    assert!(given.quantities().iter().all(|(.., counts)| !counts));
}

#[test]
fn a_model_that_is_off_is_negative() {
    for (within, negative) in
        [(Within::Off, true), (Within::Undecided, false), (Within::Holds, false)]
    {
        assert_eq!(sample(2, "c", within).negative().is_empty(), !negative);
    }
}

#[test]
fn a_screen_has_the_largest_components_however_many_there_are() {
    for (components, name) in [(1, "c"), (9, "component"), (900, &*"long".repeat(19))] {
        let run = run([sample(components, name, Within::Off).into()], Vec::new());
        let (lines, columns) = lines(&run);
        assert!(lines <= 25 && columns <= 100, "{components}: {lines} {columns}");
        let tables = |blocks: Vec<Block>| -> Vec<usize> {
            let of = |block| if let Block::Table(of) = block { Some(of.rows.len()) } else { None };
            blocks.into_iter().filter_map(of).collect()
        };
        assert_eq!(tables(screen(&run, View::default())), [2, components.min(8)]);
        assert!(tables(detail(&run, View::default())).contains(&components));
    }
}

#[test]
fn beside_a_signature_it_is_a_line() {
    let [logp, curve] = example("unix", [100.0, 100.0, 300.0, 600.0]);
    let run = run([logp, curve, sample(9, "c", Within::Holds).into()], Vec::new());
    let blocks = run.results[2].as_shown().short(&crate::run::context(&run));
    assert!(matches!(&blocks[..], [Block::Text(_)]));
}

/// Figures 4, 14 and 16: the first division that tells something.
#[test]
fn parts_of_models_are_divided_by_what_divides_them() {
    let mut of = sample(6, "c", Within::Holds);
    assert_eq!(of.part_bars(), None);
    let part = |name: &str, share| PartTime {
        name: name.into(),
        time: Seconds(Number(share)),
        share: Number(share),
    };
    let mut push = |name: &str, divided: &[(&str, &[&str])]| {
        let parts = |names: &[&str]| {
            let share = 1.0 / names.len() as f64;
            names.iter().map(|name| part(name, share)).collect()
        };
        let divided =
            divided.iter().map(|(by, names)| PartsBy { by: (*by).into(), parts: parts(names) });
        let main = of.models[0].clone();
        of.models.push(ModelTime {
            name: name.into(),
            main: false,
            divided: divided.collect(),
            ..main
        });
    };
    let component = ("component", &["c0", "c3"][..]);
    push("post", &[("category", &["cpu"]), ("layer", &["llp"]), component]);
    push("progress", &[("category", &["cpu"]), ("layer", &["hlp", "llp"]), component]);
    push("node", &[("category", &["cpu", "io"]), ("side", &["initiator", "target"]), component]);
    push("wire", &[("category", &["network"]), ("component", &["c2"])]);
    let bars = of.part_bars().unwrap();
    let bars: Vec<(&str, Vec<&str>)> = bars
        .bars
        .iter()
        .map(|bar| (&*bar.name, bar.parts.iter().map(|of| &*of.name).collect()))
        .collect();
    let expected = [
        ("post by component", vec!["c0", "c3"]),
        ("progress by layer", vec!["hlp", "llp"]),
        ("node by category", vec!["cpu", "io"]),
        ("node by side", vec!["initiator", "target"]),
    ];
    assert_eq!(bars, expected);
}

/// Figure 15: by category, and what each of them is; each category has a colour.
#[test]
fn bars_have_a_colour_for_each_category() {
    let of = sample(9, "c", Within::Holds);
    let bars = of.bars(&of.models[0]);
    // One layer and one side are not divided.
    let names: Vec<&str> = bars.bars.iter().map(|bar| &*bar.name).collect();
    assert_eq!(names, ["category", "cpu", "io", "network"]);
    let svg = svg(&[Block::Bars(bars)], "");
    for colour in ["#0072b2", "#e69f00", "#009e73", "#43b898"] {
        assert!(svg.contains(colour), "{colour}");
    }
}
