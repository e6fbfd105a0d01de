use std::collections::VecDeque;
use std::sync::Arc;

use bandgap_comm::{HandlerId, Message, NoHandler};
use proptest::prelude::*;

use super::receiver::PATIENCE;
use super::*;
use crate::slot::STEP;

fn message(number: u64) -> Message {
    Message::new(HandlerId(number as u8), [number, !number])
}

fn ring(slots: u64, position: u64) -> (Arc<LocalCells>, Sender<Ring>, Receiver<Ring>) {
    let cells = LocalCells::new(slots, position);
    let sender = Sender::new(Arc::clone(&cells), position);
    let receiver = Receiver::new(Arc::clone(&cells), position);
    (cells, sender, receiver)
}

type Ring = Arc<LocalCells>;

fn no_answer(_: Message) -> Result<Option<Message>, NoHandler> {
    Ok(None)
}

fn no_reply(_: Message) -> Result<(), NoHandler> {
    panic!("nothing replied")
}

#[test]
fn requests_without_replies_are_counted_each_quarter_of_the_ring() {
    let (cells, mut sender, mut receiver) = ring(16, 0);
    // The counter is the sequence of the next request.
    let published = || cells.handled.0.load(Ordering::Relaxed) / STEP;
    for number in 0..8 {
        assert!(sender.push(&message(number)));
    }
    // A quarter of 16 is 4.
    for expected in [0, 0, 0, 4, 4, 4, 4, 8] {
        assert_eq!(receiver.serve(no_answer), Ok(1));
        assert_eq!(published(), expected);
    }
    assert_eq!(receiver.unpublished(), 0);
    assert_eq!(sender.complete(no_reply), Ok(8));
    // One more is made known when there has been nothing else to do for so many calls.
    assert!(sender.push(&message(8)));
    assert_eq!(receiver.serve(no_answer), Ok(1));
    for _ in 1..PATIENCE {
        assert_eq!(receiver.serve(no_answer), Ok(0));
        assert_eq!((published(), receiver.unpublished()), (8, 1));
    }
    assert_eq!(receiver.serve(no_answer), Ok(0));
    assert_eq!((published(), receiver.unpublished()), (9, 0));
    assert_eq!(sender.complete(no_reply), Ok(1));
}

#[test]
fn a_receiver_that_is_dropped_makes_known_what_it_handled() {
    let (_, mut sender, mut receiver) = ring(16, 0);
    assert!(sender.push(&message(0)));
    assert_eq!(receiver.serve(no_answer), Ok(1));
    assert_eq!(sender.complete(no_reply), Ok(0));
    drop(receiver);
    assert_eq!(sender.complete(no_reply), Ok(1));
}

#[test]
fn a_message_of_five_words_is_refused_on_both_sides() {
    let (cells, mut sender, mut receiver) = ring(4, 0);
    let first = Sequence::request(0);
    cells.slot(first).forge(first.whole() | 5 << 8);
    assert_eq!(
        receiver.serve(|_| -> Result<Option<Message>, _> { panic!("delivered") }),
        Err(Corrupt::Words(5))
    );
    assert!(sender.push(&message(0)));
    cells.slot(first).forge(first.replied().whole() | 7 << 8);
    assert_eq!(sender.complete(no_reply), Err(Corrupt::Words(7)));
    // What is carried is checked when it is taken.
    cells.slot(first).forge(first.carried().whole() | 6 << 8);
    assert_eq!(sender.complete(no_reply), Ok(0));
    assert!(sender.is_carried());
    assert_eq!(sender.take_carried().unwrap_err(), Corrupt::Words(6));
}

#[test]
fn a_counter_beyond_the_requests_sent_is_refused() {
    let (cells, mut sender, _receiver) = ring(4, 0);
    assert!(sender.push(&message(0)));
    cells.handled.0.store(Sequence::request(2).whole(), Ordering::Relaxed);
    assert_eq!(sender.complete(no_reply), Err(Corrupt::Handled { handled: 2, sent: 1 }));
}

