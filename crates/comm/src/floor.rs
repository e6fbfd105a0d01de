//! Plain loops on the bare machine, and the layers that are measured beside it.
//!
//! A floor is the same exchange done by a plain loop on the bare mechanism (a socket, two cache
//! lines), without frames, handlers or credits. It is a yardstick and no bound: a transport may be
//! faster where it moves fewer lines. A layer is one of bandgap's own kernels over a transport, to be
//! compared with the floors below it.

use std::borrow::Cow;
use std::os::fd::OwnedFd;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Rendezvous, Result, Timer, Transport};

/// Which side of a two-sided floor measurement a process plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Sends first and holds the timer.
    Initiator,
    /// Answers, and times nothing.
    Responder,
}

/// How much a floor measurement does; both sides are given the same value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Window {
    /// Number of samples taken, each one interval of the timer.
    pub samples: u32,
    /// Number of repetitions inside one sample, for example round trips.
    pub rounds: u32,
}

impl Window {
    /// Number of rounds of all samples together.
    pub fn all_rounds(self) -> u64 {
        u64::from(self.samples) * u64::from(self.rounds)
    }
}

/// What one round of a floor moves or does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Yields {
    /// Half round trips: time is elapsed / (2 · rounds).
    HalfRoundTrip,
    /// Operations or messages: time is elapsed / rounds.
    Operation,
    /// Bytes one way: rate is bytes · rounds / elapsed.
    Bytes(u64),
    /// Bytes there, and as many back: rate is 2 · bytes · rounds / elapsed.
    BytesEachWay(u64),
}

impl Yields {
    /// Bytes of a round, one way, where it yields a rate.
    pub fn bytes(self) -> Option<u64> {
        match self {
            Self::Bytes(bytes) | Self::BytesEachWay(bytes) => Some(bytes),
            Self::HalfRoundTrip | Self::Operation => None,
        }
    }
}

/// A floor, or a layer of bandgap's measured beside its floors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Floor {
    /// Its name on the command line and in run files.
    pub name: Cow<'static, str>,
    /// What it is, in a few words.
    pub meaning: Cow<'static, str>,
    /// What a round yields.
    pub yields: Yields,
    /// Rounds of one sample.
    pub rounds: u32,
    /// Places in memory, where each sample of a batch is at the next one; 1 where all are at the same.
    pub places: u32,
    /// The floors, or the layer below, that this layer is compared with; none for a floor itself.
    pub over: Cow<'static, [Cow<'static, str>]>,
    /// The kernel of a layer; none for a floor.
    pub kernel: Option<Cow<'static, str>>,
}

impl Floor {
    /// A floor.
    pub const fn new(
        name: &'static str,
        meaning: &'static str,
        yields: Yields,
        rounds: u32,
    ) -> Self {
        Self::over_places(name, meaning, yields, rounds, 1)
    }

    /// A floor whose samples go over so many places in memory.
    pub const fn over_places(
        name: &'static str,
        meaning: &'static str,
        yields: Yields,
        rounds: u32,
        places: u32,
    ) -> Self {
        let (name, meaning) = (Cow::Borrowed(name), Cow::Borrowed(meaning));
        let over = Cow::Borrowed(&[] as &[_]);
        Self { name, meaning, yields, rounds, places, over, kernel: None }
    }

    /// A layer over floors.
    pub const fn layer(
        name: &'static str,
        meaning: &'static str,
        yields: Yields,
        rounds: u32,
        over: &'static [Cow<'static, str>],
        kernel: &'static str,
    ) -> Self {
        let (over, kernel) = (Cow::Borrowed(over), Some(Cow::Borrowed(kernel)));
        let (name, meaning) = (Cow::Borrowed(name), Cow::Borrowed(meaning));
        Self { name, meaning, yields, rounds, places: 1, over, kernel }
    }

    /// Bytes of a round, one way: of a word where it yields no rate.
    pub fn bytes(&self) -> usize {
        self.yields.bytes().unwrap_or(size_of::<u64>() as u64) as usize
    }
}

/// Why a floor brought no time.
#[derive(Debug, thiserror::Error)]
pub enum FloorError {
    /// This machine does not allow it.
    #[error("measure {floor}: not available on this machine: {reason}")]
    Unavailable {
        /// The floor.
        floor: String,
        /// Why not.
        reason: String,
    },
    /// It went wrong.
    #[error(transparent)]
    Failed(Box<dyn std::error::Error + Send + Sync>),
}

/// What a floor measurement is given.
pub struct Measuring<'a, T> {
    /// The side of this process.
    pub role: Role,
    /// How much is done.
    pub window: Window,
    /// The clock.
    pub timer: &'a T,
    /// Blocks of a computation that a side does before it sends: only in the floor that divides a transport's time
    /// ([`Together::LINE`](crate::Together::LINE)).
    pub turn: u32,
    /// Longest wait for the other side's next answer.
    pub patience: Duration,
    /// Asked from time to time, with how long this wait has lasted and the longest wait: whether to stop waiting.
    pub give_up: &'a dyn Fn(Duration, Duration) -> bool,
}

impl<T: Timer> Measuring<'_, T> {
    /// Calls `sample` for each of the samples, and returns the ticks of each call.
    ///
    /// # Errors
    /// Those of `sample`.
    #[inline(always)]
    pub fn timed<E>(&self, mut sample: impl FnMut() -> Result<(), E>) -> Result<Vec<u64>, E> {
        let mut ticks = Vec::with_capacity(self.window.samples as usize);
        for _ in 0..self.window.samples {
            let start = self.timer.stamp();
            sample()?;
            ticks.push(self.timer.stamp().ticks().wrapping_sub(start.ticks()));
        }
        Ok(ticks)
    }
}

/// A floor of a transport, and the results that are compared with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Yardstick {
    /// The floor's name.
    pub floor: &'static str,
    /// `signature`, and names of series.
    pub results: &'static [&'static str],
}

/// A transport with a bare mechanism that can be measured.
pub trait Bare: Transport {
    /// Its floors, and the layers that are measured beside them.
    const FLOORS: &'static [Floor];
    /// Which of its floors results over it are compared with, by what is measured. A floor is compared with messages of as
    /// many bytes as it moves.
    const YARDSTICKS: &'static [Yardstick];

    /// Prepares, before ranks are started, what two ranks inherit to measure the floors. Nothing,
    /// unless a transport says otherwise. `own` is what [`Transport::prepare`] made for these ranks.
    ///
    /// # Errors
    /// The operating system refused.
    fn prepare_bare(_own: &[OwnedFd]) -> Result<Vec<OwnedFd>> {
        Ok(Vec::new())
    }

    /// Connects this rank with the other one of two by the bare mechanism.
    ///
    /// # Errors
    /// As [`Transport::connect`].
    fn bare<T: Timer>(
        inherited: Vec<OwnedFd>,
        meeting: &mut dyn Rendezvous,
    ) -> Result<Box<dyn BareEnd<T>>>;
}

/// The bare mechanism below a transport, as one rank holds it.
pub trait BareEnd<T: Timer> {
    /// One batch of `floor`, in ticks a sample; nothing on the responder.
    ///
    /// # Errors
    /// The machine does not allow it, or the other side is gone.
    fn measure(&mut self, floor: &Floor, with: &Measuring<'_, T>) -> Result<Vec<u64>, FloorError>;
}
