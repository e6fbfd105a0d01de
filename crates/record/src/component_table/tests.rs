use std::fmt::Write;

use bandgap_model::breakdown::{By, Change, Component, Modelled, Observed, Provenance};

use super::*;

fn preset() -> ComponentTable {
    component_preset("thunderx2-connectx4").unwrap()
}

fn value(table: &ComponentTable, name: &str) -> f64 {
    evaluated(table, &[], name).value
}

fn evaluated(table: &ComponentTable, changes: &[Change], name: &str) -> Modelled {
    let state = table.stack.changed(changes).unwrap();
    table.stack.evaluated(&state).unwrap().swap_remove(table.stack.model(name).unwrap())
}

/// What a case of the paper saves of a model.
fn saved(table: &ComponentTable, case: &str, model: &str) -> f64 {
    let case = table.cases.iter().find(|one| one.name == case).unwrap();
    let (before, after) = (evaluated(table, &[], model), evaluated(table, &case.changes, model));
    table.stack.saved(&before, &after).share
}

fn close(found: f64, expected: f64, within: f64) {
    assert!((found - expected).abs() <= within, "{found} is not {expected}");
}

#[test]
fn every_preset_is_read() {
    for name in component_presets() {
        assert_eq!(component_preset(name).unwrap().name, name);
    }
    assert!(component_preset("moon").is_none());
}

/// The numbers that the paper prints, from its components by its formulas.
#[test]
fn the_papers_numbers_come_out() {
    let table = preset();
    for (name, expected) in [
        ("llp_post", 175.42),
        ("llp_misc", 58.68),
        ("network", 382.81),
        ("hlp_post", 26.56),
        ("post", 201.98),
        ("hlp_rx_prog", 224.66),
        ("hlp_wait", 443.8),
        ("llp_injection", 295.73),
        ("llp_latency", 1135.80),
        ("injection", 264.97),
        ("latency", 1387.02),
        // 2·(137.49 + 382.81) + 240.96, the last one assumed.
        ("gen_completion", 1281.56),
    ] {
        close(value(&table, name), expected, 1e-9);
    }
    // 1281.56/175.42
    close(value(&table, "p"), 7.3057, 1e-4);
    close(value(&table, "network") / value(&table, "latency"), 0.276, 5e-5);
    // (61.63 + 224.66)/59.82 = 4.7859, which the paper cuts off to 4.78.
    close(value(&table, "rx_progress") / value(&table, "tx_progress"), 4.7859, 5e-5);
}

#[test]
fn the_papers_cases_come_out() {
    let table = preset();
    assert!(saved(&table, "fast-pio", "injection") > 0.25);
    assert!(saved(&table, "fast-pio", "latency") > 0.05);
    assert!(saved(&table, "integrated-nic", "latency") > 0.15);
    // HLP is HLP_post and what of Post_prog is not 1/64 of LLP_prog: (26.56 + 58.857)/5/264.97 =
    // 6.447 %, which the paper cuts off to 6.44 %.
    close(saved(&table, "lean-hlp", "injection"), 0.06447, 5e-6);
    // LLP_post and the rest of Post_prog: (175.42 + 0.963)/5/264.97. The paper says 13.33 %.
    close(saved(&table, "lean-llp", "injection"), 0.13313, 5e-6);
    // With the busy posts, 3.17 more: (175.42 + 0.963 + 3.17)/5/264.97 = 13.55 %.
    let whole = [Change::Scale { what: "llp".to_owned(), factor: 0.8 }];
    let (before, after) =
        (evaluated(&table, &[], "injection"), evaluated(&table, &whole, "injection"));
    close(table.stack.saved(&before, &after).share, 0.13553, 5e-6);
    for case in ["lean-hlp", "lean-llp"] {
        assert!(saved(&table, case, "latency") < 0.05, "{case}");
    }
    close(saved(&table, "fast-switch", "latency"), 78.0 / 1387.02, 1e-9);
}

