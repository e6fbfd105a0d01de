//! Stamps at the border between a stream and the system that carries its bytes.
//!
//! They say where the time of a message goes. One kind of stamps at a time: a stamp takes time too, and
//! so changes what is beside it. Ordinary connections have nothing of it in them, not even in their types.

use std::cell::Cell;

use bandgap_comm::{AtBorder, Stamping, Timed, Timer};

/// What is timed, by the point's number.
pub mod point {
    /// Nothing: no stamp is taken.
    pub const NOTHING: u8 = 1;
    /// Two stamps in a row before each call that sends: what an interval contains of them.
    pub const PAIR: u8 = 2;
    /// From the end of a call that received to the beginning of the next one that sends.
    pub const TURN: u8 = 3;
    /// From the beginning of a call that sends to the middle between the beginnings of the last two
    /// calls that receive, of which the second one brought something. A rank's own sum is of its
    /// arrivals less its sends; only the sum of both ranks is a time.
    pub const VISIBLE: u8 = 4;
    /// Between those two beginnings.
    pub const GAP: u8 = 5;
    /// Calls that received something.
    pub const RECEIVE: u8 = 6;
    /// Calls that send.
    pub const SEND: u8 = 7;
    /// Calls that received nothing.
    pub const FAILING: u8 = 8;
    /// From the end of a call to the beginning of the next one.
    pub const OWN: u8 = 9;
}

/// Numbers of the places where a computation of known length is inserted.
pub(crate) mod border {
    /// Before a call that sends.
    pub const TURN: u8 = 0;
    /// In it, at its beginning.
    pub const SEND: u8 = 1;
    /// Before a call that receives.
    pub const POLL: u8 = 2;
    /// In it, at its end, if it received something.
    pub const RECEIVE: u8 = 3;
}

/// Takes the stamps of one connection.
///
/// Whoever carries bytes calls them around each call of the system. Nothing is allocated between
/// [`Stamping::begin`] and [`Stamping::end`].
#[derive(Debug)]
pub struct Stamper<T> {
    timer: T,
    point: Cell<u8>,
    /// Iterations inserted at each border.
    inserted: [Cell<u32>; 4],
    ticks: Cell<u64>,
    count: Cell<u64>,
    /// The stamp that the next interval begins with, and the one before it; 0 where there is none.
    last: Cell<u64>,
    before: Cell<u64>,
}

impl<T: Timer> Stamper<T> {
    /// One that takes no stamps until a batch begins.
    pub fn new(timer: T) -> Self {
        let (point, inserted, ticks, count, last, before) = Default::default();
        Self { timer, point, inserted, ticks, count, last, before }
    }

    #[inline(always)]
    fn now(&self) -> u64 {
        self.timer.stamp().ticks()
    }

    #[inline(always)]
    fn insert(&self, border: u8) {
        let iterations = self.inserted[usize::from(border)].get();
        if iterations > 0 {
            self.timer.work(iterations);
        }
    }

    /// An interval is over.
    #[inline(always)]
    fn add(&self, ticks: u64) {
        self.ticks.set(self.ticks.get().wrapping_add(ticks));
        self.count.set(self.count.get() + 1);
    }

    /// An interval with nothing in it.
    #[inline(always)]
    fn pair(&self) {
        let begun = self.now();
        self.add(self.now().wrapping_sub(begun));
    }

    /// A call that sends begins.
    #[inline(always)]
    pub fn before_send(&self) {
        self.insert(border::TURN);
        match self.point.get() {
            point::PAIR => self.pair(),
            point::TURN => {
                let last = self.last.replace(0);
                if last > 0 {
                    self.add(self.now().wrapping_sub(last));
                }
            }
            point::VISIBLE => {
                // Twice, as the middle below is the sum of two.
                let now = self.now();
                self.ticks.set(self.ticks.get().wrapping_sub(2 * now));
                self.last.set(0);
            }
            point::GAP => self.last.set(0),
            point::SEND => self.last.set(self.now()),
            point::OWN => self.add(self.now().wrapping_sub(self.last.get())),
            _ => {}
        }
        self.insert(border::SEND);
    }

    /// A call that sends is over.
    #[inline(always)]
    pub fn after_send(&self) {
        match self.point.get() {
            point::SEND => self.add(self.now().wrapping_sub(self.last.get())),
            point::OWN => self.last.set(self.now()),
            _ => {}
        }
    }

    /// A receive call begins.
    #[inline(always)]
    pub fn before_receive(&self) {
        self.insert(border::POLL);
        match self.point.get() {
            point::VISIBLE | point::GAP => {
                self.before.set(self.last.replace(self.now()));
            }
            point::RECEIVE | point::FAILING => self.last.set(self.now()),
            point::OWN => self.add(self.now().wrapping_sub(self.last.get())),
            _ => {}
        }
    }

    /// A call that receives is over. It brought so many bytes.
    #[inline(always)]
    pub fn after_receive(&self, bytes: usize) {
        if bytes > 0 {
            self.insert(border::RECEIVE);
        }
        match (self.point.get(), bytes > 0) {
            (point::TURN, true) => self.last.set(self.now()),
            (point::VISIBLE, true) => {
                let (first, second) = self.last_two();
                self.add(first.wrapping_add(second));
            }
            (point::GAP, true) => {
                let (first, second) = self.last_two();
                if first < second {
                    self.add(second.wrapping_sub(first));
                } else {
                    // No gap: what an interval contains of stamps, as all others do.
                    self.pair();
                }
            }
            (point::RECEIVE, true) | (point::FAILING, false) => {
                self.add(self.now().wrapping_sub(self.last.get()));
            }
            (point::OWN, _) => self.last.set(self.now()),
            _ => {}
        }
    }

    /// The beginnings of the last two calls that received. Where there was none between a send and
    /// the one that brought something, both are that one: the bytes had been there.
    #[inline(always)]
    fn last_two(&self) -> (u64, u64) {
        let (first, second) = (self.before.replace(0), self.last.get());
        (if first > 0 { first } else { second }, second)
    }
}

impl<T: Timer> Stamping for Stamper<T> {
    fn begin(&self, at: AtBorder) {
        self.point.set(at.point);
        for cell in [&self.ticks, &self.count, &self.last, &self.before] {
            cell.set(0);
        }
        for (border, cell) in (0..).zip(&self.inserted) {
            let here = at.inserted.filter(|(at, _)| *at == border);
            cell.set(here.map_or(0, |(_, work)| work.iterations));
        }
        if at.point == point::OWN {
            self.last.set(self.now());
        }
    }

    fn end(&self) -> Timed {
        let point = self.point.replace(point::NOTHING);
        self.inserted.iter().for_each(|cell| cell.set(0));
        let ticks = self.ticks.get() as i64;
        // A middle was counted as the sum of two stamps.
        let ticks = if point == point::VISIBLE { ticks / 2 } else { ticks };
        Timed { ticks, count: self.count.get(), ..Timed::default() }
    }
}

#[cfg(test)]
mod tests;
