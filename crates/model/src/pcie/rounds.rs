//! Lone posts, and pings with their completions and pongs.

use bandgap_stats::Stream;

/// After this many picoseconds without posts, completions and payloads, no post is in flight.
const QUIET: u64 = 10_000_000;

/// A count that no round has: posts since the last payload, and completions since the last post.
const SPOILED: [u64; 2] = [u64::MAX, 0];

/// Times read from the sequence of posts, completions and payloads.
///
/// If a payload is followed by exactly one post, one completion and then a payload, that last
/// payload answers the post, and no post is in flight after it. The next post is then a *ping*,
/// alone in flight; the next completion belongs to it, and the payload was a *pong*. The number of
/// posts in flight is unknown at the beginning of a trace, after any other sequence, and after
/// missing packets, until the next such round.
///
/// *Assumes* that two interleaved ping-pongs, or streams in both directions, do not happen to
/// produce that sequence.
#[derive(Clone, Debug, Default)]
pub(super) struct Rounds {
    /// Number of posts in flight, if known.
    outstanding: Option<u64>,
    ping: Option<u64>,
    /// Time of the payload that answered the last post.
    pong: Option<u64>,
    /// Posts since the last payload, and completions since the last post.
    since: [u64; 2],
    last_post: Option<u64>,
    answered: bool,
    /// Time of the last post, completion or payload.
    last: Option<u64>,
    /// Times between posts without a payload between them, in picoseconds.
    pub posts: Stream,
    /// Number of pairs of posts with a payload between them.
    pub answers: u64,
    /// Times from a ping to its completion.
    pub pings: Stream,
    /// Times from a pong to the next ping.
    pub pongs: Stream,
}

impl Rounds {
    /// Records that packets before the next one are missing, or were sent again.
    pub fn missing(&mut self) {
        (self.outstanding, self.ping, self.pong, self.since) = (None, None, None, SPOILED);
        self.last_post = None;
    }

    pub fn post(&mut self, time: u64) {
        self.calm(time);
        if let Some(pong) = self.pong.take() {
            self.pongs.add(time - pong);
        }
        self.since = [self.since[0].saturating_add(1), 0];
        if let Some(last) = self.last_post.replace(time) {
            match self.answered {
                true => self.answers += 1,
                false => self.posts.add(time - last),
            }
        }
        self.answered = false;
        self.ping = (self.outstanding == Some(0)).then_some(time);
        self.outstanding = self.outstanding.map(|posts| posts + 1);
    }

    pub fn completion(&mut self, time: u64) {
        self.calm(time);
        self.since[1] = self.since[1].saturating_add(1);
        if let Some(ping) = self.ping.take()
            && self.outstanding == Some(1)
        {
            self.pings.add(time - ping);
        }
        self.outstanding = self.outstanding.map(|posts| posts.saturating_sub(1));
    }

    pub fn payload(&mut self, time: u64) {
        self.calm(time);
        (self.ping, self.answered) = (None, true);
        match self.since {
            // A second write of the same message.
            [0, 0] => {}
            [1, 1] => (self.outstanding, self.pong) = (Some(0), Some(time)),
            _ => (self.outstanding, self.pong) = (None, None),
        }
        self.since = [0; 2];
    }

    fn calm(&mut self, time: u64) {
        if self.last.replace(time).is_some_and(|last| time - last > QUIET) {
            // A pause does not count as the time from a pong to a ping.
            (self.outstanding, self.ping, self.pong) = (Some(0), None, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Posts `p`, completions `c`, payloads `d` and missing packets `?`, one every 100 ps.
    fn rounds(text: &str) -> Rounds {
        let mut rounds = Rounds::default();
        for (at, event) in (10..).step_by(100).zip(text.chars()) {
            match event {
                'p' => rounds.post(at),
                'c' => rounds.completion(at),
                'd' => rounds.payload(at),
                '?' => rounds.missing(),
                _ => {}
            }
        }
        rounds
    }

    fn counts(text: &str) -> [u64; 4] {
        let Rounds { posts, answers, pings, pongs, .. } = rounds(text);
        [posts.count(), answers, pings.count(), pongs.count()]
    }

    #[test]
    fn a_ping_is_alone_and_its_completion_is_the_next() {
        // The first post may have others before it.
        assert_eq!(counts("pcdpcdpcd"), [0, 2, 2, 2]);
        let found = rounds("pcd p   c d  p");
        assert_eq!(found.pings.mean(), Some(400.0));
        assert_eq!((found.pongs.min(), found.pongs.quantile(1.0)), (Some(200.0), Some(300.0)));
    }

    #[test]
    fn with_several_posts_under_way_there_is_no_ping() {
        assert_eq!(counts("pppcpcpcpcpc"), [6, 0, 0, 0]);
        // The first of two is not alone on its way any more.
        assert_eq!(counts("pcdppcc"), [1, 1, 0, 1]);
        // Pings and pongs several at a time: in bursts, and one chain between the steps of another.
        assert_eq!(counts("pppcccdpdpdpcccdpdpdpccc")[2..], [0, 0]);
        assert_eq!(counts("ppccdpdpccdpdpccd")[2..], [0, 0]);
        assert_eq!(counts("pcpdcpdcpdcpdcp")[2..], [0, 0]);
    }

    #[test]
    fn a_second_write_of_the_same_message_is_no_pong() {
        let found = rounds("pc d d  pc d  d p");
        assert_eq!((found.pongs.count(), found.pongs.quantile(1.0)), (2, Some(500.0)));
        // Nor is the completion of a received message one of a post.
        assert_eq!(counts("pcdcpcdcpcdc"), [0, 2, 2, 2]);
    }

    #[test]
    fn what_spans_missing_packets_counts_for_nothing() {
        assert_eq!(counts("pcdpcd?pcdpcd"), [0, 2, 1, 1]);
        assert_eq!(counts("pcdp?cdpcdpcd"), [0, 2, 1, 2]);
        assert_eq!(counts("ppp?ppp"), [4, 0, 0, 0]);
        // The payload after the gap may not be its message's first.
        assert_eq!(counts("pcdpc?dp"), [0, 1, 1, 1]);
        // Without numbers: a completion, a post, a payload is missing.
        assert_eq!(counts("pcdpdpcdpc"), [0, 3, 1, 2]);
        assert_eq!(counts("pcdcdpcdpc"), [0, 2, 1, 1]);
        assert_eq!(counts("pcdpcpcdpc"), [1, 2, 2, 1]);
    }

    #[test]
    fn after_a_long_rest_no_post_is_under_way() {
        // A trace begins at 0.
        for begin in [0, 5] {
            let mut rounds = Rounds::default();
            rounds.post(begin);
            rounds.post(begin + QUIET + 100);
            rounds.completion(begin + QUIET + 300);
            assert_eq!(rounds.pings.mean(), Some(200.0), "{begin}");
        }
    }

    #[test]
    fn a_rest_between_pong_and_ping_is_no_time() {
        let after = |rest: u64| {
            let mut rounds = Rounds::default();
            rounds.post(0);
            rounds.completion(100);
            rounds.payload(200);
            rounds.post(200 + rest);
            rounds.pongs.count()
        };
        assert_eq!((after(QUIET), after(QUIET + 1)), (1, 0));
    }
}
