//! Plain loops on the bare machine, and the layers that are measured beside it.
//!
//! A floor is the same exchange done by a plain loop on the bare mechanism (a socket, two cache
//! lines), without frames, handlers or credits. It is a yardstick and no bound: a transport may be
//! faster where it moves fewer lines. A layer is one of bandgap's own kernels over a transport, to be
//! compared with the floors below it.

use std::borrow::Cow::{self, Borrowed};
use std::mem::{forget, replace};
use std::os::fd::OwnedFd;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Rendezvous, Result, Timer};

/// Which side of a two-sided floor measurement a process plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FloorRole {
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
    /// The mechanism that it is measured on ([`Bare::NAME`]), or the transport that a layer runs over.
    pub on: Cow<'static, str>,
    /// What it is, in a few words.
    pub meaning: Cow<'static, str>,
    /// What a round yields.
    pub yields: Yields,
    /// Rounds of one sample.
    pub rounds: u32,
    /// Samples of one batch. A floor that goes over places in memory takes one at each.
    pub samples: u32,
    /// Lengths of its messages, each measured by itself with how many were lost; empty where no message is lost.
    pub sizes: Cow<'static, [u64]>,
    /// The floors, or the layer below, that this layer is compared with; none for a floor itself.
    pub over: Cow<'static, [Cow<'static, str>]>,
    /// The kernel of a layer; none for a floor.
    pub kernel: Option<Cow<'static, str>>,
}

impl Floor {
    /// A floor with 20 samples per batch.
    pub const fn new(
        name: &'static str,
        meaning: &'static str,
        yields: Yields,
        rounds: u32,
    ) -> Self {
        let (name, meaning, on) = (Borrowed(name), Borrowed(meaning), Borrowed(""));
        let (sizes, over, kernel) = (Borrowed(&[] as _), Borrowed(&[] as _), None);
        Self { name, on, meaning, yields, rounds, samples: 20, sizes, over, kernel }
    }

    /// The same floor with this many samples per batch.
    pub const fn samples(mut self, samples: u32) -> Self {
        self.samples = samples;
        self
    }

    /// The same floor at each of these message lengths, where messages can be lost.
    pub const fn over_sizes(mut self, sizes: &'static [u64]) -> Self {
        forget(replace(&mut self.sizes, Borrowed(sizes)));
        self
    }

    /// The layer that runs this kernel and is compared with these floors.
    pub const fn layer(mut self, over: &'static [Cow<'static, str>], kernel: &'static str) -> Self {
        forget(replace(&mut self.over, Borrowed(over)));
        forget(replace(&mut self.kernel, Some(Borrowed(kernel))));
        self
    }

    /// Bytes of a round, one way: of a word where it yields no rate.
    pub fn bytes(&self) -> u64 {
        self.yields.bytes().unwrap_or(size_of::<u64>() as u64)
    }
}

/// What a floor measurement is given.
pub struct Measuring<'a, T> {
    /// The side of this process.
    pub role: FloorRole,
    /// How much is done.
    pub window: Window,
    /// The clock.
    pub timer: &'a T,
    /// Blocks of a computation that a side does before it sends: only in a floor that a
    /// [`Division`](crate::Division) names.
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

/// The end of a bare mechanism, as one rank holds it: beside Active Messages and message passing the third way for ranks
/// to do something together. It is connected when an order first names one of its floors.
pub trait Bare: Sized + 'static {
    /// Its name: that of the transport over it, where there is one.
    const NAME: &'static str;
    /// Whether its two ranks may be on two hosts.
    const HOSTS: bool = false;
    /// Its floors, and the layers that are measured beside them.
    const FLOORS: &'static [Floor];
    /// Which of its floors results over the transport are compared with, by what is measured. A floor is compared with
    /// messages of as many bytes as it moves.
    const YARDSTICKS: &'static [Yardstick] = &[];

    /// Prepares, before ranks are started, what two ranks inherit to connect. Nothing, unless a mechanism says
    /// otherwise. `own` is what [`Transport::prepare`](crate::Transport::prepare) made for these ranks.
    ///
    /// # Errors
    /// The operating system refused.
    fn prepare(_own: &[OwnedFd]) -> Result<Vec<OwnedFd>> {
        Ok(Vec::new())
    }

    /// Connects this rank with the other one of two.
    ///
    /// # Errors
    /// As [`Transport::connect`](crate::Transport::connect).
    fn connect(inherited: Vec<OwnedFd>, meeting: &mut dyn Rendezvous) -> Result<Self>;

    /// One batch of its floor of this name, with messages of so many bytes: ticks of each sample; nothing on the
    /// responder. A floor that loses messages has fewer samples than were asked for.
    ///
    /// # Errors
    /// [`CommError::Unavailable`](crate::CommError::Unavailable): the machine does not allow it. Or the other side is
    /// gone.
    fn measure(
        &mut self,
        floor: &str,
        bytes: usize,
        with: &Measuring<'_, impl Timer>,
    ) -> Result<Vec<u64>>;
}
