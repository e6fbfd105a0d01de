use bandgap_model::breakdown::{Becomes, By, Change, Value};
use proptest::prelude::*;

use super::*;

fn preset() -> Stack {
    component_preset("thunderx2-connectx4").unwrap().stack
}

fn read(text: &str) -> Result<ComponentTable> {
    read_component_table(text.as_bytes())
}

fn line_of(text: &str) -> Option<u64> {
    match read(text).unwrap_err() {
        TableError::Line(line, _) => Some(line),
        _ => None,
    }
}

fn value(stack: &Stack, model: &str, changes: &[Change]) -> Value {
    stack.value(stack.model(model).unwrap(), &stack.changed(changes).unwrap())
}

#[track_caller]
fn near(found: f64, expected: f64, within: f64) {
    assert!((found - expected).abs() <= within, "{found} is not {expected}");
}

/// "Breaking Band", sections 4 to 6.
#[test]
fn the_papers_models_come_out() {
    let stack = preset();
    for (model, modelled, observed) in [
        ("llp_injection", 295.73, 282.33),
        ("llp_latency", 1135.80, 1190.25),
        ("injection", 264.97, 263.91),
        ("latency", 1387.02, 1336.0),
    ] {
        let found = value(&stack, model, &[]);
        near(found.ns, modelled, 1e-9);
        let of = stack.model(model).unwrap();
        assert_eq!((of.main, of.observed.unwrap().ns), (true, observed));
        assert!(found.error(of.observed.unwrap()).0.abs() < 0.05, "{model}");
    }
    for (step, ns) in [
        ("llp_post", 175.42),
        ("llp_misc", 58.68),
        ("hlp_post", 26.56),
        ("post", 201.98),
        ("hlp_rx_prog", 224.66),
        ("network", 382.81),
        ("tx_progress", 59.82),
        ("rx_progress", 286.29),
        ("hlp_wait", 443.80),
        ("gen_completion", 1281.56),
    ] {
        near(value(&stack, step, &[]).ns, ns, 1e-9);
        assert!(!stack.model(step).unwrap().main);
    }
    // The progress of a receive: 4.78 times that of a send.
    let ratio = value(&stack, "rx_progress", &[]).ns / value(&stack, "tx_progress", &[]).ns;
    near(ratio, 4.78, 0.01);
    let latency = value(&stack, "latency", &[]);
    let shares = |by| -> Vec<(String, f64)> {
        let parts = stack.divided(&latency, by).into_iter();
        parts.map(|(name, ns)| (name, (1000.0 * ns / latency.ns).round() / 10.0)).collect()
    };
    assert_eq!(shares(By::Category)[2], ("network".into(), 27.6));
    // Figure 16: most of the time on the nodes is the target's, and most of that is I/O.
    assert_eq!(shares(By::Side)[..2], [("initiator".into(), 24.5), ("target".into(), 47.9)]);
    let injection = value(&stack, "injection", &[]);
    assert!(value(&stack, "post", &[]).ns > 0.7 * injection.ns);
    assert!(injection.parts.iter().all(|part| part.side == Side::Initiator));
}

/// Section 4.2: a post waits for a completion unless p ≥ gen_completion / LLP_post.
#[test]
fn posts_a_poll_completions_a_poll_and_moderation_are_parameters() {
    let stack = preset();
    let with = |model, what: &str, value: f64| {
        self::value(&stack, model, &[Change { what: what.into(), becomes: Becomes::Value(value) }])
            .ns
    };
    let least = value(&stack, "gen_completion", &[]).ns / value(&stack, "llp_post", &[]).ns;
    near(least, 7.306, 1e-3);
    near(with("llp_injection", "p", least + 1e-9), 295.73, 1e-6);
    near(with("llp_injection", "p", 4.0), 1281.56 / 4.0 + 61.63 + 58.68, 1e-9);
    // Half of the busy posts.
    near(with("llp_injection", "b", 2.0), 295.73 - 8.99 / 2.0, 1e-9);
    // A completion for each operation.
    near(with("injection", "c", 1.0), 264.97 + 61.63 * 63.0 / 64.0, 1e-9);
    near(with("latency", "c", 1.0), 1387.02, 1e-9);
}

const MINE: &str = "time_ns,name,category,layer,side,latency,provenance,rate,spread_ns,latency
# a comment
40,send,cpu,LLP,initiator,1,measured,1/n,2,
,send,cpu,hlp,target,0.5,,-1/4,,
60,way,network,hardware,network,1,,,,2

4,n,parameter,,,,,,,
,observed,observed,,,110,,,,
,observed_spread,observed_spread,,,3,,,,
";

