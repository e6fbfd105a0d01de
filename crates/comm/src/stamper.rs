//! Stamps at the border between a transport and the system that carries its bytes.
//!
//! They say where the time of a message goes. One kind of stamps at a time: a stamp takes time too, and
//! so changes what is beside it. Ordinary connections have nothing of it in them, not even in their types.
//!
//! *Source*: "Breaking Band: A Breakdown of High-performance Communication", section 3: components are
//! timed one at a time.

use std::cell::Cell;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use crate::{Bulk, Delay, Rendezvous, Result, Timer, Transport};

/// What is timed at the border.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Stamping {
    /// Nothing: no stamp is taken.
    #[default]
    Nothing,
    /// Two stamps in a row before each call that sends: what an interval contains of them.
    Pair,
    /// From the end of a call that received to the beginning of the next one that sends.
    Turn,
    /// From the beginning of a call that sends to the middle between the beginnings of the last two
    /// calls that receive, of which the second one brought something. A rank's own sum is of its
    /// arrivals less its sends; only the sum of both ranks is a time.
    Visible,
    /// Between those two beginnings.
    Gap,
    /// Calls that received something.
    Receive,
    /// Calls that send.
    Send,
    /// Calls that received nothing.
    Failing,
    /// From the end of a call to the beginning of the next one.
    Own,
    /// Round trips of which one processor does both sides, one after the other, with a stamp after each side.
    Together,
    /// The stores and loads of such round trips, without the software above them.
    Lines,
}

/// A transport that can take stamps at its border with the system that carries its bytes.
pub trait Stamped: Transport {
    /// [`Transport::Endpoint`] with these stamps.
    type Stamped<T: Timer>: Bulk;

    /// Connects this rank with the others once more, with stamps. Memory is not exposed.
    ///
    /// # Errors
    /// As [`Transport::connect`].
    fn stamped<T: Timer>(
        meeting: &mut dyn Rendezvous,
        stamper: &Rc<Stamper<T>>,
    ) -> Result<Self::Stamped<T>>;
}

/// Where a computation of known length is inserted, to see whether it comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Border {
    /// Before a call that sends.
    Turn,
    /// In it, at its beginning.
    Send,
    /// Before a call that receives.
    Poll,
    /// In it, at its end, if it received something.
    Receive,
}

/// What is done at the border in a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AtBorder {
    /// What is timed.
    pub stamping: Stamping,
    /// What is inserted, and where.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inserted: Option<(Border, Delay)>,
}

/// What one rank timed in a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timed {
    /// The sum of the intervals, in ticks.
    pub ticks: i64,
    /// How many there are.
    pub count: u64,
}

/// Takes the stamps of one connection.
///
/// Whoever carries bytes calls them around each call of the system. Nothing is allocated between
/// [`Stamper::begin`] and [`Stamper::end`].
#[derive(Debug)]
pub struct Stamper<T> {
    timer: T,
    stamping: Cell<Stamping>,
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
        let (stamping, inserted, ticks, count, last, before) = Default::default();
        Self { timer, stamping, inserted, ticks, count, last, before }
    }

    /// A batch begins.
    pub fn begin(&self, at_border: AtBorder) {
        self.stamping.set(at_border.stamping);
        for cell in [&self.ticks, &self.count, &self.last, &self.before] {
            cell.set(0);
        }
        for (border, cell) in (0..).zip(&self.inserted) {
            let here = at_border.inserted.filter(|(at, _)| *at as usize == border);
            cell.set(here.map_or(0, |(_, work)| work.iterations));
        }
        if at_border.stamping == Stamping::Own {
            self.last.set(self.now());
        }
    }

    /// The batch is over. Gives what was timed.
    pub fn end(&self) -> Timed {
        let stamping = self.stamping.replace(Stamping::Nothing);
        self.inserted.iter().for_each(|cell| cell.set(0));
        let ticks = self.ticks.get() as i64;
        // A middle was counted as the sum of two stamps.
        let ticks = if stamping == Stamping::Visible { ticks / 2 } else { ticks };
        Timed { ticks, count: self.count.get() }
    }

    #[inline(always)]
    fn now(&self) -> u64 {
        self.timer.stamp().ticks()
    }

    #[inline(always)]
    fn insert(&self, border: Border) {
        let iterations = self.inserted[border as usize].get();
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
        self.insert(Border::Turn);
        match self.stamping.get() {
            Stamping::Pair => self.pair(),
            Stamping::Turn => {
                let last = self.last.replace(0);
                if last > 0 {
                    self.add(self.now().wrapping_sub(last));
                }
            }
            Stamping::Visible => {
                // Twice, as the middle below is the sum of two.
                let now = self.now();
                self.ticks.set(self.ticks.get().wrapping_sub(2 * now));
                self.last.set(0);
            }
            Stamping::Gap => self.last.set(0),
            Stamping::Send => self.last.set(self.now()),
            Stamping::Own => self.add(self.now().wrapping_sub(self.last.get())),
            _ => {}
        }
        self.insert(Border::Send);
    }

    /// A call that sends is over.
    #[inline(always)]
    pub fn after_send(&self) {
        match self.stamping.get() {
            Stamping::Send => self.add(self.now().wrapping_sub(self.last.get())),
            Stamping::Own => self.last.set(self.now()),
            _ => {}
        }
    }

    /// A call that receives begins.
    #[inline(always)]
    pub fn before_receive(&self) {
        self.insert(Border::Poll);
        match self.stamping.get() {
            Stamping::Visible | Stamping::Gap => {
                self.before.set(self.last.replace(self.now()));
            }
            Stamping::Receive | Stamping::Failing => self.last.set(self.now()),
            Stamping::Own => self.add(self.now().wrapping_sub(self.last.get())),
            _ => {}
        }
    }

    /// A call that receives is over. It brought so many bytes.
    #[inline(always)]
    pub fn after_receive(&self, bytes: usize) {
        if bytes > 0 {
            self.insert(Border::Receive);
        }
        match (self.stamping.get(), bytes > 0) {
            (Stamping::Turn, true) => self.last.set(self.now()),
            (Stamping::Visible, true) => {
                let (first, second) = self.last_two();
                self.add(first.wrapping_add(second));
            }
            (Stamping::Gap, true) => {
                let (first, second) = self.last_two();
                if first < second {
                    self.add(second.wrapping_sub(first));
                } else {
                    // No gap: what an interval contains of stamps, as all others do.
                    self.pair();
                }
            }
            (Stamping::Receive, true) | (Stamping::Failing, false) => {
                self.add(self.now().wrapping_sub(self.last.get()));
            }
            (Stamping::Own, _) => self.last.set(self.now()),
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

#[cfg(test)]
mod tests;
