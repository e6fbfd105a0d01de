//! The interface of a plan: an experiment as the user wants it, in a form that can be sent to rank
//! 0.

use bandgap_comm::passing::Tuning;
use bandgap_kernels::{Order, Places, Refused, fact};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::data::Measurements;
use crate::runner::{Runner, Stop};
use crate::series::Step;

/// Memory of a rank, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Room {
    /// What it exposes to its peers.
    pub exposed: usize,
    /// Memory for everything that it moves, including what it exposes.
    pub memory: usize,
}

impl Room {
    /// Memory for the messages of these orders. They pass through slots cut as `tuning` says, and
    /// are kept apart while they are checked.
    pub fn passing(ranks: usize, tuning: &Tuning, orders: impl Iterator<Item = Order>) -> Self {
        let places = |order: &Order| -> Result<usize, Refused> {
            let needs = |order: &Order| (fact(&order.kernel)?.needs)(order, order.ranks);
            let own = Places::own(&needs(&order.clone().checked())?);
            let shared = Places::shared(&needs(order)?);
            Ok(own.map_or(0, |places| places.memory()).max(shared.memory()))
        };
        let exposed = tuning.memory(ranks).next_multiple_of(4096);
        let most = orders.filter_map(|order| places(&order).ok()).max().unwrap_or(0);
        Self { exposed, memory: exposed + most }
    }

    /// This number of bytes, all exposed.
    pub fn exposed(bytes: usize) -> Self {
        Self { exposed: bytes, memory: bytes }
    }
}

/// The plan of an experiment. Rank 0 gets it as JSON from the launcher and leads.
pub trait Planned: Serialize + DeserializeOwned {
    /// Its name in the list of experiments.
    const NAME: &'static str;
    /// Whether ranks also make connections with stamps, and connect the floors that the division
    /// needs.
    const STAMPS: bool = false;

    /// Measures what is planned, and hands batches to [`Runner::keep`] as they are made.
    ///
    /// # Errors
    /// Communication failed, something wrong arrived, or the run was stopped; what was kept stays
    /// kept.
    fn lead(&self, runner: &mut dyn Runner) -> Result<(), Stop>;

    /// The memory that each of `ranks` ranks needs, if messages are cut as `tuning` says: none by
    /// default.
    fn room(&self, _ranks: usize, _tuning: &Tuning) -> Room {
        Room::default()
    }

    /// The plan for a simulated machine, with its steps converted by `by`; `None` for what the
    /// simulator cannot predict: floors and computations.
    fn in_virtual_time(self, _by: &dyn Fn(Step) -> Option<Step>) -> Option<Self> {
        None
    }

    /// The plan of the next launch, once these launches were measured.
    fn after(self, _table: &Measurements) -> Self {
        self
    }

    /// A short plan for tests, which lead each experiment of the list through a campaign.
    #[cfg(test)]
    fn short(asked: &crate::plan::Asked) -> Self;
}