#[test]
fn the_papers_insights_come_out() {
    let table = preset();
    let said: Vec<String> = table
        .questions
        .iter()
        .map(|question| table.stack.answer(question, 2.0).unwrap().unwrap())
        .collect();
    assert_eq!(
        said,
        [
            "Post is 76.2 % of injection overhead, more than two thirds; the rest is 23.8 %.",
            "Most of Post is LLP: 86.9 %, then HLP 13.1 %.",
            "No category takes more than half of end-to-end latency: I/O 37.2 %, CPU 35.2 %, \
             network 27.6 %.",
            "The network is 27.6 % of end-to-end latency, less than a third; the rest is 72.4 %.",
            "Most of the latency on the nodes is spent at the target: 66.2 %, then initiator 33.8 %.",
            "Most of the time on the target in the latency on the nodes is I/O: 56.9 %, then CPU \
             43.1 %.",
            "Most of the target's I/O is RC-to-MEM (8 bytes): 63.7 %, then PCIe (64 bytes) 36.3 %.",
            "Most of the time on the initiator in the latency on the nodes is CPU: 59.5 %, then I/O \
             40.5 %.",
            "Most of the progress of a send is HLP: 98.4 %, then LLP 1.61 %.",
            "Most of the progress of a receive is HLP: 78.5 %, then LLP 21.5 %.",
            "The progress of a receive takes 4.79 times as long as the progress of a send.",
        ]
    );
}

/// The preset's components as CSV, without those whose names `leave` says.
fn csv_without(leave: &[&str]) -> String {
    let table = preset();
    let mut text = "name,category,layer,side,time_ns\n".to_owned();
    for (one, ns) in table.stack.components().iter().zip(table.stack.times()) {
        if one.part_of.is_none() && !leave.contains(&one.name.as_str()) {
            let _ = writeln!(text, "{},{},{},{},{ns}", one.name, one.category, one.layer, one.side);
        }
    }
    text
}

fn read(text: &str) -> Result<ComponentTable> {
    read_component_table(text.as_bytes())
}

fn why(text: &str) -> String {
    read(text).unwrap_err().to_string()
}

#[test]
fn csv_takes_the_papers_models() {
    let table = read(&csv_without(&[])).unwrap();
    for name in ["llp_injection", "llp_latency", "injection", "latency", "p"] {
        close(value(&table, name), value(&preset(), name), 1e-9);
    }
    close(saved(&table, "lean-hlp", "injection"), 0.06447, 5e-6);
    assert_eq!(table.figures.len(), preset().figures.len());
    // One that names a part of Post_prog itself says nothing of the others.
    let own = csv_without(&[]) + "hlp_tx_prog,cpu,hlp,initiator,50\n";
    close(value(&read(&own).unwrap(), "injection"), 264.97, 1e-9);
    // The paper observed its own machine, not this one.
    assert!(table.stack.models().all(|model| model.observed.is_none()));
    assert_eq!(table.notes.len(), 1);

    // What only further models need may be missing, and is named.
    let table = read(&csv_without(&["rc_to_mem_64", "rx_wait_ucp"])).unwrap();
    close(value(&table, "latency"), 1387.02, 1e-9);
    assert!(table.stack.model("p").is_none() && table.stack.model("hlp_wait").is_none());
    assert_eq!(
        table.notes[1],
        "Left out, for want of components: hlp_wait (no 'rx_wait_ucp'), gen_completion (no \
         'rc_to_mem_64'), p (no 'rc_to_mem_64')."
    );
    assert!(table.figures.iter().all(|figure| !figure.title.contains("figure 11")));
}

#[test]
fn a_component_that_a_model_needs_is_named() {
    for (name, model) in [
        ("pio", "llp_post"),
        ("wire", "network"),
        ("post_prog", "injection"),
        ("rx_after_progress", "hlp_rx_prog"),
    ] {
        let told = why(&csv_without(&[name]));
        let said = format!(
            "read the table: it has no component '{name}', which the model '{model}' needs; the paper's models are \
             computed since '"
        );
        assert!(told.starts_with(&said), "{told}");
        assert!(
            told.contains(" more are names of the paper's components: rename them, or"),
            "{told}"
        );
    }
}

