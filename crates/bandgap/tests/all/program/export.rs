//! `bandgap export` of kernels and schedules.

use std::collections::BTreeMap;
use std::fs;

use bandgap_import::{Choice, read_size_table};
use serde_json::Value;

use crate::program::subject::{ENDLESS, INPUT, OUTPUT, USAGE, Workdir, of_kind};

/// What `simulate` says of something.
fn simulated(place: &Workdir, what: &str) -> Value {
    let run = place.json(&format!("simulate {what}"));
    let [of] = of_kind(&run, "simulation")[..] else { panic!("{run}") };
    of.clone()
}

#[test]
fn kernels_in_goal_have_their_messages_and_end() {
    let place = Workdir::new();
    for (kernel, at) in [
        ("echo", "-n 2 --sizes 100"),
        ("exchange", "-n 2 --sizes 100"),
        ("shift_north", "-n 16 --sizes 64"),
        ("broadcast", "-n 11 --sizes 0 --algorithm binomial"),
        ("global_sum", "-n 16 --algorithm tree"),
        ("comms3", "-n 9 --sizes 100000"),
        ("barrier", "-n 13 --algorithm tree"),
        ("transpose", "-n 16 --sizes 64"),
    ] {
        let what = format!("{kernel} -t sim:ipsc860 {at}");
        let command = format!("export {what} --to goal --out {kernel}.goal");
        assert_eq!(place.run(command.split(' ')).ends(0).stdout, "");
        let (of, again) = (simulated(&place, &what), simulated(&place, &format!("{kernel}.goal")));
        assert_eq!(
            (&of["messages"], &of["ranks"]),
            (&again["messages"], &again["ranks"]),
            "{kernel}"
        );
    }
    // On standard output, and with its closed form: 6 rounds of 2o + L.
    let text = place.run("export barrier --to goal -t sim:myrinet -n 64".split(' ')).ends(0).stdout;
    assert_eq!(text.lines().next(), Some("num_ranks 64"));
    assert!(text.lines().all(|line| line == line.trim()));
    place.file("barrier.goal", text);
    let end = simulated(&place, "barrier.goal")["end"].as_f64().unwrap();
    assert_eq!((end * 1e9).round(), 6.0 * (2.0 * 1500.0 + 2500.0));
}

/// Sizes and times in nanoseconds of a test of OSU, as `fit hockney` reads them.
fn read(text: &str, test: &str) -> Vec<(u64, f64)> {
    let choice = Choice { test: Some(test.into()), ..Choice::default() };
    let table = read_size_table(text.as_bytes(), &choice).unwrap();
    table.rows.iter().map(|row| (row.bytes, row.time_ns)).collect()
}

#[test]
fn what_osu_has_too_comes_back_from_its_text_with_the_same_numbers() {
    let place = Workdir::new();
    let run = "comet comms1 stream bidirectional all_gather barrier -t sim:ipsc860 --sizes 8,64KiB";
    let of = place.run(format!("{run} -n 2,4 --out kept --json - -q").split(' ')).ends(0).json();
    let text = place.run("export kept --to osu".split(' ')).ends(0).stdout;
    for (name, test) in [("comms1", "osu_latency"), ("stream", "osu_bw")] {
        let is_its = |row: &&Value| row["ranks"].as_u64().is_none_or(|ranks| ranks == 2);
        let of = of_kind(&of, "series").into_iter().find(|of| of["name"] == name).unwrap().clone();
        let points = of["points"].as_array().unwrap().iter().filter(is_its);
        let time = |row: &Value| number(&row["time"], "value") * 1e9;
        let kept: Vec<_> = points.map(|row| (row["bytes"].as_u64().unwrap(), time(row))).collect();
        let read = read(&text, test);
        assert_eq!(read.len(), 2);
        for ((bytes, ns), (of, expected)) in read.into_iter().zip(kept) {
            assert_eq!(bytes, of);
            assert!((ns / expected - 1.0).abs() < 1e-5, "{test} {bytes}: {ns} {expected}");
        }
    }
    let has = |words: &str| text.lines().filter(|line| line.contains(words)).count();
    assert_eq!(has("# OSU MPI Multiple Bandwidth / Message Rate Test v"), 1, "{text}");
    assert_eq!(has("# [ pairs: 2 ] [ window size: 64 ]"), 1);
    // On two and on four ranks, where a block of 64 KiB has half and a quarter.
    assert_eq!([has("Bi-Directional"), has("OSU MPI Barrier"), has("OSU MPI Allgather")], [2; 3]);
    assert_eq!(["2 ", "4 ", "16384 ", "32768 "].map(|size| has_row(&text, size)), [1; 4]);
    place.run("signature -t sim:myrinet -q --out other".split(' ')).ends(0);
    place.run("export other --to osu".split(' ')).ends(INPUT);
}

fn has_row(text: &str, begin: &str) -> usize {
    text.lines().filter(|line| line.starts_with(begin)).count()
}

/// The events of a timeline of one phase.
fn events<'a>(trace: &'a Value, phase: &str) -> Vec<&'a Value> {
    trace["traceEvents"].as_array().unwrap().iter().filter(|of| of["ph"] == phase).collect()
}

