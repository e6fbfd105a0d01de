//! `bandgap breakdown` of a transport of this machine: the run is whole, and its numbers are those of each other.

use serde_json::Value;

use crate::program::subject::{Place, measuring, near, of_kind, value, with_time_enough};

/// A breakdown with all its models, from runs that have more and more time, until it says what can be true.
fn measured(place: &Place, args: &[&str]) -> Value {
    with_time_enough(|budget| {
        let _ = std::fs::remove_file(place.path("run.json"));
        let fixed = ["breakdown", "--json", "run.json", "--time-budget", budget];
        place.run(fixed.iter().chain(args)).measured();
        let run = std::fs::read_to_string(place.path("run.json")).unwrap();
        let run: Value = serde_json::from_str(&run).unwrap();
        let found = of_kind(&run, "breakdown").first().map(|one| (*one).clone());
        found.filter(can_be_true)
    })
}

/// Whether each model is near what was observed, all insertions are there, and what was put before each send is found in the
/// handler's component.
/// The bounds are far wider than those of the report, as the machine may be busy, and far narrower than what a
/// component that is forgotten or counted twice makes.
fn can_be_true(breakdown: &Value) -> bool {
    let ratio = |one: &Value| one["value"].as_f64();
    let models = breakdown["models"].as_array().unwrap();
    let near = models.iter().all(|model| ratio(&model["error"]).is_some_and(|it| it.abs() < 0.3));
    let inserted = breakdown["measured"]["inserted"].as_array().unwrap();
    let found = inserted.iter().filter(|one| one["component"] == "turn").all(|one| {
        let length = one["inserted"].as_f64().unwrap();
        ratio(&one["part"]).is_some_and(|part| (0.6..1.5).contains(&(part / length)))
    });
    // Four borders and two lengths over sockets. What too few rounds have is left out.
    let all = inserted.is_empty() || inserted.len() == 8;
    let whole = near && found && all;
    if !whole {
        eprintln!("measured again: {models:?} {inserted:?}");
    }
    whole
}

/// Asserts that each model is the sum of the components that it counts, and its error that of both times.
#[track_caller]
fn adds_up(breakdown: &Value) {
    let time = |name: &str| {
        let components = breakdown["components"].as_array().unwrap();
        let found = components.iter().find(|one| one["name"] == name);
        value(&found.unwrap_or_else(|| panic!("no {name}"))["time"])
    };
    for model in breakdown["models"].as_array().unwrap() {
        let [row] = &model["rows"].as_array().unwrap()[..] else { panic!("one sum: {model}") };
        let sum: f64 = names(row, "component").into_iter().map(time).sum();
        // A component of which its stamps take more than there is counts as 0 by itself, and as less in the model.
        near("sum", value(&model["modelled"]), sum, 0.02);
        let error = value(&model["modelled"]) / value(&model["observed"]) - 1.0;
        assert!((value(&model["error"]) - error).abs() < 1e-9, "{model}");
        assert!(model["modelled"]["samples"].as_u64() > Some(1), "{model}");
        let ends = ["low", "high"].map(|end| model["error"][end].as_f64().unwrap());
        let within = match ends {
            [low, high] if low >= -0.05 && high <= 0.05 => "holds",
            [low, high] if high < -0.05 || low > 0.05 => "off",
            _ => "undecided",
        };
        assert_eq!(model["within"], within);
    }
}

fn names<'a>(all: &'a Value, field: &str) -> Vec<&'a str> {
    all.as_array().unwrap().iter().map(|one| one[field].as_str().unwrap()).collect()
}

#[test]
fn a_socket_is_divided_by_its_calls() {
    let _alone = measuring();
    for transport in ["unix", "tcp", "udp"] {
        let place = Place::new();
        let args = ["--transport", transport, "--insert", "2us,100ns,2us", "--no-save"];
        let breakdown = measured(&place, &args);
        assert_eq!(breakdown["name"], transport);
        assert_eq!(
            names(&breakdown["components"], "name"),
            [
                "turn",
                "visible",
                "poll",
                "receive",
                "send_calls",
                "receive_calls",
                "failing_polls",
                "own_code"
            ]
        );
        assert_eq!(names(&breakdown["models"], "name"), ["latency", "injection"]);
        adds_up(&breakdown);
        let about = &breakdown["measured"];
        assert_eq!(names(&about["rounds"], "model"), ["latency", "injection"]);
        let rounds = about["rounds"].as_array().unwrap();
        assert!(rounds.iter().all(|of| of["rounds"].as_u64() >= Some(2)), "{about}");
        assert!(about["stamp"].as_f64() > Some(0.0), "{about}");
        let inserted = &about["inserted"];
        assert_eq!(
            names(inserted, "component"),
            ["turn", "visible", "poll", "receive"].repeat(2),
            "{inserted}"
        );
        for one in inserted.as_array().unwrap() {
            for said in ["comes_back", "whole_comes_back"].map(|it| one[it].as_str().unwrap()) {
                assert!(["holds", "off", "undecided"].contains(&said), "{one}");
            }
        }
        let quantiles = about["arrivals"]["quantiles"].as_array().unwrap();
        let times: Vec<f64> = quantiles.iter().map(|pair| pair[1].as_f64().unwrap()).collect();
        assert!(times.is_sorted() && times[0] > 0.0, "{times:?}");
        let args =
            ["whatif", "--from", "run.json", "--reduce", "llp=50%", "--json", "-", "--quiet"];
        let whatif = place.run(args).ends(0).json();
        let [whatif] = of_kind(&whatif, "whatif")[..] else { panic!("{whatif}") };
        let latency = &whatif["models"].as_array().unwrap()[0];
        let turn = value(&breakdown["components"][0]["time"]);
        let before = value(&latency["before"]);
        near("half of the calls", value(&latency["after"]), (before + turn) / 2.0, 1e-6);
    }
}

#[test]
fn shared_memory_is_a_transfer_and_software() {
    let _alone = measuring();
    let place = Place::new();
    let breakdown = measured(&place, &["--no-save"]);
    assert_eq!(names(&breakdown["components"], "name"), ["slot", "software"]);
    assert_eq!(names(&breakdown["models"], "name"), ["latency"]);
    adds_up(&breakdown);
    assert!(breakdown["measured"]["arrivals"].is_null());
    assert!(breakdown["measured"]["hidden"]["seen"].is_string());
    value(&breakdown["measured"]["alone"]);
}

#[test]
fn what_cannot_be_broken_down_is_told() {
    let place = Place::new();
    for args in [
        &["--transport", "sim:paragon"][..],
        &["--from", "thunderx2-connectx4", "--insert", "1us"],
        &["-t", "unix", "--insert", "0ns"],
        &["-t", "unix", "--insert", "2ms"],
        &["--insert", "1us"],
        &["-t", "tcp", "--wait", "block"],
        &["--signature", "tcp"],
        &["-n", "1"],
        &["-n", "4"],
        &["-n", "2,4"],
    ] {
        place.run(["breakdown"].iter().chain(args)).ends(2);
    }
    assert!(place.names().is_empty());
}
