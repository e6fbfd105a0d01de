//! A LogGP machine taken from what a run measured, each parameter with its interval.

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

/// The costs of a message that do not depend on its bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Costs {
    /// os.
    pub send: Parameter,
    /// or.
    pub recv: Parameter,
    /// L.
    pub latency: Parameter,
}

/// The costs of messages with bytes, up to a length.
pub struct Protocol {
    /// The longest, in bytes.
    pub up_to: u64,
    /// The costs that do not depend on the bytes.
    pub costs: Costs,
    /// G: the time for a byte.
    pub per_byte: Parameter,
}

/// Groups of ranks: ranks of one group are nearer to each other than to ranks of another.
pub struct Groups {
    /// Ranks per group.
    pub ranks: u64,
    /// By how much L between groups exceeds L within one.
    pub hop: Parameter,
}

/// The machine.
pub struct Calibrated {
    /// The run, and the transport in it.
    pub origin: String,
    /// Ranks that were measured.
    pub ranks: usize,
    /// The costs of small messages.
    pub words: Costs,
    /// g.
    pub gap: Parameter,
    /// The costs of bytes, by ascending length; empty where the run did not measure them.
    pub protocols: Vec<Protocol>,
    /// Groups of ranks, where there are two distances.
    pub groups: Option<Groups>,
    /// The names of the results that the machine was taken from.
    pub sources: Vec<String>,
    /// Notes about the machine.
    pub notes: Vec<Note>,
    transport: String,
}

/// Picks a number from each parameter's interval.
pub type Pick<'a> = &'a mut dyn FnMut(&Parameter) -> f64;

/// Number of machines drawn from within the intervals where the ends do not bound a time.
const DRAWN: usize = 16;
/// Seed of that draw.
pub const SEED: u64 = 1;

impl Parameter {
    /// A parameter from a quantity in seconds.
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
    /// Checks that the run measured the cost of bytes.
    ///
    /// # Errors
    /// The run did not.
    pub fn moves_bytes(&self) -> Result<()> {
        if !self.protocols.is_empty() {
            return Ok(());
        }
        let hint = format!("bandgap run -t {} measures it, with os, or, g and L", self.transport);
        let what = format!("move bytes on the machine of {}: it has no G", self.origin);
        Err(AssembleError::Unfit { what, hint })
    }

    /// The machine with the numbers that `pick` takes from the intervals.
    ///
    /// # Errors
    /// A number is not possible.
    pub fn machine(&self, pick: Pick<'_>) -> Result<Machine> {
        Ok(Machine::parse(&self.toml(pick), &self.origin)?)
    }

    /// The machine with all lower ends, and with all upper ends. Without shared channels, and with no choice among ready
    /// operations, a time never falls as a parameter grows, so the times of these two bound it.
    ///
    /// # Errors
    /// As [`Calibrated::machine`].
    pub fn ends(&self) -> Result<[Machine; 2]> {
        Ok([self.machine(&mut |of| of.low)?, self.machine(&mut |of| of.high)?])
    }

    /// The machine's parameters for LogGOPSim, as [`Loggops::of`] gives them.
    ///
    /// # Errors
    /// The run does not say what bytes cost, or a number is not possible.
    pub fn loggops(&self, pick: Pick<'_>) -> Result<Loggops> {
        self.moves_bytes()?;
        loggops_of(&self.machine(pick)?, &self.origin)
    }

    /// The parameters for LogGOPSim at the ends of all intervals, and at random places within them: there, operations that
    /// are ready at the same time compete for a processor, and in another order a time may fall as a parameter grows.
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

/// The parameters of a machine for LogGOPSim.
///
/// # Errors
/// The machine has no cost of bytes.
pub fn loggops_of(machine: &Machine, name: &str) -> Result<Loggops> {
    Loggops::of(machine).ok_or_else(|| {
        let hint = "a machine with gap_per_byte_ns does, such as sim:ipsc860".to_owned();
        let what = format!("replay a schedule on {name}: it does not say what bytes cost");
        AssembleError::Unfit { what, hint }
    })
}
