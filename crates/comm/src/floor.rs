//! Floors: plain loops on the bare machine. Layers: bandgap's own kernels that are compared with
//! them.
//!
//! A floor does the same exchange as a transport, but in a plain loop on the bare mechanism (a
//! socket, two cache lines), without frames, handlers or credits. It is a yardstick, not a bound: a
//! transport that moves fewer cache lines may be faster. A layer is one of bandgap's own kernels
//! over a transport, compared with the floors below it.

use std::borrow::Cow::{self, Borrowed};
use std::mem::{forget, replace};
use std::os::fd::OwnedFd;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Rendezvous, Result, Timer};

/// A process's role in a floor measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FloorRole {
    /// Sends first, and times.
    Initiator,
    /// Answers, and does not time.
    Responder,
}

/// Amount of work in a floor measurement; the same on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Window {
    /// Number of samples, each one timed interval.
    pub samples: u32,
    /// Number of repetitions in a sample, for example round trips.
    pub rounds: u32,
}

impl Window {
    /// Number of rounds of all samples together.
    pub fn all_rounds(self) -> u64 {
        u64::from(self.samples) * u64::from(self.rounds)
    }
}

/// What one round of a floor does.
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
    /// Bytes of a round one way, if it yields a rate.
    pub fn bytes(self) -> Option<u64> {
        match self {
            Self::Bytes(bytes) | Self::BytesEachWay(bytes) => Some(bytes),
            Self::HalfRoundTrip | Self::Operation => None,
        }
    }
}

/// A floor, or a layer that is compared with floors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Floor {
    /// Its name on the command line and in run files.
    pub name: Cow<'static, str>,
    /// The mechanism on which a floor is measured ([`Bare::NAME`]), or the transport over which a
    /// layer runs.
    pub on: Cow<'static, str>,
    /// A description in a few words.
    pub meaning: Cow<'static, str>,
    /// What a round yields.
    pub yields: Yields,
    /// Rounds per sample.
    pub rounds: u32,
    /// Samples per batch. A floor that goes over places in memory takes one sample at each.
    pub samples: u32,
    /// Message lengths, each measured with the number of lost messages; empty if messages cannot be
    /// lost.
    pub sizes: Cow<'static, [u64]>,
    /// The floors, or the layer below, with which this layer is compared; empty for a floor.
    pub over: Cow<'static, [Cow<'static, str>]>,
    /// The kernel of a layer; `None` for a floor.
    pub kernel: Option<Cow<'static, str>>,
    /// Results over the transport that are compared with this floor, with messages of as many bytes
    /// as it moves: `signature`, and names of series.
    #[serde(skip)]
    pub compared: &'static [&'static str],
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
        Self { name, on, meaning, yields, rounds, samples: 20, sizes, over, kernel, compared: &[] }
    }

    /// The same floor with this many samples per batch.
    pub const fn samples(mut self, samples: u32) -> Self {
        self.samples = samples;
        self
    }

    /// The same floor, with which these results are compared.
    pub const fn compared(mut self, results: &'static [&'static str]) -> Self {
        self.compared = results;
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
        forget(self.kernel.replace(Borrowed(kernel)));
        self
    }

    /// Bytes of a round one way; those of a word if it yields no rate.
    pub fn bytes(&self) -> u64 {
        self.yields.bytes().unwrap_or(size_of::<u64>() as u64)
    }
}

/// The parameters of a floor measurement.
pub struct Measuring<'a, T> {
    /// The role of this process.
    pub role: FloorRole,
    /// The amount of work.
    pub window: Window,
    /// The clock.
    pub timer: &'a T,
    /// Blocks of a computation that each side does before it sends. It is 0 except in a floor of a
    /// [`Division`](crate::Division).
    pub turn: u32,
    /// Longest wait for the other side's next answer.
    pub patience: Duration,
    /// Called from time to time with the duration of this wait and the longest wait. Returns
    /// whether to stop waiting.
    pub give_up: &'a dyn Fn(Duration, Duration) -> bool,
}

impl<T: Timer> Measuring<'_, T> {
    /// Calls `sample` once per sample, and returns the ticks of each call.
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

    /// This side's part of messages there and back, with which the initiator begins. Returns the ticks of each sample; of
    /// none on the responder.
    ///
    /// # Errors
    /// Those of `send` and `receive`.
    #[inline(always)]
    pub fn there_and_back<S, E>(
        &self,
        end: &mut S,
        send: impl Fn(&mut S) -> Result<(), E>,
        receive: impl Fn(&mut S) -> Result<(), E>,
    ) -> Result<Vec<u64>, E> {
        match self.role {
            FloorRole::Initiator => self.timed(|| {
                (0..self.window.rounds).try_for_each(|_| send(end).and_then(|()| receive(end)))
            }),
            FloorRole::Responder => (0..self.window.all_rounds())
                .try_for_each(|_| receive(end).and_then(|()| send(end)))
                .map(|()| Vec::new()),
        }
    }
}

/// One rank's end of a bare mechanism: the third way for ranks to work together, besides Active
/// Messages and message passing. It is connected when an order first names one of its floors.
pub trait Bare: Sized + 'static {
    /// Its name: that of the transport over it, if it has no other mechanism.
    const NAME: &'static str;
    /// The transport over it.
    const UNDER: &'static str = Self::NAME;
    /// The floor that does what each short message of that transport does first, if it has another name.
    const CARRIES: Option<&'static str> = None;
    /// Whether its ranks may be on two hosts.
    const HOSTS: bool = false;
    /// Its floors, and the layers that are measured with them.
    const FLOORS: &'static [Floor];

    /// Before ranks are started, prepares what two ranks inherit to connect: nothing by default.
    /// `own` is what [`Transport::prepare`](crate::Transport::prepare) made for these ranks.
    ///
    /// # Errors
    /// The operating system refused.
    fn prepare(_own: &[OwnedFd]) -> Result<Vec<OwnedFd>> {
        Ok(Vec::new())
    }

    /// Connects this rank with the other one.
    ///
    /// # Errors
    /// As [`Transport::connect`](crate::Transport::connect).
    fn connect(inherited: Vec<OwnedFd>, meeting: &mut Rendezvous<'_>) -> Result<Self>;

    /// Runs a batch of this floor with messages of `bytes` bytes. Returns the ticks of each sample;
    /// an empty list on the responder. If messages are lost, there are fewer samples than asked
    /// for.
    ///
    /// # Errors
    /// [`CommError::Unavailable`](crate::CommError::Unavailable) if the machine does not allow it.
    /// Or the other side is gone.
    fn measure(
        &mut self,
        floor: &str,
        bytes: usize,
        with: &Measuring<'_, impl Timer>,
    ) -> Result<Vec<u64>>;
}
