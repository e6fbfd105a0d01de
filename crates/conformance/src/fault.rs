//! Misuse, and peers that misbehave or leave.

use super::ranks::{Seen, UNKNOWN, pair, rank, repeat_until};
use super::{EXPOSED, Harness};
use bandgap_comm::{CommError, Endpoint, HandlerId, Message};

/// A rank is no peer of itself, and ranks end at the size.
pub fn no_such_peer<H: Harness>() {
    for mut endpoint in H::endpoints(3, EXPOSED) {
        for nobody in [endpoint.rank(), 3, usize::MAX] {
            let answer = endpoint.try_request(nobody, Message::new(HandlerId(0), []));
            assert!(
                matches!(answer, Err(CommError::NoSuchPeer { peer, size: 3 }) if peer == nobody),
                "{nobody}: {answer:?}"
            );
        }
        assert_eq!(endpoint.outstanding(), 0);
    }
}

/// A request for a handler that is in no table is an error that names its sender and the handler.
pub fn unknown_handler_names_the_rank<H: Harness>() {
    let mut ranks: Vec<_> = H::endpoints(3, EXPOSED).into_iter().map(rank).collect();
    ranks[2].request(0, UNKNOWN, [7]).expect("a sender does not know the receiver's table");
    let mut error = None;
    repeat_until("the unknown handler", || {
        ranks[2].poll().expect("the sender sees nothing wrong");
        error = ranks[0].poll().err();
        error.is_some()
    });
    match error {
        Some(CommError::Garbage { peer: 2, what }) => assert!(what.contains("200"), "{what}"),
        other => panic!("{other:?}"),
    }
}

/// An endpoint notices that the endpoint of a peer was dropped, and names the peer. Only for
/// transports that can notice ([`Harness::NOTICES_DEPARTURE`]).
pub fn departure_is_noticed<H: Harness>() {
    if !H::NOTICES_DEPARTURE {
        return;
    }
    let [mut stays, leaves] = pair::<H>();
    let mut seen = Seen::default();
    assert_eq!(stays.progress(&mut seen).expect("both are there"), 0);
    drop(leaves);
    let mut error = None;
    repeat_until("the departure", || {
        error = stays.progress(&mut seen).err();
        error.is_some()
    });
    assert!(matches!(error, Some(CommError::PeerGone { peer: 1, .. })), "{error:?}");
}
