//! Every operation of the library, with a look at what arrived.

use std::rc::Rc;

use bandgap_comm::collectives::Collective;
use bandgap_comm::{CommError, Part};
use bandgap_mpi::{Family, Library, MpiError, World};

/// A tag of the program, the longest that every MPI has, and one of collectives over messages.
const TAGS: [u32; 3] = [0, 32767, (1 << 31) + 2];
/// Nothing, a word, what is sent at once, and what is not.
const LENGTHS: [usize; 4] = [0, 8, 1000, 300_001];

fn byte(rank: usize, nth: usize, at: usize) -> u8 {
    (rank * 31 + nth * 7 + at * 13 + at / 251) as u8
}

fn fill(library: &mut Library, rank: usize, nth: usize, part: Part) {
    for (at, place) in library.memory_mut()[part.range()].iter_mut().enumerate() {
        *place = byte(rank, nth, at);
    }
}

fn expect(library: &Library, rank: usize, nth: usize, part: Part) {
    let wrong = library.memory()[part.range()]
        .iter()
        .enumerate()
        .find(|(at, found)| **found != byte(rank, nth, *at));
    assert_eq!(wrong, None, "{nth} of rank {rank} at {part}");
}

fn doubles(bytes: &[u8]) -> Vec<f64> {
    bytes.as_chunks().0.iter().map(|bytes| f64::from_ne_bytes(*bytes)).collect()
}

pub fn check(world: &Rc<World>) {
    let mut library = Library::new(Rc::clone(world)).unwrap();
    library.resize(1 << 20);
    ring(&mut library);
    collectives(&mut library, world.size);
    // The ranks below the last, a second time from what is kept, and one.
    for ranks in [world.size - 1, 1, world.size - 1] {
        if world.rank < ranks {
            library.over(ranks).unwrap();
            collectives(&mut library, ranks);
            ring(&mut library);
        } else {
            let answer = library.over(ranks);
            assert!(matches!(answer, Err(CommError::NoSuchPeer { .. })), "{answer:?}");
        }
    }
    library.over(world.size).unwrap();
    refused(&mut library);
    library.barrier().unwrap();
    let another = Rc::clone(world);
    assert!(matches!(another.finalize(), Err(MpiError::InUse(_))));
}

/// Every rank sends to the next and receives from the one before, in each way that there is.
fn ring(library: &mut Library) {
    let (rank, size) = (library.rank(), library.size());
    if size == 1 {
        return;
    }
    let (to, from) = ((rank + 1) % size, (rank + size - 1) % size);
    let mut nth = 0;
    for (tag, len) in TAGS.into_iter().flat_map(|tag| LENGTHS.map(|len| (tag, len))) {
        let (out, into) = (Part::new(5, len), Part::new(500_003, len));
        nth += 1;
        fill(library, rank, nth, out);
        let [receive, send] = match nth % 2 {
            0 => [library.irecv(from, tag, into).unwrap(), library.isend(to, tag, out).unwrap()],
            _ => {
                let send = library.isend(to, tag, out).unwrap();
                [library.irecv(from, tag, into).unwrap(), send]
            }
        };
        // One by one, together, or one alone.
        let mut begun = vec![receive, send];
        begun.drain(..nth as usize % 3).for_each(|one| library.wait(one).unwrap());
        library.wait_all(&mut begun).unwrap();
        expect(library, from, nth, into);
        // There and back, between neighbours.
        nth += 1;
        if rank % 2 == 0 && rank + 1 < size {
            fill(library, rank, nth, out);
            library.send(to, tag, out).unwrap();
            library.recv(to, tag, into).unwrap();
            expect(library, rank, nth, into);
        } else if rank % 2 == 1 {
            library.recv(from, tag, into).unwrap();
            library.send(from, tag, into).unwrap();
        }
        nth += 1;
        let peer = if rank % 2 == 0 { rank + 1 } else { rank - 1 };
        if peer < size {
            // Of other lengths: the even rank sends one byte more.
            let more = |rank: usize| len + usize::from(rank.is_multiple_of(2));
            let (out, into) = (Part::new(5, more(rank)), Part::new(500_003, more(peer)));
            fill(library, rank, nth, out);
            library.exchange(peer, tag, out, into).unwrap();
            expect(library, peer, nth, into);
        }
    }
    // Tags that differ in the highest bit alone, received in the other order.
    let parts = [Part::new(0, 9), Part::new(100, 9), Part::new(200, 9), Part::new(300, 9)];
    fill(library, rank, 1000, parts[0]);
    fill(library, rank, 2000, parts[1]);
    let sends =
        [library.isend(to, 2, parts[0]).unwrap(), library.isend(to, TAGS[2], parts[1]).unwrap()];
    library.recv(from, TAGS[2], parts[3]).unwrap();
    library.recv(from, 2, parts[2]).unwrap();
    expect(library, from, 1000, parts[2]);
    expect(library, from, 2000, parts[3]);
    sends.into_iter().for_each(|send| library.wait(send).unwrap());
    if rank == 0 {
        // An empty part within the other.
        library.exchange(1, 0, Part::new(9, 0), Part::new(5, 8)).unwrap();
    } else if rank == 1 {
        library.exchange(0, 0, Part::new(5, 8), Part::new(9, 0)).unwrap();
    }
}

