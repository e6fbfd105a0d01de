//! `bandgap simulate` of schedules in GOAL.

use std::fs;

use serde_json::Value;

use crate::program::subject::{Place, of_kind, value};

const USAGE: i32 = 2;
const INPUT: i32 = 3;
const ENDLESS: i32 = 11;

/// There and back with a computation between: rank 0 ends at 4o + 2L + 5 µs.
const THERE_AND_BACK: &str = "num_ranks 3\nrank 0 {\ns: send 1b to 1 tag 7\nr: recv 1b from 1 tag 7\nr requires s\n}\n\
                              rank 1 {\nr: recv 1b from 0 tag 7\nc: calc 5000\ns: send 1b to 0 tag 7\n\
                              c requires r\ns requires c\n}\n";

fn nanoseconds(seconds: &Value) -> i64 {
    (seconds.as_f64().unwrap() * 1e9).round() as i64
}

#[test]
fn a_schedule_is_simulated_kept_and_shown() {
    let place = Place::new();
    place.file("ping.goal", THERE_AND_BACK);
    let finished = place.run(["simulate", "ping.goal", "--out", "kept"]).ends(0);
    assert!(finished.stdout.lines().count() <= 25, "{}", finished.stdout);
    assert!(finished.stdout.contains("16 000 ns"), "{}", finished.stdout);
    for file in ["run.json", "values.csv"] {
        assert!(place.path("kept").join(file).is_file(), "{file}");
    }
    let run: Value =
        serde_json::from_slice(&fs::read(place.path("kept/run.json")).unwrap()).unwrap();
    let [of] = of_kind(&run, "simulation")[..] else { panic!("{run}") };
    assert_eq!((&of["name"], &of["variant"]), (&"ping".into(), &"loggops".into()));
    assert_eq!(
        (&of["ranks"], &of["operations"], &of["messages"]),
        (&3.into(), &5.into(), &2.into())
    );
    let finish: Vec<i64> = of["finish"].as_array().unwrap().iter().map(nanoseconds).collect();
    assert_eq!(finish, [16_000, 12_000, 0]);
    assert_eq!(nanoseconds(&of["end"]), 16_000);
    assert_eq!((value(&of["time"]) * 1e9).round(), 16_000.0);
    let shown = place.run(["show", "kept", "simulation/ping"]).ends(0).stdout;
    assert_eq!(shown.lines().nth(2), finished.stdout.lines().nth(2));
    let values = fs::read_to_string(place.path("kept/values.csv")).unwrap();
    assert!(values.contains("\nsimulation/ping/ranks=3/time,0.000016,"), "{values}");
}

