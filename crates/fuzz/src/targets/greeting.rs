//! The greeting of whoever calls a rank.

use std::io::Write;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::time::Instant;

use bandgap_comm::{CommError, Rank, Rendezvous};
use bandgap_socket::unix::Unix;
use bandgap_socket::{Hello, Secret, SocketError};

use crate::{Shape, Target, Verdict};

pub(super) const GREETING: Target = Target {
    name: "greeting",
    about: "greetings of strangers at a rank's listener",
    shape: Shape::Bytes,
    real: &[],
    made,
    wrong,
    words: &[],
    read,
    share: 5,
};

/// A greeting with an answer that nobody who does not know the secret can give.
fn whole() -> Vec<u8> {
    [&b"bandgap\n\x02\0\0\0\x01\0\0\0"[..], &[7; 48]].concat()
}

fn made() -> Vec<Vec<u8>> {
    vec![whole(), whole().repeat(3)]
}

fn wrong() -> Vec<Vec<u8>> {
    vec![whole()[..40].to_vec(), b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec()]
}

/// Where rank 0 of two waits for rank 1, in whose place a stranger calls. There is no time for more.
struct Meeting<'a> {
    said: &'a [u8],
    stranger: Option<UnixStream>,
}

impl Rendezvous for Meeting<'_> {
    fn rank(&self) -> Rank {
        0
    }

    fn size(&self) -> usize {
        2
    }

    fn secret(&self) -> Secret {
        *b"0123456789abcdef"
    }

    fn deadline(&self) -> Instant {
        Instant::now()
    }

    fn exchange(&mut self, address: String) -> Result<Vec<String>, CommError> {
        let lost = |source| CommError::System { operation: "call", source };
        let there = SocketAddr::from_abstract_name(&address).map_err(lost)?;
        let mut stranger = UnixStream::connect_addr(&there).map_err(lost)?;
        // A socket's buffer takes as much; what does not fit is not read either.
        stranger.write_all(&self.said[..self.said.len().min(8192)]).map_err(lost)?;
        self.stranger = Some(stranger);
        Ok(vec![address.clone(), address])
    }
}

fn read(input: &[u8]) -> Verdict {
    let mut meeting = Meeting { said: input, stranger: None };
    let met = Unix::link(&mut meeting).map(drop);
    let missing = match &met {
        Err(CommError::Connect(error)) => matches!(
            error.downcast_ref(),
            Some(SocketError::Missing { missing }) if *missing == [1]
        ),
        _ => false,
    };
    assert!(missing, "a stranger was let in, or did harm: {met:?}");
    match input.first_chunk().and_then(Hello::decode) {
        Some(_) => Verdict::Accepted,
        None => Verdict::Refused,
    }
}
