//! What arrives over a socket is trusted in nothing: not its division, not its content.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use crate::mesh::{self, receive, with_bare_peer};
use bandgap_comm::{CommError, Frame, FrameKind, Link, Message, Posted, Tag};
use bandgap_socket::{Socket, SocketLink};

fn frame(len: usize, word: u64) -> Frame {
    let words = [word, !word, word.rotate_left(7), 42];
    let tag = Tag::from_bits((len as u32) << 8 | u32::from(word as u8)).unwrap();
    let message = Message::from_parts(tag, words);
    Frame { kind: FrameKind::Request, credits: word as u16, message }
}

/// Receives until something has arrived, or failed.
fn receive_some(link: &mut SocketLink<Socket>) -> Result<Vec<Frame>, CommError> {
    loop {
        let frames = receive(link)?;
        if !frames.is_empty() {
            return Ok(frames);
        }
        link.block(Duration::from_millis(50))?;
    }
}

#[test]
fn frames_survive_the_end_of_the_buffer() {
    // Frames of 40 bytes in pieces of 61: the buffer ends within a frame again and again, for
    // 64 KiB is a multiple of neither.
    const FRAMES: u64 = 20_000;
    let (mut link, mut peer) = with_bare_peer();
    let bytes: Vec<u8> = (0..FRAMES).flat_map(|i| frame(4, i).encode().0).collect();
    let mut next = 0;
    for piece in bytes.chunks(61) {
        peer.write_all(piece).unwrap();
        for received in receive(&mut link).unwrap() {
            assert_eq!(received, frame(4, next));
            next += 1;
        }
    }
    assert_eq!(next, FRAMES);
}

#[test]
fn a_peer_that_leaves_is_gone_after_its_last_frame() {
    let (mut link, mut peer) = with_bare_peer();
    let (bytes, len) = frame(3, 5).encode();
    peer.write_all(&bytes[..len]).unwrap();
    peer.write_all(&bytes[..11]).unwrap();
    drop(peer);
    assert_eq!(receive(&mut link).unwrap(), [frame(3, 5)]);
    let error = receive(&mut link).unwrap_err();
    assert!(matches!(error, CommError::PeerGone { peer: 1, .. }), "{error:?}");
    assert!(error.to_string().contains("11 bytes"), "{error}");
    let error = link.try_send(1, &frame(0, 0)).unwrap_err();
    assert!(matches!(error, CommError::PeerGone { peer: 1, .. }), "{error:?}");
}

#[test]
fn a_reset_connection_is_a_peer_gone() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (socket, _) = listener.accept().unwrap();
    let mut link = SocketLink::over(0, vec![Socket::of(socket).unwrap()]).unwrap();
    assert_eq!(link.try_send(1, &frame(4, 1)).unwrap(), Posted::Yes);
    // What the peer has not read when it closes makes its system reset the connection.
    while peer.peek(&mut [0]).unwrap() == 0 {}
    peer.flush().unwrap();
    drop(peer);
    let error = receive_some(&mut link).unwrap_err();
    assert!(matches!(error, CommError::PeerGone { peer: 1, .. }), "{error:?}");
}

#[test]
fn frames_that_fill_a_tcp_socket_arrive_whole() {
    // TCP takes part of a frame when its buffer is nearly full; the receiver takes nothing before.
    let (here, there) = mesh::pair::<TcpListener>();
    rustix::net::sockopt::set_socket_send_buffer_size(&here, 1).unwrap();
    let mut here = SocketLink::over(0, vec![here]).unwrap();
    let mut there = SocketLink::over(1, vec![there]).unwrap();
    let mut sent = 0;
    while here.try_send(1, &frame(sent as usize % 5, sent)).unwrap() == Posted::Yes {
        sent += 1;
    }
    let mut arrived = 0;
    while arrived < sent {
        here.receive(|_, _| ()).unwrap();
        there
            .receive(|from, got| {
                assert_eq!((from, got), (0, frame(arrived as usize % 5, arrived)));
                arrived += 1;
            })
            .unwrap();
        std::thread::yield_now();
    }
    assert_eq!(here.unsent(), 0);
}

#[test]
fn blocking_ends_with_an_arrival_at_few_and_at_many_peers() {
    for size in [2, 3, 6] {
        let mut links = mesh::unix(size);
        for sender in 1..size {
            assert_eq!(links[sender].try_send(0, &frame(1, 9)).unwrap(), Posted::Yes);
            // A wait that does not end by the arrival lasts so long that the test cannot pass.
            links[0].block(Duration::from_secs(3600)).unwrap();
            let mut from = Vec::new();
            links[0].receive(|peer, _| from.push(peer)).unwrap();
            assert_eq!(from, [sender]);
        }
        links[0].block(Duration::from_millis(1)).unwrap();
    }
}

#[test]
fn blocking_ends_when_a_full_socket_takes_bytes_again() {
    for size in [2, 6] {
        let mut links = mesh::tiny(size);
        let mut accepted = 0;
        while links[0].try_send(1, &frame(4, accepted)).unwrap() == Posted::Yes {
            accepted += 1;
        }
        let mut arrived = 0;
        while arrived < accepted {
            links[1].receive(|_, _| arrived += 1).unwrap();
            links[0].receive(|_, _| ()).unwrap();
        }
        assert_eq!(links[0].try_send(1, &frame(4, 0)).unwrap(), Posted::Yes);
        while links[0].try_send(1, &frame(4, 0)).unwrap() == Posted::Yes {}
        let full = links.remove(0);
        let mut other = links.remove(0);
        // Rank 0 sleeps; only room can wake it, for nobody sends to it.
        let sleeper = std::thread::spawn(move || {
            let mut full = full;
            full.block(Duration::from_secs(3600)).unwrap();
        });
        while !sleeper.is_finished() {
            other.receive(|_, _| ()).ok();
            std::thread::yield_now();
        }
        sleeper.join().unwrap();
    }
}
