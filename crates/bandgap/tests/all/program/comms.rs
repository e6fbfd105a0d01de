//! Message passing: known answers in virtual time, and the form of what real ranks bring.

use serde_json::Value;

use crate::program::subject::{Place, measuring, near, of_kind, value, with_time_enough};

fn run(args: &[&str]) -> Value {
    let place = Place::new();
    let fixed = ["--no-save", "--json", "-", "--quiet"];
    place.run(args.iter().chain(&fixed)).measured().json()
}

/// The first series of a run with time enough that it is what is wanted.
fn series_of(args: &[&str], wanted: impl Fn(&Value) -> bool) -> Value {
    with_time_enough(|budget| {
        let run = run(&[args, &["--time-budget", budget]].concat());
        of_kind(&run, "series").first().map(|series| Value::clone(series)).filter(&wanted)
    })
}

/// The segments of the fit of this weighting.
fn segments<'a>(run: &'a Value, weighting: &str) -> Vec<&'a Value> {
    let fits = of_kind(run, "hockney");
    let fit = fits.iter().find(|fit| fit["weighting"] == weighting).expect("both weightings");
    fit["segments"].as_array().unwrap().iter().collect()
}

#[test]
fn the_ipsc860_has_its_two_segments() {
    let run = run(&["comms1", "--transport", "sim:ipsc860"]);
    for weighting in ["relative", "ordinary"] {
        let found = segments(&run, weighting);
        assert_eq!(found.len(), 2, "{weighting}");
        // t = 79 µs + 0.63 µs·n up to 100 bytes, 156 µs + 0.41 µs·n above (CoMet's iPSC/860).
        for (segment, t0, per_byte) in [(found[0], 79e-6, 0.63e-6), (found[1], 156e-6, 0.41e-6)] {
            near("t0", value(&segment["t0"]), t0, 1e-6);
            near("r∞", value(&segment["r_inf"]), 1.0 / per_byte, 1e-6);
            near("n½", value(&segment["n_half"]), t0 / per_byte, 1e-6);
            near("π0", value(&segment["pi0"]), 1.0 / t0, 1e-6);
        }
        let (last, first) = (&found[0]["to_bytes"], &found[1]["from_bytes"]);
        assert!(last.as_u64().unwrap() >= 64 && first.as_u64().unwrap() <= 128, "{last} {first}");
    }
    let series = of_kind(&run, "series")[0];
    assert_eq!((&series["name"], &series["ranks"]), (&"comms1".into(), &2.into()));
}

#[test]
fn other_patterns_take_the_time_that_the_machine_says() {
    // An exchange of full-duplex ranks takes as long as one message, and half of it is t.
    let exchange = run(&["comms2", "--transport", "sim:ipsc860", "--sizes", "0:64"]);
    let points = of_kind(&exchange, "series")[0]["points"].as_array().unwrap().clone();
    near("t(0)", value(&points[0]["time"]), 79e-6 / 2.0, 1e-6);
    let last = points.last().unwrap();
    near("r(64)", value(&last["bandwidth"]), 2.0 * 64.0 / (79e-6 + 64.0 * 0.63e-6), 1e-6);
    // Eight ranks: three rounds of empty messages, to ranks 1, 2 and 4 further. The slowest chain of
    // messages takes 7 ranks further each barrier, so within eight it leaves each rank once in each
    // round: to 1 further there are 6 hops of 25 µs beyond the first (from 1, 3, 5 and 7: 1, 2, 1
    // and 2), to 2 further 4 (from 2, 3, 6 and 7), and to 4 further none.
    let barrier = run(&["synch1", "--transport", "sim:ipsc860", "--ranks", "8"]);
    let point = &of_kind(&barrier, "series")[0]["points"][0];
    near("a barrier", value(&point["time"]), 3.0 * 79e-6 + 10.0 / 8.0 * 25e-6, 1e-3);
    let rate = 1.0 / (3.0 * 79e-6 + 10.0 / 8.0 * 25e-6);
    near("barriers a second", value(&point["rate"]), rate, 1e-3);
    // Between any two ranks.
    let far = run(&[
        "comms1",
        "--transport",
        "sim:ipsc860",
        "--ranks",
        "4",
        "--between",
        "3,1",
        "--sizes",
        "0:8",
    ]);
    assert_eq!(of_kind(&far, "series")[0]["pair"], serde_json::json!([3, 1]));
    near("t(0)", value(&of_kind(&far, "series")[0]["points"][0]["time"]), 79e-6, 1e-6);
}

