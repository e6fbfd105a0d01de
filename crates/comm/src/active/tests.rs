use super::*;
use crate::inproc::{InprocLink, links};
use crate::{Credited, DeadlineWatch};

const ANSWER: HandlerId = HandlerId(0);
const NOTE: HandlerId = HandlerId(1);

type Rank2<W> = ActiveMessages<Credited<InprocLink>, Vec<Word>, W>;

fn handlers() -> Handlers<Vec<Word>> {
    let mut handlers = Handlers::<Vec<Word>>::default();
    handlers.request(|_, call, a, b, c, d| {
        let sum = [a, b, c, d].iter().take(call.words()).sum();
        call.reply(HandlerId(0), [sum])
    });
    handlers.request(|state, call, a, b, c, d| {
        state.extend(&[a, b, c, d][..call.words()]);
        call.done()
    });
    handlers.reply(|state, answer, a, b, c, d| state.extend(&[a, b, c, d][..answer.words()]));
    handlers
}

fn pair<W: Watch + Clone>(waiting: Waiting, watch: W) -> [Rank2<W>; 2] {
    let ranks = links(2, 4).into_iter().map(|link| {
        let endpoint = Credited::new(link, 3);
        ActiveMessages::new(endpoint, handlers(), Vec::new(), waiting, watch.clone())
    });
    ranks.collect::<Vec<_>>().try_into().ok().unwrap()
}

/// Ends every wait at the first look, and keeps what was waited for.
#[derive(Clone, Default)]
struct Impatient(Vec<&'static str>);

impl Watch for Impatient {
    fn check(&mut self, _: Duration, waiting_for: &'static str) -> Result<(), CommError> {
        self.0.push(waiting_for);
        Err(CommError::Stopped)
    }
}

#[test]
fn handlers_are_numbered_in_the_order_of_addition() {
    let mut handlers = Handlers::<()>::default();
    let numbers = [(); 256].map(|()| handlers.request(|(), call, _, _, _, _| call.done()).0);
    assert!((0..=255).eq(numbers));
}

#[test]
#[should_panic(expected = "at most 256")]
fn a_table_has_256_handlers() {
    let mut handlers = Handlers::<()>::default();
    for _ in 0..=256 {
        handlers.reply(|(), _, _, _, _, _| {});
    }
}

#[test]
fn a_poll_counts_what_it_handled() {
    let [mut here, mut there] = pair(Waiting::Yield, DeadlineWatch(Duration::MAX));
    here.request(1, ANSWER, [1, 2, 3, 4]).unwrap();
    assert_eq!(there.poll().unwrap(), 1);
    assert_eq!(here.poll().unwrap(), 1);
    assert_eq!(here.poll().unwrap(), 0);
    assert_eq!(*here.state(), [1 + 2 + 3 + 4]);
}

#[test]
fn every_wait_looks_at_its_watch_and_says_what_it_waits_for() {
    for waiting in [Waiting::Spin, Waiting::Yield, Waiting::Block] {
        let [mut here, _there] = pair(waiting, Impatient::default());
        for _ in 0..3 {
            here.request(1, NOTE, [0]).unwrap();
        }
        // All three credits are out, so that a fourth request waits.
        let waits = [
            here.request(1, NOTE, [0]),
            here.await_replies(),
            here.serve_until(|state| !state.is_empty()),
        ];
        for wait in waits {
            assert!(matches!(wait, Err(CommError::Stopped)), "{waiting:?}: {wait:?}");
        }
        let said = ["room for a request", "replies", "requests"];
        assert_eq!(here.watch_mut().0, said, "{waiting:?}");
    }
}

#[test]
fn the_watch_of_a_deadline_ends_the_wait_beyond_it() {
    let mut watch = DeadlineWatch(Duration::from_secs(3));
    watch.check(Duration::from_secs(3), "replies").unwrap();
    let late = watch.check(Duration::from_secs(4), "replies").unwrap_err();
    let expected = Duration::from_secs(4);
    assert!(
        matches!(late, CommError::Deadline { waited, waiting_for: "replies" } if waited == expected)
    );
}

#[test]
fn settling_returns_what_is_owed() {
    let [mut here, mut there] = pair(Waiting::Yield, DeadlineWatch(Duration::from_secs(60)));
    here.request(1, NOTE, [8]).unwrap();
    there.serve_until(|state| !state.is_empty()).unwrap();
    // Handled, but its completion is still owed: one poll of the sender finds nothing.
    assert_eq!((here.poll().unwrap(), here.endpoint().outstanding()), (0, 1));
    there.settle().unwrap();
    assert_eq!((here.poll().unwrap(), here.endpoint().outstanding()), (1, 0));
}

#[test]
fn settling_does_not_sleep_once_all_is_sent() {
    let [mut here, mut there] = pair(Waiting::Block, Impatient::default());
    here.request(1, NOTE, [8]).unwrap();
    assert_eq!(there.poll().unwrap(), 1);
    // The poll that returns the completion finds nothing itself.
    there.settle().unwrap();
    assert_eq!(there.watch_mut().0, [""; 0]);
    assert_eq!(here.poll().unwrap(), 1);
}

#[test]
fn a_reply_for_an_unknown_handler_is_an_error_that_names_it() {
    let [mut here, there] = pair(Waiting::Yield, DeadlineWatch(Duration::from_secs(60)));
    let mut handlers = Handlers::<()>::default();
    handlers.request(|(), call, _, _, _, _| call.reply(HandlerId(77), []));
    let watch = DeadlineWatch(Duration::from_secs(60));
    let mut there = ActiveMessages::new(there.endpoint, handlers, (), Waiting::Yield, watch);
    here.request(1, ANSWER, [1]).unwrap();
    there.poll().unwrap();
    match here.await_replies() {
        Err(CommError::Garbage { peer: 1, what }) => assert!(what.contains("77"), "{what}"),
        other => panic!("{other:?}"),
    }
}
