//! Times that grow with the machine's parameters by amounts smaller than anything, and that know what they came from.

use std::cmp::Ordering;

use super::clock::{Clock, Cost, Step, Time, Work};

/// Parameters, as [`LETTERS`](crate::LETTERS): L, o, g, G.
pub(crate) const PARAMETERS: usize = 4;

/// A time that knows more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trace<const N: usize> {
    pub picoseconds: u64,
    /// What it grows by in each direction of the clock: [`UNKNOWN`] where that depends on the direction's sign.
    pub growth: [i64; N],
    /// Sixteen times the number of a moment, from 1, [`WAITED`], and the step since; 0 for the beginning.
    pub source: u32,
}

/// No growth: it is between two.
const UNKNOWN: i64 = i64::MIN / 2;
/// The bit of a source that says that its moment is a wait.
const WAITED: u32 = 8;
/// Bits of a source below the number of the moment, and the most moments.
const STEP_BITS: u32 = 4;
const MOST: usize = (1 << (32 - STEP_BITS)) - 1;

impl<const N: usize> Trace<N> {
    /// What it grows by in a direction, whichever sign this has.
    pub fn known(&self, direction: usize) -> Option<i64> {
        Some(self.growth[direction]).filter(|growth| *growth >= 0)
    }
}

impl<const N: usize> Default for Trace<N> {
    fn default() -> Self {
        Self { picoseconds: 0, growth: [0; N], source: 0 }
    }
}

/// A growth in one direction decides between times that are else equal. In several it cannot.
impl<const N: usize> Ord for Trace<N> {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        let order = self.picoseconds.cmp(&other.picoseconds);
        if N == 1 { order.then_with(|| self.growth.cmp(&other.growth)) } else { order }
    }
}

impl<const N: usize> PartialOrd for Trace<N> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<const N: usize> PartialEq for Trace<N> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<const N: usize> Eq for Trace<N> {}

impl<const N: usize> Time for Trace<N> {
    #[inline]
    fn picoseconds(self) -> u64 {
        self.picoseconds
    }

    /// Of equal ones that which grows more; in several directions none may.
    #[inline]
    fn later(mut self, other: Self) -> Self {
        match self.picoseconds.cmp(&other.picoseconds) {
            Ordering::Greater => self,
            Ordering::Less => other,
            Ordering::Equal => {
                for (own, other) in self.growth.iter_mut().zip(other.growth) {
                    *own = match N {
                        1 => other.max(*own),
                        _ if *own == other => other,
                        _ => UNKNOWN,
                    };
                }
                self
            }
        }
    }
}

/// The kind of a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Compute,
    Send,
    Receive,
    /// Something other let a message go on.
    Wait,
}

/// A moment of a rank: the end of what its processor did, or of a message's wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub end: u64,
    /// Of a computation picoseconds, of a message bytes, and `u64::MAX` of words.
    pub amount: u64,
    /// What led to its beginning.
    pub before: u32,
    /// Of a send to whom, of a receive and a wait the number of the send.
    pub other: u32,
    /// The kind, and the rank.
    place: u32,
    /// Which work of the rank it is, from 1.
    pub number: u32,
}

/// Bits of a rank in a moment's place.
const RANK_BITS: u32 = 24;

impl Moment {
    pub fn rank(&self) -> u32 {
        self.place & ((1 << RANK_BITS) - 1)
    }

    pub fn kind(&self) -> Kind {
        [Kind::Compute, Kind::Send, Kind::Receive, Kind::Wait][(self.place >> RANK_BITS) as usize]
    }

    /// Bytes of its message.
    pub fn bytes(&self) -> Option<u32> {
        u32::try_from(self.amount).ok()
    }
}

/// All that happened, in an order in which what follows from something comes after it.
#[derive(Debug, Default)]
pub(crate) struct Past {
    pub moments: Vec<Moment>,
    /// How much each rank has done.
    works: Vec<u32>,
}

impl Past {
    pub fn of(ranks: usize) -> Self {
        Self { moments: Vec::new(), works: vec![0; ranks] }
    }

    /// Whether there may have been more than are kept.
    pub fn is_full(&self) -> bool {
        self.moments.len() == MOST
    }

    /// What a time is that comes a step after a moment.
    pub fn source(moment: u32, step: Step) -> u32 {
        (moment + 1) << STEP_BITS | step as u32
    }

    /// The number of a moment, from 0, and the step since.
    pub fn place(source: u32) -> Option<(u32, Step)> {
        use Step::{Flight, InBytes, InGap, Moment, OutBytes, OutGap, Transfer};
        const STEPS: [Step; 7] = [Moment, Flight, Transfer, OutGap, OutBytes, InGap, InBytes];
        Some(((source >> STEP_BITS).checked_sub(1)?, STEPS[(source & 7) as usize]))
    }

