//! The greeting: it says who calls, and proves that the caller belongs to the run.
//!
//! ```text
//! 0      8        12    16      32
//! magic  version  rank  secret        (little endian)
//! ```

use std::io;
use std::os::fd::AsFd;

use rustix::net::{RecvFlags, SendFlags, recv, send};

use super::Secret;
use crate::call::at_once;

/// Bytes of a greeting.
pub(super) const HELLO: usize = 32;

/// Magic and version. The version changes whenever the greeting or the frames change: different
/// versions do not connect.
const BEGIN: [u8; 12] = *b"bandgap\n\x01\0\0\0";

/// A greeting. It cannot be formatted, so the secret is never shown.
#[derive(Clone, Copy)]
pub(super) struct Hello {
    pub(super) rank: u32,
    pub(super) secret: Secret,
}

impl Hello {
    pub(super) fn encode(&self) -> [u8; HELLO] {
        let mut bytes = [0; HELLO];
        bytes[..12].copy_from_slice(&BEGIN);
        bytes[12..16].copy_from_slice(&self.rank.to_le_bytes());
        bytes[16..].copy_from_slice(&self.secret);
        bytes
    }

    pub(super) fn decode(bytes: &[u8; HELLO]) -> Option<Self> {
        let (rank, secret) = bytes.strip_prefix(&BEGIN)?.split_first_chunk()?;
        Some(Self { rank: u32::from_le_bytes(*rank), secret: *secret.first_chunk()? })
    }

    /// Whether the secrets are equal. The time does not depend on where they differ, so a stranger
    /// cannot find the secret byte by byte.
    pub(super) fn shares_secret(&self, other: &Self) -> bool {
        let pairs = self.secret.iter().zip(&other.secret);
        std::hint::black_box(pairs.fold(0, |differ, (a, b)| differ | (a ^ b))) == 0
    }

    pub(super) fn is(&self, other: &Self) -> bool {
        self.shares_secret(other) && self.rank == other.rank
    }

    /// Sends the greeting. A new connection has room for all of it.
    pub(super) fn say(&self, to: impl AsFd) -> io::Result<()> {
        match send(to, &self.encode(), SendFlags::NOSIGNAL)? {
            HELLO => Ok(()),
            _ => Err(io::ErrorKind::WriteZero.into()),
        }
    }
}

/// A greeting that is being read.
#[derive(Default)]
pub(super) struct Reading {
    bytes: [u8; HELLO],
    len: usize,
}

/// What was found in place of a greeting, if something came.
pub(super) const STRANGE: &str = "something else answers at its address";

impl Reading {
    /// Reads what has arrived of the greeting, but no byte beyond it: frames may follow. `None`
    /// until it is complete. Fails with what was found in its place.
    pub(super) fn go_on(&mut self, from: impl AsFd) -> Result<Option<Hello>, &'static str> {
        while self.len < HELLO {
            match at_once(|| recv(&from, &mut self.bytes[self.len..], RecvFlags::DONTWAIT)) {
                Ok(None) => return Ok(None),
                Ok(Some((more, _))) if more > 0 => self.len += more,
                _ => return Err("it closed the connection without an answer"),
            }
        }
        Hello::decode(&self.bytes).map(Some).ok_or(STRANGE)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_wrong_byte_is_noticed_wherever_it_is() {
        let hello = Hello { rank: 3, secret: *b"0123456789abcdef" };
        for at in 0..HELLO {
            let mut bytes = hello.encode();
            bytes[at] ^= 1;
            assert!(!Hello::decode(&bytes).is_some_and(|other| other.is(&hello)), "byte {at}");
        }
        assert!(Hello::decode(&hello.encode()).is_some_and(|other| other.is(&hello)));
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_decode_to_what_they_say(mut bytes in any::<[u8; HELLO]>(), ours: bool) {
            if ours {
                bytes[..12].copy_from_slice(&BEGIN);
            }
            let hello = Hello::decode(&bytes);
            prop_assert_eq!(hello.is_some(), ours);
            prop_assert!(hello.is_none_or(|hello| hello.encode() == bytes));
        }
    }
}
