//! The page of a run, in a browser where there is one, and the other forms of all its values.

use std::fs;
use std::path::Path;
use std::process::Command;

use bandgap_record::Unit;
use bandgap_report::scaled;
use serde_json::Value;

use crate::program::subject::{INPUT, OUTPUT, USAGE, Workdir, of_kind, skipped};

/// Longest page.
const MOST: u64 = 600_000;

/// What the page finds when it tries itself in a browser; `None` without one.
fn tried(page: &Path) -> Option<Value> {
    said(page, "selftest", &[])
}

/// What a script of a page has written into the output of this id, in a browser; `None` without one.
fn said(page: &Path, id: &str, more: &[&str]) -> Option<Value> {
    let flags = "--headless --no-sandbox --disable-gpu --virtual-time-budget=9000 --dump-dom";
    let mut browser = Command::new("chromium");
    let profile = tempfile::tempdir().unwrap();
    browser.args(flags.split(' ')).arg(format!("--user-data-dir={}", profile.path().display()));
    let output = browser.args(more).arg(format!("file://{}#{id}", page.display())).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let (_, found) = text.split_once(&format!("<output id=\"{id}\">")).expect("the page has run");
    let found = found.split("</output>").next().unwrap().replace("&gt;", ">").replace("&amp;", "&");
    Some(serde_json::from_str(&found).unwrap())
}

#[test]
fn every_kind_of_run_has_a_page_that_works_in_a_browser() {
    let place = Workdir::new();
    for (at, line) in [
        "comet -t sim:ipsc860 -n 16",
        "pairs -t sim:ipsc860 -n 64",
        "run -t sim:myrinet",
        "breakdown --from thunderx2-connectx4",
        "whatif --from thunderx2-connectx4 --reduce hlp=20%",
        "simulate broadcast -t sim:myrinet -n 64",
    ]
    .into_iter()
    .enumerate()
    {
        let out = format!("run{at}");
        place.run(format!("{line} -q --out {out}").split(' '));
        let page = place.path(&out).join("report.html");
        assert!(fs::metadata(&page).unwrap().len() <= MOST, "{line}");
        let Some(found) = tried(&page) else {
            return skipped(format_args!("there is no chromium to look at pages with"));
        };
        assert_eq!(found["problems"], Value::Array(Vec::new()), "{line}");
        assert_eq!(found["overlaps"], Value::Array(Vec::new()), "{line}");
        // Each key leaves its curve out and brings it back, each figure is read at the cursor, drawn on other axes, and
        // again as before.
        assert_eq!(found["curves"], found["keys"], "{line}");
        assert_eq!(found["said"], found["cursors"], "{line}");
        assert_eq!(
            (&found["moved"], &found["back"]),
            (&found["planes"], &found["planes"]),
            "{line}"
        );
        assert!(found["sorted"].as_u64() > Some(0), "{line}");
        let has_curves = ["comet", "run", "whatif"].iter().any(|of| line.starts_with(of));
        assert_eq!(found["planes"].as_u64() > Some(0), has_curves, "{line}");
    }
}

/// With the file of axe-core in `BANDGAP_AXE`: it finds nothing, on narrow screens and dark ones too.
#[test]
fn readers_of_screens_can_read_a_page() {
    let Ok(axe) = std::env::var("BANDGAP_AXE") else {
        return skipped(format_args!("BANDGAP_AXE names no axe.min.js"));
    };
    let axe = fs::read_to_string(axe).unwrap().replace("</script", "<\\/script");
    let place = Workdir::new();
    for line in
        ["run -t sim:myrinet", "breakdown --from thunderx2-connectx4", "pairs -t sim:ipsc860 -n 8"]
    {
        let out = line.split(' ').next().unwrap();
        place.run(format!("{line} -q --out {out}").split(' '));
        let page = fs::read_to_string(place.path(out).join("report.html")).unwrap();
        // The policy forbids what is not the page's own.
        let (before, rest) = page.split_once("<meta http-equiv").unwrap();
        let (_, after) = rest.split_once('>').unwrap();
        let run = "axe.run().then(found => { const said = document.createElement('output'); said.id = 'axe'; \
                   said.textContent = JSON.stringify(found.violations.map(of => of.id)); document.body.append(said); })";
        let script = format!("<script>{axe}</script><script>{run}</script></body>");
        let page = place.file("axe.html", format!("{before}{after}").replace("</body>", &script));
        for flags in [&["--window-size=360,800"][..], &["--blink-settings=preferredColorScheme=0"]]
        {
            let found = said(Path::new(&page), "axe", flags).expect("a browser");
            assert_eq!(found, Value::Array(Vec::new()), "{line} {flags:?}");
        }
    }
}

