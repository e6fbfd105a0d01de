//! `compare`: verdicts and exit codes on machines in virtual time, whose truth is known.

use std::os::unix::fs::PermissionsExt;

use boon::{Compiler, Schemas};
use serde_json::Value;

use crate::program::mpi::{as_root, run};
use crate::program::subject::{
    BINARY, DOUBTFUL, HOST, INPUT, INTERRUPTED, MISSING, OUTPUT, USAGE, Workdir, skipped, wait,
};

/// Set-ups that do not compare.
const SETUPS: i32 = 9;

/// A machine whose r∞ is that of this time per byte.
fn measured(place: &Workdir, out: &str, per_byte: f64) {
    let machine = format!(
        "name = \"own\"\nsend_overhead_ns = 400\nrecv_overhead_ns = 600\ngap_ns = 1500\n\
         latency_ns = 20000\ngap_per_byte_ns = {per_byte}\n"
    );
    place.file("machine.toml", machine);
    let line = format!("comms1 -t sim:machine.toml --sizes 8,1KiB,1MiB -q --out {out}");
    place.run(line.split(' ')).ends(0);
}

/// What a comparison says, after a look whether it is as its schema says.
fn compared(place: &Workdir, code: i32, line: &str) -> Value {
    described(place, code, &format!("compare {line}"))
}

fn described(place: &Workdir, code: i32, line: &str) -> Value {
    let mut command = place.command(BINARY);
    command.args(format!("{line} --json -").split(' '));
    as_root(&mut command);
    let finished = run(command).ends(code);
    let made: Value = serde_json::from_str(&finished.stdout).unwrap();
    let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
    let text = include_str!("../../../../../docs/compare-format.schema.json");
    compiler.add_resource("compare.json", serde_json::from_str(text).unwrap()).unwrap();
    let index = compiler.compile("compare.json", &mut schemas).unwrap();
    schemas.validate(&made, index).unwrap_or_else(|why| panic!("{why:#}: {made}"));
    let mut wrong = made.clone();
    wrong["verdict"] = "new".into();
    assert!(schemas.validate(&wrong, index).is_err());
    assert_eq!(made["exit"], code);
    made
}

/// Adds a floor of ten launches.
fn floor(run: &mut Value, time: f64) {
    let launches: Vec<f64> = (0..10).map(|at| time * (1.0 + 0.001 * f64::from(at % 3))).collect();
    run["results"].as_array_mut().unwrap().push(serde_json::json!({
        "kind": "floor", "name": "cache_line", "form": {"as": "floor"},
        "columns": [{"name": "time", "unit": "s", "meaning": "t", "counts": true}],
        "time": {"value": time, "low": null, "high": null, "unit": "s", "estimator": "mean",
            "samples": 10, "converged": true, "launches": launches},
    }));
    let mut setup = run["setup"]["of"][0].clone();
    setup["experiment"] = "floors".into();
    setup["transport"] = "".into();
    setup["wait"] = "spin".into();
    run["setup"]["of"].as_array_mut().unwrap().push(setup);
}

const CURVE: &str = "series/comms1/sim:own/time";