#[test]
fn of_a_name_that_happens_to_be_the_papers_it_is_said_what_its_models_need() {
    let text = "name,category,layer,side,time_ns\nsyscall,cpu,llp,initiator,300\n";
    let other = |name: &str| format!("{text}{name},network,hardware,network,70\n");
    assert_eq!(value(&read(&other("cable")).unwrap(), "total"), 370.0);
    let told = why(&other("wire"));
    for said in [
        "it has no component 'descriptor', which the model 'llp_post' needs (nor 'descriptor_barrier', ",
        " more, which these models need too); the paper's models are computed since 'wire' is a name of the paper's \
         components: rename it, or declare models of your own in TOML",
    ] {
        assert!(told.contains(said), "{said}\n{told}");
    }
}

#[test]
fn columns_that_are_not_read_are_warned_of() {
    let read = |columns: &str| {
        let text =
            format!("name,category,layer,side,time_ns{columns}\na,cpu,llp,initiator,3,1,2\n");
        read(&text).unwrap()
    };
    assert_eq!(
        read(",spread,provenence").warnings,
        [
            "the table's columns 'spread', 'provenence' are ignored: a table of components has name, category, layer, \
          side, time_ns, spread_ns, provenance"
        ]
    );
    let one = read(",spread_ns,whose");
    assert!(one.warnings[0].starts_with("the table's column 'whose' is ignored"), "{one:?}");
    assert_eq!(one.stack.spread(0), Some(1.0));
    // As a spreadsheet leaves one.
    assert_eq!(read(",spread_ns,").warnings, [""; 0]);
}

#[test]
fn components_of_another_stack_are_summed() {
    let mut text = "# mine\nside,name,category,layer,time_ns,spread_ns,provenance\n".to_owned();
    for at in 0..10_000 {
        let spread = if at == 7 { "3" } else { "" };
        let _ = writeln!(text, "target,c-{at},CPU,llp,{at},{spread},measured");
    }
    let table = read(&text).unwrap();
    let total = evaluated(&table, &[], "total");
    // 0 + 1 + … + 9999
    assert_eq!(total.value, 49_995_000.0);
    assert_eq!(table.stack.deviation(&total.sources), Some(3.0));
    assert_eq!(table.stack.divided(&total, &table.stack.state(), By::Category, None).len(), 1);
    assert!(table.notes[0].contains("sum of all"));
}

const MINE: &str = r#"name = "mine"

[[component]]
name = "send"
category = "cpu"
layer = "llp"
side = "initiator"
time = "1.5us"
spread_ns = 20

[[component]]
name = "way"
category = "network"
layer = "hardware"
side = "network"
time_ns = 500
provenance = "assumed"

[[model]]
name = "latency"
formula = "send + way"
observed = "2.1 us"
observed_spread_ns = 10
"#;

