use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use super::*;

/// Bytes of a part in the tests.
const LEN: usize = 24;
const FIRST: Part = Part::new(0, LEN);
const SECOND: Part = Part::new(LEN, LEN);
const THIRD: Part = Part::new(2 * LEN, LEN);

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

fn doubles(bytes: &[u8]) -> Vec<f64> {
    bytes.as_chunks().0.iter().map(|&element| f64::from_ne_bytes(element)).collect()
}

fn write(memory: &mut [u8], part: Part, values: [f64; 3]) {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
    memory[part.range()].copy_from_slice(&bytes);
}

#[test]
fn a_broadcast_gives_all_ranks_what_each_root_has() {
    for size in 1..=9 {
        for root in 0..size {
            let got = all_well(size, |rank| {
                let own = rank.rank() as u8;
                rank.memory.fill(100 + own);
                rank.broadcast(root, SECOND)?;
                let around = [FIRST, THIRD].map(|part| part.of(&rank.memory).unwrap().to_vec());
                assert_eq!(around, [[100 + own; LEN], [100 + own; LEN]]);
                Ok(SECOND.of(&rank.memory)?.to_vec())
            });
            assert_eq!(got, vec![vec![100 + root as u8; LEN]; size], "root {root} of {size}");
        }
        let refused = all_well(size, |rank| Ok(rank.broadcast(size, SECOND).is_err()));
        assert_eq!(refused, vec![true; size]);
    }
}

#[test]
fn a_sum_adds_each_rank_once_and_leaves_the_terms() {
    for size in 1..=9 {
        let got = all_well(size, |rank| {
            // A power of two for each rank: a term left out or added twice is seen.
            let own = f64::from(1 << rank.rank());
            write(&mut rank.memory, FIRST, [own, 100.0 * own, -own]);
            rank.sum(FIRST, SECOND, THIRD)?;
            assert_eq!(doubles(FIRST.of(&rank.memory)?), [own, 100.0 * own, -own]);
            Ok(doubles(SECOND.of(&rank.memory)?))
        });
        let all = f64::from((1 << size) - 1);
        assert_eq!(got, vec![[all, 100.0 * all, -all]; size]);
    }
}

#[test]
fn all_ranks_refuse_the_same_parts() {
    let refused = all_well(4, |rank| {
        let (short, odd) = (Part::new(LEN, LEN - 8), Part::new(LEN, LEN - 1));
        let sums = [(FIRST, SECOND, SECOND), (FIRST, SECOND, short), (odd, odd, FIRST)];
        for (from, into, scratch) in sums {
            assert!(rank.sum(from, into, scratch).is_err());
        }
        let peer = rank.rank() ^ 1;
        Ok(rank.exchange(peer, 0, Part::new(1, LEN), SECOND).is_err())
    });
    assert_eq!(refused, [true; 4]);
}

#[test]
fn no_rank_leaves_a_barrier_before_the_last_comes() {
    for size in 1..=9 {
        for late in 0..size {
            let (others, came) = (AtomicUsize::new(0), AtomicBool::new(false));
            all_well(size, |rank| {
                if rank.rank() == late {
                    while others.load(Ordering::SeqCst) < size - 1 {
                        thread::yield_now();
                    }
                    // Time for a rank to leave that does not wait.
                    (0..20).for_each(|_| thread::yield_now());
                    came.store(true, Ordering::SeqCst);
                } else {
                    others.fetch_add(1, Ordering::SeqCst);
                }
                rank.barrier()?;
                assert!(came.load(Ordering::SeqCst), "{} left before {late}", rank.rank());
                Ok(())
            });
        }
    }
}

#[test]
fn rows_and_columns_do_for_themselves_what_all_do() {
    const COLUMNS: usize = 3;
    let got = all_well(2 * COLUMNS, |rank| {
        let (row, column) = (rank.rank() / COLUMNS, rank.rank() % COLUMNS);
        let own = f64::from(1 << rank.rank());
        write(&mut rank.memory, FIRST, [own; 3]);
        let row = Members { first: row * COLUMNS, stride: 1, count: COLUMNS };
        let column = Members { first: column, stride: COLUMNS, count: 2 };
        rank.group(row)?.sum(FIRST, SECOND, THIRD)?;
        rank.group(column)?.broadcast(1, SECOND)?;
        // The last two of the row: a group of a group.
        let mut group = rank.group(row)?;
        let last = Members { first: 1, stride: 1, count: 2 };
        if group.rank() > 0 {
            let mut last = group.group(last)?;
            assert_eq!(last.size(), 2);
            last.barrier()?;
            last.exchange(1 - last.rank(), 5, FIRST, THIRD)?;
        } else {
            let refused = group.group(last).map(drop);
            assert!(matches!(refused, Err(CommError::NotInGroup { .. })), "{refused:?}");
        }
        let memory = &rank.memory;
        Ok((doubles(SECOND.of(memory)?)[0], doubles(THIRD.of(memory)?)[0]))
    });
    // Row 1 is ranks 3, 4, 5: 8 + 16 + 32, broadcast down the columns. The last two of a row have
    // each other's value.
    let sums: Vec<f64> = got.iter().map(|&(sum, _)| sum).collect();
    assert_eq!(sums, [56.0; 6]);
    assert_eq!([got[1].1, got[2].1, got[4].1, got[5].1], [4.0, 2.0, 32.0, 16.0]);
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
