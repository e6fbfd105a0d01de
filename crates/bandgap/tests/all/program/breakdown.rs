//! `bandgap breakdown` and `bandgap whatif`: the paper's table, other tables, right and wrong.

use serde_json::{Value, json};

use crate::program::subject::{Place, near, of_kind, value};

const PRESET: &str = "thunderx2-connectx4";

fn one<'a>(run: &'a Value, kind: &str) -> &'a Value {
    let found = of_kind(run, kind);
    let [one] = found.as_slice() else { panic!("one {kind}: {run}") };
    one
}

fn named<'a>(all: &'a Value, name: &str) -> &'a Value {
    let found = all.as_array().unwrap().iter().find(|one| one["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {all}"))
}

#[test]
fn the_papers_models_come_out_of_its_table() {
    let place = Place::new();
    let run = place.run(["breakdown", "--from", PRESET, "--json", "-"]).ends(0).json();
    let breakdown = one(&run, "breakdown");
    for (name, modelled, observed) in [
        ("llp_injection", 295.73e-9, 282.33e-9),
        ("llp_latency", 1135.80e-9, 1190.25e-9),
        ("injection", 264.97e-9, 263.91e-9),
        ("latency", 1387.02e-9, 1336e-9),
    ] {
        let model = named(&breakdown["models"], name);
        near(name, value(&model["modelled"]), modelled, 1e-9);
        near(name, value(&model["observed"]), observed, 1e-9);
        near(name, 1.0 + value(&model["error"]), modelled / observed, 1e-9);
        assert_eq!(model["within"], "yes", "{name}");
    }
    let pio = named(&breakdown["components"], "pio");
    near("PIO", value(&pio["time"]), 94.25e-9, 1e-9);
    let words = ["category", "layer", "side", "provenance"].map(|key| pio[key].as_str().unwrap());
    assert_eq!(words, ["cpu", "llp", "initiator", "measured"]);

    let text = place.run(["breakdown", "--from", PRESET]).ends(0).stdout;
    for said in [
        "End-to-end latency by category (figure 15)",
        "The network is 27.6 % of end-to-end latency, less than a third; the rest is 72.4 %.",
        "The progress of a receive takes 4.79 times as long as the progress of a send.",
        "No component has a spread",
    ] {
        assert!(text.contains(said), "{said}\n{text}");
    }
    assert!(place.names().is_empty());
}