#[test]
fn a_stack_of_ones_own_is_declared_in_toml() {
    let table = read(MINE).unwrap();
    let latency = evaluated(&table, &[], "latency");
    assert_eq!(latency.value, 2000.0);
    assert_eq!(table.stack.deviation(&latency.sources), Some(20.0));
    let declared = table.stack.models().next().unwrap();
    assert!(declared.main);
    let observed = declared.observed.unwrap();
    assert_eq!((observed.value, observed.spread), (2100.0, Some(10.0)));
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let toml = |from: &str, to: &str| {
        assert!(MINE.contains(from), "{from}");
        why(&MINE.replacen(from, to, 1))
    };
    let cases = [
        (toml("1.5us", "1.5 apples"), "line 8: read a duration from '1.5 apples': unknown unit"),
        (toml("\"1.5us\"", "\"1.5\""), "line 8: read a duration from '1.5': the unit is missing"),
        (toml("time_ns = 500", "time_ns = -1"), "line 16: time is -1 ns: it must be 0, or from"),
        (toml("time_ns = 500", "time_ns = inf"), "line 16: time is inf ns"),
        (toml("time_ns = 500", "time_ns = 1e160"), "line 16: time is 1e160 ns: it must be 0"),
        (toml("time_ns = 500", "time_ns = 1e-320"), "line 16: time is 1e-320 ns: it must be"),
        (toml("1.5us", "1e10s"), "line 8: time is 1e19 ns: it must be 0, or from"),
        (toml("spread_ns = 20", "spread_ns = 1e160"), "line 9: spread is 1e160 ns: it must be"),
        (
            toml("observed = \"2.1 us\"", "observed_ns = 1e-320"),
            "line 22: observed is 1e-320 ns: it must be from 1e-21",
        ),
        (
            toml("observed_spread_ns = 10", "observed_spread_ns = 1e300"),
            "line 23: observed_spread is 1e300 ns: it must be from 0 to 1e18 ns (1e9 s)",
        ),
        (toml("name = \"latency\"", "name = \"cpu\""), "line 21: 'cpu' cannot be a name"),
        (
            toml("time_ns = 500", "formula = \"sum:network\""),
            "line 12: formulas lead back to where they began: way → sum:network → way",
        ),
        (toml("time_ns = 500\n", ""), "line 12: 'way' has no time"),
        (toml("time_ns = 500", "time_ns = \"500\""), "line 16: invalid type: string"),
        (toml("spread_ns = 20", "spread_ns = -2"), "line 9: spread is -2 ns"),
        (
            toml("category = \"cpu\"", "category = \"gpu\""),
            "line 5: category is 'gpu': it must be cpu",
        ),
        (toml("layer = \"llp\"", "layer = \"\""), "line 6: layer is '': it must be hlp"),
        (toml("side = \"network\"", "side = \"left\""), "line 15: side is 'left': it must be"),
        (toml("\"assumed\"", "\"guessed\""), "line 17: provenance is 'guessed'"),
        (toml("send + way", "send + moon"), "line 21: 'latency' needs 'moon', which is neither"),
        (toml("send + way", "send + latency"), "line 21: formulas lead back"),
        (toml("send + way", "send + "), "line 21: the formula needs a name"),
        (toml("name = \"way\"", "name = \"send\""), "line 12: 'send' is there twice"),
        (toml("2.1 us", "0"), "line 22: observed is 0 ns: it must be from 1e-21"),
        (toml("[[model]]", "[[modle]]"), "line 19: unknown field `modle`"),
        (toml("formula", "formla"), "unknown field `formla`"),
        (why("name = \"none\"\n"), "it has no [[component]]"),
        (why(&MINE[..MINE.find("[[model]]").unwrap()]), "it has no [[model]]"),
        (
            why(&(MINE.to_owned() + "[[insight]]\nratio = [\"latency\", \"x\"]\n")),
            "line 24: a question is about 'x'",
        ),
        (why(&(MINE.to_owned() + "[[insight]]\nmost = \"latency\"\n")), "line 24: an insight has"),
        (
            why(&(MINE.to_owned()
                + "[[insight]]\nshare = [\"latency\", \"latency\"]\nonly = \"cpu\"\n")),
            "line 24: an insight has",
        ),
        (
            why(&(MINE.to_owned()
                + "[[insight]]\nmost = \"latency\"\nby = \"term\"\nonly = \"cpu\"\n")),
            "line 27: only goes with by = component",
        ),
        (
            why(&(MINE.to_owned() + "[[curves]]\ntitle = \"\"\nmodel = \"latency\"\nof = [\"x\"]")),
            "line 24: 'x' is no component",
        ),
        (
            why(&(MINE.to_owned() + "[[case]]\nname = \"c\"\nreduce = { way = \"120%\" }")),
            "line 26: read a share from '120%'",
        ),
        (
            why(&(MINE.to_owned() + "[[case]]\nname = \"c\"\nset = { way = \"-1ns\" }")),
            "line 26: a time must not be",
        ),
        (why(&(MINE.to_owned() + "[[case]]\nname = \"c\"\n")), "line 24: a case changes something"),
    ];
    for (told, expected) in cases {
        let expected = format!("read the table: {expected}");
        assert!(
            told.starts_with(&expected) || told.contains("unknown field `formla`"),
            "{told}\n{expected}"
        );
    }
}

