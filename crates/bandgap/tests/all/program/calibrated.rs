//! A machine taken from a run: exported, simulated on, and compared with what the run measured.

use std::fs;

use bandgap_record::Note;
use bandgap_results::words;
use serde_json::Value;

use crate::program::subject::{DOUBTFUL, INPUT, USAGE, Workdir, near, of_kind, value};

/// Bound by the network, with two protocols.
const OWN: &str = "name = 'own'\nsend_overhead_ns = 1400\nrecv_overhead_ns = 2200\ngap_ns = 7600.25\n\
    latency_ns = 6350\n[[protocol]]\nup_to_bytes = 4096\nsend_overhead_ns = 1400\nrecv_overhead_ns = 2200\n\
    latency_ns = 6350\ngap_per_byte_ns = 11.3\n[[protocol]]\nsend_overhead_ns = 1400\nrecv_overhead_ns = 2200\n\
    latency_ns = 60000.5\ngap_per_byte_ns = 7.125\n";

/// Runs a command line of words.
fn run(place: &Workdir, line: &str) -> crate::program::subject::Finished {
    place.run(line.split(' '))
}

/// What this machine gives of a command, kept.
fn measured(place: &Workdir, command: &str, machine: &str, out: &str) {
    place.file("own.toml", machine);
    run(place, &format!("{command} -t sim:own.toml -q --out {out}")).ends(0);
}

/// As if it had been measured over tcp.
fn as_measured(place: &Workdir, name: &str) {
    let path = place.path(name).join("run.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"sim:own\"", "\"tcp\"")).unwrap();
}

fn logp(run: &mut Value) -> &mut Value {
    let results = run["results"].as_array_mut().unwrap();
    results.iter_mut().find(|result| result["kind"] == "logp").unwrap()
}

/// The times of a simulation.
fn times(place: &Workdir, line: &str) -> Vec<[f64; 3]> {
    let run = place.json(line);
    let all = of_kind(&run, "simulation").into_iter().map(|of| {
        value(&of["time"]);
        ["value", "low", "high"].map(|end| of["time"][end].as_f64().unwrap())
    });
    all.collect()
}

#[test]
fn a_machine_comes_back_from_its_run() {
    let place = Workdir::new();
    measured(&place, "run", OWN, "kept");
    run(&place, "export kept --to machine --out back.toml").ends(0);
    let parsed = |name: &str| -> toml::Table {
        fs::read_to_string(place.path(name)).unwrap().parse().unwrap()
    };
    let (own, back) = (parsed("own.toml"), parsed("back.toml"));
    let number = |of: &toml::Value| of.as_float().or(of.as_integer().map(|n| n as f64)).unwrap();
    let same = |own: &toml::Table, back: &toml::Table, key: &str| {
        near(key, number(&back[key]), number(&own[key]), 1e-6);
    };
    let costs = ["send_overhead_ns", "recv_overhead_ns", "latency_ns"];
    costs.iter().chain(&["gap_ns"]).for_each(|key| same(&own, &back, key));
    let protocols = |of: &toml::Table| of["protocol"].as_array().unwrap().clone();
    let (own, mut back) = (protocols(&own), protocols(&back));
    // Between 4096 B and the next size that was measured, either of the two may hold.
    assert_eq!((own.len(), back.len(), back[1].get("up_to_bytes")), (2, 3, Some(&8191.into())));
    back.remove(1);
    assert_eq!(own[0].get("up_to_bytes"), back[0].get("up_to_bytes"));
    for (own, back) in own.iter().zip(&back) {
        let (own, back) = (own.as_table().unwrap(), back.as_table().unwrap());
        costs.iter().chain(&["gap_per_byte_ns"]).for_each(|key| same(own, back, key));
    }
    // What is simulated on it is what is simulated on the machine itself.
    for kernel in ["broadcast -n 64 --algorithm binomial", "exchange", "synch1 -n 100"] {
        let sizes = if kernel.starts_with("synch1") { "" } else { " --sizes 0,8,4096,64KiB" };
        let on = |machine: &str| times(&place, &format!("simulate {kernel}{sizes} {machine}"));
        let own = on("-t sim:own.toml");
        assert_eq!(own.len(), if sizes.is_empty() { 1 } else { 4 });
        for other in [on("--from kept"), on("-t sim:back.toml")] {
            assert_eq!(other.len(), own.len());
            for (own, other) in own.iter().zip(&other) {
                near(kernel, other[0], own[0], 1e-9);
            }
        }
    }
    // The arguments of LogGOPSim are what a schedule takes from the run.
    place.file(
        "ping.goal",
        "num_ranks 2\nrank 0 {\nsend 100b to 1\n}\nrank 1 {\nrecv 100b from 0\n}\n",
    );
    let exported = run(&place, "export kept --to loggopsim --unit ps").ends(0).stdout;
    let line = exported.lines().last().unwrap();
    assert_eq!(line, "-L 6350000 -o 1800000 -g 7600250 -G 7125 -O 0 -S 2147483647");
    // 2o + L + 99·G.
    let [[time, low, high]] = times(&place, "simulate ping.goal --from kept")[..] else { panic!() };
    near("t", time, 2.0 * 1.8e-6 + 6.35e-6 + 99.0 * 7.125e-9, 1e-6);
    near("no interval", high, low, 1e-6);
    // SimGrid has the first protocol in its platform, and the other as its multiple; a header of 16 B costs 16 G.
    let command = run(&place, "export kept --to simgrid --out p.xml -n 3").ends(0).stdout;
    let platform = fs::read_to_string(place.path("p.xml")).unwrap();
    assert_eq!(platform.matches("latency=\"0.0000061692s\"").count(), 6);
    let factor =
        command.split("smpi/lat-factor:0:1;4112:").nth(1).unwrap().split(['\'', ';']).next();
    near("L", factor.unwrap().parse().unwrap(), (60000.5 - 114.0) / (6350.0 - 180.8), 1e-6);
    assert!(command.contains("smpi/or:0:0.0000022:0;4096:"), "{command}");
    // What is listed of a run.
    let values = run(&place, "export kept --to csv").ends(0).stdout;
    assert_eq!(values, fs::read_to_string(place.path("kept/values.csv")).unwrap());
}