#[test]
fn a_slider_gives_what_whatif_gives() {
    let place = Workdir::new();
    place.run("breakdown --from thunderx2-connectx4 -q --out kept".split(' ')).ends(0);
    let Some(found) = tried(&place.path("kept").join("report.html")) else {
        return skipped(format_args!("there is no chromium to move sliders in"));
    };
    let sliders = found["whatif"].as_object().unwrap();
    assert!(sliders.len() > 10);
    for name in ["pio", "wire", "rc_to_mem_8"] {
        let reduced = format!("whatif --from kept --reduce {name}=20%");
        let whatif = place.json(&reduced);
        let models = of_kind(&whatif, "whatif")[0]["models"].as_array().unwrap().iter();
        let after = |model: &Value| {
            let seconds = model["after"]["value"].as_f64().unwrap();
            format!("{}:{}", model["name"].as_str().unwrap(), scaled(seconds, Unit::Second))
        };
        let expected: Vec<String> = models.map(after).collect();
        assert_eq!(sliders[name], Value::from(expected), "{name}");
    }
}

#[test]
fn a_page_is_made_again_and_overwrites_only_what_it_may() {
    let place = Workdir::new();
    place.run("comms1 -t sim:myrinet --sizes 8,64KiB -q --out kept".split(' ')).ends(0);
    let page = || fs::read_to_string(place.path("kept").join("report.html")).unwrap();
    let first = page();
    place.file("kept/report.html", "");
    assert_eq!(place.run(["report", "kept"]).ends(0).stdout.trim(), "kept/report.html");
    assert_eq!(page(), first);
    place.file("mine.html", "mine");
    place.refuses(OUTPUT, "report kept -o mine.html");
    assert_eq!(fs::read_to_string(place.path("mine.html")).unwrap(), "mine");
    place.run("report kept -o mine.html --force".split(' ')).ends(0);
    assert_eq!(fs::read_to_string(place.path("mine.html")).unwrap(), first);
    assert_eq!(place.run("export kept --to html".split(' ')).ends(0).stdout, first);
    place.refuses(INPUT, "report none");
    place.refuses(USAGE, "report kept --force");
}

#[test]
fn names_in_a_run_do_nothing_on_its_page() {
    let place = Workdir::new();
    place.run("comms1 -t sim:myrinet --sizes 8,64KiB -q --out kept".split(' ')).ends(0);
    let evil = "</script><img src=x onerror=document.title=1>\u{202e}";
    place.change("kept", |run| {
        run["setup"]["machine"]["hosts"] = Value::from(vec![evil.repeat(9999)]);
        run["setup"]["machine"]["processor"] = evil.into();
        run["command"] = Value::from(vec!["bandgap", evil]);
    });
    place.run(["report", "kept"]).ends(0);
    let page = place.path("kept").join("report.html");
    let text = fs::read_to_string(&page).unwrap();
    assert!(text.contains("&lt;img") && !text.contains("<img"));
    assert!(text.len() < 100_000);
    match tried(&page) {
        Some(found) => assert_eq!(found["problems"], Value::Array(Vec::new())),
        None => skipped(format_args!("there is no chromium to look at pages with")),
    }
}

#[test]
fn each_value_is_a_line() {
    let place = Workdir::new();
    place.run("comms1 -t sim:myrinet --sizes 8,64KiB -q --out kept".split(' ')).ends(0);
    let exported = |to: &str| place.run(["export", "kept", "--to", to]).ends(0).stdout;
    let values: Vec<String> = exported("csv")
        .lines()
        .skip(1)
        .map(|line| line.split(',').next().unwrap().into())
        .collect();
    let lines: Vec<Value> =
        exported("json-lines").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ids: Vec<&str> = lines.iter().map(|line| line["id"].as_str().unwrap()).collect();
    assert_eq!(ids, values);
    let text = exported("openmetrics");
    let metrics: Vec<(f64, &str)> = text
        .lines()
        .filter_map(|line| line.strip_prefix("bandgap_value{id=\""))
        .map(|line| {
            (line.rsplit(' ').next().unwrap().parse().unwrap(), line.split('"').next().unwrap())
        })
        .collect();
    let expected: Vec<(f64, &str)> =
        lines.iter().map(|line| line["value"].as_f64().unwrap()).zip(ids).collect();
    assert_eq!(metrics, expected);
    assert!(text.ends_with("# EOF\n") && text.starts_with("# TYPE bandgap_value gauge\n"));
}
