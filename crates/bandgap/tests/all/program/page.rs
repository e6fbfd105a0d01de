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

/// A headless browser.
fn browser(flags: &[&str]) -> (Command, tempfile::TempDir) {
    let mut browser = Command::new("chromium");
    let profile = tempfile::tempdir().unwrap();
    browser.args(["--headless", "--no-sandbox", "--disable-gpu", "--window-size=500,800"]);
    browser.arg(format!("--user-data-dir={}", profile.path().display())).args(flags);
    (browser, profile)
}

/// What the page finds when it tries itself in a browser; `None` without one.
fn tried(page: &Path) -> Option<Value> {
    said(page, "selftest", &[])
}

/// What a script of a page has written into the output of this id, in a browser; `None` without one.
fn said(page: &Path, id: &str, more: &[&str]) -> Option<Value> {
    let (mut browser, _profile) = browser(&["--virtual-time-budget=9000", "--dump-dom"]);
    let output = browser.args(more).arg(format!("file://{}#{id}", page.display())).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let (_, found) = text.split_once(&format!("<output id=\"{id}\">")).expect("the page has run");
    let found = found.split("</output>").next().unwrap();
    let found = found.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    Some(serde_json::from_str(&found).unwrap())
}

/// The pages of a print, as text; `None` without a browser or what reads prints.
fn printed(page: &Path, more: &[&str]) -> Option<Vec<String>> {
    let print = page.with_extension("pdf");
    let (mut browser, _profile) = browser(&["--no-pdf-header-footer"]);
    browser.arg(format!("--print-to-pdf={}", print.display())).args(more);
    browser.arg(format!("file://{}", page.display())).output().ok()?;
    let text = Command::new("pdftotext").arg("-layout").arg(&print).arg("-").output().ok()?;
    let text = String::from_utf8(text.stdout).unwrap();
    Some(text.split('\u{c}').map(str::to_owned).collect())
}

/// Each key leaves its curve out and brings it back, by pointer and keyboard; each figure is read at the cursor, drawn on
/// other axes, and again as before; each table is sorted both ways; nothing sticks out of a narrow screen.
fn works(found: &Value, line: &str) {
    for none in ["problems", "overlaps"] {
        assert_eq!(found[none], Value::Array(Vec::new()), "{line}");
    }
    let number = |of: &str| found[of].as_u64().unwrap_or_else(|| panic!("{line}: {of}"));
    for (all, done) in [
        ("keys", &["clicked", "pressed"][..]),
        ("cursors", &["moved"]),
        ("heads", &["sorted"]),
        ("planes", &["drawn", "back"]),
    ] {
        done.iter().for_each(|of| assert_eq!(number(of), number(all), "{line}: {of}"));
    }
    assert_eq!((number("unreachable"), number("wide")), (0, 0), "{line}");
    assert!(number("heads") > 0, "{line}");
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
        // Words of a terminal say nothing on a page.
        assert!(!fs::read_to_string(&page).unwrap().contains(" -v<"), "{line}");
        let Some(found) = tried(&page) else {
            return skipped(format_args!("there is no chromium to look at pages with"));
        };
        works(&found, line);
        let has_curves = ["comet", "run", "whatif"].iter().any(|of| line.starts_with(of));
        assert_eq!(found["planes"].as_u64() > Some(0), has_curves, "{line}");
    }
    place.run(["compare", "run2", "run2", "--out", "both"]).ends(0);
    let page = place.path("both").join("report.html");
    works(&tried(&page).unwrap(), "compare");
    assert!(fs::read_to_string(&page).unwrap().matches("<polygon ").count() > 3);
}

