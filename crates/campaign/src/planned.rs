//! What a plan is: an experiment as the user wants it, in a form that travels.

use bandgap_comm::passing::Tuning;
use bandgap_kernels::{Order, Places, Refused, fact};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::runner::{Runner, Stop};
use crate::series::Step;

/// Memory of a rank, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Room {
    /// What it exposes to its peers.
    pub exposed: usize,
    /// What it takes for everything that it moves, with what it exposes.
    pub memory: usize,
}

impl Room {
    /// For messages of these orders, which pass through slots cut as `tuning` says, and lie in places
    /// of their own while they are checked.
    pub fn passing(ranks: usize, tuning: &Tuning, orders: impl Iterator<Item = Order>) -> Self {
        let places = |order: &Order| -> Result<usize, Refused> {
            let needs = (fact(&order.kernel)?.needs)(order, order.ranks)?;
            let own = Places::own(&needs).map_or(0, |places| places.memory());
            Ok(own.max(Places::shared(&needs).memory()))
        };
        let exposed = tuning.memory(ranks).next_multiple_of(4096);
        let most = orders.filter_map(|order| places(&order).ok()).max().unwrap_or(0);
        Self { exposed, memory: exposed + most }
    }

    /// All of it exposed.
    pub fn exposed(bytes: usize) -> Self {
        Self { exposed: bytes, memory: bytes }
    }
}

/// The plan of an experiment. Rank 0 gets it as JSON from the launcher and leads.
pub trait Planned: Serialize + DeserializeOwned {
    /// Its name in the list of experiments.
    const NAME: &'static str;
    /// Whether ranks also connect what takes stamps where the time of a message is divided, with the floors of the division.
    const STAMPS: bool = false;

    /// Measures what is planned; batches go to [`Runner::keep`] as they are made.
    ///
    /// # Errors
    /// Communication failed, something wrong arrived, or the run was stopped; what was kept stays
    /// kept.
    fn lead(&self, runner: &mut dyn Runner) -> Result<(), Stop>;

    /// The memory that each of `ranks` ranks needs, where messages are cut as `tuning` says. None
    /// to speak of, unless the plan moves bytes.
    fn room(&self, _ranks: usize, _tuning: &Tuning) -> Room {
        Room::default()
    }

    /// The plan for a simulated machine, with the steps that `by` makes of its own; `None` of what no simulated machine
    /// predicts: floors, and what computes.
    fn in_virtual_time(self, _by: &dyn Fn(Step) -> Option<Step>) -> Option<Self> {
        None
    }

    /// A short plan of it: each of the list is led through a campaign in tests.
    #[cfg(test)]
    fn short(asked: &crate::plan::Asked) -> Self;
}
