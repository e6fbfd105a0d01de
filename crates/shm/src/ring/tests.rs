use std::collections::VecDeque;
use std::sync::Arc;

use bandgap_comm::{HandlerId, Message};
use proptest::prelude::*;

use super::receiver::PATIENCE;
use super::*;

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

fn echo(request: Message) -> Result<Option<Message>, NoHandler> {
    Ok(Some(request))
}

/// Takes a reply that must be this one.
fn expect(expected: Message) -> impl FnOnce(Message) -> Result<(), NoHandler> {
    move |reply| {
        assert_eq!(reply, expected);
        Ok(())
    }
}

fn no_reply(_: Message) -> Result<(), NoHandler> {
    panic!("nothing replied")
}

#[test]
fn a_full_ring_has_no_room_until_a_request_completes() {
    let (_, mut sender, mut receiver) = ring(4, 0);
    for number in 0..4 {
        assert!(sender.push(&message(number)));
    }
    assert!(!sender.push(&message(4)));
    assert_eq!(receiver.serve(echo), Ok(1));
    assert!(!sender.push(&message(4)), "the reply has not been taken");
    assert_eq!(sender.complete(expect(message(0))), Ok(1));
    assert!(sender.push(&message(4)));
    assert!(!sender.push(&message(5)));
}

#[test]
fn requests_without_replies_are_counted_each_quarter_of_the_ring() {
    let (cells, mut sender, mut receiver) = ring(16, 0);
    // The counter is the sequence 4p + 4 of the next request, p.
    let published = || (cells.handled.0.load(Ordering::Relaxed) - 4) / 4;
    for number in 0..8 {
        assert!(sender.push(&message(number)));
    }
    // A quarter of 16 is 4; the sequence 4p + 4 is a multiple of 16 for p = 3, 7, …
    for expected in [0, 0, 3, 3, 3, 3, 7, 7] {
        assert_eq!(receiver.serve(no_answer), Ok(1));
        assert_eq!(published(), expected);
    }
    assert_eq!(receiver.unpublished(), 1);
    assert_eq!(sender.complete(no_reply), Ok(7));
    // The eighth is made known when there has been nothing else to do for so many calls.
    for _ in 1..PATIENCE {
        assert_eq!(receiver.serve(no_answer), Ok(0));
        assert_eq!((published(), receiver.unpublished()), (7, 1));
    }
    assert_eq!(receiver.serve(no_answer), Ok(0));
    assert_eq!((published(), receiver.unpublished()), (8, 0));
    assert_eq!(sender.complete(no_reply), Ok(1));
}

#[test]
fn a_reply_makes_those_before_it_known() {
    let (_, mut sender, mut receiver) = ring(16, 0);
    assert!(sender.push(&message(0)) && sender.push(&message(1)));
    assert_eq!(receiver.serve(no_answer), Ok(1));
    assert_eq!(sender.complete(no_reply), Ok(0));
    assert_eq!(receiver.serve(echo), Ok(1));
    assert_eq!(sender.complete(no_reply), Ok(1));
    assert_eq!(sender.complete(expect(message(1))), Ok(1));
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
    cells.slot(Sequence::request(0)).forge(u64::from(Sequence::request(0).shown()) | 5 << 40);
    assert_eq!(
        receiver.serve(|_| -> Result<Option<Message>, _> { panic!("delivered") }),
        Err(Corrupt::Words(5))
    );
    assert!(sender.push(&message(0)));
    cells
        .slot(Sequence::request(0))
        .forge(u64::from(Sequence::request(0).replied().shown()) | 1 << 63);
    assert_eq!(sender.complete(no_reply), Err(Corrupt::Words(1 << 23)));
}

#[test]
fn a_counter_beyond_the_requests_sent_is_refused() {
    let (cells, mut sender, _receiver) = ring(4, 0);
    assert!(sender.push(&message(0)));
    cells.handled.0.store(4 * 2 + 4, Ordering::Relaxed);
    assert_eq!(sender.complete(no_reply), Err(Corrupt::Handled { handled: 2, sent: 1 }));
}

#[test]
fn other_sequences_are_nothing_yet() {
    let (cells, mut sender, mut receiver) = ring(4, 0);
    for sequence in [0, 1, 3, 5, 6, 8, 4 + 4 * 4, u32::MAX] {
        cells.slot(Sequence::request(0)).forge(u64::from(sequence));
        assert_eq!(
            receiver.serve(|_| -> Result<Option<Message>, _> { panic!("delivered {sequence}") }),
            Ok(0)
        );
    }
    assert!(sender.push(&message(0)));
    for sequence in [0, 1, 3, 4, 7, 8, 5 + 4 * 4, u32::MAX] {
        cells.slot(Sequence::request(0)).forge(u64::from(sequence));
        assert_eq!(sender.complete(no_reply), Ok(0), "{sequence}");
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
    /// got. Positions are also taken from where sequences wrap, at 2³⁰ requests.
    #[test]
    fn behaves_as_a_queue_of_requests_and_one_of_completions(
        steps in steps(),
        log_slots in 1_u32..6,
        position in prop_oneof![Just(0), 0..1000_u64, (1_u64 << 30) - 100..(1 << 30) + 100],
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
