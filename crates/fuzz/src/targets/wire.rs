//! A peer that says whatever the input has.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use bandgap_comm::{Credited, Frame, FrameKind, HandlerId, MAX_FRAME, Message, Stamp, Tag, Timer};
use bandgap_socket::{Received, SocketLink, Stream};

/// A stream from which the input comes in pieces, and that takes everything.
#[derive(Debug)]
pub(super) struct Fed {
    /// Stands for a socket, which nobody waits for.
    socket: File,
    bytes: Vec<u8>,
    taken: usize,
    piece: usize,
}

impl AsFd for Fed {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Stream for Fed {
    fn send_both(&mut self, first: &[u8], second: &[u8]) -> io::Result<usize> {
        let sent = first.len() + second.len();
        // A frame begins as one, whatever was received.
        if let Err(error) = Frame::decode(first) {
            assert!(
                !second.is_empty() || first.len() > MAX_FRAME,
                "sends what is no frame: {error}"
            );
        }
        Ok(sent)
    }

    fn receive_both(&mut self, first: &mut [u8], second: &mut [u8]) -> io::Result<Received> {
        let rest = &self.bytes[self.taken..];
        let piece = &rest[..rest.len().min(self.piece).min(first.len() + second.len())];
        if piece.is_empty() {
            return Ok(Received::Closed);
        }
        let (head, tail) = piece.split_at(piece.len().min(first.len()));
        first[..head.len()].copy_from_slice(head);
        second[..tail.len()].copy_from_slice(tail);
        self.taken += piece.len();
        Ok(Received::Bytes(piece.len()))
    }
}

/// The end of rank 0 over a stream from rank 1, which exposes so many bytes and has so many credits.
pub(super) fn endpoint(
    bytes: Vec<u8>,
    piece: usize,
    exposed: usize,
    credits: u16,
) -> Credited<SocketLink<Fed>> {
    let socket = File::open("/dev/null").expect("every machine has it");
    let fed = Fed { socket, bytes, taken: 0, piece: piece.max(1) };
    let link = SocketLink::over(0, vec![fed]).expect("one stream is not watched");
    Credited::new(link.exposing(exposed), credits)
}

/// Frames of a fixed length each, so that changed bytes stay frames: kind, handler, words, credits, and four words.
pub(super) fn frames(records: &[u8]) -> Vec<u8> {
    const RECORD: usize = 5 + 32;
    let mut bytes = Vec::new();
    for record in records.chunks(RECORD) {
        let mut whole = [0; RECORD];
        whole[..record.len()].copy_from_slice(record);
        let kind = match whole[0] % 6 {
            0 => FrameKind::Request,
            1 => FrameKind::Reply,
            2 => FrameKind::Credit,
            3 => FrameKind::Get,
            4 => FrameKind::Stored,
            _ => FrameKind::Got,
        };
        let tag = u32::from(whole[1]) | u32::from(whole[2] % 5) << 8;
        let mut words = [0; 4];
        for (word, from) in words.iter_mut().zip(whole[5..].as_chunks().0) {
            *word = u64::from_le_bytes(*from);
        }
        let Ok(tag) = Tag::from_bits(tag) else { continue };
        let credits = u16::from_le_bytes([whole[3], whole[4]]);
        let (encoded, len) =
            Frame { kind, credits, message: Message::from_parts(tag, words) }.encode();
        bytes.extend_from_slice(&encoded[..len]);
    }
    bytes
}

/// A record of [`frames`].
pub(super) fn record(kind: u8, handler: u8, words: &[u64]) -> Vec<u8> {
    let mut bytes = vec![kind, handler, words.len() as u8, 0, 0];
    let filled = words.iter().chain(&[0; 4]).take(4);
    bytes.extend(filled.flat_map(|word| word.to_le_bytes()));
    bytes
}

/// A frame's bytes.
pub(super) fn encoded(kind: FrameKind, handler: u8, words: &[u64]) -> Vec<u8> {
    let mut all = [0; 4];
    all[..words.len()].copy_from_slice(words);
    let message = match words.len() {
        0 => Message::new(HandlerId(handler), []),
        1 => Message::new(HandlerId(handler), [all[0]]),
        2 => Message::new(HandlerId(handler), [all[0], all[1]]),
        3 => Message::new(HandlerId(handler), [all[0], all[1], all[2]]),
        _ => Message::new(HandlerId(handler), all),
    };
    let (bytes, len) = Frame { kind, credits: 0, message }.encode();
    bytes[..len].to_vec()
}

/// A clock that stands still.
#[derive(Debug)]
pub(super) struct Still;

impl Timer for Still {
    fn stamp(&self) -> Stamp {
        Stamp::from_ticks(0)
    }

    fn work(&self, _iterations: u32) {}
}
