//! The link of a rank, led by a test in another process: the conformance suite has all ranks in one.
//!
//! Each call of the test is a letter of bytes, and so is each answer. Nothing happens in between, so that a link whose
//! rank makes no call makes no progress.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::rc::Rc;

use bandgap_comm::{Frame, Link, MAX_FRAME, Posted, Rank, Source};
use bandgap_mpi::{MpiLink, World};

fn number(stream: &mut UnixStream) -> Option<usize> {
    let mut bytes = [0; 8];
    stream.read_exact(&mut bytes).ok()?;
    Some(u64::from_le_bytes(bytes) as usize)
}

fn bytes(stream: &mut UnixStream) -> Vec<u8> {
    let mut bytes = vec![0; number(stream).unwrap()];
    stream.read_exact(&mut bytes).unwrap();
    bytes
}

fn frame(stream: &mut UnixStream) -> Frame {
    let mut bytes = [0; MAX_FRAME];
    stream.read_exact(&mut bytes).unwrap();
    Frame::decode(&bytes).unwrap().unwrap().0
}

pub fn serve(world: &Rc<World>, leader: &Path) {
    let stream = &mut UnixStream::connect(leader).unwrap();
    stream.write_all(&(world.rank as u64).to_le_bytes()).unwrap();
    let exposed = number(stream).unwrap();
    let mut link = MpiLink::new(Rc::clone(world), exposed).unwrap();
    // By peer and kind of payload, what is being written.
    let mut sources: Vec<[Vec<u8>; 8]> = vec![Default::default(); world.size];
    while let Some(call) = number(stream) {
        let mut answer: Vec<u8> = Vec::new();
        let mut say = |number: usize| answer.extend((number as u64).to_le_bytes());
        match call {
            0 => {
                let (peer, frame) = (number(stream).unwrap(), frame(stream));
                say(usize::from(link.try_send(peer, &frame).unwrap() == Posted::Yes));
            }
            1 => {
                let (peer, frame) = (number(stream).unwrap(), frame(stream));
                let [exposed, at, mut done] = [(); 3].map(|()| number(stream).unwrap());
                let new = bytes(stream);
                let source = &mut sources[peer][frame.kind as usize];
                if done == 0 {
                    *source = new;
                }
                let from = match exposed {
                    0 => Source::Bytes(source),
                    len => Source::Exposed { at, len },
                };
                say(usize::from(
                    link.try_write(peer, &[&frame], from, &mut done, None).unwrap() == Posted::Yes,
                ));
                say(done);
            }
            2 => {
                let at = number(stream).unwrap();
                let new = bytes(stream);
                link.exposed_mut()[at..at + new.len()].copy_from_slice(&new);
                continue;
            }
            _ => {
                let mut frames: Vec<(Rank, Frame)> = Vec::new();
                let count = link.receive(|from, frame| frames.push((from, frame))).unwrap();
                assert_eq!(count, frames.len());
                say(count);
                for (from, frame) in frames {
                    answer.extend((from as u64).to_le_bytes());
                    answer.extend(frame.encode().0);
                    if frame.has_payload() {
                        let target = frame.target(exposed).unwrap();
                        answer.extend(&link.exposed()[target]);
                    }
                }
            }
        }
        answer.extend((link.unsent() as u64).to_le_bytes());
        stream.write_all(&answer).unwrap();
    }
}
