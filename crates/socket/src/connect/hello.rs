//! The greeting: it says who greets, and proves that it belongs to the run without telling the secret.
//!
//! ```text
//! 0      8        12    16     32     64
//! magic  version  rank  nonce  proof            (little endian)
//! ```
//!
//! The proof is HMAC-SHA-256, keyed with the run's secret, over everything before it, the side that greets, the rank
//! that is greeted, and the listener's address. The caller draws the nonce, and the listener's answer repeats it. So
//! an answer proves that the listener knows the secret now: one that was heard before has another nonce. A caller's
//! greeting is of no use to whoever hears it in a dead listener's place: it is good for that address, that pair and
//! that side only.

use std::io;
use std::os::fd::AsFd;

use bandgap_comm::Rank;
use hmac::{Hmac, KeyInit, Mac};
use rustix::net::{RecvFlags, SendFlags, recv, send};
use rustix::rand::{GetRandomFlags, getrandom};
use sha2::Sha256;

use super::Secret;
use crate::call::at_once;

/// Bytes of a greeting.
const HELLO: usize = 64;
/// Bytes before the proof.
const SAID: usize = 32;

/// Magic and version. The version changes whenever the greeting or the frames change: different
/// versions do not connect.
const BEGIN: [u8; 12] = *b"bandgap\n\x02\0\0\0";

/// Who greets in a pair.
pub(super) enum GreetingRole {
    Caller = 1,
    Listener = 2,
}

/// A number that is used once.
pub type Nonce = [u8; 16];

/// A nonce that nobody can foresee.
pub fn nonce() -> io::Result<Nonce> {
    let mut nonce = Nonce::default();
    getrandom(&mut nonce, GetRandomFlags::empty())?;
    Ok(nonce)
}

/// What both sides of a pair know: the run's secret, and the address where one listens. It cannot be formatted, so
/// the secret is never shown.
pub(super) struct Known {
    pub(super) secret: Secret,
    pub(super) listener: String,
}

impl Known {
    /// The greeting that rank `from` sends to rank `to`: the caller's call, or the listener's answer.
    pub(super) fn greeting(
        &self,
        side: GreetingRole,
        [from, to]: [Rank; 2],
        nonce: &Nonce,
    ) -> [u8; HELLO] {
        let mut bytes = [0; HELLO];
        bytes[..12].copy_from_slice(&BEGIN);
        bytes[12..16].copy_from_slice(&(from as u32).to_le_bytes());
        bytes[16..SAID].copy_from_slice(nonce);
        let proof = self.keyed(&bytes[..SAID], side, to).finalize().into_bytes();
        bytes[SAID..].copy_from_slice(&proof);
        bytes
    }

    /// Takes a time that does not depend on where proofs differ.
    pub(super) fn proves(&self, hello: &Hello, side: GreetingRole, to: Rank) -> bool {
        self.keyed(&hello.0[..SAID], side, to).verify_slice(&hello.0[SAID..]).is_ok()
    }

    fn keyed(&self, said: &[u8], side: GreetingRole, to: Rank) -> Hmac<Sha256> {
        let mut keyed =
            Hmac::<Sha256>::new_from_slice(&self.secret).expect("a key may have any length");
        keyed.update(said);
        keyed.update(&[side as u8]);
        keyed.update(&(to as u32).to_le_bytes());
        keyed.update(self.listener.as_bytes());
        keyed
    }
}

/// A greeting that arrived: of the right version, and not proven.
pub struct Hello([u8; HELLO]);

impl Hello {
    /// A greeting of this version.
    pub fn decode(bytes: &[u8; HELLO]) -> Option<Self> {
        bytes.starts_with(&BEGIN).then_some(Self(*bytes))
    }

    /// The rank that it says it is of.
    pub fn rank(&self) -> u32 {
        let [.., a, b, c, d] = *self.0.first_chunk::<16>().unwrap_or(&[0; 16]);
        u32::from_le_bytes([a, b, c, d])
    }

    /// Its nonce.
    pub(super) fn nonce(&self) -> &[u8] {
        &self.0[16..SAID]
    }
}

/// Sends a greeting. A new connection has room for all of it.
pub(super) fn say(greeting: &[u8; HELLO], to: impl AsFd) -> io::Result<()> {
    match send(to, greeting, SendFlags::NOSIGNAL)? {
        HELLO => Ok(()),
        _ => Err(io::ErrorKind::WriteZero.into()),
    }
}

/// A greeting that is being read.
pub(super) struct Reading {
    bytes: [u8; HELLO],
    len: usize,
}

/// What was found in place of a greeting, if something came.
pub(super) const STRANGE: &str = "something else answers at its address";

impl Reading {
    pub(super) const BEGUN: Self = Self { bytes: [0; HELLO], len: 0 };

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

    const NONCE: Nonce = *b"a nonce of 16 by";

    fn known() -> Known {
        Known { secret: *b"0123456789abcdef", listener: "127.0.0.1:4000".to_owned() }
    }

    fn is_call(bytes: &[u8; HELLO], known: &Known, listener: Rank) -> bool {
        let calls = |hello| known.proves(&hello, GreetingRole::Caller, listener);
        Hello::decode(bytes).is_some_and(calls)
    }

    fn is_answer(bytes: &[u8; HELLO], known: &Known) -> bool {
        let answers = |hello| known.proves(&hello, GreetingRole::Listener, 3);
        Hello::decode(bytes).is_some_and(answers)
    }

    #[test]
    fn one_wrong_byte_is_noticed_wherever_it_is() {
        let known = known();
        let call = known.greeting(GreetingRole::Caller, [3, 0], &NONCE);
        let answer = known.greeting(GreetingRole::Listener, [0, 3], &NONCE);
        assert!(is_call(&call, &known, 0) && is_answer(&answer, &known));
        for at in 0..HELLO {
            let (mut call, mut answer) = (call, answer);
            call[at] ^= 1;
            answer[at] ^= 1;
            assert!(!is_call(&call, &known, 0), "byte {at}");
            assert!(!is_answer(&answer, &known), "byte {at}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_are_of_the_version_that_they_say_and_prove_nothing(
            mut bytes in prop::collection::vec(any::<u8>(), HELLO), ours: bool,
        ) {
            if ours {
                bytes[..12].copy_from_slice(&BEGIN);
            }
            let bytes: [u8; HELLO] = bytes.try_into().unwrap();
            let hello = Hello::decode(&bytes);
            prop_assert_eq!(hello.is_some(), ours);
            prop_assert!(!is_call(&bytes, &known(), 0));
        }
    }
}
