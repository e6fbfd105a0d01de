//! `compare`: verdicts and exit codes on machines in virtual time, whose truth is known.

use boon::{Compiler, Schemas};
use serde_json::Value;

use crate::program::subject::{DOUBTFUL, INPUT, MISSING, OUTPUT, USAGE, Workdir};

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
    let finished = place.run(format!("compare {line} --json -").split(' ')).ends(code);
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
    assert!(page.contains(&format!("<td>{CURVE}</td>")), "{page}");
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
