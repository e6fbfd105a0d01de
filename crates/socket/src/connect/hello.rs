//! The greeting: it says who calls, and proves that the caller belongs to the run.
//!
//! ```text
//! 0      8        12    16      32
//! magic  version  rank  secret        (little endian)
//! ```

use std::fmt;
use std::io;
use std::os::fd::AsFd;

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

use super::Secret;

/// Bytes of a greeting.
pub(super) const HELLO: usize = 32;

const MAGIC: [u8; 8] = *b"bandgap\n";

/// Changes whenever the greeting or the frames change: different versions do not connect.
const VERSION: u32 = 1;

/// A greeting.
#[derive(Clone, Copy)]
pub(super) struct Hello {
    pub(super) rank: u32,
    pub(super) secret: Secret,
}

impl fmt::Debug for Hello {
    /// Leaves the secret out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hello").field("rank", &self.rank).finish_non_exhaustive()
    }
}

impl Hello {
    pub(super) fn encode(&self) -> [u8; HELLO] {
        let mut bytes = [0; HELLO];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.rank.to_le_bytes());
        bytes[16..].copy_from_slice(&self.secret);
        bytes
    }

    pub(super) fn decode(bytes: &[u8; HELLO]) -> Option<Self> {
        let (magic, rest) = bytes.split_first_chunk::<8>()?;
        let (version, rest) = rest.split_first_chunk::<4>()?;
        let (rank, secret) = rest.split_first_chunk::<4>()?;
        let secret = secret.first_chunk::<16>()?;
        let known = *magic == MAGIC && u32::from_le_bytes(*version) == VERSION;
        known.then_some(Self { rank: u32::from_le_bytes(*rank), secret: *secret })
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
#[derive(Debug, Default)]
pub(super) struct Reading {
    bytes: [u8; HELLO],
    len: usize,
}

/// What a caller has said so far.
#[derive(Debug)]
pub(super) enum Said {
    /// Not all of a greeting yet.
    Nothing,
    /// A greeting, not checked yet.
    Hello(Hello),
    /// Something other than a greeting.
    Strange,
    /// The connection is closed.
    Left,
}

impl Reading {
    /// Reads what has arrived of the greeting, but no byte beyond it: frames may follow.
    pub(super) fn go_on(&mut self, from: impl AsFd) -> Said {
        loop {
            match recv(&from, &mut self.bytes[self.len..], RecvFlags::DONTWAIT) {
                Ok((0, _)) => return Said::Left,
                Ok((more, _)) => self.len += more,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Said::Nothing,
                Err(_) => return Said::Left,
            }
            if self.len == HELLO {
                return Hello::decode(&self.bytes).map_or(Said::Strange, Said::Hello);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_secret_is_never_shown() {
        let hello = Hello { rank: 3, secret: *b"secretsecretsecr" };
        assert_eq!(format!("{hello:?}"), "Hello { rank: 3, .. }");
    }

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
                bytes[..8].copy_from_slice(&MAGIC);
                bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
            }
            let hello = Hello::decode(&bytes);
            prop_assert_eq!(hello.is_some(), ours);
            prop_assert!(hello.is_none_or(|hello| hello.encode() == bytes));
        }
    }
}