#[test]
fn what_is_no_time_has_no_parts_to_show() {
    let number = "[[model]]\nname = \"p\"\nformula = \"send / way\"\n";
    assert_eq!(read(&(MINE.to_owned() + number)).unwrap().stack.models().count(), 2);
    for shown in [
        "[[figure]]\ntitle = \"\"\nbars = [{ model = \"p\", by = \"side\" }]\n",
        "[[insight]]\nmost = \"p\"\nby = \"layer\"\n",
        "[[curves]]\ntitle = \"\"\nmodel = \"p\"\nof = [\"way\"]\n",
    ] {
        let told = why(&(MINE.to_owned() + number + shown));
        assert_eq!(told, "read the table: line 27: 'p' is no time, so it has no parts");
        let time = shown.replace("\"p\"", "\"latency\"");
        assert!(read(&(MINE.to_owned() + number + &time)).is_ok(), "{time}");
    }
}

#[test]
fn a_wrong_row_is_told_with_its_line() {
    const HEAD: &str = "name,category,layer,side,time_ns,spread_ns\n";
    let row = |row: &str| why(&format!("{HEAD}pio,cpu,llp,initiator,1,\n{row}\n"));
    for (told, expected) in [
        (row("a,cpu,llp,initiator,-3,"), "line 3: time_ns is '-3': it must not be negative"),
        (row("a,cpu,llp,initiator,,"), "line 3: time_ns is '': it must be a number of nanoseconds"),
        (row("a,cpu,llp,initiator,3 us,"), "line 3: time_ns is '3 us': it must be a number of"),
        (row("a,cpu,llp,initiator,nan,"), "line 3: time_ns is 'nan': it must be finite"),
        (row("a,cpu,llp,initiator,1e160,"), "line 3: time_ns is '1e160': it must be 0, or from"),
        (row("a,cpu,llp,initiator,1,1e160"), "line 3: spread_ns is '1e160': it must be from 0 to"),
        (row("a,cpu,llp,initiator,1,-1"), "line 3: spread_ns is '-1': it must not be negative"),
        (row("a,gpu,llp,initiator,1,"), "line 3: category is 'gpu': it must be cpu, io or network"),
        (row("a,cpu,mpi,initiator,1,"), "line 3: layer is 'mpi': it must be hlp, llp or hardware"),
        (row("a,cpu,llp,here,1,"), "line 3: side is 'here': it must be"),
        (row("a,cpu,llp"), "line 3: 3 fields where the header has 6"),
        (why("name,category,layer,side,time_us\n"), "line 1: column time_ns is missing"),
        (why(HEAD), "it has a header but no rows"),
        (why("# nothing\n"), "it is empty"),
    ] {
        assert!(told.starts_with(&format!("read the table: {expected}")), "{told}\n{expected}");
    }
    let named = csv_without(&[]) + "a+b,cpu,llp,initiator,1\n";
    assert!(
        why(&named).contains(&format!("line {}: 'a+b' cannot be a name", named.lines().count()))
    );
    let twice = csv_without(&[]) + "pio,cpu,llp,initiator,1\n";
    let line = twice.lines().count();
    assert_eq!(why(&twice), format!("read the table: line {line}: 'pio' is there twice"));
    let broken = read_component_table(&b"name,category\n\xff"[..]).unwrap_err().to_string();
    assert_eq!(broken, "read the table: line 2: it is not text in UTF-8");
}

/// Components as a trace of the paper's machine gives them.
fn traced(names: &[(&str, f64)]) -> Vec<Component> {
    let one =
        |(name, ns): &(&str, f64)| traced_component(name, *ns, Some(0.5), Provenance::Derived);
    names.iter().map(|given| one(given).unwrap()).collect()
}

