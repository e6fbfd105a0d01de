//! Two ranks: what is sent arrives once, in order, and completes.

use super::Harness;
use super::ranks::{ECHO, ECHO_ASIDE, SINK, Seen, pair, progress, repeat_until, run};
use bandgap_comm::{Endpoint, Message, Posted};

/// Requests that keep the transport full arrive exactly once and in the order sent.
pub fn requests_arrive_once_and_in_order<H: Harness>() {
    const REQUESTS: u64 = 1000;
    let logs = run::<H>(2, |am| {
        if am.rank() == 1 {
            for i in 0..REQUESTS {
                am.request(0, if i % 5 == 0 { ECHO } else { SINK }, [i])?;
            }
        }
        Ok(())
    });
    // A sequence that counts up by one is complete, in order, and repeats nothing.
    let arrived: Vec<u64> = logs[0].requests.iter().map(|(_, words)| words[0]).collect();
    assert_eq!(arrived, (0..REQUESTS).collect::<Vec<_>>());
    assert!(logs[1].requests.is_empty());
}

/// Each request completes once at its sender, with or without a reply, and progress counts exactly
/// these completions.
pub fn completes_once<H: Harness>() {
    const REQUESTS: usize = 300;
    let (mut sender, mut receiver) = pair::<H>();
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
