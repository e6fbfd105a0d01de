use std::cell::Cell;
use std::rc::Rc;

use bandgap_comm::{Delay, Stamp};

use super::*;

/// A clock that stands still unless it is told; an iteration takes a tick, and a stamp nothing.
#[derive(Clone, Debug, Default)]
struct Told(Rc<Cell<u64>>);

impl Told {
    fn pass(&self, ticks: u64) {
        self.0.set(self.0.get() + ticks);
    }
}

impl Timer for Told {
    fn stamp(&self) -> Stamp {
        Stamp::from_ticks(self.0.get())
    }

    fn work(&self, iterations: u32) {
        self.pass(iterations.into());
    }
}

/// Lengths of everything that a rank does in a round trip of a script, in ticks.
const TURN: u64 = 50;
const SEND: u64 = 400;
const POLL: u64 = 90;
const BETWEEN: u64 = 7;
const RECEIVE: u64 = 1000;

fn sends(stamper: &Stamper<impl Timer>, clock: &Told) {
    stamper.before_send();
    clock.pass(SEND);
    stamper.after_send();
}

fn receives(stamper: &Stamper<impl Timer>, clock: &Told, bytes: usize) {
    clock.pass(BETWEEN);
    stamper.before_receive();
    clock.pass(if bytes > 0 { RECEIVE } else { POLL });
    stamper.after_receive(bytes);
}

/// Three times {turn, send, two polls that bring nothing, one that brings 24 bytes}.
fn script(stamper: &Stamper<impl Timer>, clock: &Told) {
    for _ in 0..3 {
        clock.pass(TURN);
        sends(stamper, clock);
        for bytes in [0, 0, 24] {
            receives(stamper, clock, bytes);
        }
    }
}

/// What this times of a script that runs by this clock.
fn timed_by<T: Timer>(
    timer: T,
    clock: &Told,
    at: AtBorder,
    script: impl Fn(&Stamper<T>, &Told),
) -> Timed {
    clock.pass(1000);
    let stamper = Stamper::new(timer);
    stamper.begin(at);
    script(&stamper, clock);
    stamper.end()
}

fn timed(at: AtBorder) -> Timed {
    let clock = Told::default();
    timed_by(clock.clone(), &clock, at, script)
}

/// An earlier poll, from before the send, is no bound of when the bytes came that are there at the first one after it.
fn there_at_once(stamper: &Stamper<impl Timer>, clock: &Told) {
    receives(stamper, clock, 0);
    sends(stamper, clock);
    receives(stamper, clock, 24);
}

fn of(stamping: u8) -> (i64, u64) {
    let Timed { ticks, count, .. } = timed(AtBorder::point(stamping));
    (ticks, count)
}

#[test]
fn each_kind_of_stamps_times_its_own_part() {
    // Before the first send nothing had arrived.
    assert_eq!(of(point::TURN), (2 * TURN as i64, 2));
    assert_eq!(of(point::SEND), (3 * SEND as i64, 3));
    assert_eq!(of(point::RECEIVE), (3 * RECEIVE as i64, 3));
    assert_eq!(of(point::FAILING), (6 * POLL as i64, 6));
    assert_eq!(of(point::GAP), (3 * (POLL + BETWEEN) as i64, 3));
    // Three turns, and what lies before each of nine calls that receive.
    assert_eq!(of(point::OWN), ((3 * TURN + 9 * BETWEEN) as i64, 12));
    assert_eq!(of(point::PAIR), (0, 3));
    assert_eq!(of(point::NOTHING), (0, 0));
}

#[test]
fn bytes_become_visible_in_the_middle_between_two_polls() {
    // From the beginning of the send to that of the third poll, less half of what lies before it.
    let gap = POLL + BETWEEN;
    let third = SEND + BETWEEN + 2 * gap;
    assert_eq!(of(point::VISIBLE), ((3 * (2 * third - gap) / 2) as i64, 3));
}

