//! `bandgap simulate` of schedules in GOAL.

use std::fs;
use std::io::Read;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::program::subject::{BINARY, ENDLESS, INPUT, USAGE, Workdir, of_kind, skipped, value};

/// There and back with a computation between: rank 0 ends at 4o + 2L + 5 µs.
const THERE_AND_BACK: &str = "num_ranks 3\nrank 0 {\ns: send 1b to 1 tag 7\nr: recv 1b from 1 tag 7\nr requires s\n}\n\
                              rank 1 {\nr: recv 1b from 0 tag 7\nc: calc 5000\ns: send 1b to 0 tag 7\n\
                              c requires r\ns requires c\n}\n";

fn nanoseconds(seconds: &Value) -> i64 {
    (seconds.as_f64().unwrap() * 1e9).round() as i64
}

#[test]
fn a_schedule_is_simulated_kept_and_shown() {
    let place = Workdir::new();
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
    let parameters = "L=2500,o=1500,g=1000,G=6,O=0,S=65535";
    assert!(of["machine"].as_str().unwrap().ends_with(parameters), "{of}");
    assert!(finished.stdout.contains(parameters), "{}", finished.stdout);
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
    let place = Workdir::new();
    place.file("ping.goal", THERE_AND_BACK);
    let run = place.json("simulate ping.goal --loggops L=1000.5,o=200,G=0.04 --sensitivity");
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
    let run = place.json("simulate ping.goal -t sim:m.toml");
    let [of] = of_kind(&run, "simulation")[..] else { panic!("{run}") };
    assert_eq!(nanoseconds(&of["end"]), 4 * 200 + 2 * 2000 + 5000);
}

#[test]
fn standard_input_is_read() {
    let place = Workdir::new();
    let finished = place
        .run_with_input(["simulate", "-", "--no-save", "--json", "-"], THERE_AND_BACK.as_bytes());
    let run = finished.ends(0).json();
    assert_eq!(nanoseconds(&of_kind(&run, "simulation")[0]["end"]), 16_000);
}

#[test]
fn what_cannot_be_simulated_is_refused_with_its_code() {
    let place = Workdir::new();
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
    for (code, command) in [
        (ENDLESS, "alone.goal"),
        (ENDLESS, "both.goal --sensitivity"),
        (ENDLESS, "cycle.goal"),
        (INPUT, "word.goal"),
        (INPUT, "long.goal"),
        (INPUT, "none.goal"),
        (USAGE, "brodcast -t sim:ipsc860"),
        (INPUT, "."),
        (USAGE, "ping.goal --loggops L"),
        (USAGE, "ping.goal --loggops L=-1"),
        (USAGE, "ping.goal --loggops X=1"),
        (USAGE, "ping.goal --loggops o=1,o=2"),
        (USAGE, "ping.goal --loggops S=1.5"),
        (INPUT, "ping.goal -t sim:meiko-cs2"),
        (USAGE, "ping.goal -t sim:ipsc860 --loggops L=1"),
        (USAGE, "ping.goal -t shm"),
        (USAGE, ""),
    ] {
        place.refuses(code, format!("simulate {command}").trim());
    }
    let told = place.run(["simulate", "both.goal"]).ends(ENDLESS).stderr;
    for place in ["rank 0", "line 3", "rank 1", "line 8"] {
        assert!(told.contains(place), "{told}");
    }
}

#[test]
fn a_kernel_is_replayed_on_many_ranks() {
    let place = Workdir::new();
    let words = "send_overhead_ns = 2000\nrecv_overhead_ns = 2600\ngap_ns = 12400\n";
    place.file("flat.toml", format!("name = 'flat'\nlatency_ns = 11100\n{words}"));
    let run = place.json("simulate synch1 -t sim:flat.toml -n 2,1024,65536");
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
        "simulate barrier -t sim:ipsc860 -n 129 --no-save",
        "simulate barrier -t sim:ipsc860 --sizes 8 --no-save",
    ] {
        place.run(wrong.split(' ')).ends(2);
    }
    let run = place.json("simulate synch1 -t sim:flat.toml -n 1024 --sensitivity");
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
    // Sizes that do not fit are told, and what is left out.
    let run = place.json("simulate all_gather -t sim:ipsc860 -n 8 --sizes 1,8,9,16");
    assert_eq!(of_kind(&run, "simulation").len(), 2);
    let [note, other] = &run["notes"].as_array().unwrap()[..] else { panic!("{run}") };
    assert_eq!([&note["code"], &other["code"]], ["sizes_left_out", "noise_left_out"]);
    assert_eq!(
        (note["values"]["count"].as_f64(), note["values"]["of"].as_f64()),
        (Some(2.0), Some(4.0))
    );
    let run = place.json("simulate global_sum -t sim:ipsc860 -n 6 --algorithm all");
    assert!(!run["results"].as_array().unwrap().is_empty());
}

#[test]
fn shapes_of_training_take_what_their_closed_forms_say() {
    let place = Workdir::new();
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
    run("all_reduce -n 1048576 --sizes 8 --algorithm ring").ends(2);
    run("all_reduce -n 4 --sizes 9").ends(2);
}

