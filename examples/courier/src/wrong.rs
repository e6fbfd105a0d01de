//! What becomes of the frames to a peer. With the feature `wrong`, COURIER_WRONG says what is wrong with a request.

use bandgap::transport::*;

#[cfg(not(feature = "wrong"))]
pub fn spoil() -> impl FnMut(Frame) -> [Frame; 1] {
    |frame| [frame]
}

#[cfg(feature = "wrong")]
pub fn spoil() -> impl FnMut(Frame) -> Vec<Frame> {
    /// Ranks agree by these on what to measure.
    const ORDERS: HandlerId = HandlerId(2);
    let (mistake, mut number, mut held) = (std::env::var("COURIER_WRONG"), 0, None);
    move |frame| {
        if frame.kind != FrameKind::Request || frame.message.handler() == ORDERS {
            return vec![frame];
        }
        number += 1;
        match (mistake.as_deref(), number % 50) {
            (Ok("twice"), 0) => vec![frame, frame],
            (Ok("swapped"), 0) => held.replace(frame).into_iter().collect(),
            (Ok("lost"), 0) => Vec::new(),
            _ => [frame].into_iter().chain(held.take()).collect(),
        }
    }
}