#[test]
fn real_ranks_pass_messages_that_are_checked() {
    let _alone = measuring();
    let everywhere = ["shm", "tcp", "unix", "udp"].map(|transport| ("comms1", transport, 2));
    let others =
        [("comms2", "shm", 2), ("comms2", "tcp", 2), ("comms3", "unix", 3), ("synch1", "udp", 3)];
    for (command, transport, ranks) in everywhere.into_iter().chain(others) {
        let ranks_text = ranks.to_string();
        let mut args = vec![command, "--transport", transport, "--ranks", &ranks_text];
        // Past the longest message of one piece.
        if command != "synch1" {
            args.extend(["--sizes", "1:40KiB"]);
        }
        // A barrier moves no bytes that could be checked.
        let verified = command != "synch1";
        let series = series_of(&args, |series| series["verified"] == verified);
        // PARKBENCH's own: one array travels in COMMS1, and COMMS2 has two.
        let buffers = match command {
            "comms1" => "same".into(),
            "comms2" => "separate".into(),
            _ => Value::Null,
        };
        assert_eq!(series["buffers"], buffers, "{command}");
        assert_eq!((&series["name"], &series["transport"]), (&command.into(), &transport.into()));
        assert_eq!(series["ranks"], ranks);
        let points = series["points"].as_array().unwrap();
        assert!(!points.is_empty() && points.iter().all(|p| value(&p["time"]) > 0.0), "{command}");
        for point in points {
            // Messages come one at a time, and a single batch tells no interval.
            assert!(point["gap"].is_null(), "{point}");
            let single = point["time"]["samples"] == 1;
            assert_eq!(point["time"]["low"].is_null(), single, "{point}");
            assert_eq!(point["bandwidth"].is_null(), point["bytes"] == 0, "{point}");
        }
    }
}

#[test]
fn ranks_and_transports_that_cannot_be_are_refused() {
    let place = Place::new();
    for (args, told) in [
        (&["comms1", "--between", "1,1"][..], "two different ranks"),
        (&["comms1", "--ranks", "2", "--between", "0,2"], "comms1 on 2 ranks: it takes 3 at least"),
        (&["comms2", "--between", "0"], "two ranks"),
        // 256 GiB, more than a machine for tests has.
        (&["comms3", "--sizes", "1GiB", "-n", "128"], "are left for this process"),
    ] {
        let finished = place.run(args.iter().copied());
        assert_eq!(finished.code, Some(2), "{args:?}: {}", finished.stderr);
        assert!(finished.stderr.contains(told), "{args:?}: {}", finished.stderr);
    }
}

#[test]
fn the_run_has_tables_and_pictures_of_its_series() {
    let place = Place::new();
    let args = ["comms1", "--transport", "sim:ipsc860", "--out", "kept", "--quiet"];
    place.run(args).ends(0);
    for name in ["run.json", "series.csv", "samples.csv", "series.svg"] {
        let text = std::fs::read_to_string(place.path(&format!("kept/{name}"))).unwrap();
        assert!(!text.is_empty(), "{name}");
    }
    // Its samples fitted again give the same segments.
    let again = place.run(["fit", "hockney", "kept/samples.csv", "--json", "-"]).measured().json();
    assert_eq!(segments(&again, "relative").len(), 2);
    near("t0", value(&segments(&again, "relative")[1]["t0"]), 156e-6, 1e-6);
}