#[test]
fn of_a_run_over_several_transports_one_is_named() {
    let place = Workdir::new();
    measured(&place, "signature", OWN, "kept");
    run(&place, "whatif --from kept --no-save -q").ends(0);
    place.change("kept", |run| {
        let mut other = logp(run).clone();
        other["transport"] = "sim:own2".into();
        run["results"].as_array_mut().unwrap().push(other);
    });
    let of = |id: &str| run(&place, &format!("whatif --from kept --no-save -q{id}"));
    for id in ["", " --id logp/"] {
        assert!(of(id).ends(USAGE).stderr.contains("logp/sim:own2"));
    }
    for id in [" --id logp/sim:own", " --id logp/sim:own2"] {
        of(id).ends(0);
    }
}

#[test]
fn within_the_interval_of_a_break_either_line_may_hold() {
    let place = Workdir::new();
    run(&place, "run -t sim:ipsc860 -q --out kept").ends(0);
    let found = times(&place, "simulate echo --from kept --sizes 64,65,100,127,128");
    // 79 µs + 0.63 µs a byte below, 156 µs + 0.41 µs a byte above.
    for ([time, low, high], n) in found.iter().zip([64.0, 65.0, 100.0, 127.0, 128.0]) {
        let [below, above] = [79.0 + 0.63 * n, 156.0 + 0.41 * n];
        let ends = match n {
            64.0 => [below, below],
            128.0 => [above, above],
            _ => [below, above],
        };
        near("low", low * 1e6, ends[0], 1e-6);
        near("high", high * 1e6, ends[1], 1e-6);
        assert!((*low..=*high).contains(time));
    }
    let file = run(&place, "export kept --to machine").ends(0).stdout;
    let said = words(&Note::new("either_line", "").with("from", 64.0).with("to", 128.0));
    assert!(file.contains(&said), "{file}");
}

#[test]
fn the_intervals_of_a_run_are_those_of_its_predictions() {
    let place = Workdir::new();
    measured(&place, "signature", OWN, "kept");
    // L from 6.2 to 6.7 µs.
    place.change("kept", |run| {
        let latency = &mut logp(run)["parameters"]["latency"];
        (latency["low"], latency["high"]) = (6.2e-6.into(), 6.7e-6.into());
    });
    // log₂ P rounds of os + L + or.
    let [[time, low, high]] = times(&place, "simulate synch1 -n 1024 --from kept")[..] else {
        panic!()
    };
    near("t", time, 10.0 * 9.95e-6, 1e-9);
    near("low", low, 10.0 * 9.80e-6, 1e-6);
    near("high", high, 10.0 * 10.30e-6, 1e-6);
    // As many as were measured.
    near("two", times(&place, "simulate synch1 --from kept")[0][0], 9.95e-6, 1e-9);
    // What a person should know of the machine is in its file, which is read as it was.
    place.change("kept", |run| {
        logp(run)["parameters"]["latency"]["low"] = (-1e-7).into();
    });
    let note = words(&Note::new("interval_below_zero", "").with("count", 1.0));
    let file = run(&place, "export kept --to machine --out m.toml").ends(0);
    let text = fs::read_to_string(place.path("m.toml")).unwrap();
    assert!(file.stdout.is_empty() && text.contains(&note), "{text}");
    assert_eq!(times(&place, "simulate synch1 -n 1024 -t sim:m.toml")[0][0], time);
}

