//! The floors count what they should, and end when the other side does not answer.

use std::io::Write;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use bandgap_comm::{Bare, CommError, FloorRole, Measuring, Stamp, Timer, Window};
use bandgap_socket::floor::{self, Udp};
use bandgap_socket::{Socket, SocketError, SocketKind};

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
fn with(
    role: FloorRole,
    window: Window,
    timer: &Count,
    patience: Duration,
) -> Measuring<'_, Count> {
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
    floor: impl Fn(&Socket, FloorRole, &Count) -> Result<Vec<u64>, SocketError> + Sync,
) -> (Vec<u64>, Vec<u64>) {
    let (here, there) = ends;
    thread::scope(|scope| {
        let responder =
            scope.spawn(|| floor(&there, FloorRole::Responder, &Count::default()).unwrap());
        let samples = floor(&here, FloorRole::Initiator, &Count::default()).unwrap();
        (samples, responder.join().unwrap())
    })
}

fn ping_pong_stamps_each_sample_twice<K: SocketKind>() {
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
    let (samples, _) = both(mesh::pair::<UnixListener>(), |socket, role, timer| {
        floor::long_ping_pong(socket, 3 << 20, &with(role, window, timer, PATIENCE))
    });
    assert_eq!(samples, [1; 2]);
}

#[test]
fn a_stream_of_wrong_bytes_is_noticed() {
    let (mut here, there) = UnixStream::pair().unwrap();
    let there = Socket::of(there).unwrap();
    let window = Window { samples: 1, rounds: 1 };
    let wrong = thread::spawn(move || {
        here.write_all(&vec![7; floor::STREAM_BYTES]).unwrap();
        here
    });
    let timer = Count::default();
    let error =
        floor::stream(&there, &with(FloorRole::Responder, window, &timer, PATIENCE)).unwrap_err();
    assert!(matches!(error, SocketError::Corrupt(_)), "{error}");
    let with = with(FloorRole::Responder, window, &timer, PATIENCE);
    let mut here = wrong.join().unwrap();
    here.write_all(&[7; 100]).unwrap();
    let error = floor::long_ping_pong(&there, 100, &with).unwrap_err();
    assert!(matches!(error, SocketError::Corrupt(_)), "{error}");
}

/// Two ranks' ends, with a network between them that loses every datagram of these numbers on the way there, or back, and
/// doubles all others.
fn through_a_network(
    lost: &(impl Fn(u64) -> [bool; 2] + Sync),
    floor: impl Fn(&mut Udp, FloorRole) -> Vec<u64> + Sync,
) -> Vec<u64> {
    let bound = || UdpSocket::bind("127.0.0.1:0").unwrap();
    let join = |one: &UdpSocket, other: &UdpSocket| {
        one.connect(other.local_addr().unwrap()).unwrap();
        other.connect(one.local_addr().unwrap()).unwrap();
        [one, other].iter().for_each(|socket| socket.set_nonblocking(true).unwrap());
    };
    let [here, near, far, there] = [bound(), bound(), bound(), bound()];
    join(&here, &near);
    join(&far, &there);
    let (one, other) = mesh::pair::<TcpListener>();
    let silence = Duration::from_millis(200);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut bytes = [0; 1000];
            while !done.load(Ordering::Relaxed) {
                for (way, from, to) in [(0, &near, &far), (1, &far, &near)] {
                    let Ok(len) = from.recv(&mut bytes) else { continue };
                    if !lost(u64::from_le_bytes(bytes[..8].try_into().unwrap()))[way] {
                        to.send(&bytes[..len]).unwrap();
                        to.send(&bytes[..len]).unwrap();
                    }
                }
                thread::yield_now();
            }
        });
        scope.spawn(|| {
            floor(&mut Udp::over(Socket::of(there).unwrap(), other, silence), FloorRole::Responder)
        });
        let ticks =
            floor(&mut Udp::over(Socket::of(here).unwrap(), one, silence), FloorRole::Initiator);
        done.store(true, Ordering::Relaxed);
        ticks
    })
}

#[test]
fn what_a_network_loses_is_counted_and_what_it_doubles_is_not() {
    // Numbers go on from batch to batch: of 1 to 10, 4 and 8 are lost on their way there, 5 and 10 on their way back; of
    // 11 to 20, 12, 16 and 20, and 15.
    let lost = |number: u64| [number.is_multiple_of(4), number.is_multiple_of(5)];
    let ticks = through_a_network(&lost, |udp, role| {
        let timer = Count::default();
        let window = Window { samples: 10, rounds: 1 };
        let with = with(role, window, &timer, PATIENCE);
        [8, 1000].map(|bytes| udp.measure("udp", bytes, &with).unwrap()).concat()
    });
    // The clock is read twice for each that arrived.
    assert_eq!(ticks, [1; 6 + 6]);
}

#[test]
fn datagrams_of_strangers_are_not_measured() {
    let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
    let (mut here, mut there) = mesh::bare::<Udp>(|addresses| {
        for address in addresses {
            // The last one is as the first answer will be.
            for garbage in [&[7; 3][..], &[7; 2000], &1_u64.to_le_bytes()] {
                stranger.send_to(garbage, address).unwrap();
            }
        }
    });
    let measured = |udp: &mut Udp, role, bytes, patience| {
        let timer = Count::default();
        udp.measure("udp", bytes, &with(role, Window { samples: 3, rounds: 1 }, &timer, patience))
    };
    // The responder is ready, hears nothing and leaves before the initiator begins.
    measured(&mut there, FloorRole::Responder, 8, Duration::ZERO).unwrap_err();
    assert_eq!(measured(&mut here, FloorRole::Initiator, 8, PATIENCE).unwrap(), []);
    // A datagram has room for its number, and is no longer than one can be.
    for bytes in [7, 65_508] {
        let refused = measured(&mut here, FloorRole::Initiator, bytes, PATIENCE).unwrap_err();
        assert!(matches!(refused, CommError::Unavailable { .. }), "{refused}");
    }
}

#[test]
fn a_silent_or_closed_side_ends_the_wait() {
    let window = Window { samples: 1, rounds: 1 };
    let none = Duration::ZERO;
    let timer = Count::default();
    for role in [FloorRole::Initiator, FloorRole::Responder] {
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
