//! Times that also know how they grow with infinitesimal changes of the machine's parameters, and
//! what led to them.

use std::cmp::Ordering;
use std::fmt::Debug;
use std::marker::PhantomData;

use super::clock::{Clock, Cost, Step, Time, Work};

/// Number of parameters: L, o, g and G, as in [`LETTERS`](crate::LETTERS).
pub(crate) const PARAMETERS: usize = 4;

/// A time with its growth and its source.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Trace<G> {
    pub picoseconds: u64,
    /// Growth in each direction of the clock.
    pub growth: G,
    /// Sixteen times the number of a moment (from 1), plus [`WAITED`] and the step since that
    /// moment; 0 for the beginning.
    pub source: u32,
}

/// Growth of a time in several directions; [`UNKNOWN`] if it depends on the direction's sign.
pub(crate) trait Growth: Copy + Default + PartialEq + Debug {
    const DIRECTIONS: usize;

    fn get(self, direction: usize) -> i64;

    fn set(&mut self, direction: usize, growth: i64);
}

/// Bit of a source that says that its moment is a wait.
const WAITED: u32 = 8;
/// Bits of a source below the number of the moment, and the largest number of moments.
const STEP_BITS: u32 = 4;
const MOST: usize = (1 << (32 - STEP_BITS)) - 1;

/// Unknown growth: between two values. It stays negative whatever is added.
const UNKNOWN: i64 = i64::MIN / 2;

impl<const N: usize> Growth for [i64; N]
where
    Self: Default,
{
    const DIRECTIONS: usize = N;

    #[inline(always)]
    fn get(self, direction: usize) -> i64 {
        self[direction]
    }

    #[inline(always)]
    fn set(&mut self, direction: usize, growth: i64) {
        self[direction] = growth;
    }
}

/// How often each parameter is contained in a time. For the first three this is less than the
/// number of moments.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, packed(4))]
pub(crate) struct Counts {
    bytes: i64,
    others: [i32; PARAMETERS - 1],
}

impl Growth for Counts {
    const DIRECTIONS: usize = PARAMETERS;

    #[inline(always)]
    fn get(self, direction: usize) -> i64 {
        if direction == PARAMETERS - 1 { self.bytes } else { self.others[direction].into() }
    }

    #[inline(always)]
    fn set(&mut self, direction: usize, growth: i64) {
        match direction {
            3.. => self.bytes = growth,
            _ => self.others[direction] = growth.max((i32::MIN / 2).into()) as i32,
        }
    }
}

impl<G: Growth> Trace<G> {
    /// Growth in a direction, if it is the same for both signs.
    pub fn known(&self, direction: usize) -> Option<i64> {
        Some(self.growth.get(direction)).filter(|growth| *growth >= 0)
    }
}

/// With one direction, the growth decides between equal times. With several it cannot.
impl<G: Growth> Ord for Trace<G> {
    fn cmp(&self, other: &Self) -> Ordering {
        let order = self.picoseconds.cmp(&other.picoseconds);
        match G::DIRECTIONS {
            1 => order.then_with(|| self.growth.get(0).cmp(&other.growth.get(0))),
            _ => order,
        }
    }
}

impl<G: Growth> PartialOrd for Trace<G> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<G: Growth> PartialEq for Trace<G> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<G: Growth> Eq for Trace<G> {}

impl<G: Growth> Time for Trace<G> {
    #[inline(always)]
    fn picoseconds(self) -> u64 {
        self.picoseconds
    }

    /// Of two equal times, the one with the greater growth; with several directions the result is
    /// unknown where they differ.
    #[inline(always)]
    fn later(mut self, other: Self) -> Self {
        match self.picoseconds.cmp(&other.picoseconds) {
            Ordering::Greater => self,
            Ordering::Less => other,
            Ordering::Equal if self.growth == other.growth => self,
            Ordering::Equal => {
                for direction in 0..G::DIRECTIONS {
                    let (own, other) = (self.growth.get(direction), other.growth.get(direction));
                    let later = match G::DIRECTIONS {
                        1 => own.max(other),
                        _ if own == other => own,
                        _ => UNKNOWN,
                    };
                    self.growth.set(direction, later);
                }
                self
            }
        }
    }
}

/// Kind of a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MomentKind {
    Compute,
    Send,
    Receive,
    /// Another event let a message continue.
    Wait,
}

/// A moment of a rank: the end of its processor's work, or of a message's wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    /// What led to its beginning.
    pub before: u32,
    /// For a send, the receiver; for a receive or a wait, the number of the send.
    pub other: u32,
    /// For a message, its bytes; for a computation, the lower half of its picoseconds (the upper
    /// half is in `other`).
    amount: u32,
    /// The rank, the kind, and whether it is a message of words.
    place: u32,
}

/// Bits of the rank in a moment's place, and the bit for words.
const RANK_BITS: u32 = 24;
const WORDS: u32 = 1 << (RANK_BITS + 2);

impl Moment {
    pub fn rank(&self) -> u32 {
        self.place & ((1 << RANK_BITS) - 1)
    }

    pub fn kind(&self) -> MomentKind {
        const KINDS: [MomentKind; 4] =
            [MomentKind::Compute, MomentKind::Send, MomentKind::Receive, MomentKind::Wait];
        KINDS[(self.place >> RANK_BITS & 3) as usize]
    }

    /// Bytes of the moment's message.
    pub fn bytes(&self) -> Option<u32> {
        (self.place & WORDS == 0).then_some(self.amount)
    }

    /// Length of a computation, in picoseconds.
    pub fn computation(&self) -> u64 {
        u64::from(self.other) << 32 | u64::from(self.amount)
    }
}

