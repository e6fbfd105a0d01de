//! Endpoints: messages arrive once, in order, and complete; nothing locks up; errors name the rank
//! that misbehaves or leaves.

use crate::ranks::{
    ECHO, ECHO_ASIDE, SINK, Seen, UNKNOWN, assert_nobody, pair, progress, rank, repeat_until,
    request, run, until_error, words,
};
use crate::{EXPOSED, Harness};
use bandgap_comm::{AnyEndpoint, CommError, Endpoint, HandlerId, MAX_WORDS, Message, Posted, Rank};

/// Requests of any number of words, sent fast enough to keep the transport full, arrive exactly
/// once and in order, and so do their replies.
pub fn requests_arrive_once_and_in_order(made: &Harness) {
    const REQUESTS: usize = 1000;
    let sent = |i: usize| words(i as u64, i % (MAX_WORDS + 1));
    let logs = run(made, 2, |am| {
        if am.rank() == 1 {
            for i in 0..REQUESTS {
                request(am, 0, if i % 4 == 0 { ECHO } else { SINK }, &sent(i))?;
            }
        }
        Ok(())
    });
    let all: Vec<_> = (0..REQUESTS).map(sent).collect();
    assert_eq!(logs[0].requests_of(1), all);
    let mut replied: Vec<_> = all.iter().step_by(4).collect();
    replied.sort_unstable();
    assert_eq!(logs[1].replies_of(0), replied);
    assert!(logs[1].requests.is_empty());
}

/// Each request completes once at its sender, with or without a reply, and `progress` counts
/// exactly these completions.
pub fn completes_once(made: &Harness) {
    const REQUESTS: usize = 300;
    let [mut sender, mut receiver] = pair(made);
    let (mut here, mut there) = (Seen::default(), Seen::default());
    let (mut sent, mut completed) = (0, 0);
    repeat_until("completions", || {
        while sent < REQUESTS {
            let handler = if sent % 3 == 0 { ECHO } else { SINK };
            match sender.try_request(1, Message::new(handler, [sent as u64])) {
                Ok(Posted::Yes) => sent += 1,
                Ok(Posted::Busy) => break,
                Err(error) => panic!("failed to {error}"),
            }
            assert!(sender.outstanding() <= sender.capacity());
        }
        progress(&mut receiver, &mut there);
        completed += progress(&mut sender, &mut here);
        // A sent request is either outstanding or completed: none is counted twice.
        assert_eq!(sent - sender.outstanding(), completed);
        completed == REQUESTS
    });
    let mut polls = 0;
    repeat_until("ends to settle", || {
        assert_eq!(progress(&mut receiver, &mut there) + progress(&mut sender, &mut here), 0);
        polls += 1;
        polls >= 100 && (sender.unsent(), receiver.unsent()) == (0, 0)
    });
    let mut replied = first_words(&here.replies);
    replied.sort_unstable();
    assert_eq!(replied, (0..REQUESTS as u64).step_by(3).collect::<Vec<_>>());
    assert_eq!(there.requests.len(), REQUESTS);
}

/// A reply runs the handler that it names, on the requesting rank.
pub fn replies_keep_to_their_handler(made: &Harness) {
    const REQUESTS: u64 = 200;
    let logs = run(made, 3, |am| {
        if am.rank() == 0 {
            for i in 0..REQUESTS {
                let peer = 1 + (i % 2) as usize;
                am.request(peer, if i % 3 == 0 { ECHO_ASIDE } else { ECHO }, [i])?;
            }
        }
        Ok(())
    });
    let sorted = |entries: &[(usize, Vec<u64>)]| {
        let mut all: Vec<_> = entries.iter().map(|(from, words)| (words[0], *from)).collect();
        all.sort_unstable();
        all
    };
    let expected = |aside: bool| {
        let chosen = (0..REQUESTS).filter(|i| (i % 3 == 0) == aside);
        chosen.map(|i| (i, 1 + (i % 2) as usize)).collect::<Vec<_>>()
    };
    assert_eq!(sorted(&logs[0].replies), expected(false));
    assert_eq!(sorted(&logs[0].replies_aside), expected(true));
    assert!(logs[1].replies.is_empty() && logs[2].replies.is_empty());
}

/// Sends until the answer was Busy many times; with `seen`, this end makes progress in between.
/// Returns the number of accepted requests.
fn fill(endpoint: &mut AnyEndpoint, peer: Rank, mut seen: Option<&mut Seen>) -> usize {
    let (mut accepted, mut refused) = (0, 0);
    while refused < 100 {
        match endpoint.try_request(peer, Message::new(ECHO, [accepted as u64])) {
            Ok(Posted::Yes) => accepted += 1,
            Ok(Posted::Busy) => refused += 1,
            Err(error) => panic!("failed to {error}"),
        }
        assert!(accepted <= endpoint.capacity(), "{accepted} requests were accepted");
        if let Some(seen) = &mut seen {
            progress(endpoint, seen);
        }
    }
    accepted
}

fn first_words(messages: &[Message]) -> Vec<u64> {
    messages.iter().map(|message| message.words()[0]).collect()
}

