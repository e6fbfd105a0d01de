//! Frames, and the accounts of flow control.

use bandgap_comm::{
    Bulk, Deliver, Endpoint, Frame, FrameKind, HandlerId, MAX_WORDS, Message, NoHandler, Rank,
};

use super::wire::{encoded, endpoint};
use crate::{Shape, Target, Verdict};

pub(super) const FRAME: Target = Target {
    name: "frame",
    about: "one frame",
    shape: Shape::Bytes,
    real: &[],
    made: examples,
    wrong: Vec::new,
    words: &[],
    read: one,
    share: 8,
};

pub(super) const STREAM: Target = Target {
    name: "frames",
    about: "a stream of frames and payloads, with the accounts of flow control",
    shape: Shape::Bytes,
    real: &[],
    made: || streams(true),
    wrong: || streams(false),
    words: &[],
    read: stream,
    share: 9,
};

fn examples() -> Vec<Vec<u8>> {
    use FrameKind::{Credit, Get, Got, Reply, Request, Stored};
    vec![
        encoded(Request, 0, &[1, 2, 3, 4]),
        encoded(Request, 1, &[u64::MAX]),
        encoded(Reply, 0, &[7]),
        encoded(Credit, 0, &[]),
        encoded(Get, 0, &[0, 16, 32]),
        [encoded(Stored, 0, &[8, 16]), vec![0xAA; 16]].concat(),
        [encoded(Got, 0, &[16, 32]), vec![0xBB; 32]].concat(),
    ]
}

/// Settings in front of frames: the length of pieces, exposed memory, credits, what this rank has asked for. With each
/// of them, those of the [`examples`] that a correct peer may say.
const SETTINGS: [([u8; 4], &[usize]); 4] = [
    ([255, 1, 4, 0], &[0, 1, 4, 5]),
    ([3, 1, 2, 1], &[0, 1, 2, 4, 5]),
    ([255, 2, 8, 2], &[0, 1, 2, 4, 5, 6]),
    ([1, 0, 1, 0], &[0, 1]),
];

/// Frames behind settings, one by one and together: those that a correct peer may say, or those that have others.
fn streams(right: bool) -> Vec<Vec<u8>> {
    let frames = examples();
    let mut all: Vec<Vec<u8>> = Vec::new();
    for (settings, may) in SETTINGS {
        let chosen = (0..frames.len()).filter(|number| may.contains(number) == right);
        let chosen: Vec<usize> = chosen.collect();
        let of = |numbers: &[usize]| {
            let frames = numbers.iter().flat_map(|number| frames[*number].clone());
            settings.into_iter().chain(frames).collect()
        };
        all.extend(chosen.iter().map(|number| of(&[*number])));
        all.push(if right { of(&chosen) } else { of(&Vec::from_iter(0..frames.len())) });
    }
    all
}

fn one(input: &[u8]) -> Verdict {
    let read = Frame::decode(input);
    let Ok(Some((frame, len))) = read else {
        return if read.is_ok() { Verdict::Accepted } else { Verdict::Refused };
    };
    assert!(len <= input.len() && frame.message.len() <= MAX_WORDS);
    let (bytes, again) = frame.encode();
    assert_eq!(bytes[..again], input[..len], "what was read and written is the same");
    for exposed in [0, 64, 1 << 20] {
        if let Ok(range) = frame.target(exposed) {
            assert!(range.start <= range.end && range.end <= exposed);
        }
    }
    Verdict::Accepted
}

/// Handlers that count, and have few numbers.
#[derive(Default)]
struct Counts {
    requests: usize,
    replies: usize,
    reply: Option<Message>,
}

const HANDLERS: u8 = 16;

impl Deliver for Counts {
    fn request(&mut self, from: Rank, message: Message) -> Result<Option<&Message>, NoHandler> {
        assert_eq!(from, 1);
        assert!(message.len() <= MAX_WORDS);
        if message.handler().0 >= HANDLERS {
            return Err(NoHandler(message.handler()));
        }
        self.requests += 1;
        let replies = message.handler().0.is_multiple_of(2);
        self.reply = replies.then(|| Message::new(HandlerId(0), [1]));
        Ok(self.reply.as_ref())
    }

    fn reply(&mut self, from: Rank, message: Message) -> Result<(), NoHandler> {
        assert_eq!(from, 1);
        self.replies += 1;
        if message.handler().0 < HANDLERS { Ok(()) } else { Err(NoHandler(message.handler())) }
    }
}

fn stream(input: &[u8]) -> Verdict {
    let Some((&[piece, exposed, credits, asked], bytes)) = input.split_first_chunk() else {
        return Verdict::Refused;
    };
    let exposed = [0, 64, 4096][usize::from(exposed % 3)];
    let credits = u16::from(credits % 16) + 1;
    let mut end = endpoint(bytes.to_vec(), usize::from(piece) + 1, exposed, credits);
    let mut sent = 0;
    for number in 0..asked % 8 {
        let message = Message::new(HandlerId(0), [u64::from(number)]);
        sent += usize::from(match number % 2 {
            0 => end.try_request(1, message).is_ok(),
            _ => end.try_get(1, 0, 16, exposed.min(32), message).is_ok(),
        });
    }
    let out = end.outstanding();
    assert!(out <= usize::from(credits) && out <= sent);
    let mut counts = Counts::default();
    let mut handled = 0;
    // It ends when the stream closes.
    let ended = loop {
        match end.progress(&mut counts) {
            Ok(more) => handled += more,
            Err(error) => break error,
        }
        assert!(end.outstanding() <= out, "a request more is outstanding than was sent");
        assert!(counts.replies <= sent, "{} replies to {sent} requests", counts.replies);
    };
    // A request takes a frame of eight bytes at least, and so does a completion or what returns credits.
    assert!(counts.requests <= bytes.len() / 8 && handled <= bytes.len() / 8 + out);
    assert_eq!(end.exposed(), exposed);
    match ended {
        bandgap_comm::CommError::PeerGone { .. } => Verdict::Accepted,
        _ => Verdict::Refused,
    }
}