#[test]
fn what_is_no_machine_is_refused_and_may_be_one_latency() {
    let place = Workdir::new();
    measured(&place, "comms1", OWN, "series");
    let lacking = run(&place, "simulate barrier --from series").ends(INPUT).stderr;
    assert!(lacking.contains("os, or, g, L") && lacking.contains("bandgap run -t"), "{lacking}");
    measured(&place, "signature", OWN, "kept");
    // Words alone move no bytes.
    for line in ["simulate broadcast --from kept -n 4", "export kept --to loggopsim"] {
        let lacking = run(&place, line).ends(INPUT).stderr;
        assert!(lacking.contains('G') && lacking.contains("bandgap run -t"), "{lacking}");
    }
    run(&place, "export kept --to simgrid").ends(USAGE);
    run(&place, "simulate barrier --from kept -t tcp").ends(INPUT);
    run(&place, "simulate barrier --from kept --loggops L=1").ends(USAGE);
    run(&place, "simulate barrier -t sim:own.toml --one-latency").ends(USAGE);
    run(&place, "simulate kept --strict").ends(USAGE);
    // Overheads that overlap, and an L below 0.
    for (field, wrong) in [("regime", Value::from("overlapped")), ("latency", Value::Null)] {
        place.change("kept", |run| match field {
            "regime" => logp(run)["regime"] = wrong,
            _ => {
                logp(run)["regime"] = "network-bound".into();
                let latency = &mut logp(run)["parameters"]["latency"];
                (latency["value"], latency["low"]) = ((-1e-7).into(), (-2e-7).into());
            }
        });
        run(&place, "export kept --to machine").ends(INPUT);
        run(&place, "simulate synch1 -n 2 --from kept").ends(INPUT);
        // A message takes half a round trip.
        let [[time, ..]] = times(&place, "simulate synch1 -n 2 --from kept --one-latency")[..]
        else {
            panic!("{field}")
        };
        near(field, time, 9.95e-6, 1e-9);
    }
    // A rank whose g is not known sends two messages 0 to RTT apart.
    place.change("kept", |run| logp(run)["parameters"]["gap"] = Value::Null);
    let line = "simulate barrier -n 4 --algorithm tree --from kept --one-latency";
    let [[time, low, high]] = times(&place, line)[..] else { panic!("{line}") };
    assert!(low <= time && time < high, "{low} {time} {high}");
}

/// What `--validate` says of a run: the errors of all points, and the summary.
fn validated(place: &Workdir, line: &str, code: i32) -> (Vec<(String, f64)>, Value) {
    let run =
        run(place, &format!("simulate --validate {line} --no-save --json -")).ends(code).json();
    let [summary, points] = of_kind(&run, "validation")[..] else { panic!("{run}") };
    let error = |point: &Value| {
        let of = |name: &str| {
            let own = point[name].as_str().or(points["labels"][name].as_str());
            own.unwrap().to_owned()
        };
        (format!("{} {}", of("group"), of("name")), point["error"]["value"].as_f64().unwrap())
    };
    (points["points"].as_array().unwrap().iter().map(error).collect(), summary.clone())
}

fn names(errors: &[(String, f64)]) -> Vec<&str> {
    let mut names: Vec<&str> = errors.iter().map(|(name, _)| name.as_str()).collect();
    names.dedup();
    names
}

#[test]
fn what_was_simulated_is_simulated_without_an_error() {
    let place = Workdir::new();
    run(&place, "run --full -t sim:ipsc860 -q --out all").ends(0);
    run(&place, "comet -t sim:ipsc860 -n 8 -q --out comet").ends(0);
    run(&place, "signature -t sim:paragon -n 4 --fan-in 3 -q --out many").ends(0);
    for (run, least) in [("all", 300), ("comet", 350), ("many", 3)] {
        let (errors, summary) = validated(&place, &format!("{run} --strict"), 0);
        assert!(errors.len() >= least, "{run}: {}", errors.len());
        assert!(errors.iter().all(|(_, error)| *error == 0.0), "{run}: {errors:?}");
        assert_eq!(summary["labels"]["verdict"], "inside");
        assert!(names(&errors).iter().all(|name| name.starts_with("own ")));
    }
}

