//! The floors count what they should, and end when the other side does not answer.

use std::net::{TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use bandgap_comm::{Measuring, Role, Stamp, Timer, Window};
use bandgap_socket::{Kind, SocketError, floor};

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
fn both<S: Send + Sync>(
    ends: (S, S),
    floor: impl Fn(&S, Role, &Count) -> Result<Vec<u64>, SocketError> + Sync,
) -> (Vec<u64>, Vec<u64>) {
    let (here, there) = ends;
    thread::scope(|scope| {
        let responder = scope.spawn(|| floor(&there, Role::Responder, &Count::default()).unwrap());
        let samples = floor(&here, Role::Initiator, &Count::default()).unwrap();
        (samples, responder.join().unwrap())
    })
}

fn ping_pong_stamps_each_sample_twice<K: Kind + Send + Sync>() {
    let window = Window { samples: 5, rounds: 7 };
    let samples = both(mesh::pair::<K>(), |socket, role, timer| {
        floor::ping_pong(socket, &with(role, window, timer, PATIENCE), &mut 0)
    });
    // A clock that counts its readings gives 1 for the time between two neighbouring ones.
    assert_eq!(samples, (vec![1; 5], vec![]));
}

#[test]
fn ping_pong_stamps_each_sample_twice_over_each_kind_of_socket() {
    ping_pong_stamps_each_sample_twice::<TcpStream>();
    ping_pong_stamps_each_sample_twice::<UnixStream>();
    ping_pong_stamps_each_sample_twice::<UdpSocket>();
}

#[test]
fn a_stream_carries_every_byte() {
    let window = Window { samples: 2, rounds: 2 };
    for rounds in [0, 2] {
        let window = Window { rounds, ..window };
        let samples = both(mesh::pair::<TcpStream>(), |socket, role, timer| {
            floor::stream(socket, &with(role, window, timer, PATIENCE))
        });
        assert_eq!(samples, (vec![1; 2], vec![]));
    }
    let (samples, _) = both(mesh::pair::<UnixStream>(), |socket, role, timer| {
        floor::stream(socket, &with(role, window, timer, PATIENCE))
    });
    assert_eq!(samples, [1; 2]);
}

#[test]
fn a_stream_of_wrong_bytes_is_noticed() {
    let (here, there) = mesh::pair::<UnixStream>();
    let window = Window { samples: 1, rounds: 1 };
    let wrong = thread::spawn(move || {
        use std::io::Write;
        let mut here = here;
        here.set_nonblocking(false).unwrap();
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
fn a_lost_datagram_is_sent_again() {
    let (here, there) = mesh::pair::<UdpSocket>();
    let window = Window { samples: 1, rounds: 2 };
    let lossy = thread::spawn(move || {
        there.set_nonblocking(false).unwrap();
        let mut bytes = [0; 8];
        // The first message is lost; it comes again with the same number. Then one answer is
        // doubled, and the initiator must not take it for the next one.
        for expected in [1, 1, 2] {
            loop {
                assert_eq!(there.recv(&mut bytes).unwrap(), 8);
                if u64::from_le_bytes(bytes) == expected {
                    break;
                }
            }
            static SEEN: AtomicU64 = AtomicU64::new(0);
            if SEEN.fetch_add(1, Ordering::Relaxed) > 0 {
                there.send(&bytes).unwrap();
                there.send(&bytes).unwrap();
            }
        }
        there
    });
    let timer = Count::default();
    let samples =
        floor::ping_pong(&here, &with(Role::Initiator, window, &timer, PATIENCE), &mut 0).unwrap();
    assert_eq!(samples, [1]);
    lossy.join().unwrap();
}

#[test]
fn a_repeated_datagram_is_answered_again_and_counted_once() {
    let (here, there) = mesh::pair::<UdpSocket>();
    here.set_nonblocking(false).unwrap();
    let window = Window { samples: 1, rounds: 2 };
    for number in [1_u64, 1, 2] {
        here.send(&number.to_le_bytes()).unwrap();
    }
    let timer = Count::default();
    floor::ping_pong(&there, &with(Role::Responder, window, &timer, PATIENCE), &mut 0).unwrap();
    let mut answers = [0; 3];
    for answer in &mut answers {
        let mut bytes = [0; 8];
        here.recv(&mut bytes).unwrap();
        *answer = u64::from_le_bytes(bytes);
    }
    assert_eq!(answers, [1, 1, 2]);
}

#[test]
fn an_answer_that_comes_twice_does_not_disturb_the_next_measurement() {
    let (here, there) = mesh::pair::<UdpSocket>();
    let window = Window { samples: 1, rounds: 1 };
    let measurements = 3;
    let messages = measurements * window.all_rounds();
    let twice = thread::spawn(move || {
        there.set_nonblocking(false).unwrap();
        let mut last = 0;
        // As if each message had come twice; a message that did is not answered two more times.
        while last < messages {
            let mut bytes = [0; 8];
            assert_eq!(there.recv(&mut bytes).unwrap(), 8);
            if u64::from_le_bytes(bytes) > last {
                last = u64::from_le_bytes(bytes);
                there.send(&bytes).unwrap();
                there.send(&bytes).unwrap();
            }
        }
        there
    });
    let mut number = 0;
    for _ in 0..measurements {
        let timer = Count::default();
        let with = with(Role::Initiator, window, &timer, PATIENCE);
        assert_eq!(floor::ping_pong(&here, &with, &mut number).unwrap(), [1]);
    }
    assert_eq!(number, messages);
    twice.join().unwrap();
}

#[test]
fn what_strangers_sent_before_is_not_measured() {
    let window = Window { samples: 1, rounds: 1 };
    let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
    let ends = mesh::pair_amid::<UdpSocket>(|addresses| {
        for address in addresses {
            for garbage in [&[7; 3][..], &[7; 8], &[7; 2000]] {
                stranger.send_to(garbage, address).unwrap();
            }
        }
    });
    let samples = both(ends, |socket, role, timer| {
        floor::ping_pong(socket, &with(role, window, timer, PATIENCE), &mut 0)
    });
    assert_eq!(samples, (vec![1], vec![]));
}

#[test]
fn a_silent_or_closed_side_ends_the_wait() {
    let window = Window { samples: 1, rounds: 1 };
    let none = Duration::ZERO;
    let timer = Count::default();
    for role in [Role::Initiator, Role::Responder] {
        let (here, there) = mesh::pair::<TcpStream>();
        let error = floor::ping_pong(&here, &with(role, window, &timer, none), &mut 0).unwrap_err();
        assert!(matches!(error, SocketError::Silent(_)), "{role:?}: {error}");
        let error = floor::stream(&here, &with(role, window, &timer, none)).unwrap_err();
        assert!(matches!(error, SocketError::Silent(_)), "{role:?}: {error}");
        drop(there);
        let error =
            floor::ping_pong(&here, &with(role, window, &timer, PATIENCE), &mut 0).unwrap_err();
        assert!(matches!(error, SocketError::Closed), "{role:?}: {error}");

        let (here, _there) = mesh::pair::<UdpSocket>();
        let error = floor::ping_pong(&here, &with(role, window, &timer, none), &mut 0).unwrap_err();
        assert!(matches!(error, SocketError::Silent(_)), "{role:?}: {error}");
    }
}
