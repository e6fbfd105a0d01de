//! Who has no business in a run does not get in, and does not disturb it.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use bandgap_comm::{Credited, Endpoint, Link};
use bandgap_socket::{SocketError, SocketKind};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::mesh::{self, SECRET, deadline};

/// Who greets whom, and in which step: 1 calls, 2 answers, 3 confirms.
type Ranks = (u32, u32, u8);

/// A greeting as it should be, with its fields open to change. *Source*: the layout in `connect/hello.rs`.
fn hello(
    (magic, version): (&[u8; 8], u32),
    (from, to, step): Ranks,
    [nonce, heard]: [&[u8]; 2],
    address: &str,
    secret: &[u8; 16],
) -> Vec<u8> {
    let said = [&magic[..], &version.to_le_bytes(), &from.to_le_bytes(), nonce].concat();
    let mut proof = Hmac::<Sha256>::new_from_slice(secret).unwrap();
    for part in [&said[..], &[step], &to.to_le_bytes(), heard, address.as_bytes()] {
        proof.update(part);
    }
    [&said[..], &proof.finalize().into_bytes()].concat()
}

const NONCE: &[u8; 16] = b"sixteen bytes...";
const SILENCE: &[u8; 16] = &[0; 16];
const FIRST: [&[u8]; 2] = [NONCE, SILENCE];
const RIGHT: (&[u8; 8], u32) = (MAGIC, 3);
/// Bytes of a greeting.
const HELLO: usize = 64;

const MAGIC: &[u8; 8] = b"bandgap\n";

/// A name that no other test and no other process uses.
fn name() -> String {
    static NAMES: AtomicU64 = AtomicU64::new(0);
    format!("bandgap-test-{}-{}", std::process::id(), NAMES.fetch_add(1, Ordering::Relaxed))
}

#[test]
fn strangers_are_dropped_and_ranks_get_in() {
    const SIZE: usize = 3;
    // Before any rank calls, the listener of rank 0 has these callers waiting in front.
    let said = |address: &str| {
        let call = |begin, from, secret| hello(begin, (from, 0, 1), FIRST, address, secret);
        [
            b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nThe rest is as long as a greeting would be."
                .to_vec(),
            call((b"bandgap?", 3), 1, &SECRET),
            call((MAGIC, 2), 1, &SECRET),
            call(RIGHT, 1, b"0123456789abcdeg"),
            call(RIGHT, 0, &SECRET),
            call(RIGHT, SIZE as u32, &SECRET),
            call(RIGHT, u32::MAX, &SECRET),
            // Meant for another rank, for another address, and an answer.
            hello(RIGHT, (1, 2, 1), FIRST, address, &SECRET),
            hello(RIGHT, (1, 0, 1), FIRST, "127.0.0.1:1", &SECRET),
            hello(RIGHT, (1, 0, 2), FIRST, address, &SECRET),
            call(RIGHT, 1, &SECRET)[..HELLO - 1].to_vec(), // slow
            Vec::new(),                                    // silent
        ]
    };
    let mut strangers: Vec<TcpStream> = Vec::new();
    let mut told = Vec::new();
    let links = mesh::links_amid::<TcpListener>(SIZE, |addresses| {
        for bytes in said(&addresses[0]) {
            let mut stranger = TcpStream::connect(&addresses[0]).unwrap();
            stranger.write_all(&bytes).unwrap();
            strangers.push(stranger);
        }
        drop(TcpStream::connect(&addresses[0]).unwrap()); // leaves at once
        told = addresses.to_vec();
    });

    // None of the strangers was answered, and all are dropped by now.
    for (stranger, said) in strangers.iter_mut().zip(&said("")) {
        stranger.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let answer = stranger.read(&mut [0; 64]);
        let dropped = match &answer {
            Ok(0) => true,
            Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
            Ok(_) => false,
        };
        assert!(dropped, "{answer:?} after {said:?}");
    }
    // The listeners are closed, and the ranks have each other.
    for address in told {
        assert!(TcpStream::connect(address).is_err());
    }
    let sizes: Vec<_> = links.iter().map(|link| (link.rank(), link.size())).collect();
    assert_eq!(sizes, [(0, 3), (1, 3), (2, 3)]);
}

