//! Every algorithm of broadcast, sum and barrier, and what deals blocks out, on any number of ranks.

use std::fmt::Debug;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::direct::{self, Direct};
use bandgap_comm::collectives::{
    Algorithm, Barrier, Blocks, Broadcast, Collective, Count, Sum, all_gather, all_to_all,
    reduce_scatter,
};
use bandgap_comm::{BARRIER, CommError, Part, Processor, Rank};
use serde::de::IntoDeserializer;
use serde::de::value::{Error, StrDeserializer};

const SIZES: [usize; 10] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 16];
/// Operations in a row, before any of them is looked at.
const ROW: usize = 3;
/// Bytes before and behind each part, which nothing may change.
const GUARD: usize = 16;
const UNTOUCHED: u8 = 0xEE;

/// New memory: a part of each length, with guards.
fn parts(comm: &mut Direct, lengths: &[usize]) -> Vec<Part> {
    let memory = lengths.iter().map(|len| len + GUARD).sum::<usize>() + GUARD;
    comm.memory = vec![UNTOUCHED; memory];
    let mut at = GUARD;
    let place = |&len: &usize| {
        let part = Part::new(at, len);
        at = part.end() + GUARD;
        part
    };
    lengths.iter().map(place).collect()
}

fn bytes(comm: &mut Direct, part: Part) -> &mut [u8] {
    &mut comm.memory[part.range()]
}

fn guards_stand(comm: &Direct, parts: &[Part]) -> bool {
    let mut around = parts.iter().flat_map(|part| [part.at - GUARD, part.end()]);
    around.all(|at| comm.memory[at..at + GUARD] == [UNTOUCHED; GUARD])
}

/// Receives posted so far, without those of barriers.
fn messages(comm: &Direct) -> u64 {
    comm.receives(|tag| tag < BARRIER)
}

/// Runs `program` on each of `size` ranks, every rank a thread. Nothing is left over at the end.
fn run<T: Send>(
    size: usize,
    program: impl Fn(&mut Direct) -> Result<T, CommError> + Sync,
) -> Vec<T> {
    let program = &program;
    thread::scope(|scope| {
        let start = |mut rank: Direct| {
            scope.spawn(move || {
                let value = program(&mut rank);
                let value = value.unwrap_or_else(|error| panic!("failed to {error}"));
                assert_eq!(rank.untaken().unwrap(), 0, "messages that nobody took");
                value
            })
        };
        let threads: Vec<_> = direct::ranks(size, 0).into_iter().map(start).collect();
        threads.into_iter().map(|thread| thread.join().expect("no rank panics")).collect()
    })
}

/// First, middle and last.
fn roots(size: usize) -> [Rank; ROW] {
    [0, size / 2, size - 1]
}

/// The bytes that `root` broadcasts in operation `number`.
fn content(root: Rank, number: usize, len: usize) -> Vec<u8> {
    (0..len).map(|at| (31 * root + 101 * number + at + at / 251) as u8).collect()
}

/// Three broadcasts in a row, of different roots; then compares. Ranks are numbered up from the first root and the last,
/// down from the one between.
fn broadcasts(comm: &mut Direct, algorithm: Broadcast, len: usize) -> Result<(), CommError> {
    let (rank, size) = (comm.rank(), comm.size());
    let what = format!("{} of {len} bytes, rank {rank} of {size}", algorithm.name());
    let parts = parts(comm, &[len; ROW]);
    let each = || parts.iter().zip(roots(size)).enumerate();
    for (number, (&part, root)) in each().filter(|(_, (_, root))| *root == rank) {
        bytes(comm, part).copy_from_slice(&content(root, number, len));
    }
    let before = messages(comm);
    for (number, (&part, root)) in each() {
        let count = if number == 1 { Count::Down } else { Count::Up };
        algorithm.counted(comm, root, count, part)?;
    }
    let expected: u64 =
        roots(size).iter().map(|&root| algorithm.receives(rank, size, root, len)).sum();
    assert_eq!(messages(comm) - before, expected, "messages: {what}");
    for (number, (&part, root)) in each() {
        assert!(bytes(comm, part) == content(root, number, len), "root {root}: {what}");
    }
    assert!(guards_stand(comm, &parts), "guards: {what}");
    Ok(())
}