#[test]
fn a_change_is_told_from_none_and_the_code_says_so() {
    let place = Workdir::new();
    for (out, per_byte) in [("a", 3.0), ("b", 3.0), ("slow", 3.6)] {
        measured(&place, out, per_byte);
    }
    assert_eq!(compared(&place, 0, "a b")["verdict"], "same");
    let made = compared(&place, DOUBTFUL, "a slow");
    assert_eq!((&made["verdict"], &made["quantities"][0]["id"]), (&"slower".into(), &CURVE.into()));
    assert_eq!(made["machine"]["verdict"], "not_checked");
    assert_eq!(compared(&place, 0, "slow a")["verdict"], "faster");
    compared(&place, DOUBTFUL, "slow a --fail-on faster");
    compared(&place, 0, "a slow --fail-on never");
    compared(&place, 0, "a slow --margin 30%");
    // On the screen, for a pull request, as a file, and as a table of it.
    assert!(
        place.run(["compare", "a", "slow", "--out", "c"]).ends(DOUBTFUL).stdout.contains(CURVE)
    );
    let markdown = place.run(["compare", "a", "slow", "--markdown"]).ends(DOUBTFUL).stdout;
    assert!(markdown.starts_with("### ") && markdown.contains(CURVE));
    let page = std::fs::read_to_string(place.path("c").join("report.html")).unwrap();
    assert!(page.contains(&format!(">{CURVE}</td>")), "{page}");
    let table = place.run(["export", "c", "--to", "csv"]).ends(0).stdout;
    assert!(table.lines().any(|line| line.starts_with(CURVE)), "{table}");
    place.run(["compare", "a", "b", "--out", "c"]).ends(OUTPUT);
}

#[test]
fn what_does_not_compare_has_a_code_of_its_own() {
    let place = Workdir::new();
    for (out, per_byte) in [("a", 3.0), ("b", 3.6)] {
        measured(&place, out, per_byte);
    }
    place.run("synch1 -t sim:ipsc860 -q --out other".split(' ')).ends(0);
    place.refuses(MISSING, "compare a other");
    place.refuses(USAGE, "compare a b --margin 0");
    place.refuses(USAGE, "compare a b --margin=-5%");
    place.refuses(USAGE, "compare a b --margin much");
    place.refuses(INPUT, "compare a nothing");
    std::fs::create_dir(place.path("empty")).unwrap();
    place.refuses(INPUT, "compare a empty");
    // Two machines: only where that is asked for, and then nothing fails unless it is named.
    for (name, processor) in [("a", "one"), ("b", "another")] {
        place.change(name, |run| run["setup"]["machine"]["processor"] = processor.into());
    }
    place.refuses(SETUPS, "compare a b");
    compared(&place, 0, "a b --across");
    compared(&place, DOUBTFUL, "a b --across --fail-on slower");
    // Nor do floors that differ hide it.
    for (name, per_byte, time) in [("fast", 3.0, 1e-7), ("slow", 6.0, 2e-7)] {
        measured(&place, name, per_byte);
        place.change(name, |run| {
            floor(run, time);
            run["setup"]["machine"]["processor"] = name.into();
        });
    }
    assert_eq!(compared(&place, 0, "fast slow --across")["verdict"], "machine");
    compared(&place, DOUBTFUL, "fast slow --across --fail-on slower");
    compared(&place, DOUBTFUL, "fast slow --across --fail-on machine");
    compared(&place, 0, "fast slow --across --fail-on faster");
    // Another number of ranks is another experiment.
    place.change("b", |run| {
        run["setup"]["machine"]["processor"] = "one".into();
        run["setup"]["of"][0]["ranks"] = 7.into();
    });
    place.refuses(MISSING, "compare a b");
    place
        .run("comms1 -t sim:machine.toml,sim:ipsc860 --sizes 8,1KiB,1MiB -q --out both".split(' '))
        .ends(0);
    place.change("a", |run| run["setup"]["machine"]["processor"] = Value::Null);
    let made = compared(&place, DOUBTFUL, "a both");
    assert_eq!(made["only_in_b"].as_array().unwrap().len(), 1, "{made}");
    compared(&place, MISSING, "a both --require-all");
    // A file that is cut, foreign or newer.
    let text = std::fs::read_to_string(place.path("a/run.json")).unwrap();
    for broken in
        [&text[..text.len() / 2], "{}", &text.replacen("\"version\":2", "\"version\":3", 1)]
    {
        place.file("broken.json", broken);
        place.refuses(INPUT, "compare broken.json b");
    }
}

