use std::time::Duration;

use self::inproc::InprocLink;
use bandgap_comm::{Credited, DeadlineWatch, Waiting};

#[path = "../../../comm/tests/support/inproc.rs"]
mod inproc;

use super::*;
use crate::RankState;
use crate::handlers::handlers;

type Messages = ActiveMessages<Credited<InprocLink>, RankState, DeadlineWatch>;

fn ranks() -> [Messages; 3] {
    let links = <[InprocLink; 3]>::try_from(inproc::links(3, 64)).unwrap();
    let watch = DeadlineWatch(Duration::from_secs(60));
    links.map(|link| {
        let end = Credited::new(link, 8);
        let (table, state) = handlers(end.rank(), 3, 0, None).unwrap();
        ActiveMessages::new(end, table, state, Waiting::Yield, watch)
    })
}

#[test]
fn letters_of_all_lengths_arrive_whole_in_order_and_by_sender() {
    // Around a word (8), the first request (24) and each further one (32); none; the longest.
    let lengths = [0, 1, 7, 8, 9, 23, 24, 25, 55, 56, 57, 10_000, LONGEST];
    let letter = |from: Rank, len| -> Vec<u8> { (0..len).map(|i| (i * 7 + from) as u8).collect() };
    let [mut to, first, second] = ranks();
    let senders = [(1, first), (2, second)].map(|(from, mut am)| {
        std::thread::spawn(move || {
            for len in lengths {
                post(&mut am, 0, &letter(from, len)).unwrap();
            }
            am
        })
    });
    for len in lengths {
        for from in [2, 1] {
            to.serve_until(|state| state.mailbox.has(from)).unwrap();
            assert_eq!(
                to.state_mut().mailbox.take(from).unwrap(),
                Some(letter(from, len)),
                "{len}"
            );
        }
    }
    to.settle().unwrap();
    // A rank that ends is gone: each is kept until all have ended.
    let _ended = senders.map(|sender| sender.join().unwrap());
    assert_eq!(to.state_mut().mailbox.take(1).unwrap(), None);
}

#[test]
fn a_letter_that_is_too_long_is_not_sent() {
    let [mut am, _, _] = ranks();
    let error = post(&mut am, 1, &vec![0; LONGEST + 1]).unwrap_err();
    assert!(error.to_string().contains("1048577"), "{error}");
}

#[test]
fn words_that_are_no_letter_are_the_senders_fault_and_nobody_elses() {
    let garbage: [&[Word]; 5] =
        [&[], &[8, 1, 0], &[LONGEST as Word + 1, 1, 0, 0], &[Word::MAX; 4], &[8, 1, 2, 0]];
    for words in garbage {
        let mut mailbox = Mailbox::new(3);
        mailbox.receive(2, &[3, 0x01_02_03, 0, 0]);
        mailbox.receive(1, words);
        mailbox.receive(1, &[1, 7, 0, 0]);
        assert!(mailbox.has(1));
        let error = mailbox.take(1).unwrap_err();
        assert!(matches!(error, CommError::Garbage { peer: 1, .. }), "{error}");
        assert_eq!(mailbox.take(2).unwrap(), Some(vec![3, 2, 1]));
    }
    assert!(matches!(Mailbox::new(3).take(3), Err(CommError::NoSuchPeer { peer: 3, size: 3 })));
}

#[test]
fn a_sender_cannot_fill_the_memory() {
    let mut mailbox = Mailbox::new(2);
    (0..=MOST_WAITING).for_each(|_| mailbox.receive(1, &[1, 7, 0, 0]));
    for _ in 0..MOST_WAITING {
        assert_eq!(mailbox.take(1).unwrap(), Some(vec![7]));
    }
    assert!(mailbox.take(1).is_err());
}
