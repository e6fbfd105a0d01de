//! JSON between ranks, and between the launcher and its ranks.

use bandgap_kernels::{Order, fact, facts};
use bandgap_launch::message::{FromRank, Messages, ToRank};
use bandgap_launch::{Carried, Command};
use serde_json::json;

use crate::{Shape, Target, Verdict};

pub(super) const COMMAND: Target = Target {
    name: "order",
    about: "orders from the leader, and whether they can be carried out",
    shape: Shape::Json,
    real: &[],
    made: commands,
    words: &[
        "Run",
        "Look",
        "Quit",
        "kernel",
        "parameters",
        "samples",
        "ranks",
        "checked",
        "way",
        "memory",
        "at_border",
    ],
    read: command,
    share: 5,
};

pub(super) const REPORT: Target = Target {
    name: "report",
    about: "reports of followers",
    shape: Shape::Json,
    real: &[],
    made: reports,
    words: &[
        "outcome", "stamps", "checked", "wrong", "way", "timed", "floor", "Ok", "Err", "probe",
    ],
    read: report,
    share: 3,
};

pub(super) const ASSIGNMENT: Target = Target {
    name: "assignment",
    about: "what the launcher tells a rank",
    shape: Shape::Json,
    real: &[],
    made: assignments,
    words: &["Begin", "Addresses", "Noted", "task", "plan", "secret", "transports"],
    read: assignment,
    share: 3,
};

pub(super) const FROM_RANK: Target = Target {
    name: "from-rank",
    about: "what a rank tells the launcher",
    shape: Shape::Json,
    real: &[],
    made: from_rank_examples,
    words: &["Address", "Progress", "Done", "Failed", "kept", "batch", "message", "exit"],
    read: from_rank,
    share: 4,
};

/// Ranks of the run that orders are for.
const SIZE: usize = 4;

fn commands() -> Vec<Vec<u8>> {
    let orders = facts().into_iter().flat_map(|fact| {
        let mut examples = (fact.examples)(SIZE, 8);
        examples.truncate(4);
        let checked = examples.first().cloned().map(Order::checked);
        examples.into_iter().chain(checked)
    });
    let commands = orders.map(Command::Run).chain([Command::Quit]);
    commands.filter_map(|command| serde_json::to_vec(&command).ok()).collect()
}

fn command(input: &[u8]) -> Verdict {
    let read: Result<Command, _> = serde_json::from_slice(input);
    let Ok(command) = read else { return Verdict::Refused };
    let written = serde_json::to_vec(&command).expect("what was read can be written");
    let again: Command = serde_json::from_slice(&written).expect("what was written can be read");
    assert_eq!(serde_json::to_vec(&again).ok(), Some(written));
    let (Command::Run(order) | Command::Look(order)) = command else { return Verdict::Accepted };
    // What a rank asks before it carries an order out.
    let Ok(fact) = fact(&order.kernel) else { return Verdict::Refused };
    let checked = (fact.check)(&order, SIZE);
    if checked.is_ok() {
        let ends = (fact.timed)(&order, SIZE).expect("it was checked");
        assert!(ends.iter().all(|rank| *rank < SIZE), "{ends:?} of {SIZE} ranks");
        (fact.needs)(&order, SIZE).expect("it was checked");
        // Ranks that took no stamps.
        let _ = (fact.samples)(&order, SIZE, &vec![Vec::new(); SIZE]);
    }
    Verdict::from(&checked)
}

fn reports() -> Vec<Vec<u8>> {
    let checked = json!({"received": 3, "compared": 2, "summed": 1});
    let of = |outcome, floor, probe| {
        json!({"outcome": outcome, "floor": floor, "probe": probe}).to_string().into_bytes()
    };
    let wrong = json!({"rank": 1, "flaw": {"byte": {
        "from": 0, "message": 3, "bytes": 8, "first": 2, "expected": 1, "got": 255}}});
    let timed = json!({"count": 3, "ticks": -5, "arrivals": [[1, 2]]});
    vec![
        serde_json::to_vec(&Carried::default()).unwrap_or_default(),
        of(
            json!({"stamps": [1, 2, 3], "checked": checked, "wrong": null, "way": "pieces"}),
            json!(null),
            json!(null),
        ),
        of(
            json!({"stamps": [], "checked": checked, "wrong": wrong, "way": "pieces"}),
            json!({"Ok": [1.5, 2.0]}),
            json!(null),
        ),
        of(
            json!({"stamps": [], "checked": checked, "wrong": null, "way": "pieces", "timed": timed}),
            json!({"Err": "no such thing"}),
            json!([{"line": 1, "pace": 2}, {"line": 1, "pace": 2}]),
        ),
    ]
}