#[test]
fn parameters_and_sensitivities() {
    let place = Place::new();
    place.file("ping.goal", THERE_AND_BACK);
    let command =
        "simulate ping.goal --loggops L=1000.5,o=200,G=0.04 --sensitivity --no-save --json -";
    let run = place.run(command.split(' ')).ends(0).json();
    let [of] = of_kind(&run, "simulation")[..] else { panic!("{run}") };
    assert_eq!(nanoseconds(&of["end"]), 4 * 200 + 2001 + 5000);
    let sensitivity = &of["sensitivity"];
    let sides = |of: &str| {
        let of = &sensitivity["derivatives"][of];
        (of["left"].as_f64().unwrap(), of["right"].as_f64().unwrap())
    };
    assert_eq!(
        [sides("L"), sides("o"), sides("g"), sides("G")],
        [(2.0, 2.0), (4.0, 4.0), (0.0, 0.0), (0.0, 0.0)]
    );
    // A hundredth of 7.801 µs, over two latencies.
    assert_eq!((sensitivity["tolerance"].as_f64().unwrap() * 1e12).round(), 39_005.0);
    assert_eq!(sensitivity["critical_latency"], Value::Null);
    let path = &of["critical_path"];
    let share = |of: &str| (path["shares"][of].as_f64().unwrap() * 1e12).round();
    assert_eq!(
        [share("o"), share("L"), share("computation"), share("g")],
        [8e5, 2.001e6, 5e6, 0.0]
    );
    let steps: Vec<(&str, i64)> = path["operations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| (step["part"].as_str().unwrap(), step["line"].as_i64().unwrap()))
        .collect();
    assert_eq!(
        steps,
        [("flight", 3), ("receive", 3), ("compute", 9), ("flight", 10), ("receive", 10)]
    );
    // Nothing is kept.
    assert_eq!(place.names(), ["ping.goal"]);
    // A machine has two overheads, of which a schedule's is the mean.
    place.file(
        "m.toml",
        "name = 'm'\nsend_overhead_ns = 100\nrecv_overhead_ns = 300\ngap_ns = 50\nlatency_ns = 2000\n\
         gap_per_byte_ns = 0.04\n",
    );
    let command = "simulate ping.goal -t sim:m.toml --no-save --json -";
    let run = place.run(command.split(' ')).ends(0).json();
    let [of] = of_kind(&run, "simulation")[..] else { panic!("{run}") };
    assert_eq!(nanoseconds(&of["end"]), 4 * 200 + 2 * 2000 + 5000);
}

#[test]
fn standard_input_is_read() {
    let place = Place::new();
    let finished = place
        .run_with_input(["simulate", "-", "--no-save", "--json", "-"], THERE_AND_BACK.as_bytes());
    let run = finished.ends(0).json();
    assert_eq!(nanoseconds(&of_kind(&run, "simulation")[0]["end"]), 16_000);
}

#[test]
fn what_cannot_be_simulated_is_refused_with_its_code() {
    let place = Place::new();
    place.file("ping.goal", THERE_AND_BACK);
    place.file("alone.goal", "num_ranks 2\nrank 0 {\nsend 1b to 1\n}\n");
    place.file(
        "both.goal",
        "num_ranks 2\nrank 0 {\nr: recv 1b from 1\ns: send 1b to 1\ns requires r\n}\n\
                             rank 1 {\nr: recv 1b from 0\ns: send 1b to 0\ns requires r\n}\n",
    );
    place.file(
        "cycle.goal",
        "num_ranks 1\nrank 0 {\na: calc 1\nb: calc 2\na requires b\nb requires a\n}\n",
    );
    place.file("word.goal", "num_ranks 1\nrank 0 {\nwait 1\n}\n");
    place.file("long.goal", "num_ranks 1\nrank 0 {\nsend 9223372036854775808b to 0\n}\n");
    place.file("ranks.goal", "num_ranks 4294967294\nrank 4294967293 {\ncalc 1\n}\n");
    let before = place.names();
    for (code, command) in [
        (ENDLESS, "alone.goal"),
        (ENDLESS, "both.goal --sensitivity"),
        (ENDLESS, "cycle.goal"),
        (INPUT, "word.goal"),
        (INPUT, "long.goal"),
        (INPUT, "none.goal"),
        (USAGE, "brodcast -t sim:ipsc860"),
        (INPUT, "."),
        (USAGE, "ranks.goal"),
        (USAGE, "ping.goal --loggops L"),
        (USAGE, "ping.goal --loggops L=-1"),
        (USAGE, "ping.goal --loggops X=1"),
        (USAGE, "ping.goal --loggops o=1,o=2"),
        (USAGE, "ping.goal --loggops S=1.5"),
        (INPUT, "ping.goal -t sim:myrinet"),
        (USAGE, "ping.goal -t sim:ipsc860 --loggops L=1"),
        (USAGE, "ping.goal -t shm"),
        (USAGE, ""),
    ] {
        let finished =
            place.run(["simulate"].into_iter().chain(command.split_whitespace())).ends(code);
        assert_eq!(
            (finished.stdout.as_str(), finished.stderr.is_empty()),
            ("", false),
            "{command}"
        );
        assert_eq!((place.names(), place.temporary()), (before.clone(), vec![]), "{command}");
    }
    let told = place.run(["simulate", "both.goal"]).ends(ENDLESS).stderr;
    for place in ["rank 0", "line 3", "rank 1", "line 8"] {
        assert!(told.contains(place), "{told}");
    }
}

#[test]
fn a_kernel_is_replayed_on_many_ranks() {
    let place = Place::new();
    let args = "simulate barrier -t sim:myrinet -n 2,1024,65536 --no-save --json - -q";
    let run = place.run(args.split(' ')).ends(0).json();
    let all = run["results"].as_array().unwrap();
    let time = |at: usize| all[at]["time"]["value"].as_f64().unwrap();
    // A dissemination barrier has log₂ P rounds, of a message each.
    for (at, rounds) in [(1, 10.0), (2, 16.0)] {
        assert!((time(at) / time(0) - rounds).abs() < 1e-9, "{} of {}", time(at), time(0));
        assert_eq!(all[at]["messages"].as_f64(), Some(rounds * all[at]["ranks"].as_f64().unwrap()));
    }
    assert_eq!(all[1]["finish"].as_array().unwrap().len(), 1024);
    for wrong in [
        "simulate barrier --no-save",
        "simulate barrier -t shm --no-save",
        "simulate barrier -t sim:myrinet --algorithm library --no-save",
        "simulate barrier -t sim:myrinet -n 0 --no-save",
    ] {
        place.run(wrong.split(' ')).ends(2);
    }
    place.run("simulate barrier -t sim:ipsc860 -n 129 --no-save".split(' ')).ends(2);
    place.run("simulate barrier -t sim:ipsc860 --sizes 8 --no-save".split(' ')).ends(2);
    let args = "simulate barrier -t sim:myrinet -n 1024 --sensitivity --no-save --json - -q";
    let run = place.run(args.split(' ')).ends(0).json();
    let [of] = of_kind(&run, "simulation")[..] else { panic!("{run}") };
    for (parameter, slope) in [("L", 10.0), ("o", 20.0), ("g", 0.0), ("G", 0.0)] {
        let of = &of["sensitivity"]["derivatives"][parameter];
        assert_eq!((of["left"].as_f64(), of["right"].as_f64()), (Some(slope), Some(slope)));
    }
    let tolerance = of["sensitivity"]["tolerance"].as_f64().unwrap();
    assert!((tolerance * 1e3 / of["end"].as_f64().unwrap() - 1.0).abs() < 1e-6);
    let shares = of["critical_path"]["shares"].as_object().unwrap().values();
    let whole: f64 = shares.map(|share| share.as_f64().unwrap()).sum();
    assert!((whole - of["end"].as_f64().unwrap()).abs() < 1e-12);
    assert_eq!(of["critical_path"]["steps"], 30);
    let some = "simulate global_sum -t sim:ipsc860 -n 6 --algorithm all --no-save --json - -q";
    let run = place.run(some.split(' ')).ends(0).json();
    assert!(!run["results"].as_array().unwrap().is_empty());
}

#[test]
fn shapes_of_training_take_what_their_closed_forms_say() {
    let place = Place::new();
    let machine = "name = 'm'\nsend_overhead_ns = 200\nrecv_overhead_ns = 300\ngap_ns = 100\n\
                   latency_ns = 1000\ngap_per_byte_ns = 0.5\n";
    let file = place.file("m.toml", machine);
    let run = |line: &str| {
        let line = format!("simulate {line} -t sim:{file} --no-save --json - -q");
        place.run(line.split(' '))
    };
    let results = |line: &str| run(line).ends(0).json()["results"].as_array().unwrap().clone();
    let near = |found: &Value, ns: f64| {
        let found = found["time"]["value"].as_f64().unwrap();
        assert!((found / ns * 1e9 - 1.0).abs() < 1e-9, "{found}, {ns}");
    };
    // os + L + or + n·G.
    let message = |bytes: f64| 1500.0 + 0.5 * bytes;
    for name in ["reduce_scatter", "all_gather", "all_to_all"] {
        let found = results(&format!("{name} -n 64 --sizes 64KiB"));
        assert_eq!(found[0]["messages"], 64 * 63);
        near(&found[0], 63.0 * message(1024.0));
    }
    let all = results("all_reduce -n 64 --sizes 8,64KiB --algorithm all");
    let of = |variant: &str, bytes: u64| {
        let named = all.iter().filter(|of| of["variant"] == variant);
        named.clone().find(|of| of["bytes"] == bytes).unwrap()
    };
    near(of("ring", 65_536), 126.0 * message(1024.0));
    assert_eq!(of("ring", 8)["messages"], 2 * 63 * 64);
    // An element goes up one tree and down again.
    assert_eq!(of("double_tree", 8)["messages"], 4 * 63);
    assert!(
        of("double_tree", 8)["time"]["value"].as_f64() < of("ring", 8)["time"]["value"].as_f64()
    );
    // 2⁴¹ messages.
    run("all_reduce -n 1048576 --sizes 8").ends(2);
    run("all_reduce -n 4 --sizes 9").ends(2);
}