#[test]
fn what_was_there_at_the_first_poll_waited_for_none() {
    for (stamping, ticks) in [(point::VISIBLE, SEND + BETWEEN), (point::GAP, 0)] {
        let clock = Told::default();
        let timed = timed_by(clock.clone(), &clock, AtBorder::point(stamping), there_at_once);
        assert_eq!((timed.ticks, timed.count), (ticks as i64, 1), "{stamping}");
    }
}

#[test]
fn what_is_inserted_at_a_border_comes_back_in_its_part_alone() {
    let work = Delay { iterations: 30, picoseconds: 0 };
    let parts = [point::TURN, point::VISIBLE, point::GAP, point::RECEIVE];
    for (border, longer) in [
        (border::TURN, [2 * 30, 0, 0, 0]),
        // Every gap becomes longer, the one before the middle by half.
        (border::POLL, [0, 3 * (30 + 30 + 15), 3 * 30, 0]),
        (border::SEND, [0, 3 * 30, 0, 0]),
        (border::RECEIVE, [0, 0, 0, 3 * 30]),
    ] {
        for (stamping, longer) in parts.into_iter().zip(longer) {
            let with = timed(AtBorder { point: stamping, inserted: Some((border, work)) });
            assert_eq!(with.ticks - of(stamping).0, longer, "{border} {stamping}");
        }
    }
}

#[test]
fn a_batch_begins_anew_and_ends() {
    let clock = Told::default();
    clock.pass(1);
    let stamper = Stamper::new(clock.clone());
    let work = Delay { iterations: 30, picoseconds: 0 };
    stamper.begin(AtBorder { point: point::SEND, inserted: Some((border::SEND, work)) });
    script(&stamper, &clock);
    assert_eq!(stamper.end().ticks, 3 * (SEND + 30) as i64);
    // Between batches nothing is stamped and nothing inserted.
    let before = clock.0.get();
    sends(&stamper, &clock);
    assert_eq!(clock.0.get() - before, SEND);
    stamper.begin(AtBorder::point(point::SEND));
    assert_eq!(stamper.end(), Timed::default());
}

/// A clock whose stamps take time before and after it is read.
#[derive(Clone, Debug, Default)]
struct Slow(Told);

const BEFORE: u64 = 9;
const AFTER: u64 = 15;

impl Timer for Slow {
    fn stamp(&self) -> Stamp {
        self.0.pass(BEFORE);
        let read = self.0.stamp();
        self.0.pass(AFTER);
        read
    }

    fn work(&self, iterations: u32) {
        self.0.work(iterations);
    }
}

#[test]
fn what_intervals_contain_of_stamps_is_as_the_docs_say() {
    let clock = Slow::default();
    let of = |stamping| timed_by(clock.clone(), &clock.0, AtBorder::point(stamping), script);
    let pair = (BEFORE + AFTER) as i64;
    assert_eq!(of(point::PAIR).ticks, 3 * pair);
    assert_eq!(of(point::TURN).ticks, 2 * (TURN as i64 + pair));
    assert_eq!(of(point::RECEIVE).ticks, 3 * (RECEIVE as i64 + pair));
    assert_eq!(of(point::GAP).ticks, 3 * ((POLL + BETWEEN) as i64 + pair));
    // Bytes that were there at the first poll: no gap, and the stamps' part all the same, which is removed from each.
    let at = AtBorder::point(point::GAP);
    let timed = timed_by(clock.clone(), &clock.0, at, there_at_once);
    assert_eq!((timed.ticks, timed.count), (pair, 1));
    // From the beginning of one call to those of others: at the ends nothing of a stamp, but one before each of the three
    // polls, which comes later by that.
    let gap = (POLL + BETWEEN) as i64 + pair;
    let third = (SEND + BETWEEN) as i64 + pair + 2 * gap;
    assert_eq!(of(point::VISIBLE).ticks, 3 * (2 * third - gap) / 2);
}