#[test]
fn what_is_kept_can_be_read_again() {
    let place = Place::new();
    place.run(["breakdown", "--from", PRESET, "-q", "--out", "kept"]).ends(0);
    let names: Vec<String> = std::fs::read_dir(place.path("kept"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    for name in ["run.json", "breakdown.csv", "components.toml", "breakdown.svg"] {
        assert!(names.iter().any(|kept| kept == name), "{name} is not in {names:?}");
    }
    for from in ["kept", "kept/run.json", "kept/components.toml"] {
        let again = place.run(["breakdown", "--from", from, "--json", "-"]).ends(0).json();
        let latency = named(&one(&again, "breakdown")["models"], "latency");
        near(from, value(&latency["modelled"]), 1387.02e-9, 1e-9);
    }
    let args = ["whatif", "--from", "kept", "--reduce", "hlp=20%", "--json", "-", "--quiet"];
    let whatif = place.run(args).ends(0).json();
    let injection = named(&one(&whatif, "whatif")["models"], "injection");
    near("HLP", value(&injection["speedup"]), 0.06447, 1e-4);

    let run = place.run(["whatif", "--from", PRESET, "-q", "--out", "changed"]).ends(0);
    assert!(run.stdout.contains("What faster components of "), "{}", run.stdout);
    for name in ["whatif.csv", "whatif.svg", "gnuplot/whatif.gp"] {
        assert!(place.path("changed").join(name).exists(), "{name}");
    }
    let none = place.run(["breakdown", "--from", "changed"]).ends(3).stderr;
    assert!(none.contains("the run has neither a breakdown nor"), "{none}");
}

/// A measured breakdown is compared by round, which its components' spreads do not tell.
#[test]
fn the_breakdown_of_a_measured_run_is_printed_as_it_was_recorded() {
    let place = Place::new();
    let file = place.file("mine.toml", MINE);
    let mut run = place.run(["breakdown", "--from", &file, "--json", "-"]).ends(0).json();
    run["warnings"] = json!(["ranks shared a processor"]);
    run["plan"] = json!({"confidence": 0.95});
    let breakdown = &mut run["results"][0];
    breakdown["findings"].as_array_mut().unwrap().push(json!("Half of the rounds were left out."));
    breakdown["measured"] = json!({
        "transport": "unix", "state": {"label": "only", "probe": null, "share": 1.0},
        "rounds": [{"model": "latency", "rounds": 8, "outside": 8}], "stamp": 2.4e-8, "inserted": [],
    });
    // Of its spreads it would be 100/120 − 1 ± 1.6 %, which is outside 5 %.
    let model = &mut breakdown["models"][0];
    model["error"]["value"] = json!(-0.045);
    for (within, ends, code) in
        [("yes", [-0.047, -0.043], 0), ("undecided", [-0.06, -0.03], 1), ("no", [-0.08, -0.06], 1)]
    {
        let model = &mut run["results"][0]["models"][0];
        (model["within"], model["error"]["low"]) = (json!(within), json!(ends[0]));
        model["error"]["high"] = json!(ends[1]);
        place.file("measured.json", run.to_string());
        let args = ["breakdown", "--from", "measured.json", "--strict"];
        let again = place.run(args.iter().chain(&["--json", "-"])).ends(code);
        assert!(again.stderr.contains("warning: ranks shared a processor"), "{}", again.stderr);
        let again = again.json();
        assert_eq!(one(&again, "breakdown"), &run["results"][0], "{within}");
        assert_eq!(again["warnings"], run["warnings"]);
        let text = place.run(args).ends(code).stdout;
        assert!(text.contains("Half of the rounds were left out."), "{text}");
        assert!(text.contains("latency, 8 (8 more had a value outside its fence)"), "{text}");
    }
    let other = ["breakdown", "--from", "measured.json", "--confidence", "50%", "--json", "-"];
    let other = place.run(other).ends(0);
    assert!(
        other.stderr.contains("the intervals are those of the run, at 95 %"),
        "{}",
        other.stderr
    );
    assert_eq!(one(&other.json(), "breakdown"), &run["results"][0]);
}

#[test]
fn the_papers_cases_come_out() {
    let place = Place::new();
    let saved = |args: &[&str]| {
        let all = ["whatif", "--from", PRESET, "--json", "-"].iter().chain(args);
        let run = place.run(all).ends(0).json();
        let whatif = one(&run, "whatif").clone();
        ["injection", "latency"].map(|name| value(&named(&whatif["models"], name)["speedup"]))
    };
    let [injection, latency] = saved(&["--set", "pio=15ns"]);
    assert!(injection > 0.25 && latency > 0.05, "{injection} {latency}");
    assert_eq!(saved(&["--case", "fast-pio"]), [injection, latency]);
    let [injection, latency] = saved(&["--reduce", "io=50%"]);
    assert!(injection == 0.0 && latency > 0.15, "{latency}");
    assert_eq!(saved(&["--case", "integrated-nic"]), [injection, latency]);
    let [injection, _] = saved(&["--reduce", "hlp=20%"]);
    near("HLP", injection, 0.06447, 1e-4);
    // Together: 0.84·94.25 and 78 of 1387.02.
    let [_, latency] = saved(&["--reduce", "pio=84%", "--set", "switch=30ns"]);
    near("together", latency, (0.84 * 94.25 + 78.0) / 1387.02, 1e-6);
    let [_, latency] = saved(&["--increase", "wire=10%"]);
    near("slower", -latency, 27.481 / 1387.02, 1e-6);

    let args = ["whatif", "--from", PRESET, "--reduce", "pio=84%", "--json", "-"];
    let run = place.run(args).ends(0).json();
    let change = &one(&run, "whatif")["changes"][0];
    assert_eq!(change["component"], "pio");
    near("reduction", change["reduction"].as_f64().unwrap(), 0.84, 1e-9);
    let help = place.run(["whatif", "--help"]).ends(0).stdout;
    for case in ["integrated-nic", "fast-pio", "lean-hlp", "lean-llp", "fast-switch"] {
        assert!(help.contains(case), "{help}");
    }
}

const MINE: &str = "name = \"mine\"
[[component]]
name = \"send\"
category = \"cpu\"
layer = \"llp\"
side = \"initiator\"
time = \"40ns\"
spread_ns = 1
[[component]]
name = \"way\"
category = \"network\"
layer = \"hardware\"
side = \"network\"
time_ns = 60
[[model]]
name = \"latency\"
formula = \"send + way\"
observed_ns = 120
";

#[test]
fn a_stack_of_ones_own_has_models_and_intervals() {
    let place = Place::new();
    let file = place.file("mine.toml", MINE);
    let run = place.run(["breakdown", "--from", &file, "--json", "-"]).ends(0).json();
    let latency = named(&one(&run, "breakdown")["models"], "latency");
    near("low", latency["modelled"]["low"].as_f64().unwrap(), 98.04e-9, 1e-5);
    assert_eq!(latency["within"], "no");
    // A model that is off is doubtful for those who ask.
    place.run(["breakdown", "--from", &file, "--strict"]).ends(1);
    place.run(["breakdown", "--from", PRESET, "--strict"]).ends(0);
    let text = place.run_with_input(["breakdown", "--from", "-"], MINE.as_bytes()).ends(0).stdout;
    assert!(text.contains("Most of latency is network: 60 %, then CPU 40 %."), "{text}");
    let args = ["whatif", "--from", &file, "--reduce", "WAY=50%"];
    let text = place.run(args).ends(0).stdout;
    assert!(text.contains("Latency takes 30 % less: a substantial speed-up"), "{text}");
    assert!(text.contains("Latency is modelled 16.7 % shorter than"), "{text}");
    place.run(args.into_iter().chain(["--strict"])).ends(1);
}

#[test]
fn wrong_tables_are_told_with_line_and_reason() {
    let place = Place::new();
    let told = |text: &str| {
        let file = place.file("table", text);
        place.run(["breakdown", "--from", &file]).ends(3).stderr
    };
    for (from, to, said) in [
        ("send + way", "send + moon", "line 17: 'latency' needs 'moon'"),
        ("send + way", "latency + way", "line 17: formulas lead back to where they began"),
        ("time_ns = 60", "time_ns = -60", "line 14: time is -60 ns"),
        ("time_ns = 60\n", "", "'way' has no time"),
        ("\"way\"", "\"hlp\"", "line 10: 'hlp' cannot be a name"),
        ("40ns", "40 furlongs", "line 7: read a duration from '40 furlongs': unknown unit"),
    ] {
        let told = told(&MINE.replace(from, to));
        assert!(told.contains(said), "{said}\n{told}");
    }
    const HEAD: &str = "name,category,layer,side,time_ns\n";
    let lacks = told(&format!("{HEAD}pio,cpu,llp,initiator,94.25\n"));
    assert!(
        lacks.contains("it has no component 'descriptor', which the model 'llp_post' needs"),
        "{lacks}"
    );
    let negative = told(&format!("{HEAD}pio,cpu,llp,initiator,-1\n"));
    assert!(negative.contains("line 2: time_ns is '-1': it must not be negative"), "{negative}");
    let missing = place.run(["breakdown", "--from", "moon"]).ends(3).stderr;
    assert!(missing.contains("no such file") && missing.contains(PRESET), "{missing}");
    let broken = told("{\"format\": 1}");
    assert!(broken.contains("\"format\" is 1, not \"bandgap-run\""), "{broken}");
    place.run(["whatif"]).ends(2);
    for (command, of) in [("breakdown", "breakdown --from"), ("whatif", "whatif")] {
        let told = place.run([command, "--from", PRESET, "--transport", "unix"]).ends(2).stderr;
        assert!(told.contains(&format!("{of} has no use for it")), "{told}");
    }
}

#[test]
fn columns_that_are_ignored_are_warned_of() {
    let place = Place::new();
    let table = "name,category,layer,side,time_ns,spread\ncable,network,hardware,network,70,5\n";
    let file = place.file("mine.csv", table);
    for command in ["breakdown", "whatif"] {
        let told = place.run([command, "--from", &file]).ends(0).stderr;
        assert!(told.contains("warning: the table's column 'spread' is ignored: "), "{told}");
        assert!(told.contains(", spread_ns, "), "{told}");
        let run = place.run([command, "--from", &file, "-q", "--json", "-"]).ends(0).json();
        assert_eq!(run["warnings"].as_array().unwrap().len(), 1, "{run}");
    }
}

#[test]
fn wrong_changes_are_told() {
    let place = Place::new();
    for (args, said) in [
        (["--reduce", "pio=120%"], "it must lie between 0 % and 100 %"),
        (["--reduce", "pio"], "there is no '=' in it"),
        (["--reduce", "moon=10%"], "'moon' is no component, model, category, layer or side"),
        (["--set", "pio=15"], "the unit is missing"),
        (["--set", "pio=-1ns"], "a time must not be negative"),
        (["--set", "p=1ns"], "'p' is no time"),
        (["--case", "moon"], "there is none"),
    ] {
        let told = place.run(["whatif", "--from", PRESET].iter().chain(&args)).ends(2).stderr;
        assert!(told.contains(said), "{said}\n{told}");
    }
    let args = ["whatif", "--from", PRESET, "--reduce", "moon=10%"];
    let told = place.run(args).ends(2).stderr;
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    for said in [
        "; the models llp_injection, ",
        "; the categories cpu, io, network; the layers hlp, llp, hardware; the sides initiator, target, both, network",
    ] {
        assert!(told.contains(said), "{said}\n{told}");
    }
    let args = ["whatif", "--from", PRESET, "--set", "pio=1ns", "--set", "pio=2ns"];
    let told = place.run(args).ends(2).stderr;
    assert!(told.contains("'pio' is set twice"), "{told}");
    let args = ["whatif", "--from", PRESET, "--set", "pio=1ns", "--reduce", "llp=5%"];
    let told = place.run(args).ends(2).stderr;
    assert!(told.contains("'pio' is set, and changed in another way too"), "{told}");
}

#[test]
fn ten_thousand_components_are_summed() {
    let place = Place::new();
    let mut text = "name,category,layer,side,time_ns,spread_ns,provenance\n".to_owned();
    for at in 1..=10_000 {
        text += &format!("c{at},cpu,llp,target,{at},1,measured\n");
    }
    let file = place.file("many.csv", text);
    let run = place.run(["breakdown", "--from", &file, "--json", "-"]).ends(0).json();
    let total = &named(&one(&run, "breakdown")["models"], "total")["modelled"];
    // 1 + … + 10,000, ± 1.96·√10,000.
    near("total", value(total), 50_005_000e-9, 1e-9);
    near("low", total["low"].as_f64().unwrap(), (50_005_000.0 - 195.996) * 1e-9, 1e-9);
    let text = place.run(["whatif", "--from", &file, "--reduce", "cpu=50%"]).ends(0).stdout;
    assert!(text.contains("Total takes 50 % less"), "{text}");
}

/// A component and a model of it, and further lines of the model.
fn one_component(name: &str, time: &str, observed: &str) -> String {
    format!(
        "name = \"t\"\n[[component]]\nname = \"w\"\ncategory = \"network\"\nlayer = \"hardware\"\n\
         side = \"network\"\ntime_ns = {time}\n[[model]]\nname = \"{name}\"\nformula = \"w\"\n{observed}\n"
    )
}

#[test]
fn numbers_that_cannot_be_counted_with_are_refused_with_the_line() {
    let place = Place::new();
    let csv =
        |row: &str| format!("name,category,layer,side,time_ns,spread_ns\na,cpu,llp,target,{row}\n");
    for (file, text, told) in [
        ("t.csv", csv("1,1e160"), "line 2: spread_ns is '1e160'"),
        ("t.csv", csv("1e160,"), "line 2: time_ns is '1e160'"),
        ("t.toml", one_component("m", "1e-320", ""), "line 7: time is 1e-320 ns"),
        ("t.toml", one_component("m", "1", "observed_ns = 1e-320"), "line 11: observed is 1e-320"),
        (
            "t.toml",
            one_component("m", "1", "observed_ns = 1\nobserved_spread_ns = 1e300"),
            "line 12: observed_spread is 1e300 ns",
        ),
        ("t.toml", one_component("cpu", "1", ""), "line 10: 'cpu' cannot be a name"),
    ] {
        let file = place.file(file, text);
        for command in ["breakdown", "whatif"] {
            let stderr = place.run([command, "--from", &file]).ends(3).stderr;
            assert!(stderr.contains(&file) && stderr.contains(told), "{stderr}");
        }
    }
    let file = place.file("t.toml", one_component("m", "1", ""));
    let stderr = place.run(["whatif", "--from", &file, "--set", "w=1e160s"]).ends(2).stderr;
    assert!(stderr.contains("must not be above 1e9 s"), "{stderr}");
}

#[test]
fn a_model_that_is_the_largest_of_several_is_set_to_what_is_asked() {
    let component = |name: &str, ns: u32| {
        format!(
            "[[component]]\nname = \"{name}\"\ncategory = \"cpu\"\nlayer = \"llp\"\nside = \"both\"\n\
             time_ns = {ns}\n"
        )
    };
    let text = "name = \"t\"\n".to_owned()
        + &[("g", 100), ("os", 40), ("or", 40)].map(|(name, ns)| component(name, ns)).concat()
        + "[[model]]\nname = \"message\"\nformula = \"max(g, os + or)\"\n";
    let place = Place::new();
    let file = place.file("t.toml", text);
    let run = place.run(["whatif", "--from", &file, "--set", "message=50ns", "--json", "-"]);
    let run = run.ends(0).json();
    near("after", value(&one(&run, "whatif")["models"][0]["after"]), 50e-9, 1e-18);
}
