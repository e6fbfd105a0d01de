//! The greeting: it says who greets, and proves that it belongs to the run without telling the secret.
//!
//! ```text
//! 0      8        12    16     32     64
//! magic  version  rank  nonce  proof            (little endian)
//! ```
//!
//! A pair greets three times: the caller calls, the listener answers, and the caller confirms. The proof is HMAC-SHA-256,
//! keyed with the run's secret, over everything before it, which of the three it is, the rank that is greeted, the
//! listener's address, and the nonce of the greeting before. Caller and listener each draw a nonce, so answer and
//! confirmation prove that the other side knows the secret now: what was heard before belongs to other nonces, and what
//! one side says is never what it must hear. A call alone lets nobody in; it keeps strangers from taking the listener's
//! time.

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
const BEGIN: [u8; 12] = *b"bandgap\n\x03\0\0\0";

/// Which of a pair's greetings it is.
#[derive(Clone, Copy)]
pub(super) enum Step {
    /// The caller's first.
    Call = 1,
    /// The listener's.
    Answer = 2,
    /// The caller's second.
    Confirm = 3,
}

/// A number that is used once.
pub type Nonce = [u8; 16];
/// What is heard before a call.
pub(super) const SILENCE: Nonce = [0; 16];

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
    /// The greeting that rank `from` sends to rank `to`, with a nonce of its own, after it has `heard` that of the other
    /// side.
    pub(super) fn greeting(
        &self,
        step: Step,
        [from, to]: [Rank; 2],
        nonce: &Nonce,
        heard: &Nonce,
    ) -> [u8; HELLO] {
        let mut bytes = [0; HELLO];
        bytes[..12].copy_from_slice(&BEGIN);
        bytes[12..16].copy_from_slice(&(from as u32).to_le_bytes());
        bytes[16..SAID].copy_from_slice(nonce);
        let proof = self.keyed(&bytes[..SAID], step, to, heard).finalize().into_bytes();
        bytes[SAID..].copy_from_slice(&proof);
        bytes
    }

    /// Whether it proves that its sender knows the secret and has heard the nonce that rank `to` has `said`. Takes a time
    /// that does not depend on where proofs differ.
    pub(super) fn proves(&self, hello: &Hello, step: Step, to: Rank, said: &Nonce) -> bool {
        self.keyed(&hello.0[..SAID], step, to, said).verify_slice(&hello.0[SAID..]).is_ok()
    }

    fn keyed(&self, said: &[u8], step: Step, to: Rank, before: &Nonce) -> Hmac<Sha256> {
        let mut keyed =
            Hmac::<Sha256>::new_from_slice(&self.secret).expect("a key may have any length");
        keyed.update(said);
        keyed.update(&[step as u8]);
        keyed.update(&(to as u32).to_le_bytes());
        keyed.update(before);
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
    pub(super) fn nonce(&self) -> Nonce {
        self.0[16..].first_chunk().copied().unwrap_or_default()
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

    fn is(step: Step, bytes: &[u8; HELLO], to: Rank, said: &Nonce) -> bool {
        Hello::decode(bytes).is_some_and(|hello| known().proves(&hello, step, to, said))
    }

    #[test]
    fn one_wrong_byte_is_noticed_wherever_it_is() {
        let known = known();
        for (step, [from, to]) in
            [(Step::Call, [3, 0]), (Step::Answer, [0, 3]), (Step::Confirm, [3, 0])]
        {
            let right = known.greeting(step, [from, to], &NONCE, &SILENCE);
            assert!(is(step, &right, to, &SILENCE));
            assert!(!is(step, &right, to, &NONCE));
            for at in 0..HELLO {
                let mut wrong = right;
                wrong[at] ^= 1;
                assert!(!is(step, &wrong, to, &SILENCE), "byte {at}");
            }
            // It is no other one of the three.
            let others = [Step::Call, Step::Answer, Step::Confirm].into_iter();
            let other = others.filter(|of| *of as u8 != step as u8);
            assert!(other.into_iter().all(|other| !is(other, &right, to, &SILENCE)));
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
            prop_assert!(!is(Step::Call, &bytes, 0, &SILENCE));
        }
    }
}
