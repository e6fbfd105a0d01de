//! The header of a datagram, and how a datagram proves where it comes from.
//!
//! ```text
//! 0    8       12   16    20     21        24
//! tag  number  ack  room  flags  reserved  payload      (little endian)
//! ```
//!
//! * tag: a hash of everything after it, keyed for this run, this pair of ranks and this direction.
//!   The tag is wrong if the datagram comes from a stranger or another pair, was sent back to its
//!   sender, was cut, or was changed on its way. The key is as secret as the run's secret. The hash
//!   is fast, and not proof against somebody who can read the traffic.
//! * number: this datagram's number if it has a payload, else that of the sender's next datagram
//!   with one.
//! * ack: the number that the sender of this expects next; everything before it has arrived.
//! * room: how much the sender of this can hold, in units of [`super::charge`].

use bandgap_comm::Rank;
use twox_hash::XxHash3_64;

use crate::Secret;

/// Bytes before the payload.
pub(super) const HEADER: usize = 24;
/// Bytes of the longest datagram: the most that UDP over IPv4 carries, and the loopback interface
/// does not fragment it. A call costs the same for few bytes as for many.
pub(super) const MAX_DATAGRAM: usize = 65_507;
/// Bytes of the longest payload.
pub(super) const MAX_PAYLOAD: usize = MAX_DATAGRAM - HEADER;

const TAG: usize = 8;

/// Changes whenever the header or the frames change: different versions refuse each other.
const VERSION: &[u8; 16] = b"bandgap udp 1\n\0\0";

/// Flags of a datagram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Flags(pub(super) u8);

impl Flags {
    pub(super) const NONE: Self = Self(0);
    /// Asks the receiver to say at once what has arrived.
    pub(super) const ASK: Self = Self(1);
    /// Says that everything not acknowledged here was lost, if it was sent before this was asked
    /// for.
    pub(super) const LOST: Self = Self(2);
    /// Says that the sender closes: it sends no number from this one on, and repeats nothing.
    pub(super) const CLOSE: Self = Self(4);

    const ALL: u8 = 7;

    pub(super) fn has(self, flag: Self) -> bool {
        self.0 & flag.0 != 0
    }
}

/// A header, without its tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) number: u32,
    pub(super) ack: u32,
    pub(super) room: u32,
    pub(super) flags: Flags,
}

/// The key of one direction of a pair of ranks.
#[derive(Clone, Copy)]
#[cfg_attr(test, derive(PartialEq))]
pub(super) struct Key(u64);

impl std::fmt::Debug for Key {
    /// Leaves the key out.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

impl Key {
    pub(super) fn new(secret: &Secret, from: Rank, to: Rank) -> Self {
        let mut bytes = [0; 48];
        bytes[..16].copy_from_slice(VERSION);
        bytes[16..32].copy_from_slice(secret);
        bytes[32..40].copy_from_slice(&(from as u64).to_le_bytes());
        bytes[40..].copy_from_slice(&(to as u64).to_le_bytes());
        Self(XxHash3_64::oneshot(&bytes))
    }

    /// Writes the header and the tag in front of the payload.
    #[inline]
    pub(super) fn seal(self, datagram: &mut [u8], header: &Header) {
        datagram[8..12].copy_from_slice(&header.number.to_le_bytes());
        datagram[12..16].copy_from_slice(&header.ack.to_le_bytes());
        datagram[16..20].copy_from_slice(&header.room.to_le_bytes());
        datagram[20..HEADER].copy_from_slice(&[header.flags.0, 0, 0, 0]);
        let tag = self.tag(datagram);
        datagram[..TAG].copy_from_slice(&tag.to_le_bytes());
    }

    #[inline]
    fn tag(self, datagram: &[u8]) -> u64 {
        XxHash3_64::oneshot_with_seed(self.0, &datagram[TAG..])
    }

    /// The header and the payload; `None` if the datagram does not belong to this key.
    #[inline]
    pub(super) fn open(self, datagram: &[u8]) -> Option<(Header, &[u8])> {
        let (tag, _) = datagram.split_first_chunk()?;
        if u64::from_le_bytes(*tag) != self.tag(datagram) {
            return None;
        }
        let (header, payload) = datagram.split_first_chunk::<HEADER>()?;
        let &[_, _, number, ack, room, [flags, 0, 0, 0]] = header.as_chunks().0 else {
            return None;
        };
        let [number, ack, room] = [number, ack, room].map(u32::from_le_bytes);
        let header = Header { number, ack, room, flags: Flags(flags) };
        (flags & !Flags::ALL == 0).then_some((header, payload))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECRET: Secret = *b"0123456789abcdef";

    fn sealed(key: Key, header: &Header, payload: &[u8]) -> Vec<u8> {
        let mut datagram = vec![0; HEADER];
        datagram.extend_from_slice(payload);
        key.seal(&mut datagram, header);
        datagram
    }

    fn header() -> impl Strategy<Value = Header> {
        (any::<[u32; 3]>(), 0..=Flags::ALL).prop_map(|([number, ack, room], flags)| Header {
            number,
            ack,
            room,
            flags: Flags(flags),
        })
    }

    #[test]
    fn fields_stand_where_the_layout_says() {
        let header = Header { number: 1, ack: 0x0203, room: 0xFFFF_FFFF, flags: Flags::CLOSE };
        let datagram = sealed(Key::new(&SECRET, 0, 1), &header, b"rest");
        assert_eq!(datagram[8..], *b"\x01\0\0\0\x03\x02\0\0\xFF\xFF\xFF\xFF\x04\0\0\0rest");
    }

    #[test]
    fn keys_differ_by_run_and_by_direction_and_are_not_shown() {
        let other = *b"0123456789abcdeg";
        let keys = [
            Key::new(&SECRET, 0, 1).0,
            Key::new(&SECRET, 1, 0).0,
            Key::new(&SECRET, 0, 2).0,
            Key::new(&SECRET, 2, 1).0,
            Key::new(&other, 0, 1).0,
        ];
        for (i, key) in keys.iter().enumerate() {
            assert!(!keys[..i].contains(key));
        }
        assert_eq!(format!("{:?}", Key::new(&SECRET, 0, 1)), "Key");
    }

    proptest! {
        #[test]
        fn what_is_sealed_opens_and_nothing_else_does(
            header in header(),
            payload in prop::collection::vec(any::<u8>(), 0..300),
            bit in any::<prop::sample::Index>(),
            cut in any::<prop::sample::Index>(),
        ) {
            let key = Key::new(&SECRET, 0, 1);
            let datagram = sealed(key, &header, &payload);
            prop_assert_eq!(key.open(&datagram), Some((header, &payload[..])));
            prop_assert_eq!(Key::new(&SECRET, 1, 0).open(&datagram), None);
            prop_assert_eq!(key.open(&datagram[..cut.index(datagram.len())]), None);
            let mut flipped = datagram.clone();
            let bit = bit.index(8 * flipped.len());
            flipped[bit / 8] ^= 1 << (bit % 8);
            prop_assert_eq!(key.open(&flipped), None);
        }

        #[test]
        fn a_sealed_datagram_with_unknown_flags_or_reserved_bytes_does_not_open(
            header in header(), at in 20..HEADER, value in 8..=255_u8,
        ) {
            let key = Key::new(&SECRET, 0, 1);
            let mut datagram = sealed(key, &header, b"payload");
            datagram[at] = value;
            let tag = key.tag(&datagram);
            datagram[..TAG].copy_from_slice(&tag.to_le_bytes());
            prop_assert_eq!(key.open(&datagram), None);
        }
    }
}
