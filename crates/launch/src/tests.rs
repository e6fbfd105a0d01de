//! Randomly damaged messages of peers: each is taken or refused, and does no harm.

use std::fs;
use std::io::{ErrorKind, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use bandgap_campaign::data::{Batch, Probe, Verified};
use bandgap_campaign::{Kept, Key};
use bandgap_comm::passing::Tuning;
use bandgap_comm::{
    CommError, Credited, DeadlineWatch, Frame, FrameKind, Message, Stamp, Tag, Timer, Waiting,
};
use bandgap_kernels::{Checked, Executor, Order, fact, facts};
use bandgap_socket::{Socket, SocketLink};

use crate::examples::examples;
use proptest::prelude::*;
use proptest::sample::select;
use serde::{Serialize, de::DeserializeOwned};

use crate::cause::{Cause, Noted};
use crate::hosts::Hosts;
use crate::live::Command;
use crate::message::{FromRank, Messages, ToRank};
use crate::protocol::{FromAgent, ToAgent};
use crate::station::Carried;
use crate::{Exit, Failure};

#[path = "../../sim/tests/all/damaged.rs"]
mod damaged;
use damaged::{cases, damaged};

/// Number of ranks in orders.
const SIZE: usize = 4;

/// The texts of the corpus files whose names start with `begin`.
fn corpus(begin: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let paths = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let fits = |path: &Path| path.file_name().unwrap().to_str().unwrap().starts_with(begin);
    let texts = paths.filter(|path| fits(path)).map(|path| fs::read_to_string(path).unwrap());
    texts.collect()
}

fn text(message: &impl Serialize) -> String {
    serde_json::to_string(message).unwrap()
}

/// Asserts that reading and rewriting a message keeps it.
fn same_again<M: Serialize + DeserializeOwned>(message: &M) {
    let written = text(message);
    assert_eq!(text(&serde_json::from_str::<M>(&written).unwrap()), written);
}

fn commands() -> Vec<String> {
    let orders = facts().into_iter().flat_map(|fact| examples(&fact, SIZE, 8).into_iter().take(2));
    let orders: Vec<Order> = orders.collect();
    let run = orders.iter().cloned().map(Command::Run);
    let checked = orders.iter().take(3).cloned().map(Order::checked).map(Command::Look);
    run.chain(checked).chain([Command::Quit]).map(|command| text(&command)).collect()
}

fn reports() -> Vec<String> {
    [corpus("report"), vec![text(&Carried::default())]].concat()
}

/// Lines that a rank sends, one by one and together.
fn said() -> Vec<String> {
    let lines: Vec<String> = from_ranks().iter().map(|message| text(message) + "\n").collect();
    let together = lines.concat();
    [lines, vec![together]].concat()
}

/// Lines of an agent, and of its launcher.
fn of_agents() -> Vec<String> {
    let noted = Noted { cause: Cause::LostPeer, what: "it fell over".to_owned(), exit: Exit::Rank };
    let mut said = vec![
        FromAgent::Begun(Some(serde_json::json!({"interface": "eth0", "mtu": 1500}))),
        FromAgent::Refused(Failure::new(Exit::Host, "start ranks").hint("fewer")),
        FromAgent::Ended(1, 7, Some(noted)),
        FromAgent::Beat(vec![(0, 4711), (1, 4712)]),
        FromAgent::Over,
        FromAgent::Looked(serde_json::json!([[0, {"time_lost": 0.01, "detours_per_second": 9.5}]])),
    ];
    said.extend(from_ranks().into_iter().map(|said| FromAgent::From(1, said)));
    let placement = bandgap_host::Placement::of(vec![0, 3]);
    let orders =
        [ToAgent::Poison(1, 9), ToAgent::Beat, ToAgent::Look(placement, Duration::from_secs(1))];
    said.iter().map(text).chain(orders.iter().map(text)).map(|line| line + "\n").collect()
}

fn from_ranks() -> [FromRank; 4] {
    let probe = Probe { cache_line: 50.0, pace: 9.0 };
    let batch = Batch { samples: vec![1.5, 2.5], probe: Some([probe; 2]), ..Batch::default() };
    let key = || Key::new("comms1").at("bytes", 64_u32).at("part", "whole");
    let checked = Checked { received: 3, compared: 2, summed: 1 };
    let kept = vec![
        Kept::Batch { key: key(), batch },
        Kept::Verified {
            key: key(),
            verified: Verified { checked_batches: 1, checked, ..Verified::default() },
        },
    ];
    let what = "it fell over".to_owned();
    [
        FromRank::Address("127.0.0.1:4000".to_owned()),
        FromRank::Progress { kept, done: 0.5, doing: "comms1".to_owned() },
        FromRank::Done,
        FromRank::Failed(Noted { cause: Cause::LostPeer, what, exit: Exit::Rank }),
    ]
}

fn begin(text: &str) {
    let Ok(message) = serde_json::from_str::<ToRank>(text) else { return };
    if let ToRank::Begin(assignment) = &message {
        let _ = assignment.task.room(assignment.size.min(SIZE), &Tuning::DEFAULT);
        let _ = assignment.task.stamps();
    }
    same_again(&message);
}

fn command(text: &str) {
    let Ok(command) = serde_json::from_str::<Command>(text) else { return };
    same_again(&command);
    let (Command::Run(order) | Command::Look(order)) = command else { return };
    // The checks of a rank before it carries out an order.
    let Ok(fact) = fact(&order.kernel) else { return };
    if (fact.check)(&order, SIZE).is_ok() {
        let timed = (fact.timed)(&order, SIZE).unwrap();
        assert!(timed.iter().all(|rank| *rank < SIZE), "{timed:?} of {SIZE} ranks");
        (fact.needs)(&order, SIZE).unwrap();
        // Without any stamps.
        let _ = (fact.samples)(&order, SIZE, &vec![Vec::new(); SIZE]);
    }
}

fn report(text: &str) {
    let Ok(carried) = serde_json::from_str::<Carried>(text) else { return };
    // The sum that the leader makes.
    let sum = carried.outcome.checked.and(carried.outcome.checked);
    assert!(sum.received >= carried.outcome.checked.received);
    same_again(&carried);
}

fn said_by<M: Serialize + DeserializeOwned>(text: &str) {
    match Messages::default().take::<M>(text.as_bytes()) {
        Ok(messages) => messages.iter().for_each(same_again),
        // By this kind the launcher tells garbage from a broken connection.
        Err(error) => {
            assert!(matches!(error.kind(), ErrorKind::InvalidData | ErrorKind::UnexpectedEof));
        }
    }
}

#[test]
fn every_example_is_taken() {
    let begins = corpus("to-rank");
    assert!(begins.len() > 1);
    for text in begins {
        begin(&text);
        let ToRank::Begin(begin) = serde_json::from_str(&text).unwrap() else { panic!("{text}") };
        assert!(begin.task.stamps().is_ok(), "{text}");
    }
    commands().iter().for_each(|text| drop(serde_json::from_str::<Command>(text).unwrap()));
    reports().iter().for_each(|text| drop(serde_json::from_str::<Carried>(text).unwrap()));
    let taken =
        |text: &String| Messages::default().take::<FromRank>(text.as_bytes()).unwrap().len();
    assert_eq!(said().iter().map(taken).collect::<Vec<_>>(), [1, 1, 1, 1, 4]);
}

/// A clock that stands still.
struct Still;

impl Timer for Still {
    fn stamp(&self) -> Stamp {
        Stamp::from_ticks(0)
    }

    fn work(&self, _iterations: u32) {}
}

/// A frame of any kind to one of the first handlers, with up to four words.
fn frame() -> impl Strategy<Value = Vec<u8>> {
    use FrameKind::{Credit, Get, Got, Reply, Request, Stored};
    let kinds = select(vec![Request, Request, Request, Reply, Credit, Get, Stored, Got]);
    let word = prop_oneof![
        0..70_u64,
        any::<u64>(),
        (0..4_u64, 0..600_u64).prop_map(|(tag, n)| tag | n << 32)
    ];
    (kinds, 0..16_u32, 0..5_u32, prop::array::uniform4(word), 0..40_usize).prop_map(
        |(kind, handler, len, words, payload)| {
            let message = Message::from_parts(Tag::from_bits(handler | len << 8).unwrap(), words);
            let (bytes, len) = Frame { kind, credits: 0, message }.encode();
            let payload = matches!(kind, Stored | Got).then_some(payload).unwrap_or_default();
            [&bytes[..len], &vec![0xAA; payload][..]].concat()
        },
    )
}

/// Readers of what peers and users write, and examples of what each reads.
const READERS: [(fn(&str), fn() -> Vec<String>); 7] = [
    (begin, || corpus("to-rank")),
    (command, commands),
    (report, reports),
    (said_by::<FromRank>, said),
    (said_by::<FromAgent>, of_agents),
    (said_by::<ToAgent>, of_agents),
    (hosts, || vec!["a:2\nuser@b slots=3 # two\n[fe80::1]:4\nc\n".to_owned()]),
];

fn hosts(text: &str) {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), text).unwrap();
    if let Ok(hosts) = Hosts::of(None, Some(file.path())) {
        assert!(hosts.count() > 0 && hosts.count() <= hosts.slots());
    }
}

