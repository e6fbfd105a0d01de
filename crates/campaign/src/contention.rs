//! The experiment of contention: echo between two ranks while two others load the machine.

mod curve;
mod loaded;
mod looks;

use bandgap_comm::passing::Tuning;
use bandgap_kernels::{Contention, Order, Pair, Refused, fact};
use derive_more::Display;
use serde::{Deserialize, Serialize};

use self::curve::CURVE;
use self::looks::FIRST;
use crate::campaign::campaign;
use crate::data::Described;
use crate::plan::{Asked, Plan};
use crate::planned::{Planned, Room};
use crate::runner::{Runner, Stop};
use crate::series::Step;
use crate::sizes::rounds;

/// The name of the series.
pub const CONTENTION: &str = "contention";

/// The axis of loads: shares of the greatest bandwidth, in percent.
pub const LOAD_AXIS: &str = "load";

/// Samples of a batch.
const SAMPLES: u32 = 20;

/// What an echo and a load share.
#[derive(Clone, Copy, Debug, Display, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[display(rename_all = "snake_case")]
pub enum Between {
    /// They share a channel of the network.
    Channel,
    /// They share no channel of the network.
    Nothing,
    /// They are on one machine.
    Machine,
}

/// An echo, and a load at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EchoAndLoad {
    /// The rank that times, and its peer.
    pub echo: [usize; 2],
    /// The rank that sends the load, and the one that receives it.
    pub load: [usize; 2],
    /// What the two share.
    pub between: Between,
}

/// The contention that the user asked for: the times of echo over sizes, without a load and under
/// loads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContentionPlan {
    /// Precision and time.
    pub asked: Asked,
    /// The ranks. No two have the same echo.
    pub pairs: Vec<EchoAndLoad>,
    /// Number of ranks.
    pub ranks: usize,
    /// Bytes of the echo's messages, ascending. The curve from which the loads are chosen does not
    /// depend on them.
    pub sizes: Vec<u32>,
}

impl EchoAndLoad {
    /// Checks that this number of ranks can do it.
    ///
    /// # Errors
    /// They cannot, for example because there are too few.
    pub fn check(&self, ranks: usize) -> Result<(), Refused> {
        let order = Order::of(&self.idle(0), 1, ranks);
        (fact(&order.kernel)?.check)(&order, ranks)
    }

    /// The echo of messages of this length, without a load.
    fn idle(&self, bytes: u32) -> Contention {
        let [echo, load] =
            [self.echo, self.load].map(|[requester, replier]| Pair { requester, replier });
        let (messages, bytes) = (rounds(bytes.into()), bytes as usize);
        Contention { echo, load, messages, bytes, load_messages: 0, load_bytes: 0 }
    }
}

impl ContentionPlan {
    /// One point of the series.
    pub fn step(&self, beside: &EchoAndLoad, size: u32, load: &str) -> Step {
        let variant = Some(load.to_owned());
        let step = Step::new(CONTENTION, size, rounds(size.into()), self.ranks);
        Step { pair: beside.echo, variant, ..step }
    }

    /// The description of a point, with messages of `load` bytes as its load.
    fn described(
        &self,
        beside: &EchoAndLoad,
        (size, name, percent): (u32, &str, u32),
        load: Option<u32>,
    ) -> Result<Described, Refused> {
        let step = self.step(beside, size, name);
        let mut point = step.described(&step, self.pairs.len() == 1)?;
        point.at.retain(|(axis, _)| axis != "variant");
        let [from, to] = beside.load;
        point = point.at(LOAD_AXIS, percent).with("between", beside.between.to_string());
        point = point.with("load_from", from).with("load_to", to);
        Ok(load.map_or(point.clone(), |bytes| point.with("load_bytes", bytes)))
    }

    fn order(kernel: &Contention, samples: u32) -> Order {
        // Ranks beyond those that send need not meet with them.
        Order::of(kernel, samples, kernel.echo.among().max(kernel.load.among()))
    }

    /// One batch without load and one with the longest, to find the memory needed.
    fn orders(&self) -> impl Iterator<Item = Order> {
        let load = CURVE.into_iter().max().unwrap_or(0);
        let longest = self.sizes.iter().copied().chain([load]).max().unwrap_or(0);
        self.pairs.iter().flat_map(move |beside| {
            let idle = beside.idle(longest);
            let loaded = Contention { load_messages: FIRST, load_bytes: load as usize, ..idle };
            [idle, loaded].map(|kernel| Self::order(&kernel, 1))
        })
    }
}

impl Planned for ContentionPlan {
    const NAME: &'static str = CONTENTION;

    fn lead(&self, runner: &mut dyn Runner) -> Result<(), Stop> {
        campaign(runner, &mut { self }, &Plan::new(&self.asked)).map(drop)
    }

    fn room(&self, ranks: usize, tuning: &Tuning) -> Room {
        Room::passing(ranks, tuning, self.orders())
    }

    fn in_virtual_time(self, _by: &dyn Fn(Step) -> Option<Step>) -> Option<Self> {
        Some(Self { asked: self.asked.in_virtual_time(), ..self })
    }

    #[cfg(test)]
    fn short(asked: &Asked) -> Self {
        let beside = EchoAndLoad { echo: [0, 1], load: [2, 3], between: Between::Machine };
        let (pairs, ranks, sizes) = (vec![beside], 4, vec![8]);
        Self { asked: asked.clone(), pairs, ranks, sizes }
    }
}

#[cfg(test)]
mod tests;