fn number(of: &Value, key: &str) -> f64 {
    of[key].as_f64().unwrap_or_else(|| panic!("{key} in {of}"))
}

/// Asserts what holds of every timeline, and returns how long the critical path is that it shows, in µs.
fn checked(trace: &Value) -> f64 {
    let mut tracks = BTreeMap::<_, Vec<(f64, f64)>>::new();
    for of in events(trace, "X") {
        let begin = number(of, "ts");
        let track = (of["pid"].as_u64(), of["tid"].as_u64());
        tracks.entry(track).or_default().push((begin, begin + number(of, "dur")));
    }
    for slices in tracks.values_mut() {
        slices.sort_by(|one, other| one.partial_cmp(other).unwrap());
        assert!(slices.windows(2).all(|two| two[0].1 <= two[1].0 + 1e-9), "{slices:?}");
    }
    let ids = |phase| {
        let mut ids: Vec<_> = events(trace, phase).iter().map(|of| of["id"].as_u64()).collect();
        ids.sort_unstable();
        ids
    };
    assert_eq!(ids("s"), ids("f"));
    for flow in events(trace, "s").into_iter().chain(events(trace, "f")) {
        let at = number(flow, "ts");
        let part = if flow["ph"] == "s" { "send" } else { "receive" };
        let is_of =
            |of: &&Value| of["name"] == part && of["tid"] == flow["tid"] && number(of, "ts") == at;
        assert!(events(trace, "X").iter().any(is_of), "{flow}");
    }
    let path = events(trace, "X").into_iter().filter(|of| of["pid"] == 1);
    path.map(|of| number(of, "dur")).sum()
}

#[test]
fn a_timeline_has_its_messages_and_its_critical_path() {
    let place = Workdir::new();
    let what = "broadcast -t sim:ipsc860 -n 16 --sizes 4KiB --algorithm binomial";
    let command = format!("export {what} --to perfetto");
    let trace: Value = serde_json::from_str(&place.run(command.split(' ')).ends(0).stdout).unwrap();
    let of = simulated(&place, what);
    assert!((checked(&trace) - number(&of, "end") * 1e6).abs() < 1e-6);
    assert_eq!(events(&trace, "s").len() as u64, of["messages"].as_u64().unwrap());
    let is_marked = |of: &&&Value| of["cat"] == "critical" && of["pid"] == 0;
    let all = events(&trace, "X");
    let marked = all.iter().filter(is_marked).count();
    assert!(0 < marked && marked < all.len());

    // A window: of fewer ranks, and later.
    let command = format!("{command} --on 0,4-6 --from 1ms --until 9ms --out some.json");
    place.run(command.split(' ')).ends(0);
    let some: Value = serde_json::from_slice(&fs::read(place.path("some.json")).unwrap()).unwrap();
    checked(&some);
    let slices: Vec<&Value> = events(&some, "X").into_iter().filter(|of| of["pid"] == 0).collect();
    assert!(!slices.is_empty() && slices.len() < all.len());
    for of in slices {
        assert!([0, 4, 5, 6].map(Some).contains(&of["tid"].as_u64()), "{of}");
        assert!(number(of, "ts") <= 9e3 && number(of, "ts") + number(of, "dur") >= 1e3, "{of}");
    }
}

/// Rank 0 sends while its other processor computes.
const GOAL: &str = "num_ranks 2\nrank 0 {\nc: calc 9000 cpu 1\ns: send 8b to 1\n}\nrank 1 {\nr: recv 8b from 0\nc: calc 500\nc requires r\n}\n";

#[test]
fn a_schedule_has_a_timeline_and_both_have_a_picture() {
    let place = Workdir::new();
    place.file("two.goal", GOAL);
    let shown = place.run("export two.goal --to perfetto --loggops G=0".split(' ')).ends(0).stdout;
    let trace: Value = serde_json::from_str(&shown).unwrap();
    // The computation ends last; the other rank at 2o + L + 500 ns.
    assert!((checked(&trace) - 9.0).abs() < 1e-9);
    assert_eq!(events(&trace, "s").len(), 1);
    let last = events(&trace, "X")
        .iter()
        .filter(|of| of["tid"] == 1)
        .map(|of| number(of, "ts") + number(of, "dur"))
        .fold(0.0, f64::max);
    assert!((last - 6.0).abs() < 1e-9);
    for (what, machine) in
        [("two.goal", "L=2500,o=1500"), ("barrier -t sim:myrinet -n 64", "sim:myrinet")]
    {
        let picture = place.run(format!("export {what} --to svg").split(' ')).ends(0).stdout;
        assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"));
        // A frame is on the path.
        assert!(picture.contains("<polygon "));
        // It names its machine.
        assert!(picture.contains(machine), "{what}");
    }
}