/// A caller with whole greetings, in a rank's place.
struct Caller(TcpStream, String);

impl Caller {
    fn at(address: &str) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        Self(stream, address.to_owned())
    }

    fn says(&mut self, from: u32, step: u8, nonces: [&[u8]; 2]) {
        self.0.write_all(&hello(RIGHT, (from, 0, step), nonces, &self.1, &SECRET)).unwrap();
    }

    /// The nonce of the answer.
    fn hears(&mut self) -> [u8; 16] {
        let mut answer = [0; HELLO];
        self.0.read_exact(&mut answer).unwrap();
        answer[16..32].try_into().unwrap()
    }

    /// Waits until the other side closes the connection.
    fn is_dropped(&mut self) {
        let end = self.0.read_to_end(&mut Vec::new());
        let reset = |error: &std::io::Error| error.kind() == std::io::ErrorKind::ConnectionReset;
        assert!(end.as_ref().map_or_else(reset, |_| true), "{end:?}");
    }
}

#[test]
fn whoever_repeats_what_a_rank_has_said_is_not_let_in() {
    let (tell, told) = std::sync::mpsc::channel();
    let listener = thread::spawn(move || {
        let exchange = |own: String| {
            tell.send(own.clone()).unwrap();
            vec![own.clone(), own.clone(), own]
        };
        mesh::link::<TcpListener>(0, 3, deadline(), exchange).map(|link| link.size()).unwrap()
    });
    let address = told.recv().unwrap();
    let mut rank = Caller::at(&address);
    rank.says(1, 1, FIRST);
    let first = rank.hears();
    // Its call, and then its confirmation of the answer that it got itself; the answer sent back; none of both.
    for (step, nonces) in [(3, [NONCE, &first[..]]), (2, [&first, NONCE]), (1, FIRST)] {
        let mut again = Caller::at(&address);
        again.says(1, 1, FIRST);
        assert_ne!(again.hears(), first);
        again.says(1, step, nonces);
        again.is_dropped();
    }
    rank.says(1, 3, [NONCE, &first]);
    // All of it once more, when the rank is in.
    let mut again = Caller::at(&address);
    again.says(1, 1, FIRST);
    again.says(1, 3, [NONCE, &first]);
    again.is_dropped();
    let mut other = Caller::at(&address);
    other.says(2, 1, FIRST);
    let second = other.hears();
    other.says(2, 3, [NONCE, &second]);
    assert_eq!(listener.join().unwrap(), 3);
}

#[test]
fn a_crowd_of_silent_strangers_does_not_keep_ranks_out() {
    let mut crowd = None;
    let ranks = mesh::links_amid::<UnixListener>(2, |names| {
        let address = SocketAddr::from_abstract_name(&names[0]).unwrap();
        crowd = Some(thread::spawn(move || {
            // Until the listener has closed: by then both ranks are in, or the test fails.
            let mut callers = Vec::new();
            while let Ok(caller) = UnixStream::connect_addr(&address) {
                callers.push(caller);
                if callers.len() > 200 {
                    callers.clear();
                }
                thread::yield_now();
            }
        }));
    });
    assert_eq!(ranks.len(), 2);
    crowd.unwrap().join().unwrap();
}

#[test]
fn missing_ranks_are_named() {
    // Nobody listens at the others' names.
    let missing = |rank, deadline| {
        let alone = |own| {
            let mut names = [(); 4].map(|()| name());
            names[rank] = own;
            names.to_vec()
        };
        mesh::link::<UnixListener>(rank, 4, deadline, alone).unwrap_err()
    };
    // The deadline has passed: nobody is waited for.
    let error = missing(1, Instant::now());
    assert!(matches!(error, SocketError::Missing(ref missing) if *missing == [0]), "{error}");
    let error = missing(0, Instant::now() + Duration::from_millis(20));
    assert!(matches!(error, SocketError::Missing(ref missing) if *missing == [1, 2, 3]));
}