#[test]
fn comet_measures_the_named_kernels_in_one_run() {
    let names = |args: &[&str]| {
        let common = ["-t", "sim:ipsc860", "-n", "2,4", "--sizes", "8:64"];
        let run = run(&[&["comet"], args, &common[..]].concat());
        let series = of_kind(&run, "series").into_iter();
        series.map(|one| one["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&["synch1", "comms3"]), ["synch1", "comms3"]);
    assert_eq!(names(&["synch1", "comms3", "synch1"]), ["synch1", "comms3"]);
    // Without a name, CoMet's own: between two ranks and among all.
    let all = names(&[]);
    let basic = ["echo", "exchange", "broadcast", "global_sum", "barrier"];
    let matrix = ["update_guard", "shift_north", "shift_east", "transpose"];
    let last = ["row_broadcast", "column_broadcast", "message_costs", "contention"];
    assert_eq!(all, [&basic[..], &matrix, &last].concat());

    let place = Place::new();
    let refused = place.run(["comet", "comms1", "bulk_get"]).ends(2);
    for told in ["bulk_get", "[possible values: comms1, echo, "] {
        assert!(refused.stderr.contains(told), "{}", refused.stderr);
    }
}

#[test]
fn several_kernels_have_a_summary_with_a_row_for_each_and_one_has_none() {
    let place = Place::new();
    let of = |kernels: &str, out: &str| {
        let common = ["-n", "8", "-t", "sim:ipsc860", "--sizes", "8:64", "--out", out];
        let kernels: Vec<&str> = kernels.split(' ').collect();
        place.run([&["comet"], &kernels[..], &common].concat()).measured().stdout
    };
    let several = of("echo barrier contention overlap", "several");
    // What models need beside echo was not asked for.
    let title = "4 kernels and the costs of messages at the least and at the greatest size";
    let (_, table) = several.split_once(title).unwrap();
    let rows: Vec<&str> = table.lines().filter_map(|line| line.strip_prefix(' ')).collect();
    for kernel in ["echo", "barrier", "message_costs", "contention", "overlap"] {
        assert_eq!(rows.iter().filter(|row| row.starts_with(kernel)).count(), 1, "{table}");
    }
    assert!(rows.iter().any(|row| row.contains("8 B: 84.0 µs") && row.contains("64 B: 119 µs")));
    assert!(!of("echo", "one").contains("at the least and at the greatest size"));
    // The files have the names that they keep.
    let named = |run: &str, name: &str| place.path(run).join(name).is_file();
    assert!(named("several", "samples-echo-sim_ipsc860.csv") && !named("several", "samples.csv"));
    assert!(named("one", "samples.csv"));
}

#[test]
fn what_does_not_fit_is_told_once_and_the_rest_is_measured() {
    let place = Place::new();
    let of = |line: &str| {
        let common = ["-t", "sim:ipsc860", "--no-save", "--sizes", "8:64"];
        place
            .run([&["comet"], &line.split(' ').collect::<Vec<_>>()[..], &common].concat())
            .measured()
    };
    let three = of("-n 3 --dimension 16").stderr;
    assert_eq!(three.matches("left out").count(), 2, "{three}");
    assert!(three.contains("update_guard, shift_north, shift_east, transpose, row_broadcast, col"));
    let ring = of("global_sum -n 4 --algorithm ring").stderr;
    assert!(ring.contains("at 2 of 4 sizes (1 element, 2 elements)"), "{ring}");
    assert_eq!(of("global_sum -n 4 --algorithm tree").stderr, "");
}

#[test]
fn broadcasts_go_down_a_binomial_tree() {
    let times = |name: &str, ranks: &str| {
        let run = run(&["comet", name, "-t", "sim:ipsc860", "-n", ranks, "--sizes", "0:64"]);
        let points = of_kind(&run, "series")[0]["points"].as_array().unwrap().clone();
        points.iter().map(|point| value(&point["time"])).collect::<Vec<_>>()
    };
    let [message, two, eight] =
        [("comms1", "2"), ("broadcast", "2"), ("broadcast", "8")].map(|(name, n)| times(name, n));
    assert!(message.len() > 3);
    for (at, message) in message.iter().enumerate() {
        // Between two ranks there and back is a ping-pong. Eight ranks are three messages deep.
        near("of two", two[at], *message, 1e-9);
        near("of eight", eight[at], 3.0 * message, 1e-9);
    }
}

#[test]
fn broadcasts_are_verified_on_every_transport() {
    let _alone = measuring();
    for transport in ["shm", "tcp", "unix", "udp"] {
        let args = ["comet", "broadcast", "-t", transport, "-n", "2", "--sizes", "1:40KiB"];
        let series = series_of(&args, |series| series["verified"] == true);
        assert_eq!(series["name"], "broadcast");
        let checked = &series["checked"];
        assert!(checked["messages"].as_u64().unwrap() > 0, "{checked}");
        assert_eq!(checked["messages"], checked["compared"]);
    }
}