fn collectives(library: &mut Library, ranks: usize) {
    let (rank, size) = (library.rank(), library.size());
    assert_eq!((rank, size), (library.world().rank, ranks));
    for (nth, len) in LENGTHS.into_iter().enumerate() {
        let (root, part) = (nth % size, Part::new(3, len));
        fill(library, rank, nth, part);
        library.broadcast(root, part).unwrap();
        expect(library, root, nth, part);
    }
    assert!(matches!(
        library.broadcast(size, Part::new(0, 8)),
        Err(CommError::NoSuchPeer { peer, .. }) if peer == size
    ));
    let total: usize = (0..size).map(|rank| rank + 1).sum();
    for (from, into, count) in [(0, 8000, 1), (0, 8000, 1000), (0, 0, 0)] {
        let values = (0..count).flat_map(|at| ((rank + 1) as f64 * at as f64).to_ne_bytes());
        let terms: Vec<u8> = values.collect();
        library.memory_mut()[from..][..terms.len()].copy_from_slice(&terms);
        let (from, into) = (Part::new(from, terms.len()), Part::new(into, terms.len()));
        library.sum(from, into).unwrap();
        let expected: Vec<f64> = (0..count).map(|at| total as f64 * at as f64).collect();
        assert_eq!(doubles(&library.memory()[into.range()]), expected);
    }
    // Blocks of 3 doubles; the rank, the block and the place in it tell a term.
    let (bytes, root) = (24 * size, size / 2);
    let (from, into) = (Part::new(0, bytes), Part::new(8000, bytes));
    let term = |rank: usize, at: usize| (1000 * (rank + 1) + at) as f64;
    let all = |sums: &dyn Fn(usize) -> f64| (0..3 * size).map(sums).collect::<Vec<f64>>();
    for of in Collective::ALL {
        let terms = all(&|at| term(rank, at));
        for (place, term) in
            library.memory_mut()[from.range()].as_chunks_mut().0.iter_mut().zip(terms)
        {
            *place = f64::to_ne_bytes(term);
        }
        library.memory_mut()[into.range()].fill(0);
        library.collective(of, root, from, into).unwrap();
        let sum = |at| (0..size).map(|rank| term(rank, at)).sum();
        let (is_own, is_root) = (|at: usize| at / 3 == rank, rank == root);
        let expected = all(&|at| match of {
            Collective::ReduceScatter if is_own(at) => sum(at),
            Collective::Reduce if is_root => sum(at),
            Collective::AllGather => term(at / 3, at),
            Collective::Gather if is_root => term(at / 3, at),
            Collective::AllToAll => term(at / 3, 3 * rank + at % 3),
            Collective::Scatter if is_own(at) => term(root, at),
            _ => 0.0,
        });
        assert_eq!(doubles(&library.memory()[into.range()]), expected, "{of:?}");
        let answer = library.collective(of, size, from, into);
        assert!(matches!(answer, Err(CommError::NoSuchPeer { .. })), "{answer:?}");
        let answer = library.collective(of, root, from, Part::new(8000, bytes - 8));
        assert!(matches!(answer, Err(CommError::Lengths { .. })), "{answer:?}");
    }
    for wrong in [
        (Part::new(0, 8), Part::new(8, 16)),
        (Part::new(0, 12), Part::new(16, 12)),
        (Part::new(1, 8), Part::new(16, 8)),
    ] {
        let answer = library.sum(wrong.0, wrong.1);
        assert!(matches!(answer, Err(CommError::Lengths { .. })), "{answer:?}");
    }
    library.barrier().unwrap();
}

fn refused(library: &mut Library) {
    let (rank, size, part) = (library.rank(), library.size(), Part::new(0, 8));
    for peer in [rank, size, usize::MAX] {
        let answers = [
            library.send(peer, 0, part),
            library.recv(peer, 0, part),
            library.exchange(peer, 0, part, Part::new(8, 8)),
            library.isend(peer, 0, part).map(drop),
            library.irecv(peer, 0, part).map(drop),
        ];
        for answer in answers {
            assert!(matches!(answer, Err(CommError::NoSuchPeer { .. })), "{answer:?}");
        }
    }
    let (peer, outside) = ((rank + 1) % size, Part::new(1 << 20, 1));
    let answers = [
        library.send(peer, 0, outside),
        library.recv(peer, 0, outside),
        library.exchange(peer, 0, outside, part),
        library.exchange(peer, 0, part, outside),
        library.isend(peer, 0, outside).map(drop),
        library.irecv(peer, 0, outside).map(drop),
        library.broadcast(0, outside),
        library.sum(part, outside),
        library.sum(outside, part),
    ];
    for answer in answers {
        assert!(matches!(answer, Err(CommError::NotInMemory { .. })), "{answer:?}");
    }
    let answer = library.exchange(peer, 0, part, Part::new(7, 8));
    assert!(matches!(answer, Err(CommError::Overlap { .. })), "{answer:?}");
    for ranks in [0, size + 1] {
        let answer = library.over(ranks);
        assert!(matches!(answer, Err(CommError::NoSuchPeer { .. })), "{answer:?}");
    }
    // A tag beyond those of MPICH. It says so by a code, and does not end the process. Open MPI takes it, and Intel's ends
    // the process all the same.
    if library.world().loaded.name().starts_with("Intel") {
        return;
    }
    let answer = library.send(peer, (1 << 31) - 1, part);
    match library.world().loaded.family {
        Family::OpenMpi => answer.unwrap(),
        _ => assert!(matches!(answer, Err(CommError::Connect(_))), "{answer:?}"),
    }
}