#[test]
fn a_replay_with_room_keeps_what_its_ranks_did() {
    let place = Workdir::new();
    place.file("two.goal", GOAL);
    for line in ["broadcast -t sim:myrinet -n 64", "broadcast -t sim:myrinet -n 256,64", "two.goal"]
    {
        let out = format!("kept{}", line.len());
        let line = format!("simulate {line} --json - -q --out {out}");
        let run = place.run(line.split(' ')).ends(0).json();
        let all = of_kind(&run, "simulation");
        let drawn: Vec<&&Value> = all.iter().filter(|of| !of["timeline"].is_null()).collect();
        let [of] = drawn[..] else { panic!("{line}: {}", drawn.len()) };
        let spans = of["timeline"].as_array().unwrap();
        let are = |part: &str| spans.iter().filter(|span| span["part"] == part).count() as u64;
        let messages = of["messages"].as_u64().unwrap();
        assert_eq!((are("send"), are("receive")), (messages, messages), "{line}");
        // The last span ends the replay, and is on the critical path.
        let last =
            spans.iter().max_by(|a, b| number(a, "end").total_cmp(&number(b, "end"))).unwrap();
        assert_eq!((&last["end"], &last["critical"]), (&of["end"], &true.into()), "{line}");
        let page = fs::read_to_string(place.path(&out).join("report.html")).unwrap();
        let picture = page.split("<svg ").find(|of| of.contains("Framed")).unwrap();
        let framed = spans.iter().filter(|span| span["critical"] == true).count();
        assert_eq!(picture.split("</svg>").next().unwrap().matches("<polygon ").count(), framed);
    }
    let many = place.json("simulate broadcast -t sim:myrinet -n 256");
    assert!(of_kind(&many, "simulation").iter().all(|of| of["timeline"].is_null()));
}

#[test]
fn the_figures_of_a_run_are_those_that_it_keeps() {
    let place = Workdir::new();
    place.run("comms1 -t sim:ipsc860 -q --out kept".split(' ')).ends(0);
    let names = |of: &str| -> Vec<String> {
        let all = fs::read_dir(place.path(of)).unwrap().map(|of| of.unwrap().file_name());
        all.map(|name| name.into_string().unwrap()).collect()
    };
    for (format, kept) in [("svg", "kept"), ("gnuplot", "kept/gnuplot")] {
        let line = format!("export kept --to {format}");
        place.run(line.split(' ')).ends(USAGE);
        place.run(format!("{line} --out {format}").split(' ')).ends(0);
        assert!(!names(format).is_empty());
        for name in names(format) {
            let read = |of: &str| fs::read(place.path(of).join(&name)).unwrap();
            assert_eq!(read(format), read(kept), "{name}");
        }
        place.run(format!("{line} --out {format}").split(' ')).ends(OUTPUT);
    }
    assert_eq!(names("gnuplot").len(), names("kept/gnuplot").len());
    place.run("export none --to gnuplot --out drawn".split(' ')).ends(INPUT);
}

#[test]
fn what_cannot_be_exported_is_refused_with_its_code() {
    let place = Workdir::new();
    place.file("two.goal", GOAL);
    place.file("alone.goal", "num_ranks 2\nrank 0 {\nsend 1b to 1\n}\n");
    for (code, command) in [
        (USAGE, "barrier --to goal"),
        (USAGE, "barrier --to goal -t shm"),
        (USAGE, "barrier --to csv -t sim:myrinet"),
        (USAGE, "barrier -t sim:myrinet"),
        (USAGE, "barrier --to goal -t sim:myrinet -n 2,4"),
        (USAGE, "barrier --to goal -t sim:myrinet -n 2 --on 0"),
        (USAGE, "barrier --to svg -t sim:myrinet -n 128 --on 0-64"),
        (USAGE, "barrier --to svg -t sim:myrinet -n 4 --on 4"),
        (USAGE, "barrier --to svg -t sim:myrinet -n 4 --from 1s"),
        (USAGE, "barrier --to svg -t sim:myrinet -n 4 --loggops L=1"),
        (USAGE, "bulk_store --to goal -t sim:ipsc860 -n 2 --sizes 8"),
        (USAGE, "two.goal --to goal"),
        (USAGE, "two.goal --to svg -n 4"),
        (INPUT, "none.goal --to svg"),
        (ENDLESS, "alone.goal --to perfetto"),
        (OUTPUT, "barrier --to svg -t sim:myrinet -n 4 --out none/b.svg"),
        (OUTPUT, "barrier --to svg -t sim:myrinet -n 4 --out two.goal"),
        (USAGE, "barrier --to svg -t sim:myrinet -n 4 --from 2us --until 1us"),
        (USAGE, "barrier --to gnuplot -t sim:myrinet -n 4 --out b"),
    ] {
        place.refuses(code, &format!("export {command}"));
    }
    assert_eq!(fs::read_to_string(place.path("two.goal")).unwrap(), GOAL);
    // Nothing of a file that does not fit stays.
    let limited = "ulimit -f 1; bandgap export barrier --to goal -t sim:myrinet -n 64 -o cut.goal";
    place.shell(limited).ends(OUTPUT);
    assert!(!place.path("cut.goal").exists());
    place.run(["topology", "--out", "nothing"]).ends(0);
    place.run(["show", "nothing"]).ends(INPUT);
}