#[test]
fn whatever_is_damaged_is_read_or_refused() {
    for (reader, examples) in READERS {
        examples().iter().for_each(|text| reader(text));
        let config = ProptestConfig {
            cases: cases(500),
            failure_persistence: None,
            ..ProptestConfig::default()
        };
        proptest!(config, |(text in damaged(examples()))| reader(&text));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    /// A peer that knows the secret may send anything: no letter is too long, and a wait for one ends.
    #[test]
    fn letters_are_short_whatever_a_peer_says(frames in prop::collection::vec(frame(), 0..40)) {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let ours = Socket::of(ours).unwrap();
        let tuning = Tuning { chunk: 512, slots: 4, ..Tuning::DEFAULT };
        let link = SocketLink::over(0, vec![ours]).unwrap().exposing(tuning.memory(2));
        let watch = DeadlineWatch(Duration::from_secs(60));
        let mut rank =
            Executor::new(Credited::new(link, 32), Some((0, &tuning)), Waiting::Block, watch, Still).unwrap();
        theirs.write_all(&frames.concat()).unwrap();
        drop(theirs);
        let ended = loop {
            match rank.letter(1) {
                Ok(letter) => prop_assert!(letter.len() <= 1 << 20),
                Err(error) => break error,
            }
        };
        prop_assert!(!matches!(ended, CommError::Deadline { .. }), "{ended}");
    }
}
