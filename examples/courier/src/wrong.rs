//! What becomes of the parcels to a peer. With the feature `wrong`, COURIER_WRONG says what is wrong with a request.

use crate::courier::Parcel;

#[cfg(not(feature = "wrong"))]
pub fn spoil() -> impl FnMut(Parcel) -> [Parcel; 1] {
    |parcel| [parcel]
}

#[cfg(feature = "wrong")]
pub fn spoil() -> impl FnMut(Parcel) -> Vec<Parcel> {
    use bandgap::transport::{FrameKind, HandlerId};
    /// Ranks agree by these on what to measure.
    const ORDERS: HandlerId = HandlerId(2);
    let (mistake, mut number, mut held) = (std::env::var("COURIER_WRONG"), 0, None);
    move |parcel| match parcel {
        Parcel::Frame(it) if it.kind == FrameKind::Request && it.message.handler() != ORDERS => {
            number += 1;
            let frames = match (mistake.as_deref(), number % 50) {
                (Ok("twice"), 0) => vec![it, it],
                (Ok("swapped"), 0) => held.replace(it).into_iter().collect(),
                (Ok("lost"), 0) => Vec::new(),
                _ => [it].into_iter().chain(held.take()).collect(),
            };
            frames.into_iter().map(Parcel::Frame).collect()
        }
        _ => vec![parcel],
    }
}