#[test]
fn components_of_a_trace_take_the_place_of_those_of_a_table() {
    let new = [("pcie", 100.0), ("wire", 200.0), ("switch", 50.0), ("rc_to_mem_8", 300.0)];
    let observed = Observed { value: 280.0, spread: Some(1.0) };
    let table = preset().with(traced(&new), Some(("llp_injection", observed))).unwrap();
    // 175.42 + 2·100 + 250 + 300 + 61.63
    close(value(&table, "llp_latency"), 987.05, 1e-9);
    let declared = |name| table.stack.models().find(|model| model.name == name).unwrap();
    assert_eq!(declared("llp_injection").observed, Some(observed));
    assert_eq!(declared("llp_latency").observed.unwrap().value, 1190.25);
    // What it is called, and what else is shown, is the table's.
    let pcie = table.stack.components().iter().find(|one| one.name == "pcie").unwrap();
    assert_eq!((pcie.title(), pcie.provenance), ("PCIe (64 bytes)", Provenance::Derived));
    assert_eq!(table.figures.len(), preset().figures.len());
    assert_eq!(table.stack.components().len(), preset().stack.components().len());
}

#[test]
fn a_component_takes_the_place_of_a_model() {
    let new = [("network", 400.0), ("llp_post", 150.0)];
    let table = preset().with(traced(&new), Some(("none", Observed { value: 1.0, spread: None })));
    let table = table.unwrap();
    // 150 + 2·137.49 + 400 + 240.96 + 61.63
    close(value(&table, "llp_latency"), 1127.57, 1e-9);
    let has = |name: &str| table.stack.components().iter().any(|one| one.name == name);
    assert!(has("network") && has("llp_post") && !has("wire") && !has("switch") && !has("pio"));
    assert!(table.stack.model("network").is_none());
    // What is about components that are not there any more is left out.
    assert!(table.cases.iter().all(|case| case.name != "fast-switch" && case.name != "fast-pio"));
    assert!(table.figures.iter().all(|figure| !figure.title.contains("figure 4)")));
    assert!(table.curves.iter().all(|curves| curves.title != "Latency, network"));
}

#[test]
fn a_trace_alone_has_the_models_that_it_is_enough_for() {
    let models = |names: &[(&str, f64)]| -> Vec<(String, bool)> {
        let table = traced_table(traced(names)).unwrap();
        table.stack.models().map(|model| (model.name.clone(), model.main)).collect()
    };
    let owned = |all: &[(&str, bool)]| -> Vec<(String, bool)> {
        all.iter().map(|(name, main)| ((*name).to_owned(), *main)).collect()
    };
    let all = [
        ("pcie", 137.49),
        ("wire", 274.81),
        ("switch", 108.0),
        ("rc_to_mem_8", 240.96),
        ("llp_post", 175.42),
        ("llp_prog", 61.63),
    ];
    assert_eq!(
        models(&all),
        owned(&[("llp_latency", true), ("hardware_alone", true), ("network", false)])
    );
    close(value(&traced_table(traced(&all)).unwrap(), "llp_latency"), 1135.80, 1e-9);
    assert_eq!(models(&all[..4]), owned(&[("hardware_alone", true), ("network", false)]));
    assert_eq!(models(&all[..3]), owned(&[("way", true), ("network", false)]));
    assert_eq!(models(&[("pcie", 1.0), ("network", 2.0)]), owned(&[("way", true)]));
    assert_eq!(models(&[("network", 2.0)]), owned(&[("network_alone", true)]));
    assert_eq!(models(&[("pcie", 2.0)]), owned(&[("pcie_twice", true)]));
    assert!(traced_table(traced(&all[4..])).unwrap_err().why.contains("no components"));
    assert!(traced_component("pio", 1.0, None, Provenance::Derived).is_none());
}

/// Rows of components that are named as those of a trace.
fn as_traced(names: &[&str]) -> String {
    let mut text = "name,category,layer,side,time_ns\n".to_owned();
    for name in names {
        let one = traced_component(name, 50.0, None, Provenance::Derived).unwrap();
        let _ = writeln!(text, "{name},{},{},{},50", one.category, one.layer, one.side);
    }
    text
}