/// While the peer makes no progress, requests beyond the capacity are answered Busy and not sent.
/// Once it makes progress, there is room again.
pub fn busy_at_capacity(made: &Harness) {
    let [mut sender, mut receiver] = pair(made);
    let (mut here, mut there) = (Seen::default(), Seen::default());
    for round in 1..=3 {
        let accepted = fill(&mut sender, 1, Some(&mut here));
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
pub fn flood_both_ways(made: &Harness) {
    let logs = run(made, 2, |am| {
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

/// Handlers can reply even if both directions are full and the other rank takes nothing.
pub fn replies_find_room(made: &Harness) {
    let [mut first, mut second] = pair(made);
    let (mut at_first, mut at_second) = (Seen::default(), Seen::default());
    // Neither end delivers while it fills, so the other's requests stay in the transport.
    let sent = [fill(&mut first, 1, None), fill(&mut second, 0, None)];

    // The second end handles all it can reach while the first takes no reply.
    let mut polls = 0..1000;
    repeat_until("a request", || {
        progress(&mut second, &mut at_second);
        polls.next().is_none() && !at_second.requests.is_empty()
    });
    assert_eq!(first.outstanding(), sent[0]);

    repeat_until("completions on both sides", || {
        progress(&mut first, &mut at_first);
        progress(&mut second, &mut at_second);
        first.outstanding() + second.outstanding() + first.unsent() + second.unsent() == 0
    });
    assert_eq!([at_second.requests.len(), at_first.requests.len()], sent);
    assert_eq!([at_first.replies.len(), at_second.replies.len()], sent);
}

/// Every rank sends to every other, for several numbers of ranks.
pub fn all_to_all(made: &Harness) {
    const ROUNDS: u64 = 40;
    for size in [2, 3, 5, 8] {
        let logs = run(made, size, |am| {
            let rank = am.rank();
            for round in 0..ROUNDS {
                for offset in 1..size {
                    let handler = if round % 2 == 0 { ECHO } else { SINK };
                    am.request((rank + offset) % size, handler, [rank as u64, round])?;
                }
            }
            Ok(())
        });
        for (rank, log) in logs.iter().enumerate() {
            for peer in (0..size).filter(|&peer| peer != rank) {
                let sent: Vec<_> = (0..ROUNDS).map(|round| [peer as u64, round]).collect();
                assert_eq!(log.requests_of(peer), sent, "from {peer} to {rank} of {size}");
                // Every second round requests a reply.
                assert_eq!(log.replies_of(peer).len() as u64, ROUNDS / 2);
            }
        }
    }
}

/// Many ranks send to one, which only replies. No rank starves.
pub fn fan_in(made: &Harness) {
    const SIZE: usize = 5;
    const REQUESTS: u64 = 300;
    let logs = run(made, SIZE, |am| {
        if am.rank() > 0 {
            for i in 0..REQUESTS {
                am.request(0, ECHO, [i])?;
            }
        }
        Ok(())
    });
    for (rank, log) in logs.iter().enumerate().skip(1) {
        let sent: Vec<_> = (0..REQUESTS).map(|i| [i]).collect();
        assert_eq!(logs[0].requests_of(rank), sent);
        assert_eq!(log.replies_of(0), sent);
    }
    assert_eq!(logs[0].requests.len() as u64, REQUESTS * (SIZE as u64 - 1));
}

/// A rank is not its own peer, and there are no ranks beyond the size.
pub fn no_such_peer(made: &Harness) {
    for mut endpoint in (made.endpoints)(3, EXPOSED) {
        for nobody in [endpoint.rank(), 3, usize::MAX] {
            let answer = endpoint.try_request(nobody, Message::new(HandlerId(0), []));
            assert_nobody(answer, nobody, 3);
        }
        assert_eq!(endpoint.outstanding(), 0);
    }
}

/// A request for an unknown handler is an error that names its sender and the handler.
pub fn unknown_handler_names_the_rank(made: &Harness) {
    let mut ranks: Vec<_> = (made.endpoints)(3, EXPOSED).into_iter().map(rank).collect();
    ranks[2].request(0, UNKNOWN, [7]).expect("a sender does not know the receiver's table");
    let error = until_error("the unknown handler", || {
        ranks[2].poll().expect("the sender sees nothing wrong");
        ranks[0].poll()
    });
    match error {
        CommError::Garbage { peer: 2, what } => assert!(what.contains("200"), "{what}"),
        other => panic!("{other:?}"),
    }
}

/// An endpoint notices that the endpoint of a peer was dropped, and names the peer. Only for
/// transports that can notice ([`Harness::notices_departure`]).
pub fn departure_is_noticed(made: &Harness) {
    if !made.notices_departure {
        return;
    }
    let [mut stays, leaves] = pair(made);
    let mut seen = Seen::default();
    assert_eq!(stays.progress(&mut seen).expect("both are there"), 0);
    drop(leaves);
    let error = until_error("the departure", || stays.progress(&mut seen));
    assert!(matches!(error, CommError::PeerGone { peer: 1, .. }), "{error:?}");
}