#[test]
fn the_cursor_reads_the_values_and_a_dark_page_is_dark() {
    let place = Workdir::new();
    place.run("comms1 -t sim:ipsc860 --sizes 8,64KiB -q --out kept".split(' ')).ends(0);
    let page = place.path("kept").join("report.html");
    let scheme =
        |of| said(&page, "selftest", &[&format!("--blink-settings=preferredColorScheme={of}")]);
    let (Some(dark), Some(light)) = (scheme(0), scheme(1)) else {
        return skipped(format_args!("there is no chromium to look at pages with"));
    };
    let value = |column: &str| {
        let id = format!("series/comms1/sim:ipsc860/bytes=8/{column}");
        place.run(["show", "kept", &id, "--value"]).ends(0).stdout
    };
    for (at, column) in ["time", "bandwidth"].into_iter().enumerate() {
        let (size, read) = light["read"][at].as_str().unwrap().split_once(" · ").unwrap();
        let (number, unit) = read.split_once(' ').unwrap();
        let (exact, its) = value(column)
            .trim()
            .split_once(' ')
            .map(|(a, b)| (a.to_owned(), b.to_owned()))
            .unwrap();
        let [number, exact]: [f64; 2] = [number, &exact].map(|of| of.parse().unwrap());
        assert_eq!((size, unit), ("8 B", &*its));
        assert!((number / exact - 1.0).abs() < 0.005, "{read}");
    }
    assert_ne!(dark["paper"], light["paper"]);
    assert_eq!(dark["problems"], light["problems"]);
}

