use proptest::prelude::*;

use super::*;
use crate::HandlerId;

fn frames() -> impl Strategy<Value = Frame> {
    use FrameKind::{Credit, Get, Got, Reply, Request, Stored};
    let kind = prop::sample::select(vec![Request, Reply, Credit, Get, Stored, Got]);
    (kind, any::<u16>(), any::<u8>(), 0..=MAX_WORDS as u32, any::<[u64; MAX_WORDS]>()).prop_map(
        |(kind, credits, handler, len, words)| {
            let tag = Tag::from_bits(len << 8 | u32::from(handler)).unwrap();
            let message = Message::from_parts(tag, words);
            Frame { kind, credits, message }
        },
    )
}

#[test]
fn the_bytes_are_those_of_the_picture() {
    let message = Message::new(HandlerId(7), [0x1122_3344_5566_7788]);
    let (bytes, len) = Frame { kind: FrameKind::Reply, credits: 0x0102, message }.encode();
    let expected = [
        0xB6, 2, 7, 1, 0x02, 0x01, 0, 0, // magic, kind, handler, words, credits, reserved
        0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, // the word
    ];
    assert_eq!(bytes[..len], expected);
}

#[test]
fn each_wrong_field_is_named() {
    let frame =
        Frame { kind: FrameKind::Request, credits: 0, message: Message::new(HandlerId(0), []) };
    for (field, value, expected) in [
        (0, 0xFF, FrameError::Magic(0xFF)),
        (1, 0, FrameError::Kind(0)),
        (1, 8, FrameError::Kind(8)),
        (3, 5, FrameError::Length(5)),
        (3, 255, FrameError::Length(255)),
        (6, 1, FrameError::Reserved),
        (7, 1, FrameError::Reserved),
    ] {
        let (mut bytes, len) = frame.encode();
        bytes[field] = value;
        assert_eq!(Frame::decode(&bytes[..len]), Err(expected), "byte {field} is {value}");
    }
}

#[test]
fn a_wrong_first_byte_is_seen_before_the_rest_is_there() {
    assert_eq!(Frame::decode(&[0]), Err(FrameError::Magic(0)));
    assert_eq!(Frame::decode(&[]), Ok(None));
}

#[test]
fn a_payload_is_announced_by_its_offset_and_its_length() {
    let frame = Frame::announcing(FrameKind::Got, 0x0102, 0x03);
    let (bytes, len) = frame.encode();
    let expected = [
        0xB6, 6, 0, 2, 0, 0, 0, 0, // magic, kind, no handler, two words, credits, reserved
        0x02, 0x01, 0, 0, 0, 0, 0, 0, // the offset
        0x03, 0, 0, 0, 0, 0, 0, 0, // the length
    ];
    assert_eq!(bytes[..len], expected);
    assert_eq!(frame.target(1000), Ok(0x0102..0x0105));
    assert!(frame.has_payload());
    assert!(Frame::announcing(FrameKind::Stored, 0, 0).has_payload());
    for kind in [FrameKind::Request, FrameKind::Reply, FrameKind::Credit, FrameKind::Get] {
        assert!(!Frame::announcing(kind, 0, 0).has_payload(), "{kind:?}");
    }
}

#[test]
fn a_payload_for_memory_that_is_not_exposed_is_refused() {
    let target = |into, len| {
        let message = Message::new(HandlerId(0), [into, len]);
        Frame { kind: FrameKind::Stored, credits: 0, message }.target(100)
    };
    assert_eq!(target(100, 0), Ok(100..100));
    assert_eq!(target(0, 100), Ok(0..100));
    for (into, len) in [(100, 1), (101, 0), (1, 100), (u64::MAX, 2), (2, u64::MAX)] {
        assert_eq!(target(into, len), Err(FrameError::Outside { into, len, exposed: 100 }));
    }
    let message = Message::new(HandlerId(0), [1]);
    let short = Frame { kind: FrameKind::Stored, credits: 0, message };
    assert_eq!(short.target(100), Err(FrameError::Announcement(1)));
}

proptest! {
    #[test]
    fn decode_undoes_encode(frame in frames(), rest in prop::collection::vec(any::<u8>(), 0..50)) {
        let (bytes, len) = frame.encode();
        let mut stream = bytes[..len].to_vec();
        stream.extend(rest);
        prop_assert_eq!(Frame::decode(&stream), Ok(Some((frame, len))));
        for short in 0..len {
            prop_assert_eq!(Frame::decode(&bytes[..short]), Ok(None));
        }
    }

    /// Whatever is decoded encodes to the bytes it was decoded from: no two spellings of a frame.
    #[test]
    fn arbitrary_bytes_decode_to_what_they_say(
        head in prop_oneof![
            any::<[u8; 4]>(),
            (1..9_u8, any::<u8>(), 0..7_u8).prop_map(|(kind, handler, len)| [MAGIC, kind, handler, len]),
        ],
        credits in any::<[u8; 2]>(),
        reserved in prop_oneof![4 => Just([0_u8; 2]), 1 => any::<[u8; 2]>()],
        rest in prop::collection::vec(any::<u8>(), 0..50),
    ) {
        let mut bytes = Vec::from(head);
        bytes.extend(credits);
        bytes.extend(reserved);
        bytes.extend(rest);
        if let Ok(Some((frame, len))) = Frame::decode(&bytes) {
            let (again, again_len) = frame.encode();
            prop_assert_eq!(len, again_len);
            prop_assert_eq!(&bytes[..len], &again[..len]);
        }
    }
}