#[test]
fn a_table_of_names_that_a_trace_gives_says_what_the_latency_lacks_and_claims_no_trace() {
    let table = read(&as_traced(&["pcie", "network"])).unwrap();
    close(value(&table, "way"), 150.0, 1e-9);
    assert_eq!(table.stack.components()[1].title(), "the network");
    assert_eq!((table.name.as_str(), table.description.as_str()), ("table", ""));
    assert_eq!(
        table.notes[1],
        "Left out, for want of components: llp_latency (no 'llp_post', 'llp_prog', 'rc_to_mem_8')."
    );
    let notes = |names: &[&str]| read(&as_traced(names)).unwrap().notes;
    let most = notes(&["pcie", "wire", "switch", "rc_to_mem_8", "llp_prog"]);
    assert!(most[0].contains("no models of its own"), "{most:?}");
    assert!(most[1].ends_with("llp_latency (no 'llp_post')."), "{most:?}");
    let half = notes(&["pcie", "wire", "rc_to_mem_8", "llp_prog", "llp_post"]);
    assert!(half[1].ends_with("llp_latency (no 'switch')."), "{half:?}");
    let whole = ["pcie", "wire", "switch", "rc_to_mem_8", "llp_prog", "llp_post"];
    assert_eq!(notes(&whole).len(), 1);
    close(value(&read(&as_traced(&whole)).unwrap(), "llp_latency"), 350.0, 1e-9);
    let told = why(&as_traced(&["llp_post", "llp_prog"]));
    assert!(
        told.starts_with(
            "read the table: it has no component 'pcie', which the model 'llp_latency' needs (nor 'network', \
             'rc_to_mem_8', which these models need too); the paper's models are computed since 'llp_post', 'llp_prog' \
             are names of"
        ),
        "{told}"
    );
}

#[test]
fn a_time_is_assumed_unless_its_table_says_otherwise() {
    let how = |text: &str| -> Vec<Provenance> {
        read(text).unwrap().stack.components().iter().map(|one| one.provenance).collect()
    };
    let derived = "[[component]]\nname = \"d\"\ncategory = \"io\"\nlayer = \"hlp\"\nside = \"both\"\n\
                   formula = \"send\"\n";
    let table = MINE.replace("provenance = \"assumed\"", "provenance = \"measured\"");
    let expected = [Provenance::Assumed, Provenance::Measured, Provenance::Derived];
    assert_eq!(how(&(table + derived)), expected);
    assert_eq!(how(&as_traced(&["pcie"])), [Provenance::Assumed]);
}

#[test]
fn a_table_whose_formulas_use_too_much_is_refused() {
    let given = |name: &str, time: &str| {
        format!(
            "[[component]]\nname = \"{name}\"\ncategory = \"cpu\"\nlayer = \"llp\"\nside = \"target\"\n{time}\n"
        )
    };
    let model = |name: &str| format!("[[model]]\nname = \"{name}\"\nformula = \"sum:all\"\n");
    let all = |count: usize| -> String {
        (0..count).map(|at| given(&format!("c{at}"), "time_ns = 1")).collect()
    };
    let models =
        |count: usize| -> String { (0..count).map(|at| model(&format!("m{at}"))).collect() };
    let said = |rest: String| {
        read_component_table(format!("name = \"t\"\n{rest}").as_bytes()).unwrap_err().to_string()
    };
    // 20 · 2000 uses; each takes memory, and a thousand models a page each.
    let many = said(all(2000) + &models(20));
    assert!(
        many.ends_with("the formulas of the models use components more than 32768 times together"),
        "{many}"
    );
    assert!(said(all(1) + &models(201)).ends_with("there are 201 models; 200 are possible"));
    // Each time is that of the one before and another: n²/2 in all.
    let chain: String = (1..800)
        .map(|at| {
            let before = at - 1;
            given(&format!("x{at}"), "time_ns = 1")
                + &given(&format!("c{at}"), &format!("formula = \"c{before} + x{at}\""))
        })
        .collect();
    let long = said(all(1) + &chain + &models(1));
    assert!(
        long.ends_with(
            "the formulas of the components use components more than 32768 times together"
        ),
        "{long}"
    );
    let questions = "[[insight]]\nmost = \"m0\"\nby = \"layer\"\n".repeat(301);
    let asked = said(all(1) + &models(1) + &questions);
    assert!(
        asked.ends_with("301 bars, insights, curves and cases together; 300 are possible"),
        "{asked}"
    );
    let drawn =
        format!("[[curves]]\ntitle = \"\"\nmodel = \"m0\"\nof = [{}]\n", "\"c0\",".repeat(300));
    let drawn = said(all(1) + &models(1) + &drawn);
    assert!(drawn.contains("has 301 bars, insights, curves"), "{drawn}");
    // A sum of 10 000 adds these up, and the given times behind them: 27 · 20 000 > 2^19.
    let few = "[[insight]]\nmost = \"m0\"\nby = \"component\"\n".repeat(27);
    let few = said(all(10_000) + &models(1) + &few);
    assert!(
        few.ends_with(
            "27 bars, insights, curves and cases together, and its models use components 20000 times; 26 are possible"
        ),
        "{few}"
    );
}

