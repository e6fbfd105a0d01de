//! Full transports: Busy is an answer, and nothing locks up.

use super::Harness;
use super::ranks::{ECHO, Seen, pair, progress, repeat_until, run};
use bandgap_comm::{Endpoint, Message, Posted, Rank};

/// Sends until the answer was Busy many times, with progress of this end in between. Returns the
/// number of accepted requests.
fn fill<E: Endpoint>(endpoint: &mut E, peer: Rank, seen: &mut Seen) -> usize {
    let (mut accepted, mut refused) = (0, 0);
    while refused < 100 {
        match endpoint.try_request(peer, Message::new(ECHO, [accepted as u64])) {
            Ok(Posted::Yes) => accepted += 1,
            Ok(Posted::Busy) => refused += 1,
            Err(error) => panic!("failed to {error}"),
        }
        assert!(accepted <= endpoint.capacity(), "{accepted} requests were accepted");
        endpoint.progress(seen).expect("no peer has sent anything wrong");
    }
    accepted
}

fn first_words(messages: &[Message]) -> Vec<u64> {
    messages.iter().map(|message| message.words()[0]).collect()
}

/// While the peer makes no progress, requests beyond the capacity are answered Busy and not sent.
/// When it has made progress, there is room again.
pub fn busy_at_capacity<H: Harness>() {
    let [mut sender, mut receiver] = pair::<H>();
    let (mut here, mut there) = (Seen::default(), Seen::default());
    for round in 1..=3 {
        let accepted = fill(&mut sender, 1, &mut here);
        assert!(accepted > 0, "no room in round {round}");
        assert_eq!(sender.outstanding(), accepted);

        repeat_until("the accepted requests", || {
            progress(&mut receiver, &mut there);
            progress(&mut sender, &mut here);
            sender.outstanding() == 0
        });
        for _ in 0..100 {
            assert_eq!(progress(&mut receiver, &mut there), 0, "a refused request arrived");
        }
        let expected: Vec<u64> = (0..accepted as u64).collect();
        assert_eq!(first_words(&std::mem::take(&mut there.requests)), expected);
        assert_eq!(std::mem::take(&mut here.replies).len(), accepted);
    }
}

/// Two ranks send many times the capacity to each other at the same time.
pub fn flood_both_ways<H: Harness>() {
    let logs = run::<H>(2, |am| {
        let peer = 1 - am.rank();
        let requests = 4 * am.endpoint().capacity().min(500) + 100;
        for i in 0..requests as u64 {
            am.request(peer, ECHO, [i])?;
        }
        am.await_replies()?;
        assert_eq!(am.state().replies.len(), requests);
        Ok(())
    });
    for log in &logs {
        let arrived: Vec<u64> = log.requests.iter().map(|(_, words)| words[0]).collect();
        assert_eq!(arrived, (0..arrived.len() as u64).collect::<Vec<_>>());
        assert_eq!(arrived.len(), log.replies.len());
    }
}

/// Handlers reply even if both directions are full and the other rank takes nothing.
pub fn replies_find_room<H: Harness>() {
    let [mut first, mut second] = pair::<H>();
    let (mut at_first, mut at_second) = (Seen::default(), Seen::default());
    // Neither end delivers while it fills: the other's requests stay in the transport.
    let fill_only = |endpoint: &mut H::E, peer| {
        let mut accepted = 0;
        while let Posted::Yes =
            endpoint.try_request(peer, Message::new(ECHO, [accepted as u64])).expect("a live peer")
        {
            accepted += 1;
        }
        accepted
    };
    let sent = [fill_only(&mut first, 1), fill_only(&mut second, 0)];

    // The second handles all it can reach while the first takes no reply.
    for _ in 0..1000 {
        progress(&mut second, &mut at_second);
    }
    assert!(!at_second.requests.is_empty(), "nothing arrived");
    assert_eq!(first.outstanding(), sent[0]);

    repeat_until("completions on both sides", || {
        progress(&mut first, &mut at_first);
        progress(&mut second, &mut at_second);
        first.outstanding() + second.outstanding() + first.unsent() + second.unsent() == 0
    });
    assert_eq!([at_second.requests.len(), at_first.requests.len()], sent);
    assert_eq!([at_first.replies.len(), at_second.replies.len()], sent);
}
