//! A LogGP machine taken from what a run measured, each parameter with its interval.

mod loggopsim;
mod protocols;
mod read;
mod simgrid;
mod text;

use bandgap_record::{Note, Quantity};
use bandgap_sim::{Loggops, Machine};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{AssembleError, Result};
pub use read::chosen;

/// A parameter with the ends of its interval, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Parameter {
    /// The estimate.
    pub value: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// What a message costs beside its bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Costs {
    /// os.
    pub send: Parameter,
    /// or.
    pub recv: Parameter,
    /// L.
    pub latency: Parameter,
}

/// What messages of bytes cost up to a length.
pub struct Protocol {
    /// The longest, in bytes.
    pub up_to: u64,
    /// What they cost beside their bytes.
    pub costs: Costs,
    /// G: the time for a byte.
    pub per_byte: Parameter,
}

/// Groups of ranks that are farther from each other than their ranks are.
pub struct Groups {
    /// Ranks in each.
    pub ranks: u64,
    /// What L is greater between them.
    pub hop: Parameter,
}

/// The machine.
pub struct Calibrated {
    /// The run, and the transport in it.
    pub origin: String,
    /// Ranks that were measured.
    pub ranks: usize,
    /// What words cost.
    pub words: Costs,
    /// g.
    pub gap: Parameter,
    /// What bytes cost, by ascending length; none where the run does not say.
    pub protocols: Vec<Protocol>,
    /// Groups of ranks, where there are two distances.
    pub groups: Option<Groups>,
    /// The names of the results that it was taken from.
    pub sources: Vec<String>,
    /// What a person should know of it.
    pub notes: Vec<Note>,
    transport: String,
}

/// Which number of each interval a machine has.
pub type Pick<'a> = &'a mut dyn FnMut(&Parameter) -> f64;

/// Machines that are drawn from within the intervals, where the ends do not bound a time.
const DRAWN: usize = 16;
/// Seed of these.
pub const SEED: u64 = 1;

impl Parameter {
    /// Of a quantity in seconds.
    pub fn of(quantity: &Quantity) -> Self {
        let value = quantity.value.0;
        let (low, high) = quantity.interval().unwrap_or((value, value));
        Self { value, low, high }.map(|seconds| seconds * 1e9)
    }

    /// Each of its numbers changed by an increasing function.
    pub fn map(self, by: impl Fn(f64) -> f64) -> Self {
        Self { value: by(self.value), low: by(self.low), high: by(self.high) }
    }
}

impl Calibrated {
    /// That its run says what bytes cost.
    ///
    /// # Errors
    /// It does not.
    pub fn moves_bytes(&self) -> Result<()> {
        if !self.protocols.is_empty() {
            return Ok(());
        }
        let hint = format!("bandgap run -t {} measures it, with os, or, g and L", self.transport);
        let what = format!("move bytes on the machine of {}: it has no G", self.origin);
        Err(AssembleError::Unfit { what, hint })
    }

    /// The machine with these numbers of its intervals.
    ///
    /// # Errors
    /// A number is not possible.
    pub fn machine(&self, pick: Pick<'_>) -> Result<Machine> {
        Ok(Machine::parse(&self.toml(pick), &self.origin)?)
    }

    /// The machine with the lower ends, and with the upper ones. Without shared channels and with no choice among what is
    /// ready, a time does not fall where a parameter grows: those of these two bound it.
    ///
    /// # Errors
    /// As [`Calibrated::machine`].
    pub fn ends(&self) -> Result<[Machine; 2]> {
        Ok([self.machine(&mut |of| of.low)?, self.machine(&mut |of| of.high)?])
    }

    /// The parameters of LogGOPSim, as [`Loggops::of`] the machine.
    ///
    /// # Errors
    /// The run does not say what bytes cost, or a number is not possible.
    pub fn loggops(&self, pick: Pick<'_>) -> Result<Loggops> {
        self.moves_bytes()?;
        loggops_of(&self.machine(pick)?, &self.origin)
    }

    /// The parameters of LogGOPSim at the ends of all intervals, and at places within: what is ready at once competes for
    /// a processor there, and with another order a time may fall where a parameter grows.
    ///
    /// # Errors
    /// As [`Calibrated::loggops`].
    pub fn drawn(&self) -> Result<Vec<Loggops>> {
        let mut all = vec![self.loggops(&mut |of| of.low)?, self.loggops(&mut |of| of.high)?];
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(SEED);
        for _ in 0..DRAWN {
            let mut place = || generator.random_range(0.0..1.0);
            all.push(self.loggops(&mut |of| of.low + place() * (of.high - of.low))?);
        }
        Ok(all)
    }
}

/// The parameters of LogGOPSim on a machine.
///
/// # Errors
/// It has no time for bytes.
pub fn loggops_of(machine: &Machine, name: &str) -> Result<Loggops> {
    Loggops::of(machine).ok_or_else(|| {
        let hint = "a machine with gap_per_byte_ns does, such as sim:ipsc860".to_owned();
        let what = format!("replay a schedule on {name}: it does not say what bytes cost");
        AssembleError::Unfit { what, hint }
    })
}