fn write(bytes: &mut [u8], values: impl Iterator<Item = f64>) {
    bytes.as_chunks_mut().0.iter_mut().zip(values).for_each(|(b, value)| *b = value.to_ne_bytes());
}

fn read(bytes: &[u8]) -> Vec<f64> {
    bytes.as_chunks().0.iter().map(|&element| f64::from_ne_bytes(element)).collect()
}

/// Three sums in a row of whole numbers; then compares.
fn sums(comm: &mut Direct, algorithm: Sum, elements: usize) -> Result<(), CommError> {
    let (rank, size) = (comm.rank(), comm.size());
    let what = format!("{} of {elements} doubles, rank {rank} of {size}", algorithm.name());
    let len = 8 * elements;
    let parts = parts(comm, &[len; 3 * ROW]);
    // (r + 1)(i + 1) + k: the sum over r is (i + 1)·P(P + 1)/2 + P·k.
    let term = |number: usize, at: usize| ((rank + 1) * (at + 1) + number) as f64;
    let sum = |number: usize, at: usize| ((at + 1) * size * (size + 1) / 2 + size * number) as f64;
    let terms = |number| (0..elements).map(move |at| term(number, at));
    for (number, part) in parts.chunks(3).enumerate() {
        write(bytes(comm, part[0]), terms(number));
    }
    let before = messages(comm);
    for part in parts.chunks(3) {
        let (from, into, scratch) = (part[0], part[1], part[2]);
        algorithm.run(comm, from, into, scratch)?;
    }
    assert_eq!(
        messages(comm) - before,
        ROW as u64 * algorithm.receives(rank, size, len),
        "messages: {what}"
    );
    for (number, part) in parts.chunks(3).enumerate() {
        assert_eq!(read(bytes(comm, part[0])), terms(number).collect::<Vec<_>>(), "terms: {what}");
        let expected: Vec<f64> = (0..elements).map(|at| sum(number, at)).collect();
        assert_eq!(read(bytes(comm, part[1])), expected, "sums: {what}");
    }
    assert!(guards_stand(comm, &parts), "guards: {what}");
    Ok(())
}

#[test]
fn every_broadcast_brings_the_roots_bytes_to_all() {
    for size in SIZES {
        run(size, |comm| {
            for &algorithm in Broadcast::ALL {
                for len in [0, 1, 8, 13, 24, 800, 1001, 20_000] {
                    broadcasts(comm, algorithm, len)?;
                }
            }
            Ok(())
        });
    }
}

#[test]
fn every_sum_adds_each_rank_once() {
    for size in SIZES {
        run(size, |comm| {
            for &algorithm in Sum::ALL {
                for elements in [0, 1, 3, 16, 100, 2503] {
                    sums(comm, algorithm, elements)?;
                }
            }
            Ok(())
        });
    }
}

/// A vector of whole numbers that tell rank and element.
fn vector(rank: Rank, elements: usize) -> impl Iterator<Item = f64> {
    (0..elements).map(move |at| ((rank + 1) * 10_000 + at) as f64)
}

/// The elements of a block.
fn of(part: Part, index: usize, size: usize) -> std::ops::Range<usize> {
    let block = Blocks::of(part, 8, size).one(index);
    (block.at - part.at) / 8..(block.end() - part.at) / 8
}

