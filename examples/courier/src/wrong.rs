//! What becomes of the parcels to a peer. With the feature `wrong`, COURIER_WRONG says what is wrong with a request.

use crate::courier::Parcel;

#[cfg(not(feature = "wrong"))]
pub fn spoil() -> impl FnMut(Parcel) -> [Parcel; 1] {
    |parcel| [parcel]
}

#[cfg(feature = "wrong")]
pub fn spoil() -> impl FnMut(Parcel) -> Vec<Parcel> {
    use bandgap::transport::{Frame, FrameKind, HandlerId};
    let (mistake, mut number, mut held) = (std::env::var("COURIER_WRONG"), 0, None);
    move |parcel| {
        let Parcel::Frame(Frame { kind: FrameKind::Request, message, .. }) = &parcel else {
            return vec![parcel];
        };
        // Those by which ranks agree on what to measure do not count.
        number += u32::from(message.handler() != HandlerId(2));
        match (mistake.as_deref(), number % 50) {
            (Ok("twice"), 49) => vec![parcel.clone(), parcel],
            (Ok("swapped"), 49) if held.is_none() => held.replace(parcel).into_iter().collect(),
            (Ok("lost"), 49) => Vec::new(),
            _ => [parcel].into_iter().chain(held.take()).collect(),
        }
    }
}
