use std::thread;

use super::*;

/// Bytes of a part in the tests.
const LEN: usize = 24;

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

fn all_well<T: Send + std::fmt::Debug>(
    size: usize,
    program: impl Fn(&mut Direct) -> Result<T, CommError> + Sync,
) -> Vec<T> {
    let outcomes = run(ranks(size, 3 * LEN), |rank| {
        let value = program(rank)?;
        assert_eq!(rank.untaken()?, 0);
        Ok(value)
    });
    outcomes.into_iter().map(Result::unwrap).collect()
}

#[test]
fn receives_take_messages_of_their_sender_and_tag_in_posting_order() {
    all_well(3, |rank| {
        if rank.rank() > 0 {
            for value in 0..3 {
                rank.memory[0] = 10 * rank.rank() as u8 + value;
                rank.send(0, u32::from(value / 2), Part::new(0, 1))?;
            }
            return Ok(());
        }
        let mut receives = Vec::new();
        for (at, peer, tag) in [(0, 2, 1), (1, 2, 0), (2, 1, 0), (3, 2, 0), (4, 1, 0)] {
            receives.push(rank.irecv(peer, tag, Part::new(at, 1))?);
        }
        for receive in receives.into_iter().rev() {
            rank.wait(receive)?;
        }
        assert_eq!(rank.memory[..5], [22, 20, 10, 21, 11]);
        rank.recv(1, 1, Part::new(0, 1))?;
        assert_eq!(rank.memory[0], 12);
        Ok(())
    });
}

#[test]
fn a_message_of_another_length_is_an_error_and_the_next_arrives() {
    all_well(2, |rank| {
        let (one, two) = (Part::new(0, 1), Part::new(1, 2));
        if rank.rank() == 0 {
            rank.send(1, 3, two)?;
            return rank.send(1, 3, one);
        }
        let error = rank.recv(0, 3, one).unwrap_err();
        let CommError::OtherLength { from: 0, tag: 3, bytes: 2, expected: 1 } = error else {
            panic!("{error}");
        };
        rank.recv(0, 3, one)
    });
}

#[test]
fn a_wait_ends_when_its_peer_is_gone_or_nothing_comes() {
    let outcomes =
        run(
            ranks(2, 1),
            |rank| {
                if rank.rank() == 0 { rank.recv(1, 0, Part::new(0, 1)) } else { Ok(()) }
            },
        );
    assert!(matches!(outcomes[0], Err(CommError::PeerGone { peer: 1, .. })), "{outcomes:?}");
    let mut ranks = ranks(2, 1);
    let mut alone = ranks.remove(0);
    alone.patience = Duration::ZERO;
    let late = alone.recv(1, 0, Part::new(0, 1));
    assert!(matches!(late, Err(CommError::Deadline { .. })), "{late:?}");
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
