//! What is told of a fault: the kind of message, its number and who sent it.

use crate::direct;
use crate::harness::native::{MEETING, Native};
use crate::harness::spoilt::{Fault, Lying, Plan, What};
use crate::harness::{Outcomes, PATIENT, carry_out, executors, links};
use bandgap_comm::Credited;
use bandgap_kernels::{Buffers, Comms1, Counted, Flaw, Order, Pair, PingPong, Wrong};

/// What a rank found wrong in the only order.
fn wrong(outcomes: &Outcomes, rank: usize) -> Option<&Wrong> {
    outcomes[rank][0].as_ref().unwrap().wrong.as_ref()
}

#[test]
fn a_spoilt_word_is_told_as_that_of_a_request_or_of_a_reply() {
    let order = Order::of(&PingPong { pair: Pair::FIRST, messages: 10 }, 2, 2);
    for (what, reader, is_reply) in [(What::Words, 1, false), (What::Replies, 0, true)] {
        for order in [order.clone().checked(), order.clone()] {
            let checked = order.checked;
            let ends = links(2, 1 << 12).into_iter().enumerate().map(|(rank, link)| {
                let plan = Some(Plan::new(Fault::Flip, 3)).filter(|_| rank == 0);
                Lying::new(Credited::new(link, 16), what, plan)
            });
            let outcomes = carry_out(executors(ends.collect(), PATIENT), &[order]);
            let flaw = &wrong(&outcomes, reader).unwrap().flaw;
            assert!(
                match *flaw {
                    Flaw::Word { from, reply, message: 3, .. } if checked => {
                        from == 1 - reader && reply == is_reply
                    }
                    Flaw::Sum { reply, .. } => !checked && reply == is_reply,
                    _ => false,
                },
                "{flaw:?}"
            );
        }
    }
}

/// Two ranks that pass one message to and fro in each of `samples` checked samples, where `post` says
/// which bytes go in place of those of each message of rank 0.
fn passed(
    samples: u32,
    mut post: impl FnMut(Vec<u8>) -> Vec<Vec<u8>> + Send + 'static,
) -> Outcomes {
    let kernel = Comms1 { pair: Pair::FIRST, messages: 1, bytes: 100, buffers: Buffers::default() };
    let mut ranks = direct::ranks(2, 0);
    ranks[0].hook = Some(Box::new(move |letter| match letter.tag {
        MEETING => vec![letter],
        _ => {
            let all = post(letter.bytes.clone()).into_iter();
            all.map(|bytes| direct::Letter { bytes, ..letter.clone() }).collect()
        }
    }));
    let ranks = ranks.into_iter().map(Native::new).collect::<Vec<_>>();
    carry_out(ranks, &[Order::of(&kernel, samples, 2).checked()])
}

#[test]
fn a_message_of_the_sample_before_is_found_in_a_checked_batch() {
    let mut before = None;
    let outcomes = passed(2, move |bytes| vec![before.replace(bytes.clone()).unwrap_or(bytes)]);
    // Both have the number 0 in their samples.
    let flaw = wrong(&outcomes, 1).map(|wrong| &wrong.flaw);
    assert!(matches!(flaw, Some(Flaw::Byte { from: Some(0), message: 0, .. })), "{flaw:?}");
}

#[test]
fn a_message_that_no_receive_takes_is_found() {
    let outcomes = passed(1, |bytes| vec![bytes.clone(), bytes]);
    let flaw = Flaw::Count { of: Counted::Unclaimed, from: None, expected: 0, got: 1 };
    assert_eq!(wrong(&outcomes, 1), Some(&Wrong { rank: 1, flaw }));
    assert!(wrong(&passed(1, |bytes| vec![bytes]), 1).is_none());
}
