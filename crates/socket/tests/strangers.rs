//! Who has no business in a run does not get in, and does not disturb it.
#![allow(clippy::unwrap_used)]

mod mesh;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::thread;
use std::time::{Duration, Instant};

use bandgap_comm::{Credited, Endpoint, Link};
use bandgap_socket::{SocketError, tcp, unix};
use mesh::{SECRET, deadline, names};

/// A greeting as it should be, with its fields open to change.
fn hello(magic: &[u8; 8], version: u32, rank: u32, secret: &[u8; 16]) -> Vec<u8> {
    [&magic[..], &version.to_le_bytes(), &rank.to_le_bytes(), secret].concat()
}

const MAGIC: &[u8; 8] = b"bandgap\n";

#[test]
fn strangers_are_dropped_and_ranks_get_in() {
    const SIZE: usize = 3;
    let bind = |_| tcp::Listener::bind_loopback().unwrap();
    let (listeners, addresses): (Vec<_>, Vec<String>) = (0..SIZE).map(bind).unzip();

    // Before any rank calls, the listener of rank 0 has these callers waiting in front.
    let said = [
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".to_vec(),
        hello(b"bandgap?", 1, 1, &SECRET),
        hello(MAGIC, 2, 1, &SECRET),
        hello(MAGIC, 1, 1, b"0123456789abcdeg"),
        hello(MAGIC, 1, 0, &SECRET),
        hello(MAGIC, 1, SIZE as u32, &SECRET),
        hello(MAGIC, 1, u32::MAX, &SECRET),
        hello(MAGIC, 1, 1, &SECRET)[..31].to_vec(), // slow
        Vec::new(),                                 // silent
    ];
    let mut strangers: Vec<TcpStream> = Vec::new();
    for bytes in &said {
        let mut stranger = TcpStream::connect(&addresses[0]).unwrap();
        stranger.write_all(bytes).unwrap();
        strangers.push(stranger);
    }
    drop(TcpStream::connect(&addresses[0]).unwrap()); // leaves at once

    let addresses = &addresses;
    let links: Vec<_> = thread::scope(|scope| {
        let start = |(rank, listener)| {
            scope.spawn(move || {
                tcp::connect(rank, SIZE, listener, addresses, SECRET, deadline()).unwrap()
            })
        };
        let ranks: Vec<_> = listeners.into_iter().enumerate().map(start).collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
    });

    // None of the strangers was answered, and all are dropped by now.
    for (stranger, said) in strangers.iter_mut().zip(&said) {
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
    for address in addresses {
        assert!(TcpStream::connect(address).is_err());
    }
    let sizes: Vec<_> = links.iter().map(|link| (link.rank(), link.size())).collect();
    assert_eq!(sizes, [(0, 3), (1, 3), (2, 3)]);
}

#[test]
fn a_crowd_of_silent_strangers_does_not_keep_ranks_out() {
    let names = names(2);
    let listener = unix::Listener::bind(names[0].as_bytes()).unwrap();
    let other = unix::Listener::bind(names[1].as_bytes()).unwrap();
    let names = &names;
    thread::scope(|scope| {
        let crowd = scope.spawn(|| {
            let address = SocketAddr::from_abstract_name(names[0].as_bytes()).unwrap();
            // Until the listener has closed: by then both ranks are in, or the test fails.
            let mut callers = Vec::new();
            while let Ok(caller) = UnixStream::connect_addr(&address) {
                callers.push(caller);
                if callers.len() > 200 {
                    callers.clear();
                }
                thread::yield_now();
            }
        });
        let rank =
            scope.spawn(move || unix::connect(0, 2, listener, names, SECRET, deadline()).map(drop));
        unix::connect(1, 2, other, names, SECRET, deadline()).unwrap();
        rank.join().unwrap().unwrap();
        crowd.join().unwrap();
    });
}

#[test]
fn missing_ranks_are_named() {
    let names = names(4);
    let listener = unix::Listener::bind(names[1].as_bytes()).unwrap();
    // The deadline has passed: nobody is waited for.
    let error = unix::connect(1, 4, listener, &names, SECRET, Instant::now()).unwrap_err();
    assert!(matches!(error, SocketError::Missing { ref missing } if *missing == [0]), "{error}");

    let listener = unix::Listener::bind(names[0].as_bytes()).unwrap();
    let soon = Instant::now() + Duration::from_millis(20);
    let error = unix::connect(0, 4, listener, &names, SECRET, soon).unwrap_err();
    assert_eq!(error.to_string(), "connect to rank 1, 2, 3: no answer before the deadline");
}

#[test]
fn whoever_does_not_answer_as_the_peer_is_not_the_peer() {
    let answers = [
        (hello(MAGIC, 1, 0, b"another run's..."), "something else"),
        (hello(MAGIC, 1, 1, &SECRET), "something else"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\nbody".to_vec(), "something else"),
        (Vec::new(), "without an answer"),
        (hello(MAGIC, 1, 0, &SECRET)[..31].to_vec(), "without an answer"),
    ];
    for (answer, said) in answers {
        let names = names(2);
        let address = SocketAddr::from_abstract_name(names[0].as_bytes()).unwrap();
        let in_its_place = UnixListener::bind_addr(&address).unwrap();
        let impostor = thread::spawn(move || {
            let (mut caller, _) = in_its_place.accept().unwrap();
            let mut greeting = [0; 32];
            caller.read_exact(&mut greeting).unwrap();
            caller.write_all(&answer).unwrap();
            greeting
        });
        let listener = unix::Listener::bind(names[1].as_bytes()).unwrap();
        let error = unix::connect(1, 2, listener, &names, SECRET, deadline()).unwrap_err();
        assert!(matches!(error, SocketError::NotThePeer { peer: 0, .. }), "{error}");
        assert!(error.to_string().contains(said), "{error}");
        assert_eq!(impostor.join().unwrap()[..], hello(MAGIC, 1, 1, &SECRET)[..]);
    }
}

#[test]
fn addresses_are_checked() {
    for text in ["", "somewhere", "127.0.0.1", "192.0.2.1:80", "0.0.0.0:80"] {
        let (listener, own) = tcp::Listener::bind_loopback().unwrap();
        let addresses = [text.to_owned(), own];
        let error = tcp::connect(1, 2, listener, &addresses, SECRET, deadline()).unwrap_err();
        assert!(matches!(error, SocketError::Address { text: ref t } if t == text), "{error}");
    }
    let (listener, own) = tcp::Listener::bind_loopback().unwrap();
    let error = tcp::connect(0, 2, listener, &[own], SECRET, deadline()).unwrap_err();
    assert!(matches!(error, SocketError::Addresses { addresses: 1, size: 2 }), "{error}");
}

#[test]
fn a_run_of_one_rank_needs_nobody() {
    let (listener, own) = tcp::Listener::bind_loopback().unwrap();
    let link = tcp::connect(0, 1, listener, &[own], SECRET, deadline()).unwrap();
    assert_eq!(Credited::new(link, 1).size(), 1);
}
