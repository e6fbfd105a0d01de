//! Messages directly between threads can be spoilt.

use std::thread;

use crate::direct::{Direct, Hook, Letter, ranks};
use bandgap_comm::{Comm, CommError, Part};

/// Runs `program` on each rank, every rank a thread. Returns the outcomes by rank.
fn run<T: Send>(
    ranks: Vec<Direct>,
    program: impl Fn(&mut Direct) -> Result<T, CommError> + Sync,
) -> Vec<Result<T, CommError>> {
    let program = &program;
    thread::scope(|scope| {
        let start = |mut rank: Direct| scope.spawn(move || program(&mut rank));
        let threads: Vec<_> = ranks.into_iter().map(start).collect();
        threads.into_iter().map(|thread| thread.join().expect("no rank panics")).collect()
    })
}

#[test]
fn a_hook_changes_repeats_swaps_and_drops_messages() {
    let spoilt = |hook: Hook| {
        let mut ranks = ranks(2, 2);
        let receiver = ranks.pop().unwrap();
        let mut sender = ranks.pop().unwrap();
        sender.hook = Some(hook);
        let sent = run(vec![sender], |rank| {
            (1..=2).try_for_each(|value| {
                rank.memory[0] = value;
                rank.send(1, 0, Part::new(0, 1))
            })
        });
        assert!(sent[0].is_ok(), "{sent:?}");
        // Afterwards, so that what is not taken is all that was sent.
        let outcomes = run(vec![receiver], |rank| {
            let bytes = [0, 1].map(|at| {
                let part = Part::new(at, 1);
                rank.recv(0, 0, part).map(|()| rank.memory[at])
            });
            Ok((bytes.into_iter().flatten().collect::<Vec<u8>>(), rank.untaken()?))
        });
        outcomes.into_iter().last().unwrap().unwrap()
    };
    assert_eq!(spoilt(Box::new(|letter| vec![letter])), (vec![1, 2], 0));
    assert_eq!(spoilt(Box::new(|letter| vec![letter.clone(), letter])), (vec![1, 1], 2));
    let drop_first = |letter: Letter| if letter.bytes == [1] { vec![] } else { vec![letter] };
    assert_eq!(spoilt(Box::new(drop_first)), (vec![2], 0));
    let flip = |mut letter: Letter| {
        letter.bytes[0] ^= 0x80;
        vec![letter]
    };
    assert_eq!(spoilt(Box::new(flip)), (vec![0x81, 0x82], 0));
    let elsewhere = |mut letter: Letter| {
        letter.to = if letter.bytes == [1] { 7 } else { letter.to };
        vec![letter]
    };
    assert_eq!(spoilt(Box::new(elsewhere)), (vec![2], 0));
    let mut kept = None;
    let swap = move |letter| match kept.take() {
        None => {
            kept = Some(letter);
            vec![]
        }
        Some(first) => vec![letter, first],
    };
    assert_eq!(spoilt(Box::new(swap)), (vec![2, 1], 0));
}
