//! The same messages between threads, and in virtual time.

use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use crate::inproc;
use bandgap_comm::passing::{Passing, Tuning};
use bandgap_comm::{CommError, Credited, DeadlineWatch, Part, Waiting};
use bandgap_sim::{Machine, replay};
use proptest::prelude::*;

use crate::properties::{Act, Message, Messages, messages, small_protocols};

/// A slot for each message: no send waits for its receive.
const TUNING: Tuning = Tuning { chunk: 128, slots: 128, request: 128 };
const WATCH: DeadlineWatch = DeadlineWatch(Duration::from_secs(60));

/// Sends all of them between threads. For each rank, which it received, in order.
fn between_threads(messages: &Messages) -> Vec<Vec<u8>> {
    let (size, exposed) = (messages.ranks, TUNING.memory(messages.ranks));
    let done = &Barrier::new(size);
    let run = |link: inproc::InprocLink| -> Result<(Vec<u8>, _), CommError> {
        let endpoint = Credited::new(link.exposing(exposed), 64);
        let mut rank = Passing::new(endpoint, 0, &TUNING, Waiting::Yield, WATCH)?;
        rank.resize(2 * TUNING.chunk);
        let mut received = Vec::new();
        for act in messages.acts(rank.rank()) {
            let (Act::Send(at) | Act::Receive(at)) = act;
            let Message { from, to, tag, bytes, .. } = messages.all[at];
            if matches!(act, Act::Send(_)) {
                let part = Part::new(0, bytes);
                rank.memory_mut()[part.range()].fill(at as u8);
                rank.send(to, tag, part)?;
            } else {
                let part = Part::new(TUNING.chunk, bytes);
                rank.recv(from, tag, part)?;
                received.push(rank.memory()[part.at]);
                assert!(
                    rank.memory()[part.range()]
                        .iter()
                        .all(|byte| *byte == received[received.len() - 1])
                );
            }
        }
        rank.settle()?;
        Ok((received, rank))
    };
    let run = &run;
    thread::scope(|scope| {
        let links = inproc::links(size, 256).into_iter();
        let threads: Vec<_> = links
            .map(|link| {
                scope.spawn(move || {
                    let (received, _rank) = run(link).unwrap();
                    // Its end goes when nobody needs it any more.
                    done.wait();
                    received
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Every message has a length of its own, and a receive of another length fails in both.
    #[test]
    fn a_receive_takes_the_message_that_it_takes_between_threads(
        mut messages in messages(2..5), machine in small_protocols(0)
    ) {
        (1..).zip(&mut messages.all).for_each(|(bytes, message)| message.bytes = bytes);
        let expected = |rank: usize| {
            let acts = messages.acts(rank).into_iter();
            let received = acts.filter_map(|act| match act {
                Act::Receive(at) => Some(at as u8),
                Act::Send(_) => None,
            });
            received.collect::<Vec<_>>()
        };
        let between_threads = between_threads(&messages);
        prop_assert_eq!(between_threads, (0..messages.ranks).map(expected).collect::<Vec<_>>());
        let schedule = messages.recorded();
        let replayed = replay(&schedule, &machine).unwrap();
        prop_assert_eq!(replayed.unhandled, 0);
        for (rank, marks) in replayed.marks.iter().enumerate() {
            prop_assert_eq!(marks.len(), expected(rank).len());
        }
        let network = "name = 'm'\nsend_overhead_ns = 0\nrecv_overhead_ns = 0\ngap_ns = 1\n\
            latency_ns = 0\ngap_per_byte_ns = 1\n[network]\ntopology = 'mesh'\nrows = 2\n\
            columns = 4\nhop_ns = 1";
        prop_assert!(replay(&schedule, &Machine::parse(network, "m").unwrap()).is_ok());
    }
}