#[test]
fn a_machine_that_is_another_by_now_is_outside() {
    let place = Workdir::new();
    measured(&place, "comms1", OWN, "kept");
    validated(&place, "kept -t sim:own.toml --strict", 0);
    place.file("own.toml", OWN.replace("11.3", "14"));
    let (errors, summary) = validated(&place, "kept -t sim:own.toml --strict", DOUBTFUL);
    assert_eq!(summary["labels"]["verdict"], "outside");
    // Half a round trip of 4 KiB takes 9.95 + 46.28 µs, and now 57.34 for the bytes.
    let most = errors.iter().map(|(_, error)| *error).fold(0.0, f64::max);
    near("worst", most, 67.294 / 56.2348 - 1.0, 1e-3);
    validated(&place, "kept -t sim:own.toml --strict --tolerance 25%", 0);
    validated(&place, "kept -t sim:own.toml", 0);
}

#[test]
fn a_machine_taken_from_a_run_is_compared_with_all_of_it() {
    let place = Workdir::new();
    measured(&place, "run --full", OWN, "kept");
    as_measured(&place, "kept");
    let (errors, _) = validated(&place, "kept --strict", 0);
    assert!(errors.iter().all(|(_, error)| error.abs() < 1e-6), "{errors:?}");
    let known = names(&errors);
    for name in ["fitted signature", "fitted echo", "predicted exchange", "predicted broadcast"] {
        assert!(known.contains(&name), "{name}: {known:?}");
    }
    // A broadcast that took twice as long as it should is predicted badly; one that is hardly known is not decided.
    for (high, verdict, code) in [(1.0, "outside", DOUBTFUL), (9.0, "undecided", 0)] {
        place.change("kept", |run| {
            let results = run["results"].as_array_mut().unwrap();
            let is_its = |of: &&mut Value| of["kind"] == "series" && of["name"] == "broadcast";
            let time = &mut results.iter_mut().find(is_its).unwrap()["points"][0]["time"];
            let value =
                if verdict == "outside" { 2.0 } else { 0.9 } * time["value"].as_f64().unwrap();
            time["value"] = value.into();
            time["low"] = (value / high).into();
            time["high"] = (value * high).into();
        });
        let (_, summary) = validated(&place, "kept --strict", code);
        assert_eq!(summary["labels"]["verdict"], verdict);
        let groups = summary["points"].as_array().unwrap();
        let group = |name: &str| groups.iter().find(|of| of["group"] == name).unwrap();
        assert_eq!(group("fitted")["inside"], group("fitted")["points"]);
        assert_eq!(group("predicted")[verdict], 1);
        let worst = group("predicted")["worst_at"].as_str().unwrap();
        assert!(worst.starts_with("series/broadcast/tcp/"), "{worst}");
    }
}

#[test]
fn the_newest_kept_run_that_makes_a_machine_is_it() {
    let place = Workdir::new();
    let line = "simulate all_reduce -n 64 --sizes 4KiB";
    let told = run(&place, line).ends(USAGE).stderr;
    assert!(told.contains(line), "{told}");
    let kept = |command: &str| {
        place.file("own.toml", OWN);
        run(&place, &format!("{command} -t sim:own.toml -q")).ends(0);
    };
    kept("run --quick");
    // Of neither a G is known.
    kept("signature");
    kept("comms1 --sizes 8");
    let simulated = |line: &str| of_kind(&place.json(line), "simulation")[0].clone();
    let found = simulated(line);
    let named = found["machine"].as_str().unwrap();
    assert!(named.starts_with("bandgap-runs/") && named.contains("-run"), "{named}");
    assert_eq!(
        found["time"],
        simulated(&format!("{line} --from {}", named.split(' ').next().unwrap()))["time"]
    );
    // Words need no G.
    assert!(simulated("simulate barrier")["machine"].as_str().unwrap().contains("-signature"));
    run(&place, &format!("{line} -t tcp")).ends(USAGE);
    let told = run(&place, &format!("{line} -t LAST")).ends(USAGE).stderr;
    assert!(told.contains("--from LAST"), "{told}");
}