#[test]
fn a_table_has_models_of_its_own() {
    let table = read(MINE).unwrap();
    let stack = &table.stack;
    let names: Vec<(&str, usize, bool)> =
        stack.models.iter().map(|of| (&*of.name, of.rows.len(), of.main)).collect();
    assert_eq!(names, [("latency", 2, true), ("rate", 1, false)]);
    // 1.5·40 + 60 and 2·60; 40/4 − 40/4.
    let found = value(stack, "latency", &[]);
    near(found.ns, 120.0, 1e-12);
    near(found.deviation().unwrap(), 3.0, 1e-12);
    near(value(stack, "rate", &[]).ns, 0.0, 1e-12);
    assert_eq!(stack.models[0].observed, Some(Observed { ns: 110.0, spread: Some(3.0) }));
    let provenances: Vec<Provenance> = stack.components.iter().map(|one| one.provenance).collect();
    assert_eq!(provenances, [Provenance::Measured, Provenance::Assumed]);
    assert_eq!(stack.divided(&found, By::Layer)[0], ("hlp".into(), 20.0));
    assert!(table.lacking.is_empty());
}

const HEAD: &str = "name,category,layer,side,time_ns,spread_ns,provenance\n";

/// The preset's components as a table without models.
fn paper(names: impl Fn(&str) -> bool) -> String {
    let row = |one: &Component| {
        let Component { name, category, layer, side, ns, provenance, .. } = one;
        format!("{name},{category},{layer},{side},{ns},,{provenance}\n")
    };
    HEAD.to_owned()
        + &preset().components.iter().filter(|one| names(&one.name)).map(row).collect::<String>()
}

#[test]
fn components_with_the_papers_names_have_its_models() {
    let table = read(&paper(|_| true)).unwrap();
    let paper = preset();
    assert_eq!(table.stack.models.len(), paper.models.len());
    for model in &paper.models {
        let found = value(&table.stack, &model.name, &[]).ns;
        near(found, value(&paper, &model.name, &[]).ns, 1e-9);
        // What was observed, was on the paper's machine.
        assert_eq!(table.stack.model(&model.name).unwrap().observed, None);
    }
    // Those of one model are enough for it.
    let post = ["descriptor", "descriptor_barrier", "doorbell_barrier", "pio", "llp_post_other"];
    let of_injection = ["hlp_post_mpi", "hlp_post_ucp", "post_prog", "busy_posts"];
    let table = read(&self::paper(|name| post.contains(&name) || of_injection.contains(&name)));
    let table = table.unwrap();
    near(value(&table.stack, "injection", &[]).ns, 264.97, 1e-9);
    let main = table.stack.models.iter().filter(|model| model.main);
    assert_eq!(main.map(|model| &*model.name).collect::<Vec<_>>(), ["injection"]);
    let lacking: Vec<(&str, usize)> =
        table.lacking.iter().map(|of| (&*of.model, of.components.len())).collect();
    assert_eq!(lacking, [("llp_injection", 3), ("llp_latency", 5), ("latency", 8)]);
    assert_eq!(table.lacking[0].components, ["llp_prog", "busy_post", "measurement_update"]);
    // Sums may be given instead of their parts.
    let sums =
        "llp_post,cpu,llp,initiator,175.42,3,measured\nnetwork,network,hardware,network,382.81,,\n";
    let rest = ["pcie", "rc_to_mem_8", "llp_prog"];
    let table = read(&(self::paper(|name| rest.contains(&name)) + sums)).unwrap();
    near(value(&table.stack, "llp_latency", &[]).ns, 1135.80, 1e-9);
    near(value(&table.stack, "llp_latency", &[]).deviation().unwrap(), 3.0, 1e-12);
    // None of them, and too few of them.
    for rows in ["cable,network,hardware,network,70,5,\n", "pio,cpu,llp,initiator,70,,\n"] {
        let table = read(&format!("{HEAD}{rows}")).unwrap();
        near(value(&table.stack, "total", &[]).ns, 70.0, 1e-12);
        assert_eq!(table.lacking.len(), if rows.starts_with("pio") { 4 } else { 0 });
    }
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    for (from, to, line) in [
        ("60,way", "-60,way", Some(5)),
        ("60,way", "60,send", Some(5)),
        ("40,send", "40,sent", Some(4)),
        (",1/n,2", ",1/n,1e160", Some(3)),
        (",1/n,2", ",1/n,-1", Some(3)),
        (",1/n,2", ",1/m,2", None),
        (",1/n,2", ",1e9,2", None),
        ("cpu,LLP", "gpu,LLP", Some(3)),
        ("LLP,initiator", "LLP,left", Some(3)),
        ("measured", "guessed", Some(3)),
        ("cpu,hlp,target", "cpu,llp,initiator", None),
        ("4,n", "0,n", Some(7)),
        (",110,", ",-110,", Some(8)),
        (",110,", ",0,", None),
        ("60,way,", "60,way,,", Some(5)),
        ("side,", "place,", Some(1)),
    ] {
        assert!(MINE.contains(from), "{from}");
        assert_eq!(line_of(&MINE.replacen(from, to, 1)), line, "{from} -> {to}");
    }
    assert!(matches!(read(HEAD), Err(TableError::NoRows)));
    assert!(matches!(read("# nothing\n"), Err(TableError::Empty(_))));
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes: Vec<u8>, text in "[a-z0-9,/.\n -]{0,200}") {
        let _ = read_component_table(&bytes[..]);
        let _ = read(&text);
        let _ = read(&format!("{HEAD}{text}"));
    }
}
