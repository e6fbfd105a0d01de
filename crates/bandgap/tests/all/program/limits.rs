//! `--limit`, and `show --value`: a check in CI.

use serde_json::Value;

use crate::program::subject::{USAGE, Workdir, of_kind, value};

const TIME: &str = "series/comms1/sim:ipsc860/bytes=8/time";
/// A fit whose t0 is from below 0 to 0.6 ms, and whose n½ is not known.
const VAGUE: &str = "hockney/comms1/sim:ipsc860/weighting=ordinary/from=0/";

/// The ends of `beyond`, by limit.
fn beyond(run: &Value) -> Vec<[f64; 2]> {
    let [limits] = of_kind(run, "limit")[..] else { panic!("not one result of limits: {run}") };
    let ends = |row: &Value| ["low", "high"].map(|end| row["beyond"][end].as_f64().unwrap());
    limits["points"].as_array().unwrap().iter().map(ends).collect()
}

/// The recipe of GUIDE, as it stands there and with a limit that is too narrow.
#[test]
fn the_recipe_for_ci_is_green_and_red() {
    let guide = include_str!("../../../../../GUIDE.md");
    let recipe = guide.split("```sh\n").find(|block| block.contains("--limit")).unwrap();
    let recipe = recipe.split("```").next().unwrap();
    let (check, value) = recipe.trim().rsplit_once('\n').unwrap();
    let place = Workdir::new();
    place.shell(check).ends(0);
    assert_eq!(place.shell(value).ends(0).stdout, "84.04 µs\n");
    let red = check.replace("90us", "80us").replace("--out result", "--json -");
    assert_eq!(beyond(&place.shell(&red).ends(1).json()), [[1.0; 2], [0.0; 2]]);
}

#[test]
fn a_kept_run_is_judged_and_names_what_it_has() {
    let place = Workdir::new();
    place.run("comms1 -t sim:ipsc860 --sizes 8,1KiB,64KiB -q --out run".split(' ')).ends(0);
    let show = |more: &[&str]| place.run(["show", "run"].iter().chain(more));
    for (limit, code, verdict) in [
        (format!("{TIME} < 84.05us"), 0, "holds"),
        (format!("{TIME} < 84.04us"), 1, "beyond"),
        (format!("{TIME} > 84.04 µs"), 1, "beyond"),
        (format!("{VAGUE}t0 < 100us"), 0, "cannot tell"),
        (format!("{VAGUE}t0 > 1ms"), 1, "beyond"),
        (format!("{VAGUE}n_half < 1 B"), 0, "cannot tell"),
    ] {
        let told = show(&["--limit", &limit]).ends(code).stdout;
        assert!(told.contains(verdict), "{limit}: {told}");
        // Other values of this run are in doubt, too.
        let told = show(&["--limit", &limit, "--strict"]).ends(1).stderr;
        assert_eq!(told.contains("limit/of="), verdict == "cannot tell", "{limit}: {told}");
    }
    for (limit, named) in [
        (TIME.to_owned(), "<"),
        (format!("{TIME} <"), "us"),
        (format!("{TIME} < 3 GB/s"), "84"),
        (format!("{TIME}s < 3us"), TIME),
        ("series < 3us".into(), TIME),
    ] {
        let told = show(&["--limit", &limit]).ends(USAGE);
        assert!(told.stderr.contains(named) && told.stdout.is_empty(), "{limit}: {told:?}");
    }
    assert_eq!(show(&[TIME, "--value"]).ends(0).stdout, "84.04 µs\n");
    assert!(show(&["series/comms1", "--value"]).ends(USAGE).stderr.contains(TIME));
    let run: Value =
        serde_json::from_slice(&std::fs::read(place.path("run/run.json")).unwrap()).unwrap();
    assert_eq!(value(&of_kind(&run, "series")[0]["points"][0]["time"]), 84.04e-6);
}