#[test]
fn whoever_does_not_answer_as_the_peer_is_not_the_peer() {
    // From the greeting and the address where it was heard to an answer.
    type Answer = fn(&[u8], &str) -> Vec<u8>;
    let answers: [Answer; 7] = [
        |said, at| hello(RIGHT, (0, 1, 2), [NONCE, &said[16..32]], at, b"another run's..."),
        |said, at| hello(RIGHT, (1, 1, 2), [NONCE, &said[16..32]], at, &SECRET),
        // What it was told, and what was right at another time.
        |said, _| said.to_vec(),
        |_, at| hello(RIGHT, (0, 1, 2), [NONCE, NONCE], at, &SECRET),
        |said, _| hello(RIGHT, (0, 1, 2), [NONCE, &said[16..32]], "elsewhere", &SECRET),
        |_, _| Vec::new(),
        |said, at| hello(RIGHT, (0, 1, 2), [NONCE, &said[16..32]], at, &SECRET)[..63].to_vec(),
    ];
    for answer in answers {
        let name = name();
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let in_its_place = UnixListener::bind_addr(&address).unwrap();
        let at = name.clone();
        let impostor = thread::spawn(move || {
            let (mut caller, _) = in_its_place.accept().unwrap();
            let mut greeting = [0; HELLO];
            caller.read_exact(&mut greeting).unwrap();
            caller.write_all(&answer(&greeting, &at)).unwrap();
            greeting
        });
        let theirs = name.clone();
        let error =
            mesh::link::<UnixListener>(1, 2, deadline(), |own| vec![theirs, own]).unwrap_err();
        assert!(matches!(error, SocketError::Unreachable { peer: 0, .. }), "{error}");
        let heard = impostor.join().unwrap();
        assert_eq!(
            heard[..],
            hello(RIGHT, (1, 0, 1), [&heard[16..32], SILENCE], &name, &SECRET)[..]
        );
        // It has not learnt the secret, nor any part of it.
        assert!(SECRET.windows(4).all(|part| !heard.windows(4).any(|said| said == part)));
    }
}

#[test]
fn no_call_is_like_another() {
    let heard = || {
        let name = name();
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let in_its_place = UnixListener::bind_addr(&address).unwrap();
        let impostor = thread::spawn(move || {
            let mut greeting = [0; HELLO];
            in_its_place.accept().unwrap().0.read_exact(&mut greeting).unwrap();
            greeting
        });
        mesh::link::<UnixListener>(1, 2, deadline(), |own| vec![name, own]).unwrap_err();
        impostor.join().unwrap()
    };
    assert_ne!(heard()[16..32], heard()[16..32]);
}

#[test]
fn addresses_of_ports_are_checked() {
    for text in ["", "somewhere", "127.0.0.1", "127.0.0.1:", "[::1:80"] {
        let exchange = |own| vec![text.to_owned(), own];
        let error = mesh::link::<TcpListener>(1, 2, deadline(), exchange).map(drop).unwrap_err();
        assert!(matches!(error, SocketError::Address(ref t) if t == text), "{error}");
    }
    let error = mesh::link::<TcpListener>(0, 2, deadline(), |own| vec![own]).map(drop).unwrap_err();
    assert!(matches!(error, SocketError::Addresses { addresses: 1, size: 2 }), "{error}");
}

fn alone<K: SocketKind>() -> usize {
    let link = mesh::link::<K>(0, 1, deadline(), |own| vec![own]).map_err(drop).unwrap();
    Credited::new(link, 1).size()
}

#[test]
fn a_run_of_one_rank_needs_nobody() {
    assert_eq!([alone::<TcpListener>(), alone::<UnixListener>()], [1; 2]);
}
