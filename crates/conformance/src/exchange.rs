//! Two ranks: what is sent arrives once, in order, and completes.

use super::Harness;
use super::ranks::{
    ECHO, ECHO_ASIDE, SINK, Seen, pair, progress, repeat_until, request, run, words,
};
use bandgap_comm::{Endpoint, MAX_WORDS, Message, Posted};

/// Requests of any number of words that keep the transport full arrive exactly once and in the order sent, and so do
/// their replies.
pub fn requests_arrive_once_and_in_order<H: Harness>() {
    const REQUESTS: usize = 1000;
    let sent = |i: usize| words(i as u64, i % (MAX_WORDS + 1));
    let logs = run::<H>(2, |am| {
        if am.rank() == 1 {
            for i in 0..REQUESTS {
                request(am, 0, if i % 4 == 0 { ECHO } else { SINK }, &sent(i))?;
            }
        }
        Ok(())
    });
    let all: Vec<_> = (0..REQUESTS).map(sent).collect();
    assert_eq!(logs[0].requests_of(1), all);
    let mut replies = logs[1].replies_of(0);
    replies.sort_unstable();
    let mut replied: Vec<_> = all.iter().step_by(4).collect();
    replied.sort_unstable();
    assert_eq!(replies, replied);
    assert!(logs[1].requests.is_empty());
}

/// Each request completes once at its sender, with or without a reply, and progress counts exactly
/// these completions.
pub fn completes_once<H: Harness>() {
    const REQUESTS: usize = 300;
    let [mut sender, mut receiver] = pair::<H>();
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
        // What was sent and is not outstanding has completed: nothing is counted twice.
        assert_eq!(sent - sender.outstanding(), completed);
        completed == REQUESTS
    });
    let mut polls = 0;
    repeat_until("ends to settle", || {
        assert_eq!(progress(&mut receiver, &mut there) + progress(&mut sender, &mut here), 0);
        polls += 1;
        polls >= 100 && (sender.unsent(), receiver.unsent()) == (0, 0)
    });
    let mut replied: Vec<u64> = here.replies.iter().map(|message| message.words()[0]).collect();
    replied.sort_unstable();
    assert_eq!(replied, (0..REQUESTS as u64).step_by(3).collect::<Vec<_>>());
    assert_eq!(there.requests.len(), REQUESTS);
}

/// A reply runs the handler that it names, on the rank that asked.
pub fn replies_keep_to_their_handler<H: Harness>() {
    const REQUESTS: u64 = 200;
    let logs = run::<H>(3, |am| {
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