/// The recipe of GUIDE, as it stands there, and with a machine of the same name that is slower.
#[test]
fn the_recipe_for_ci_is_green_and_red() {
    let guide = include_str!("../../../../../GUIDE.md");
    let recipe = guide.split("```sh\n").find(|block| block.contains("compare before")).unwrap();
    let recipe = recipe.split("```").next().unwrap();
    let place = Workdir::new();
    place.shell(recipe).ends(0);
    let usual = include_str!("../../../../sim/machines/ipsc860.toml");
    let slower = usual.replace("gap_per_byte_ns = ", "gap_per_byte_ns = 1");
    assert_ne!(usual, slower);
    place.file("slower.toml", slower);
    let (before, after) = recipe.split_once('\n').unwrap();
    let red = after.replace("sim:ipsc860", "sim:slower.toml").replace("after", "worse");
    place.shell(&red).ends(DOUBTFUL);
    assert!(before.ends_with("--out before"), "{before}");
}

/// A program, as a script.
fn script(place: &Workdir, name: &str, lines: &str) {
    let path = place.file(name, format!("#!/bin/sh\n{}\n", lines.replace("BANDGAP", BINARY)));
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// A kept run of a machine that varies a little and drifts, and a program of side A: each of its launches makes a machine for
/// side B, and one for itself whose gap is PERCENT of that.
fn drifting(place: &Workdir) {
    let machine = "name = \"own\"\nsend_overhead_ns = 400\nrecv_overhead_ns = 600\n\
                   latency_ns = 20000\ngap_ns = ";
    std::fs::create_dir(place.path("before")).unwrap();
    for name in ["machine.toml", "before/machine.toml"] {
        place.file(name, format!("{machine}1500\n[variation]\nsigma = 0.004\n"));
    }
    place.run("signature -t sim:machine.toml -q --out a".split(' ')).ends(0);
    let draw = "n=$(($(cat n 2>/dev/null || echo 0) + 1)); echo $n > n\n\
        gap() { sed -i \"s/gap_ns.*/gap_ns = $1/\" $2; }\n\
        gap $((1500 + n * 20)) machine.toml\n\
        gap $(((1500 + n * 20) * PERCENT / 100)) before/machine.toml\n\
        cd before && exec BANDGAP \"$@\"";
    script(place, "before.sh", draw);
}

#[test]
fn both_sides_in_turns_show_what_two_sittings_would_not() {
    let place = Workdir::new();
    drifting(&place);
    let against = "signature --against a --a-binary ./before.sh --a-env PERCENT";
    let gap = |made: &Value| {
        let all = made["quantities"].as_array().unwrap();
        all.iter().find(|of| of["id"] == "logp/sim:own/gap").unwrap().clone()
    };
    let green = described(&place, 0, &format!("{against}=100"));
    assert_eq!((&green["verdict"], &gap(&green)["exact"]), (&"same".into(), &false.into()));
    assert_eq!(
        (&green["sides"][0]["launches"], &green["rule"]["unit"]),
        (&6.into(), &"pair".into())
    );
    // What seems to have changed has later pairs of its own, and is found in both directions.
    let red = described(&place, DOUBTFUL, &format!("{against}=80 --launches 7 --out both"));
    assert_eq!((&gap(&red)["verdict"], &red["rule"]["family"]), (&"slower".into(), &1.into()));
    assert_eq!(
        (&red["sides"][1]["launches"], red["quantities"].as_array().unwrap().len()),
        (&7.into(), 4)
    );
    let kept = std::fs::read_dir(place.path("both")).unwrap().count();
    assert_eq!(kept, 2 * 13 + 2, "launches, the comparison and its page");
    assert_eq!(described(&place, 0, &format!("{against}=120"))["verdict"], "faster");
    described(&place, DOUBTFUL, &format!("{against}=120 --fail-on faster"));
    described(&place, 0, &format!("{against}=80 --margin 40%"));
    assert_eq!(place.temporary(), Vec::<String>::new());
}

#[test]
fn a_run_alone_is_a_side_and_what_cannot_be_measured_again_has_a_code() {
    let place = Workdir::new();
    drifting(&place);
    // One side now: kept as a run, or below the comparison.
    let made = described(&place, 0, "signature -t sim:machine.toml --against a");
    assert_eq!((&made["verdict"], &made["rule"]["unit"]), (&"same".into(), &"launch".into()));
    place.run("show LAST".split(' ')).ends(0);
    let usual = std::fs::read_to_string(place.path("machine.toml")).unwrap();
    place.file("machine.toml", usual.replace("1500", "1900"));
    described(&place, DOUBTFUL, "signature --against a --out c");
    place.run("show c/b".split(' ')).ends(0);
    // Another plan, and options without it.
    place.refuses(USAGE, "comms1 --against a");
    place.refuses(USAGE, "signature -t shm --against a");
    place.refuses(USAGE, "signature --against a --a-env X=1 --launches 5");
    place.refuses(USAGE, "signature --against a --a-env X");
    place.refuses(USAGE, "signature --a-binary x");
    place.refuses(USAGE, "signature --margin 3%");
    place.refuses(USAGE, "pairs --against a");
    place.refuses(INPUT, "signature --against nothing");
    // A side that cannot be started, or fails by itself.
    place.refuses(SETUPS, "signature --against a --a-binary ./nothing");
    place.refuses(SETUPS, "signature --against a --a-binary /bin/false");
    script(&place, "fails.sh", "echo it is broken >&2; exit 7");
    let failed = place.run("signature --against a --a-binary ./fails.sh".split(' ')).ends(HOST);
    assert!(failed.stderr.contains("it is broken") && failed.stderr.contains("./fails.sh"));
    // A signal ends what was started, and leaves nothing.
    script(&place, "waits.sh", "echo $$ > begun; sleep 1000");
    let mut waiting = place.command(BINARY);
    waiting.args("signature --against a --a-binary ./waits.sh -q".split(' '));
    let mut waiting = waiting.spawn().unwrap();
    let begun =
        || std::fs::read_to_string(place.path("begun")).ok().filter(|of| of.ends_with('\n'));
    let begun = wait("the script", begun);
    place.shell(&format!("kill {}", waiting.id())).ends(0);
    assert_eq!(waiting.wait().unwrap().code(), Some(INTERRUPTED));
    let is_there = || std::path::Path::new("/proc").join(begun.trim()).exists();
    wait("its end", || (!is_there()).then_some(()));
    assert_eq!(place.temporary(), Vec::<String>::new());
    // Another machine.
    place.change("a", |run| run["setup"]["machine"]["hosts"] = serde_json::json!(["elsewhere"]));
    place.refuses(SETUPS, "signature --against a --a-env X=1");
}

/// A library that delays what is measured is found, and the same library is none: `./test all` tries it.
#[test]
fn a_library_in_the_environment_of_a_side_is_found() {
    let Ok(launches) = std::env::var("BANDGAP_AGAINST") else {
        return skipped(format_args!("a delayed library: BANDGAP_AGAINST is not set"));
    };
    let place = Workdir::new();
    place.file("late.c", include_str!("data/late.c"));
    let made = place.command("cc").args(["-shared", "-fPIC", "late.c", "-o", "late.so"]).status();
    assert!(made.unwrap().success());
    let mut usual = place.command(BINARY);
    usual.args("comms1 -t mpi --sizes 8,1KiB --time-budget 6s -q --out a".split(' '));
    as_root(&mut usual);
    run(usual).ends(0);
    let against = format!("comms1 --against a --launches {launches} --a-env");
    let late = place.path("late.so");
    let found = format!("{against} LD_PRELOAD={} --fail-on faster", late.display());
    described(&place, DOUBTFUL, &found);
    let made = described(&place, 0, &format!("{against} OTHER=1 --fail-on slower,faster"));
    assert!(made["verdict"] == "same" || made["verdict"] == "cannot_tell", "{made}");
}