/// All figures and tables are on a print, folded ones too, and so they are without scripts.
#[test]
fn a_page_prints_all_and_needs_no_script() {
    let place = Workdir::new();
    let kernels = "echo exchange update_guard transpose";
    place.run(format!("comet {kernels} -t sim:ipsc860 -n 16 -q --out kept").split(' ')).ends(0);
    let page = place.path("kept").join("report.html");
    let text = fs::read_to_string(&page).unwrap();
    let off = ["--blink-settings=scriptEnabled=false"];
    let (Some(print), Some(bare)) = (printed(&page, &[]), printed(&page, &off)) else {
        return skipped(format_args!("there is no chromium or pdftotext to print pages with"));
    };
    let count = |page: &str, of: &str| page.matches(of).count();
    let source = text.split("font-size=\"9\"").nth(1).unwrap().split(['>', '<']).nth(1).unwrap();
    let whole = |print: &[String]| print.iter().map(|page| count(page, source)).sum::<usize>();
    let figures = count(&text, "<figure>");
    // The source stands at the end of each figure, and below the title of the page.
    assert_eq!((figures > 4, whole(&print), whole(&bare)), (true, figures + 1, figures + 1));
    // The last row of each table, folded or not.
    let tables = text.split("<tbody>").skip(1).filter_map(|of| of.split("</tr></tbody>").next());
    for row in tables.filter_map(|table| table.rsplit("<tr>").next()) {
        let cells = row.split("</td>").filter_map(|cell| cell.rsplit('>').next());
        let words: Vec<&str> = cells.filter_map(|cell| cell.split_whitespace().next()).collect();
        for print in [&print, &bare] {
            let mut lines = print.iter().flat_map(|page| page.lines());
            assert!(lines.any(|line| words.iter().all(|of| line.contains(of))), "{words:?}");
        }
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
    let evil = "</script><img src=x onerror=document.title=1>\u{202e}\u{2066}\u{1b}[2J\"'&";
    let file = place.file(&evil.replace('/', "|"), include_str!("data/line.txt"));
    place.run(["fit", "hockney", &file, "-q", "--out", "fitted"]).ends(0);
    place.run("comms1 -t sim:myrinet --sizes 8,64KiB -q --out kept".split(' ')).ends(0);
    place.change("kept", |run| {
        run["setup"]["machine"]["hosts"] = Value::from(vec![evil.repeat(20_000)]);
        run["setup"]["machine"]["processor"] = evil.into();
        run["command"] = Value::from(vec!["bandgap", evil]);
        run["conditions"][0]["transport"] = evil.into();
        run["notes"] = serde_json::json!([
            {"code": "failed", "about": evil, "values": {"what": evil.repeat(20_000)}},
            {"code": evil, "about": "", "values": {}},
        ]);
        for result in run["results"].as_array_mut().unwrap() {
            result["name"] = evil.into();
            result["transport"] = evil.into();
        }
    });
    place.run(["report", "kept"]).ends(0);
    for kept in ["kept", "fitted"] {
        let page = place.path(kept).join("report.html");
        let text = fs::read_to_string(&page).unwrap();
        assert!(text.contains("&lt;img") && !text.contains("<img"), "{kept}");
        assert!(text.chars().all(|of| !"\u{202e}\u{2066}\u{1b}".contains(of)), "{kept}");
        assert!(text.len() < 150_000, "{kept}: {}", text.len());
        let Some(found) = tried(&page) else {
            return skipped(format_args!("there is no chromium to look at pages with"));
        };
        assert_eq!(found["problems"], Value::Array(Vec::new()), "{kept}");
    }
}

/// With a Python that has prometheus_client in `BANDGAP_PYTHON`, what it reads is what there is.
#[test]
fn each_value_is_a_line() {
    let place = Workdir::new();
    let python = std::env::var("BANDGAP_PYTHON");
    for (at, line) in [
        "comms1 -t sim:myrinet --sizes 8,64KiB",
        "signature -t sim:myrinet",
        "comet barrier overlap -t sim:ipsc860 -n 2,4",
        "pairs -t sim:ipsc860 -n 4",
        "breakdown --from thunderx2-connectx4",
        "whatif --from thunderx2-connectx4 --reduce hlp=20%",
        "simulate broadcast -t sim:myrinet -n 64 --sizes 8",
    ]
    .into_iter()
    .enumerate()
    {
        let kept = format!("kept{at}");
        place.run(format!("{line} -q --out {kept}").split(' '));
        let exported = |to: &str| place.run(["export", &kept, "--to", to]).ends(0).stdout;
        let csv = exported("csv");
        let ids: Vec<&str> =
            csv.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
        let lines = exported("json-lines");
        let lines: Vec<Value> =
            lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let known = lines.iter().map(|line| line["id"].as_str().unwrap());
        assert!(!ids.is_empty() && known.eq(ids.iter().copied()), "{line}");
        let text = exported("openmetrics");
        let metrics = text.lines().filter_map(|line| {
            let (id, rest) = line.strip_prefix("bandgap_value{id=\"")?.split_once('"')?;
            Some((rest.rsplit(' ').next()?.parse::<f64>().unwrap(), id))
        });
        // Of a lower bound there is no value, only its end.
        let is_bound = |line: &&Value| !line["low"].is_null() && line["high"].is_null();
        let values = lines.iter().zip(&ids).filter(|(line, _)| !is_bound(line));
        let values = values.map(|(line, id)| (line["value"].as_f64().unwrap(), *id));
        let count = values.clone().count();
        assert_eq!(count < ids.len(), line.starts_with("simulate"), "{line}");
        assert!(metrics.eq(values), "{line}");
        assert!(text.ends_with("# EOF\n") && text.starts_with("# TYPE bandgap_value gauge\n"));
        if let Ok(python) = &python {
            let file = place.file(&format!("{kept}.txt"), text);
            let read = "import sys; from prometheus_client.openmetrics.parser import text_string_to_metric_families as read\n\
                        print(sum(len(f.samples) for f in read(open(sys.argv[1]).read()) if f.name == 'bandgap_value'))";
            let read = Command::new(python).args(["-c", read, &file]).output().unwrap();
            let told = String::from_utf8_lossy(&read.stdout);
            assert_eq!(told.trim(), count.to_string(), "{line}: {read:?}");
        }
    }
    if python.is_err() {
        skipped(format_args!("BANDGAP_PYTHON names no Python with prometheus_client"));
    }
}