#[test]
fn blocks_come_to_the_ranks_that_they_are_for() {
    for size in SIZES {
        run(size, |comm| {
            let rank = comm.rank();
            for elements in [0, 1, 3, 16, 100, 2503] {
                let parts = parts(comm, &[1, 1, 2, 1].map(|of| of * 8 * elements));
                let gathered = Part::new(parts[2].at, 8 * elements);
                let block = |part, index| Blocks::of(part, 8, size).one(index);
                write(bytes(comm, parts[0]), vector(rank, elements));
                reduce_scatter(comm, parts[0], parts[1])?;
                all_gather(comm, block(parts[1], rank), gathered)?;
                all_to_all(comm, parts[0], parts[3])?;
                let of = |part, index| self::of(part, index, size);
                let all: Vec<Vec<f64>> =
                    (0..size).map(|rank| vector(rank, elements).collect()).collect();
                let sum: Vec<f64> =
                    (0..elements).map(|at| all.iter().map(|vector| vector[at]).sum()).collect();
                let what = format!("{elements} doubles, rank {rank} of {size}");
                let own = block(parts[1], rank);
                assert_eq!(read(bytes(comm, own)), sum[of(parts[1], rank)], "scattered: {what}");
                assert_eq!(read(bytes(comm, gathered)), sum, "gathered: {what}");
                // Block d is that of the rank d before.
                for (d, source) in (0..size).map(|d| (d, (rank + size - d) % size)) {
                    let got = read(bytes(comm, block(parts[3], d)));
                    assert_eq!(got, all[source][of(parts[3], d)], "dealt: {what}");
                }
                for root in [0, size / 2, size - 1] {
                    for of in [Collective::Reduce, Collective::Gather, Collective::Scatter] {
                        let before = messages(comm);
                        bytes(comm, parts[1]).fill(0);
                        let scratch = Part::new(parts[2].at, 16 * elements);
                        of.run(comm, root, (parts[0], parts[1]), scratch)?;
                        let mut expected = vec![0.0; elements];
                        let mut put = |index: usize, source: usize| {
                            let at = self::of(parts[1], index, size);
                            expected[at.clone()].copy_from_slice(&all[source][at]);
                        };
                        match (of, rank == root) {
                            (Collective::Scatter, _) => put(rank, root),
                            (Collective::Gather, true) => (0..size).for_each(|at| put(at, at)),
                            (Collective::Reduce, true) => expected.clone_from(&sum),
                            _ => {}
                        }
                        let found = read(bytes(comm, parts[1]));
                        assert_eq!(found, expected, "{of:?} with root {root}: {what}");
                        let count = of.receives(false, rank, root, size);
                        assert_eq!(messages(comm) - before, count, "{of:?}, {root}: {what}");
                    }
                }
                assert_eq!(read(bytes(comm, parts[0])), all[rank], "terms: {what}");
                assert!(guards_stand(comm, &parts), "guards: {what}");
            }
            Ok(())
        });
    }
}

#[test]
fn all_ranks_have_the_same_bits_of_a_sum_that_is_rounded() {
    for size in SIZES {
        let sums = run(size, |comm| {
            let parts = parts(comm, &[800; 3]);
            let rank = comm.rank();
            let terms = (0..100).map(|at| 1.0 / (1 + 7 * rank + at) as f64);
            write(bytes(comm, parts[0]), terms);
            let sum = |algorithm: &Sum| {
                algorithm.run(comm, parts[0], parts[1], parts[2])?;
                Ok(bytes(comm, parts[1]).to_vec())
            };
            Sum::ALL.iter().map(sum).collect::<Result<Vec<_>, CommError>>()
        });
        assert!(sums.iter().all(|sum| *sum == sums[0]), "{size} ranks");
        let exact: f64 = (0..size).map(|rank| 1.0 / (1 + 7 * rank) as f64).sum();
        let first = |bytes: &Vec<u8>| (read(bytes)[0] - exact).abs() < 1e-12;
        assert!(sums[0].iter().all(first), "{size} ranks");
    }
}

#[test]
fn no_rank_leaves_a_barrier_before_all_have_come() {
    const ROUNDS: usize = 10;
    for size in SIZES {
        for &algorithm in Barrier::ALL {
            let came = AtomicUsize::new(0);
            run(size, |comm| {
                for round in 1..=ROUNDS {
                    if comm.rank() == round % size {
                        (0..20).for_each(|_| thread::yield_now());
                    }
                    came.fetch_add(1, Ordering::SeqCst);
                    algorithm.run(comm)?;
                    let counted = came.load(Ordering::SeqCst);
                    assert!(counted >= round * size, "{} of {size}", algorithm.name());
                }
                // Kernels count no messages of barriers.
                assert_eq!(messages(comm), 0);
                assert_eq!(comm.receives(|_| true) > 0, size > 1);
                Ok(())
            });
        }
    }
}

