//! JSON between ranks, and between the launcher and its ranks.

use std::fmt::Debug;
use std::io::ErrorKind;

use bandgap_campaign::data::{Batch, Described, Probe, Verified};
use bandgap_campaign::{Kept, Key};
use bandgap_comm::passing::Tuning;
use bandgap_kernels::{Checked, Order, fact, facts};
use bandgap_launch::message::{FromRank, Messages, ToRank};
use bandgap_launch::{Carried, Command, Exit};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;

use super::assigned;
use crate::{Shape, Target, Verdict};

pub(super) const COMMAND: Target = Target {
    name: "order",
    about: "orders from the leader, and whether they can be carried out",
    shape: Shape::Json,
    real: &[],
    made: commands,
    wrong: Vec::new,
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
    wrong: Vec::new,
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
    made: assigned::assignments,
    wrong: || vec![b"{\"Begin\":".to_vec(), b"{\"Addresses\":[\"127.0.0.1:4000\"".to_vec()],
    words: &["Begin", "Addresses", "Noted", "task", "plan", "secret", "transports"],
    read: assignment,
    share: 3,
};

pub(super) const FROM_RANK: Target = Target {
    name: "from-rank",
    about: "what a rank tells the launcher",
    shape: Shape::Json,
    real: &[],
    made: said_by_rank,
    wrong: cut,
    words: &["Address", "Progress", "Done", "Failed", "kept", "batch", "message", "exit", "cause"],
    read: from_rank,
    share: 4,
};

/// Writes a message and reads it again: it must have the same fields, to the last bit.
fn is_same_again<M: Serialize + DeserializeOwned + Debug>(message: &M) {
    let written = serde_json::to_vec(message).expect("what was read can be written");
    let again: M = serde_json::from_slice(&written).expect("what was written can be read");
    assert_eq!(format!("{again:?}"), format!("{message:?}"), "it is another when it is read again");
}

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
    is_same_again(&command);
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
        is_same_again(carried);
    }
    Verdict::from(&read)
}

fn assignment(input: &[u8]) -> Verdict {
    let read: Result<ToRank, _> = serde_json::from_slice(input);
    if let Ok(message) = &read {
        if let ToRank::Begin(assignment) = message {
            let _ = assignment.task.room(assignment.size.min(SIZE), &Tuning::DEFAULT);
            let _ = assignment.task.reaches();
        }
        is_same_again(message);
    }
    Verdict::from(&read)
}

/// A message as a rank sends it.
fn line(message: &FromRank) -> Vec<u8> {
    let mut line = serde_json::to_vec(message).expect("every message can be written");
    line.push(b'\n');
    line
}

fn said_by_rank() -> Vec<Vec<u8>> {
    let probe = Probe { cache_line: 50.0, pace: 9.0 };
    let batch = Batch { samples: vec![1.5, 2.5], probe: Some([probe; 2]), ..Batch::default() };
    let rejected = Some("the placement changed".to_owned());
    let straddling = Batch { delay: Some(3.5), round: 1, rejected, ..batch.clone() };
    let key = || Key::new("comms1").at("bytes", 64_u32).at("part", "whole");
    let checked = Checked { received: 3, compared: 2, summed: 1 };
    let point = Described::default().at("bytes", 64_u32).with("way", "pieces");
    let kept = vec![
        Kept::Batch { key: key(), batch },
        Kept::Batch { key: key(), batch: straddling },
        Kept::Point { key: key(), point },
        Kept::Unregistered { why: "there is no such memory".to_owned() },
        Kept::Verified { key: key(), verified: Verified::of_checked(checked) },
    ];
    let failed = |exit| {
        let message = "it fell over".to_owned();
        let cause = serde_json::from_value(json!("LostPeer")).expect("it is a cause");
        FromRank::Failed { message, exit, cause }
    };
    let messages = [
        FromRank::Address("127.0.0.1:4000".to_owned()),
        FromRank::Progress { kept: Vec::new(), done: 0.5, doing: "comms1".to_owned() },
        FromRank::Progress { kept, done: 1.0, doing: String::new() },
        FromRank::Done,
        failed(Exit::Rank),
    ];
    let mut lines: Vec<Vec<u8>> = messages.iter().map(line).collect();
    lines.push(lines.concat());
    lines.push(Exit::ALL.iter().flat_map(|(exit, _)| line(&failed(*exit))).collect());
    lines
}

/// Lines that end too early, alone and after one that is whole.
fn cut() -> Vec<Vec<u8>> {
    let early = b"{\"Progress\":\n";
    let mut half = said_by_rank().swap_remove(2);
    half.truncate(half.len() / 2);
    half.push(b'\n');
    vec![early.to_vec(), [&line(&FromRank::Done)[..], early].concat(), half]
}

fn from_rank(input: &[u8]) -> Verdict {
    let mut arrived = Messages::default();
    let mut whole = 0;
    for piece in input.chunks(1000) {
        match arrived.take::<FromRank>(piece) {
            Ok(messages) => {
                messages.iter().for_each(is_same_again);
                whole += messages.len();
            }
            Err(error) => {
                // By which the launcher knows garbage from a connection that broke: a line that ends too early is the
                // latter of these.
                let known = [ErrorKind::InvalidData, ErrorKind::UnexpectedEof];
                assert!(known.contains(&error.kind()), "{:?}: {error}", error.kind());
                return Verdict::Refused;
            }
        }
    }
    // What no line ends is no message yet.
    if whole > 0 { Verdict::Accepted } else { Verdict::Refused }
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use serde::Deserialize;

    use super::*;

    #[test]
    fn a_field_that_is_lost_on_the_way_is_found() {
        #[derive(Debug, Serialize, Deserialize)]
        struct Message {
            kept: f64,
            #[serde(default, skip_serializing)]
            lost: u32,
        }
        is_same_again(&Message { kept: -0.0, lost: 0 });
        let message = Message { kept: 0.1, lost: 1 };
        assert!(message.lost > 0 && catch_unwind(|| is_same_again(&message)).is_err());
    }

    #[test]
    fn lines_end_too_early_and_what_a_rank_asks_of_its_task_is_answered() {
        for lines in cut() {
            let refused = Messages::default().take::<FromRank>(&lines).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::UnexpectedEof);
        }
        for bytes in assigned::assignments() {
            if let ToRank::Begin(one) = serde_json::from_slice(&bytes).unwrap() {
                assert!(one.task.room(4, &Tuning::DEFAULT).is_ok() && one.task.reaches().is_ok());
            }
        }
    }
}