/// All moments; a moment comes after those that it follows from.
#[derive(Debug, Default)]
pub(crate) struct Past {
    pub moments: Vec<Moment>,
    /// Time of each moment, if times are kept.
    pub ends: Option<Vec<u64>>,
}

impl Past {
    /// Whether moments may have been lost because there were too many.
    pub fn is_full(&self) -> bool {
        self.moments.len() == MOST
    }

    /// Source of a time that is one step after a moment.
    pub fn source(moment: u32, step: Step) -> u32 {
        (moment + 1) << STEP_BITS | step as u32
    }

    /// Number of the moment (from 0), and the step since.
    pub fn place(source: u32) -> Option<(u32, Step)> {
        use Step::{Flight, InBytes, InGap, Moment, OutBytes, OutGap, OutTurn, Transfer};
        const STEPS: [Step; 8] =
            [Moment, Flight, Transfer, OutGap, OutBytes, InGap, InBytes, OutTurn];
        Some(((source >> STEP_BITS).checked_sub(1)?, STEPS[(source & 7) as usize]))
    }

    /// Number of the send of the message that led to a time.
    fn message(&self, source: u32) -> u32 {
        let Some((at, _)) = Self::place(source) else { return 0 };
        if source & WAITED == 0 { at } else { self.moments[at as usize].other }
    }

    #[inline(always)]
    fn keep(&mut self, kind: MomentKind, end: u64, moment: Moment) -> u32 {
        if self.is_full() {
            return 0;
        }
        let place = (kind as u32) << RANK_BITS | moment.place;
        self.moments.push(Moment { place, ..moment });
        if let Some(ends) = &mut self.ends {
            ends.push(end);
        }
        let waited = if kind == MomentKind::Wait { WAITED } else { 0 };
        (self.moments.len() as u32) << STEP_BITS | waited
    }
}

/// A clock that traces times in several directions: in none, in one, or in those of all parameters.
#[derive(Debug)]
pub(crate) struct Traced<G> {
    /// The only direction: a parameter, and its sign (1 or −1).
    towards: (usize, i64),
    /// All moments, if they are kept.
    pub past: Option<Past>,
    /// Directions in which events of equal times may be reordered.
    pub unsure: [bool; PARAMETERS],
    growth: PhantomData<G>,
}

impl Traced<[i64; 1]> {
    /// Traces one parameter with one sign (1 or −1).
    pub fn towards(parameter: usize, sign: i64) -> Self {
        Self { towards: (parameter, sign), ..Self::of(None) }
    }
}

impl<G> Traced<G> {
    /// Keeps all moments, and also their times if `times`.
    pub fn keeping(times: bool) -> Self {
        Self::of(Some(Past { moments: Vec::new(), ends: times.then(Vec::new) }))
    }

    fn of(past: Option<Past>) -> Self {
        Self { towards: (0, 0), past, unsure: [false; PARAMETERS], growth: PhantomData }
    }
}

impl<G: Growth> Clock for Traced<G> {
    type At = Trace<G>;

    #[inline(always)]
    fn step(&self, mut at: Trace<G>, picoseconds: u64, cost: Cost, step: Step) -> Trace<G> {
        let (parameter, count) = match cost {
            Cost::Latency => (0, 1),
            Cost::Overhead => (1, 1),
            Cost::Gap => (2, 1),
            Cost::Bytes(bytes) => (3, i64::from(bytes)),
            Cost::Computation => (0, 0),
        };
        at.picoseconds = at.picoseconds.saturating_add(picoseconds);
        let (direction, count) = match G::DIRECTIONS {
            1 if parameter == self.towards.0 => (0, self.towards.1 * count),
            1 => (0, 0),
            _ => (parameter, count),
        };
        if G::DIRECTIONS > 0 {
            at.growth.set(direction, at.growth.get(direction) + count);
        }
        at.source = at.source & !7 | step as u32;
        at
    }

    #[inline(always)]
    fn work(
        &mut self,
        rank: u32,
        at: Trace<G>,
        picoseconds: u64,
        work: Work<Trace<G>>,
    ) -> Trace<G> {
        let (kind, cost) = match work {
            Work::Compute => (MomentKind::Compute, Cost::Computation),
            Work::Send { .. } => (MomentKind::Send, Cost::Overhead),
            Work::Receive { .. } => (MomentKind::Receive, Cost::Overhead),
        };
        let mut end = self.step(at, picoseconds, cost, Step::Moment);
        if let Some(past) = &mut self.past {
            let words = |bytes: Option<u32>| if bytes.is_some() { rank } else { rank | WORDS };
            let (other, amount, place) = match work {
                Work::Compute => ((picoseconds >> 32) as u32, picoseconds as u32, rank),
                Work::Send { to, bytes } => (to, bytes.unwrap_or(0), words(bytes)),
                Work::Receive { ready, bytes } => {
                    (past.message(ready.source), bytes.unwrap_or(0), words(bytes))
                }
            };
            let moment = Moment { before: at.source, other, amount, place };
            end.source = past.keep(kind, end.picoseconds, moment);
        }
        end
    }

    #[inline(always)]
    fn wait(&mut self, rank: u32, own: Trace<G>, other: Trace<G>) -> Trace<G> {
        let mut start = own.later(other);
        if let Some(past) = &mut self.past
            && other.picoseconds > own.picoseconds
        {
            let message = past.message(own.source);
            let moment = Moment { before: other.source, other: message, amount: 0, place: rank };
            start.source = past.keep(MomentKind::Wait, start.picoseconds, moment);
        }
        start
    }

    #[inline(always)]
    fn meet(&mut self, one: Trace<G>, other: Trace<G>) {
        if one.picoseconds == other.picoseconds && one.growth != other.growth {
            for direction in 0..G::DIRECTIONS {
                self.unsure[direction] |= one.growth.get(direction) != other.growth.get(direction);
            }
        }
    }
}