    /// The send of the message that led to a time.
    fn message(&self, source: u32) -> u32 {
        let Some((at, _)) = Self::place(source) else { return 0 };
        if source & WAITED == 0 { at } else { self.moments[at as usize].other }
    }

    #[inline]
    fn keep(&mut self, kind: Kind, rank: u32, moment: Moment) -> u32 {
        if self.is_full() {
            return 0;
        }
        let works = &mut self.works[rank as usize];
        *works += u32::from(kind != Kind::Wait);
        let place = (kind as u32) << RANK_BITS | rank;
        self.moments.push(Moment { place, number: *works, ..moment });
        let waited = if kind == Kind::Wait { WAITED } else { 0 };
        (self.moments.len() as u32) << STEP_BITS | waited
    }
}

/// Follows times in so many directions: none; one; or all parameters that grow.
#[derive(Debug)]
pub(crate) struct Traced<const N: usize> {
    /// The only direction: a parameter, and 1 or −1.
    towards: (usize, i64),
    /// What happened, if it is to be kept.
    pub past: Option<Past>,
    /// Directions in which events of one time may change places.
    pub unsure: [bool; N],
}

impl Traced<1> {
    /// For a parameter, and 1 or −1.
    pub fn towards(parameter: usize, sign: i64) -> Self {
        Self { towards: (parameter, sign), past: None, unsure: [false] }
    }
}

impl<const N: usize> Traced<N> {
    /// Keeps what so many ranks do.
    pub fn keeping(ranks: usize) -> Self {
        Self { towards: (0, 0), past: Some(Past::of(ranks)), unsure: [false; N] }
    }
}

impl<const N: usize> Clock for Traced<N> {
    type At = Trace<N>;

    #[inline]
    fn step(&self, mut at: Trace<N>, picoseconds: u64, cost: Cost, step: Step) -> Trace<N> {
        let (parameter, count) = match cost {
            Cost::Latency => (0, 1),
            Cost::Overhead => (1, 1),
            Cost::Gap => (2, 1),
            Cost::Bytes(bytes) => (3, i64::from(bytes)),
            Cost::Computation => (0, 0),
        };
        at.picoseconds = at.picoseconds.saturating_add(picoseconds);
        match N {
            0 => {}
            1 if parameter == self.towards.0 => at.growth[0] += self.towards.1 * count,
            1 => {}
            _ => at.growth[parameter] += count,
        }
        at.source = at.source & !7 | step as u32;
        at
    }

    #[inline]
    fn work(
        &mut self,
        rank: u32,
        at: Trace<N>,
        picoseconds: u64,
        work: Work<Trace<N>>,
    ) -> Trace<N> {
        let (kind, cost) = match work {
            Work::Compute => (Kind::Compute, Cost::Computation),
            Work::Send { .. } => (Kind::Send, Cost::Overhead),
            Work::Receive { .. } => (Kind::Receive, Cost::Overhead),
        };
        let mut end = self.step(at, picoseconds, cost, Step::Moment);
        if let Some(past) = &mut self.past {
            let bytes = |bytes: Option<u32>| bytes.map_or(u64::MAX, u64::from);
            let (other, amount) = match work {
                Work::Compute => (0, picoseconds),
                Work::Send { to, bytes: of } => (to, bytes(of)),
                Work::Receive { ready, bytes: of } => (past.message(ready.source), bytes(of)),
            };
            let (end_at, before) = (end.picoseconds, at.source);
            let moment = Moment { end: end_at, amount, before, other, place: 0, number: 0 };
            end.source = past.keep(kind, rank, moment);
        }
        end
    }

    #[inline]
    fn wait(&mut self, rank: u32, own: Trace<N>, other: Trace<N>) -> Trace<N> {
        let mut start = own.later(other);
        if let Some(past) = &mut self.past
            && other.picoseconds > own.picoseconds
        {
            let (end, before) = (start.picoseconds, other.source);
            let other = past.message(own.source);
            let moment = Moment { end, amount: 0, before, other, place: 0, number: 0 };
            start.source = past.keep(Kind::Wait, rank, moment);
        }
        start
    }

    #[inline]
    fn meet(&mut self, one: Trace<N>, other: Trace<N>) {
        if one.picoseconds == other.picoseconds && one.growth != other.growth {
            let differ = one.growth.iter().zip(other.growth).map(|(one, other)| *one != other);
            self.unsure.iter_mut().zip(differ).for_each(|(unsure, differ)| *unsure |= differ);
        }
    }
}