/// A table with every key.
const EVERY: &str = r#"name = "every"
description = "with every key"

[[component]]
name = "one"
label = "the one"
category = "cpu"
layer = "llp"
side = "both"
time_ns = 10
spread_ns = 1
provenance = "measured"

[[component]]
name = "two"
category = "io"
layer = "hardware"
side = "target"
time = "20ns"
spread = "2ns"

[[component]]
name = "three"
category = "io"
layer = "hardware"
side = "target"
formula = "max(one, two) / 2"
part_of = "two"

[[component]]
name = "four"
category = "io"
layer = "hardware"
side = "target"
formula = "sum:cpu"
part_of = "two"

[[component]]
name = "five"
category = "network"
layer = "hardware"
side = "network"
time_ns = 5
apart = true

[[model]]
name = "m"
label = "the model"
formula = "one + two"
main = true
observed_ns = 30
observed_spread_ns = 3

[[model]]
name = "n"
formula = "sum:io"
observed = "20ns"
observed_spread = "2ns"

[[figure]]
title = "f"
bars = [{ model = "m", by = "side", only = "cpu", label = "b" }]

[[insight]]
ratio = ["m", "n"]

[[insight]]
share = ["n", "m"]

[[insight]]
most = "m"
by = "component"
only = "io"

[[curves]]
title = "c"
model = "m"
of = ["one", "cpu"]

[[case]]
name = "k"
about = "all at once"
reduce = { one = "10%" }
increase = { two = "5%" }

[[case]]
name = "l"
set = { one = "5ns" }
"#;

/// The words in back quotes of a text.
fn quoted(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The table of keys in the guide is what is read: no key more, and none fewer.
#[test]
fn the_guide_lists_every_key_and_each_is_accepted() {
    let table = read(EVERY).unwrap();
    assert_eq!((table.cases.len(), table.questions.len(), table.figures.len()), (2, 3, 1));
    let guide = include_str!("../../../../GUIDE.md");
    let rows = guide.lines().skip_while(|line| !line.starts_with("| part | keys |"));
    let rows: Vec<&str> = rows.skip(2).take_while(|line| line.starts_with('|')).collect();
    assert_eq!(rows.len(), 8, "{rows:#?}");
    for row in rows {
        let (part, keys) = row[1..].split_once('|').unwrap();
        // What is read tells what it would have taken, if it is given what it does not know.
        let wrong = match quoted(part).first().map(String::as_str) {
            None => "unheard = 1\n".to_owned() + EVERY,
            Some("bars") => EVERY.replacen("bars = [{", "bars = [{ unheard = 1,", 1),
            Some(part) => EVERY.replacen(part, &format!("{part}\nunheard = 1"), 1),
        };
        let told = why(&wrong);
        let (_, expected) = told.split_once("expected ").unwrap_or_else(|| panic!("{told}"));
        let sorted = |mut keys: Vec<String>| {
            keys.sort();
            keys
        };
        let (listed, expected) = (sorted(quoted(keys)), sorted(quoted(expected)));
        assert_eq!(listed, expected, "{part}");
        for key in listed {
            assert!(
                EVERY.contains(&format!("{key} = ")) || EVERY.contains(&format!("[[{key}]]")),
                "{key}"
            );
        }
    }
}
