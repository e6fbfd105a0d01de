//! Facts about kernels that are known without running them.

use bandgap_comm::Rank;

use crate::list::named;
use crate::{
    AtSize, BareLoop, Kernel, MOST_PLACES, Needs, Order, OverAm, OverComm, OverTransfer, Places,
    Refused, Samples, Seat, Series, Shape, Stamps, Visit, all,
};

/// What a kernel's program needs of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// Active Messages.
    Am,
    /// Stores and gets.
    Transfer,
    /// Message passing.
    Comm,
    /// A bare mechanism.
    Bare,
}

/// A kernel in the list. `size` is the number of all ranks of the run.
#[derive(Clone, Copy, Debug)]
pub struct Fact {
    /// Name in orders.
    pub name: &'static str,
    /// What its program needs.
    pub over: Over,
    /// Its series: how it is measured over sizes, under one name or several.
    pub series: &'static [Series],
    /// Makes an order from a point, a number of samples and a number of ranks (the first ones).
    /// Refused if the kernel has parameters that a point does not give.
    pub at: fn(AtSize, u32, usize) -> Result<Order, Refused>,
    /// Checks whether an order can be carried out; of a checked batch, also whether each message
    /// can be compared.
    pub check: fn(&Order, usize) -> Result<(), Refused>,
    /// The rank that times, and the rank at the other end of the placement probe.
    pub timed: fn(&Order, usize) -> Result<[Rank; 2], Refused>,
    /// Memory that each rank needs.
    pub needs: fn(&Order, usize) -> Result<Needs, Refused>,
    /// Messages that the rank that times receives in a sample through message passing.
    pub receives: fn(&Order, usize) -> Result<u64, Refused>,
    /// Turns all ranks' time stamps into samples.
    pub samples: fn(&Order, usize, &Stamps) -> Result<Samples, Refused>,
}

impl Fact {
    fn of<K: Kernel>(over: Over) -> Self {
        Self {
            name: K::NAME,
            over,
            series: K::SERIES,
            at: |point, samples, ranks| {
                let why = "it has parameters besides the number and the size of its messages";
                let kernel = K::at(point).ok_or_else(|| Refused::because(why).of(K::NAME))?;
                Ok(Order::of(&kernel, samples, ranks))
            },
            check: |order, size| ready::<K>(order, size).map(drop),
            timed: |order, size| Ok(order.kernel::<K>(size)?.timed(order.ranks)),
            needs: |order, size| {
                let kernel: K = order.kernel(size)?;
                Ok(if order.checked { kernel.checked() } else { kernel }.needs(order.ranks))
            },
            receives: |order, size| {
                let (kernel, places) = ready::<K>(order, size)?;
                let [rank, _] = kernel.timed(order.ranks);
                let seat = Seat { rank, size: order.ranks, samples: order.samples, places };
                Ok(kernel.expects(&seat).messages)
            },
            samples: |order, size, stamps| {
                let kernel = order.kernel::<K>(size)?;
                Ok(match order.shape {
                    Shape::Batch => kernel.samples(order.ranks, stamps),
                    Shape::Osu => Samples::of_pairs(stamps, order.samples),
                })
            },
        }
    }
}

/// The kernel of an order that can be carried out, and the places of its messages.
pub(crate) fn ready<K: Kernel>(order: &Order, size: usize) -> Result<(K, Places), Refused> {
    let kernel: K = order.kernel(size)?;
    if !order.checked {
        let places = Places::shared(&kernel.needs(order.ranks));
        return Ok((kernel, places));
    }
    let kernel = kernel.checked();
    let needs = kernel.needs(order.ranks);
    // Each word is noted together with the rank that sent it.
    if needs.words > (MOST_PLACES / 16) as u64 {
        let why = format!(
            "a checked batch would note {} words, which do not fit into {MOST_PLACES} bytes; \
             order fewer messages in a sample, or a timed batch",
            needs.words
        );
        return Err(Refused::because(why).of(K::NAME));
    }
    let places = Places::own(&needs).map_err(|refused| refused.of(K::NAME))?;
    Ok((kernel, places))
}

/// Collects the facts of each kernel.
pub(crate) struct Facts;

impl Visit for Facts {
    type Seen = Fact;

    fn am<K: OverAm>(&mut self) -> Fact {
        Fact::of::<K>(Over::Am)
    }
    fn transfer<K: OverTransfer>(&mut self) -> Fact {
        Fact::of::<K>(Over::Transfer)
    }
    fn comm<K: OverComm>(&mut self) -> Fact {
        Fact::of::<K>(Over::Comm)
    }
}

/// All kernels that are programs over messages, in the order of the list.
pub fn facts() -> Vec<Fact> {
    all(&mut Facts).into_iter().map(|(_, fact)| fact).collect()
}

/// The kernel with this name, which may be the kernel of floors.
///
/// # Errors
/// There is no such kernel; the error lists those that exist.
pub fn fact(name: &str) -> Result<Fact, Refused> {
    match name == BareLoop::NAME {
        true => Ok(Fact::of::<BareLoop>(Over::Bare)),
        false => named(all(&mut Facts), name),
    }
}

/// The kernel that has a series with this name.
///
/// # Errors
/// There is no such series; the error lists those that exist.
pub fn in_series(name: &str) -> Result<(Fact, Series), Refused> {
    let facts = facts().into_iter();
    let series = facts.flat_map(|fact| fact.series.iter().map(move |of| (of.name, (fact, *of))));
    named(series.collect(), name)
}
