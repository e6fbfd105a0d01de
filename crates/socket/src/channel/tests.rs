use std::io::Read;
use std::os::unix::net::UnixStream;

use bandgap_comm::{FrameKind, HandlerId, Message};

use super::*;
use crate::Socket;

#[test]
fn a_frame_sent_in_part_is_finished_before_the_next() {
    let (stream, mut other) = UnixStream::pair().unwrap();
    let mut channel = Channel::new(1, Socket::of(stream).unwrap());
    let message = Message::new(HandlerId(1), [1, 2, 3, 4]);
    let frame = Frame { kind: FrameKind::Request, credits: 0, message };
    let (bytes, len) = frame.encode();

    // As after a call that took 11 bytes.
    channel.keep(&[&frame]);
    channel.sent = 11;
    assert_eq!(channel.try_send(&frame).unwrap(), Posted::Busy);
    channel.finish().unwrap();
    assert!(!channel.unfinished());
    assert_eq!(channel.try_send(&frame).unwrap(), Posted::Yes);

    drop(channel);
    let mut arrived = Vec::new();
    other.read_to_end(&mut arrived).unwrap();
    assert_eq!(arrived, [&bytes[11..len], &bytes[..len]].concat());
}