fn report(input: &[u8]) -> Verdict {
    let read: Result<Carried, _> = serde_json::from_slice(input);
    if let Ok(carried) = &read {
        // As the leader adds up what ranks say.
        let all = carried.outcome.checked.and(carried.outcome.checked);
        assert!(all.received >= carried.outcome.checked.received);
        if let Some(wrong) = &carried.outcome.wrong {
            assert!(!wrong.to_string().is_empty());
        }
        let written = serde_json::to_vec(carried).expect("what was read can be written");
        let again: Result<Carried, _> = serde_json::from_slice(&written);
        assert!(again.is_ok(), "what was written can be read");
    }
    Verdict::from(&read)
}

fn assignments() -> Vec<Vec<u8>> {
    let assignment = json!({"Begin": {
        "rank": 0, "size": 2, "launch": 0, "cpu": 0, "probes": true, "transports": [["shm", 1]],
        "bares": [["tcp", 0]], "stamped": false, "exposed": 65536, "registered": 0, "wait": "spin",
        "clock": {"source": "tsc", "fallback": null, "frequency": 2.0e9, "cost": 20.0, "resolution": 1.0},
        "work": {"iterations_per_ns": 0.5, "overhead_ns": 1.0},
        "secret": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15], "deadline": 60.0,
        "task": {"name": "pairs", "plan": {"seed": 1}},
    }});
    let addresses = json!({"Addresses": ["127.0.0.1:4000", "127.0.0.1:4001,127.0.0.1:4002"]});
    [assignment, addresses, json!("Noted")].map(|one| one.to_string().into_bytes()).to_vec()
}

fn assignment(input: &[u8]) -> Verdict {
    let read: Result<ToRank, _> = serde_json::from_slice(input);
    if let Ok(message) = &read {
        if let ToRank::Begin(assignment) = message {
            let _ = assignment
                .task
                .room(assignment.size.min(SIZE), &bandgap_comm::passing::Tuning::DEFAULT);
            let _ = assignment.task.reaches();
        }
        assert!(serde_json::to_vec(message).is_ok());
    }
    Verdict::from(&read)
}

fn from_rank_examples() -> Vec<Vec<u8>> {
    let batch = json!({
        "samples": [1.5, 2.5], "probe": [{"cache_line": 50.0, "pace": 9.0}, {"cache_line": 51.0, "pace": 9.0}],
        "delay": null, "launch": 0, "round": 1, "rejected": null, "again": false,
    });
    let lines = [
        json!({"Address": "127.0.0.1:4000"}),
        json!({"Progress": {"kept": [], "done": 0.5, "doing": "comms1"}}),
        json!({"Progress": {"kept": [{"key": {"series": "comms1"}, "batch": batch}], "done": 1.0, "doing": ""}}),
        json!({"Failed": {"message": "it fell over", "exit": "Rank", "wrong": false}}),
        json!("Done"),
    ];
    let each = lines.iter().map(|line| format!("{line}\n").into_bytes());
    let all: String = lines.iter().map(|line| format!("{line}\n")).collect();
    each.chain([all.into_bytes()]).collect()
}

fn from_rank(input: &[u8]) -> Verdict {
    let mut arrived = Messages::default();
    for piece in input.chunks(1000) {
        match arrived.take::<FromRank>(piece) {
            Ok(messages) => {
                assert!(messages.iter().all(|message| serde_json::to_vec(message).is_ok()))
            }
            Err(_) => return Verdict::Refused,
        }
    }
    Verdict::Accepted
}