#[test]
fn an_earlier_sequence_is_nothing_yet_and_a_later_one_is_refused() {
    // Of request 6, in a ring whose slots it shares with requests 2 and 10.
    let (cells, mut sender, mut receiver) = ring(4, 6);
    let [before, same, next] = [2, 6, 10].map(Sequence::request);
    let earlier = [
        Sequence::NONE,
        before,
        before.replied(),
        before.carried(),
        Sequence::request(6 - 1).carried(),
    ];
    let later = [same.next(), next, next.carried(), Sequence::request(1 << 50)];
    let delivered = |_| -> Result<Option<Message>, _> { panic!("delivered") };
    // The tag of four words for the last handler: the greatest.
    for tag in [0, 0x4FF] {
        for sequence in earlier {
            cells.slot(same).forge(sequence.whole() | tag);
            assert_eq!(receiver.serve(delivered), Ok(0), "{sequence:?}");
        }
        for sequence in later.into_iter().chain([same.replied(), same.carried()]) {
            cells.slot(same).forge(sequence.whole() | tag);
            assert_eq!(receiver.serve(delivered), Err(Corrupt::TooEarly), "{sequence:?}");
        }
    }
    assert!(sender.push(&message(0)));
    for tag in [0, 0x4FF] {
        for sequence in earlier.into_iter().chain([same]) {
            cells.slot(same).forge(sequence.whole() | tag);
            assert_eq!(sender.complete(no_reply), Ok(0), "{sequence:?}");
        }
        for sequence in later {
            cells.slot(same).forge(sequence.whole() | tag);
            assert_eq!(sender.complete(no_reply), Err(Corrupt::TooEarly), "{sequence:?}");
            assert!(!sender.is_carried(), "{sequence:?}");
        }
    }
}

/// Neither as a request, nor, once that request was carried, as what comes back.
#[test]
fn a_slot_that_was_never_written_holds_nothing_at_any_position() {
    // After 2⁵¹ requests the sequences begin again.
    for position in (0..64).map(|log| 1 << log).flat_map(|power: u64| [power - 1, power]) {
        let cells = LocalCells::unwritten(1, position);
        let mut receiver = Receiver::new(Arc::clone(&cells), position);
        let delivered = |_| -> Result<Option<Message>, _> { panic!("delivered at {position}") };
        assert_eq!(receiver.serve(delivered), Ok(0));
        let mut sender = Sender::new(cells, position);
        sender.skip();
        assert_eq!(sender.take_reply(no_reply), Ok(Back::Nothing), "{position}");
        assert!(!sender.is_carried() && !sender.is_answered(), "{position}");
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Push,
    Serve { reply: bool },
    Complete,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => Just(Step::Push),
        2 => any::<bool>().prop_map(|reply| Step::Serve { reply }),
        2 => Just(Step::Complete),
    ];
    prop::collection::vec(step, 0..400)
}

proptest! {
    /// Against a model of two queues: requests not handled, and requests handled with what they
    /// got. Positions are also taken from where a sequence grows beyond 32 bits or comes near its last
    /// values.
    #[test]
    fn behaves_as_a_queue_of_requests_and_one_of_completions(
        steps in steps(),
        log_slots in 1_u32..6,
        position in prop_oneof![
            Just(0),
            0..1000_u64,
            (1_u64 << 19) - 100..(1 << 19) + 100,
            (1_u64 << 30) - 100..(1 << 30) + 100,
            (1_u64 << 51) - 1000..(1 << 51) - 500,
        ],
    ) {
        let slots = 1 << log_slots;
        let (_, mut sender, mut receiver) = ring(slots, position);
        let mut waiting = VecDeque::new();
        let mut handled: VecDeque<(u64, bool)> = VecDeque::new();
        let mut number = 0;
        let finish = [Step::Serve { reply: false }, Step::Complete].repeat(2 * slots as usize + 2 + PATIENCE as usize);
        for step in steps.into_iter().chain(finish) {
            match step {
                Step::Push => {
                    let room = ((waiting.len() + handled.len()) as u64) < slots;
                    prop_assert_eq!(sender.push(&message(number)), room);
                    if room {
                        waiting.push_back(number);
                        number += 1;
                    }
                }
                Step::Serve { reply } => {
                    let expected = waiting.pop_front();
                    let served = receiver.serve(|request| {
                        assert_eq!(Some(request), expected.map(message));
                        Ok(reply.then(|| message(expected.map_or(0, |number| number + 7))))
                    });
                    prop_assert_eq!(served, Ok(usize::from(expected.is_some())));
                    handled.extend(expected.map(|number| (number, reply)));
                }
                Step::Complete => {
                    let mut replied = None;
                    let completed = sender
                        .complete(|reply| {
                            replied = Some(reply);
                            Ok(())
                        })
                        .unwrap();
                    prop_assert!(completed <= handled.len());
                    if let Some(reply) = replied {
                        prop_assert_eq!(completed, 1);
                        let (number, replies) = handled[0];
                        prop_assert!(replies);
                        prop_assert_eq!(reply, message(number + 7));
                    } else {
                        let first = handled.iter().take(completed);
                        prop_assert!(first.into_iter().all(|(_, replies)| !replies));
                    }
                    handled.drain(..completed);
                }
            }
            prop_assert_eq!(sender.outstanding(), (waiting.len() + handled.len()) as u64);
        }
        prop_assert_eq!(sender.outstanding(), 0);
    }
}
