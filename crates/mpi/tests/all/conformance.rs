//! The suite of every transport, over links of ranks that are processes of an MPI.
//!
//! The suite has all ranks in one process. So each end here leads a rank elsewhere (`tests/check/link.rs`), and has a copy
//! of the memory that it exposes.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;

use bandgap_comm::{
    AnyEndpoint, CommError, Credited, DEFAULT_CREDITS, Frame, Frames, Link, MAX_FRAME, Posted,
    Rank, Source,
};
use bandgap_conformance::{EXPOSED, Harness};

use crate::installed::{
    Installed, MPICH, MPICH_OVER_TCP, OPEN_MPI, OPEN_MPI_OVER_TCP, Run, is_here,
};

/// An end of a link whose rank is another process.
struct Led {
    rank: Rank,
    size: usize,
    stream: UnixStream,
    memory: Vec<u8>,
    /// What the rank exposes, as it is known here.
    there: Vec<u8>,
    changed: bool,
    unsent: usize,
    /// The ranks, which end with the last end.
    _run: Arc<Run>,
}

fn links(mpi: &Installed, size: usize) -> Vec<Led> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("leader");
    let listener = UnixListener::bind(&path).unwrap();
    let run = Arc::new(mpi.start(size, &["link", "", path.to_str().unwrap()]));
    let accept = |_| {
        let mut stream = listener.accept().unwrap().0;
        let mut rank = [0; 8];
        stream.read_exact(&mut rank).unwrap();
        stream.write_all(&(EXPOSED as u64).to_le_bytes()).unwrap();
        let rank = u64::from_le_bytes(rank) as usize;
        let [memory, there] = [(); 2].map(|()| vec![0; EXPOSED]);
        let _run = Arc::clone(&run);
        Led { rank, size, stream, memory, there, changed: false, unsent: 0, _run }
    };
    let mut links: Vec<_> = (0..size).map(accept).collect();
    links.sort_by_key(|link| link.rank);
    links
}

impl Led {
    fn number(&mut self) -> usize {
        let mut bytes = [0; 8];
        self.stream.read_exact(&mut bytes).expect("the rank is gone");
        u64::from_le_bytes(bytes) as usize
    }

    fn call(&mut self, numbers: &[usize], frame: Option<&Frame>, rest: &[usize], bytes: &[u8]) {
        let mut letter = Vec::new();
        let words = |letter: &mut Vec<u8>, numbers: &[usize]| {
            numbers.iter().for_each(|&number| letter.extend((number as u64).to_le_bytes()));
        };
        words(&mut letter, numbers);
        letter.extend(frame.map(|frame| frame.encode().0).into_iter().flatten());
        words(&mut letter, rest);
        letter.extend(bytes);
        self.stream.write_all(&letter).expect("the rank is gone");
    }

    /// Tells the rank which bytes of its exposed memory have changed here: no others, for more may be arriving.
    fn tell(&mut self) {
        if !std::mem::take(&mut self.changed) {
            return;
        }
        let mut at = 0;
        while at < EXPOSED {
            // Pages that are the same are passed over.
            let page = at..(at / 4096 + 1) * 4096;
            if self.memory[page.clone()] == self.there[page.clone()] {
                at = page.end;
                continue;
            }
            if self.memory[at] == self.there[at] {
                at += 1;
                continue;
            }
            let differ = |at: &usize| self.memory[*at] != self.there[*at];
            let end = at + (at..page.end).take_while(differ).count();
            let bytes = self.memory[at..end].to_vec();
            self.there[at..end].copy_from_slice(&bytes);
            self.call(&[2, at], None, &[bytes.len()], &bytes);
            at = end;
        }
    }
}

fn posted(yes: usize) -> Posted {
    if yes == 1 { Posted::Yes } else { Posted::Busy }
}

impl Link for Led {
    fn rank(&self) -> Rank {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn exposed(&self) -> &[u8] {
        &self.memory
    }

    fn exposed_mut(&mut self) -> &mut [u8] {
        self.changed = true;
        &mut self.memory
    }

    fn try_send(&mut self, peer: Rank, frame: &Frame) -> Result<Posted, CommError> {
        self.call(&[0, peer], Some(frame), &[], &[]);
        let yes = self.number();
        self.unsent = self.number();
        Ok(posted(yes))
    }

    fn try_write(
        &mut self,
        peer: Rank,
        frames: &[&Frame],
        from: Source<'_>,
        done: &mut usize,
        then: Option<&Frame>,
    ) -> Result<Posted, CommError> {
        self.tell();
        // The rank keeps the bytes of a payload that was begun.
        let (exposed, at, bytes) = match from {
            Source::Exposed { at, len } => (len, at, &[][..]),
            Source::Bytes(bytes) => (0, 0, if *done == 0 { bytes } else { &[] }),
        };
        self.call(&[1, peer], Some(frames[0]), &[exposed, at, *done, bytes.len()], bytes);
        let yes = self.number();
        *done = self.number();
        self.unsent = self.number();
        match then.filter(|_| yes == 1) {
            Some(then) => self.try_send(peer, then),
            None => Ok(posted(yes)),
        }
    }

    fn receive<F: Frames>(&mut self, mut to: F) -> Result<usize, CommError> {
        self.tell();
        self.call(&[3], None, &[], &[]);
        let frames = self.number();
        for _ in 0..frames {
            let from = self.number();
            let mut bytes = [0; MAX_FRAME];
            self.stream.read_exact(&mut bytes).unwrap();
            let frame = Frame::decode(&bytes).unwrap().unwrap().0;
            if frame.has_payload() {
                let target = frame.target(EXPOSED).unwrap();
                self.stream.read_exact(&mut self.memory[target.clone()]).unwrap();
                self.there[target.clone()].copy_from_slice(&self.memory[target]);
            }
            to.frame(from, frame);
        }
        self.unsent = self.number();
        Ok(frames)
    }

    fn unsent(&self) -> usize {
        self.unsent
    }
}

macro_rules! suite {
    ($name:ident, $mpi:ident: $($property:ident)*) => {
        mod $name {
            use super::*;

            fn ranks(size: usize, _exposed: usize) -> Vec<AnyEndpoint> {
                let end = |link| AnyEndpoint::of(Credited::new(link, DEFAULT_CREDITS));
                links(&$mpi, size).into_iter().map(end).collect()
            }

            // MPI does not say that a peer departed.
            const RANKS: Harness =
                Harness { notices_departure: false, ..Harness::of(ranks) };

            $(
                #[test]
                fn $property() {
                    if is_here($mpi.launcher) {
                        bandgap_conformance::$property(&RANKS);
                    }
                }
            )*
        }
    };
    ($name:ident, $mpi:ident) => {
        suite!($name, $mpi:
            requests_arrive_once_and_in_order
            completes_once
            replies_keep_to_their_handler
            busy_at_capacity
            flood_both_ways
            replies_find_room
            all_to_all
            fan_in
            no_such_peer
            unknown_handler_names_the_rank
            a_store_is_there_before_its_request
            a_get_brings_the_bytes_of_the_peer
            rings_of_long_transfers_do_not_lock_up
            what_is_not_exposed_is_refused
            random_transfers
        );
    };
}

suite!(mpich, MPICH);
suite!(open_mpi, OPEN_MPI);
suite!(mpich_over_tcp, MPICH_OVER_TCP: a_store_is_there_before_its_request random_transfers);
suite!(open_mpi_over_tcp, OPEN_MPI_OVER_TCP: a_store_is_there_before_its_request random_transfers);
