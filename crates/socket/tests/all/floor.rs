//! The floors count what they should, and end when the other side does not answer.

use std::net::TcpListener;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use bandgap_comm::{Measuring, Role, Stamp, Timer, Window};
use bandgap_socket::{Kind, Socket, SocketError, floor};

use crate::mesh;

const PATIENCE: Duration = Duration::from_secs(60);

/// A clock that counts how often it is read.
#[derive(Default)]
struct Count(AtomicU64);

impl Timer for Count {
    fn stamp(&self) -> Stamp {
        Stamp::from_ticks(self.0.fetch_add(1, Ordering::Relaxed))
    }

    fn work(&self, _iterations: u32) {}
}

/// What a side is given.
fn with(role: Role, window: Window, timer: &Count, patience: Duration) -> Measuring<'_, Count> {
    Measuring {
        role,
        window,
        timer,
        turn: 0,
        patience,
        give_up: &|waited, patience| waited > patience,
    }
}

/// Runs both sides with their clocks; returns the initiator's and the responder's samples.
fn both(
    ends: (Socket, Socket),
    floor: impl Fn(&Socket, Role, &Count) -> Result<Vec<u64>, SocketError> + Sync,
) -> (Vec<u64>, Vec<u64>) {
    let (here, there) = ends;
    thread::scope(|scope| {
        let responder = scope.spawn(|| floor(&there, Role::Responder, &Count::default()).unwrap());
        let samples = floor(&here, Role::Initiator, &Count::default()).unwrap();
        (samples, responder.join().unwrap())
    })
}

fn ping_pong_stamps_each_sample_twice<K: Kind>() {
    let window = Window { samples: 5, rounds: 7 };
    let samples = both(mesh::pair::<K>(), |socket, role, timer| {
        floor::ping_pong(socket, &with(role, window, timer, PATIENCE), &mut 0)
    });
    // A clock that counts its readings gives 1 for the time between two neighbouring ones.
    assert_eq!(samples, (vec![1; 5], vec![]));
}

#[test]
fn ping_pong_stamps_each_sample_twice_over_each_kind_of_socket() {
    ping_pong_stamps_each_sample_twice::<TcpListener>();
    ping_pong_stamps_each_sample_twice::<UnixListener>();
}

#[test]
fn a_stream_carries_every_byte() {
    let window = Window { samples: 2, rounds: 2 };
    for rounds in [0, 2] {
        let window = Window { rounds, ..window };
        let samples = both(mesh::pair::<TcpListener>(), |socket, role, timer| {
            floor::stream(socket, &with(role, window, timer, PATIENCE))
        });
        assert_eq!(samples, (vec![1; 2], vec![]));
    }
    let (samples, _) = both(mesh::pair::<UnixListener>(), |socket, role, timer| {
        floor::stream(socket, &with(role, window, timer, PATIENCE))
    });
    assert_eq!(samples, [1; 2]);
}

#[test]
fn a_stream_of_wrong_bytes_is_noticed() {
    let (mut here, there) = UnixStream::pair().unwrap();
    let there = Socket::of(there).unwrap();
    let window = Window { samples: 1, rounds: 1 };
    let wrong = thread::spawn(move || {
        use std::io::Write;
        here.write_all(&vec![7; floor::STREAM_BYTES]).unwrap();
        here
    });
    let timer = Count::default();
    let error =
        floor::stream(&there, &with(Role::Responder, window, &timer, PATIENCE)).unwrap_err();
    assert!(matches!(error, SocketError::Corrupt(_)), "{error}");
    wrong.join().unwrap();
}

#[test]
fn a_silent_or_closed_side_ends_the_wait() {
    let window = Window { samples: 1, rounds: 1 };
    let none = Duration::ZERO;
    let timer = Count::default();
    for role in [Role::Initiator, Role::Responder] {
        let (here, there) = mesh::pair::<TcpListener>();
        let error = floor::ping_pong(&here, &with(role, window, &timer, none), &mut 0).unwrap_err();
        assert!(matches!(error, SocketError::Silent(_)), "{role:?}: {error}");
        let error = floor::stream(&here, &with(role, window, &timer, none)).unwrap_err();
        assert!(matches!(error, SocketError::Silent(_)), "{role:?}: {error}");
        drop(there);
        let error =
            floor::ping_pong(&here, &with(role, window, &timer, PATIENCE), &mut 0).unwrap_err();
        assert!(matches!(error, SocketError::Closed), "{role:?}: {error}");
    }
}
