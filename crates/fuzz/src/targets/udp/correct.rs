//! What an input says, and what a correct end makes of it.

use std::sync::OnceLock;

use bandgap_socket::udp::sealed;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{RECORD, SECRET};

/// What a record of an input says. Numbers are relative to the first.
#[derive(Clone)]
pub(super) struct Said {
    /// The place and the change, if a stranger changed it.
    pub(super) stranger: Option<(u8, u8)>,
    pub(super) number: i32,
    pub(super) ack: i32,
    room: u32,
    flags: u8,
    pub(super) payload: &'static [u8],
}

/// What the input says, in order. The payload of each is another one, so that no two can be mistaken.
pub(super) fn said(input: &[u8]) -> Vec<Said> {
    let of = |(place, record): (usize, &[u8])| {
        let mut whole = [0; RECORD];
        whole[..record.len()].copy_from_slice(record);
        // Three bytes with a sign.
        let wide = |bytes: &[u8]| i32::from_le_bytes([0, bytes[0], bytes[1], bytes[2]]) >> 8;
        let room = match whole[7] {
            0 => 1 << 17,
            byte => u32::from(byte) << 13,
        };
        let len = usize::from(u16::from_le_bytes([whole[9], whole[10]])).min(LONGEST);
        Said {
            stranger: (whole[0] % 8 == 1).then_some((whole[1], whole[2] | 1)),
            number: wide(&whole[1..4]),
            ack: wide(&whole[4..7]),
            room,
            flags: whole[8],
            payload: &noise()[300 * place..][..len],
        }
    };
    input.chunks(RECORD).take(MOST).enumerate().map(of).collect()
}

/// Records of an input, at most, and bytes of a payload.
const MOST: usize = 200;
const LONGEST: usize = 65_400;

/// Bytes without a pattern: payloads of several bytes that begin at other places differ.
fn noise() -> &'static [u8] {
    static NOISE: OnceLock<Vec<u8>> = OnceLock::new();
    NOISE.get_or_init(|| {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        (0..300 * MOST + LONGEST).map(|_| random.random()).collect()
    })
}

impl Said {
    pub(super) fn datagram(&self, first: u32) -> Vec<u8> {
        let at = |number: i32| first.wrapping_add_signed(number);
        let fields = [at(self.number), at(self.ack), self.room];
        let mut datagram = sealed(&SECRET, 1, 0, fields, self.flags, self.payload);
        if let Some((place, change)) = self.stranger {
            let at = usize::from(place) % datagram.len();
            datagram[at] ^= change;
        }
        datagram
    }
}

/// Bounds of the protocol, written down again: a peer that keeps to it never exceeds them.
const ROOM: std::ops::RangeInclusive<u32> = 65_536..=425_984;
/// Numbers that a peer can be ahead: as many of the shortest datagrams, which take 1072 bytes of a buffer, fit into it.
const AHEAD: i32 = 425_984 / 1072;
const CLOSE: u8 = 4;
const FLAGS: u8 = 7;

/// A correct end, by definition: sound datagrams are taken in the order of their numbers, each once.
#[derive(Default)]
pub(super) struct Correct {
    /// The number that comes next.
    pub(super) expected: i32,
    /// Numbers of this end that the peer has acknowledged, of those that it has sent.
    pub(super) acknowledged: i32,
    sent: i32,
    /// The number at which the peer closed.
    end: Option<i32>,
    /// Datagrams that were refused, that had come before, and that others before them were missing of.
    pub(super) refused: u64,
    pub(super) again: u64,
    pub(super) early: u64,
}

impl Correct {
    /// An end that has sent so many.
    pub(super) fn with(sent: u8) -> Self {
        Self { sent: sent.into(), ..Self::default() }
    }

    /// Takes a datagram. Returns the bytes that arrive by it.
    pub(super) fn takes(&mut self, said: &Said) -> Option<&'static [u8]> {
        let closes = said.flags & CLOSE != 0;
        let sound = said.stranger.is_none()
            && said.flags <= FLAGS
            && ROOM.contains(&said.room)
            && said.number - self.expected <= AHEAD
            && said.ack <= self.sent
            && (said.payload.is_empty() || !closes);
        if !sound {
            self.refused += 1;
            return None;
        }
        self.acknowledged = self.acknowledged.max(said.ack);
        let next = said.number == self.expected;
        if closes && said.number >= self.expected {
            self.end = Some(said.number);
        }
        if said.payload.is_empty() {
            return None;
        }
        self.expected += i32::from(next);
        self.again += u64::from(!next && said.number < self.expected);
        self.early += u64::from(!next && said.number > self.expected);
        next.then_some(said.payload)
    }

    /// Whether the peer has closed, and all that it sent has arrived.
    pub(super) fn is_over(&self) -> bool {
        self.end == Some(self.expected)
    }
}