#[test]
fn the_fastest_algorithm_comes_first_and_the_others_are_replayed_until_they_are_later() {
    let place = Workdir::new();
    for line in ["all_reduce -n 512 --sizes 64KiB", "broadcast -n 100 --sizes 1MiB", "barrier -n 5"]
    {
        let of = |more: &str| {
            let run = place.json(&format!("simulate {line} -t sim:ipsc.toml{more}"));
            of_kind(&run, "simulation").into_iter().cloned().collect::<Vec<_>>()
        };
        let machine = "name = 'm'\nsend_overhead_ns = 200\nrecv_overhead_ns = 300\ngap_ns = 100\n\
                       latency_ns = 1000\ngap_per_byte_ns = 0.5\n";
        place.file("ipsc.toml", machine);
        let (found, all) = (of(""), of(" --algorithm all"));
        let end = |of: &Value| of["end"].as_f64().unwrap();
        let least = all.iter().map(end).fold(f64::INFINITY, f64::min);
        assert_eq!((end(&found[0]), found.len()), (least, all.len()), "{line}");
        let mut bounds = 0;
        for one in &found {
            let own = all.iter().find(|of| of["variant"] == one["variant"]).unwrap();
            if one["time"]["high"].is_null() {
                bounds += 1;
                assert_eq!(one["time"]["low"], one["time"]["value"]);
                assert!(end(one) >= least && end(one) <= end(own), "{line}: {one}");
                let time = |of: &Value| of["time"]["value"].as_f64();
                assert!(time(one) <= time(own), "{line}: {one}");
            } else {
                assert_eq!(one["time"], own["time"], "{line}");
            }
        }
        assert!(bounds > 0 || line.starts_with("barrier"), "{line}");
    }
}

#[test]
fn noise_lengthens_a_schedule_as_its_seed_says() {
    let place = Workdir::new();
    let ranks = [1_000_000, 1_000_000, 10].iter().zip(0..);
    let ranks = ranks.map(|(long, rank)| format!("rank {rank} {{\ncalc {long}\n}}\n"));
    place.file("calc.goal", format!("num_ranks 3\n{}", ranks.collect::<String>()));
    // One of 10 ns each µs, and one of half of it.
    place.file("some.txt", "# LogGOPSim's\n1000\t10\n");
    place.file("half.txt", "1000\t500\n");
    let simulated = |line: &str| {
        let run = place.json(&format!("simulate calc.goal --noise {line}"));
        (of_kind(&run, "simulation")[0].clone(), run)
    };
    let finish = |of: &Value| -> Vec<i64> {
        of["finish"].as_array().unwrap().iter().map(nanoseconds).collect()
    };
    let (of, _) = simulated("some.txt");
    let ends = finish(&of);
    for end in &ends[..2] {
        assert!((1_010_000..=1_010_010).contains(end), "{ends:?}");
    }
    assert_eq!(nanoseconds(&of["lost"]), ends.iter().sum::<i64>() - 2_000_010);
    let half = |seed: u64| finish(&simulated(&format!("half.txt --seed {seed}")).0);
    let first = half(1);
    assert_eq!(finish(&simulated("half.txt").0), first);
    assert!((2..6).any(|seed| half(seed) != first));

    // Of a run: a processor with one of 10 µs each ms, and one without.
    place.run("signature -t sim:paragon -q --out kept".split(' ')).ends(0);
    place.run("simulate calc.goal --noise kept --no-save".split(' ')).ends(INPUT);
    let noise = |rate: u32, lost: f64| json!({"detours_per_second": rate, "time_lost": lost});
    let host = json!({"noise": [[0, noise(1000, 0.01)], [1, noise(0, 0.0)]]});
    place.change("kept", |run| run["host"] = host);
    let (of, run) = simulated("kept");
    let ends = finish(&of);
    assert!((1_010_000..=1_020_000).contains(&ends[0]) && ends[1] == 1_000_000, "{ends:?}");
    assert!(run["notes"].as_array().unwrap().iter().any(|note| note["code"] == "noise_even"));

    place.file("wrong.txt", "1000\n");
    for (code, line) in [
        (USAGE, "calc.goal --noise some.txt --sensitivity"),
        (USAGE, "calc.goal --seed 2"),
        (USAGE, "barrier -t sim:myrinet -n 4 --noise some.txt"),
        (INPUT, "calc.goal --noise wrong.txt"),
        (INPUT, "calc.goal --noise none.txt"),
    ] {
        place.run(format!("simulate {line} --no-save").split(' ')).ends(code);
    }
}

#[test]
fn a_receive_that_might_have_had_another_message_is_named() {
    let place = Workdir::new();
    let sends = |rank| format!("rank {rank} {{\nsend 8b to 0\n}}\n");
    let two = "rank 0 {\na: recv 8b from -1\nb: recv 8b from -1\nb requires a\n}\n";
    place.file("any.goal", format!("num_ranks 3\n{two}{}{}", sends(1), sends(2)));
    for more in ["", " --sensitivity"] {
        let run = place.json(&format!("simulate any.goal{more}"));
        let [note] = &run["notes"].as_array().unwrap()[..] else { panic!("{run}") };
        assert_eq!(note["code"], "receive_ambiguous");
        let values = ["count", "rank", "operation"].map(|name| note["values"][name].as_f64());
        assert_eq!(values, [1.0, 0.0, 1.0].map(Some));
    }
}

#[test]
fn a_terminal_shows_that_a_replay_has_a_share() {
    let place = Workdir::new();
    if place.shell("command -v script && mkfifo late.goal").code != Some(0) {
        skipped(format_args!("there is no script here, so no terminal is tried"));
        return;
    }
    let mut command = place.command("script");
    command.args(["-qec", &format!("{BINARY} simulate late.goal --no-save"), "/dev/null"]);
    command.env("TERM", "xterm").env_remove("CI").stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut shown = child.stdout.take().unwrap();
    let mut seen = Vec::new();
    while !seen.ends_with(b"%") {
        let mut byte = [0];
        shown.read_exact(&mut byte).unwrap();
        seen.extend(byte);
    }
    fs::write(place.path("late.goal"), THERE_AND_BACK).unwrap();
    shown.read_to_end(&mut seen).unwrap();
    assert!(child.wait().unwrap().success() && seen.windows(9).any(|of| of == b"16 000 ns"));
}