#[test]
fn operations_follow_one_another_without_waiting() {
    // One rank is late each time; the others run ahead into the next operations.
    for size in [2, 5, 8] {
        run(size, |comm| {
            let late = |comm: &Direct, turn: usize| {
                let yields = if comm.rank() == turn % size { 50 } else { 0 };
                (0..yields).for_each(|_| thread::yield_now());
            };
            for turn in 0..6 * size {
                late(comm, turn);
                broadcasts(comm, Broadcast::ALL[turn % 4], 100 + turn)?;
                late(comm, turn + 1);
                sums(comm, Sum::ALL[turn / 4 % Sum::ALL.len()], 20 + turn)?;
                Barrier::ALL[turn % 2].run(comm)?;
            }
            Ok(())
        });
    }
}

#[test]
fn all_ranks_refuse_the_same_arguments() {
    run(4, |comm| {
        let parts = parts(comm, &[24; 3]);
        for &algorithm in Broadcast::ALL {
            let refused = algorithm.run(comm, 4, parts[0]);
            assert!(matches!(refused, Err(CommError::NoSuchPeer { peer: 4, size: 4 })));
        }
        let (short, odd) = (Part::new(parts[1].at, 16), Part::new(parts[1].at, 23));
        let wrong = [
            (parts[0], parts[1], parts[1]),
            (parts[0], parts[1], short),
            (short, parts[1], parts[2]),
            (parts[1], parts[1], parts[2]),
            (odd, odd, Part::new(parts[2].at, 23)),
        ];
        for &algorithm in Sum::ALL {
            for (from, into, scratch) in wrong {
                assert!(algorithm.run(comm, from, into, scratch).is_err());
            }
        }
        Ok(())
    });
}

fn names_are_those_of_serde<A: Algorithm + Debug>(names: &[&str]) {
    assert_eq!(A::ALL.iter().map(|algorithm| algorithm.name()).collect::<Vec<_>>(), names);
    for &algorithm in A::ALL {
        let name = algorithm.name();
        assert_eq!(A::from_name(name), Some(algorithm));
        let text: StrDeserializer<'_, Error> = name.into_deserializer();
        assert_eq!(A::deserialize(text), Ok(algorithm));
    }
    assert_eq!(A::from_name("carrier_pigeon"), None);
}

#[test]
fn algorithms_are_found_by_name() {
    names_are_those_of_serde::<Broadcast>(&["linear", "binomial", "scatter_allgather", "chain"]);
    let sums = ["tree", "recursive_doubling", "rabenseifner", "ring", "two_rings", "double_tree"];
    names_are_those_of_serde::<Sum>(&sums);
    names_are_those_of_serde::<Barrier>(&["dissemination", "tree"]);
}

#[test]
fn an_algorithm_that_does_not_fit_is_refused() {
    assert!(Broadcast::ScatterAllgather.fits(8, 7).is_err());
    assert_eq!(Broadcast::ScatterAllgather.fits(8, 8), Ok(()));
    // Of seven ranks four deal out blocks in the one, and all in the other.
    assert_eq!(Sum::Rabenseifner.fits(7, 32), Ok(()));
    assert!(Sum::Ring.fits(7, 48).is_err());
    assert_eq!(Sum::Ring.fits(7, 56), Ok(()));
    assert!(Sum::TwoRings.fits(7, 56).is_err());
    assert_eq!(Sum::DoubleTree.fits(7, 16), Ok(()));
    // No whole doubles.
    assert!(Sum::Tree.fits(2, 12).is_err());
    assert!(Barrier::ALL.iter().all(|algorithm| algorithm.fits(1, 0).is_ok()));
}
