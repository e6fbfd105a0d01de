//! What there is to know of kernels without running them.

use bandgap_comm::Rank;

use crate::{
    AtSize, Kernel, MOST_PLACES, Needs, Order, OverAm, OverComm, OverTransfer, Places, Refused,
    Samples, Series, Stamps, Visit, all,
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
}

/// One kernel of the list. `size` is the number of all ranks of the run.
#[derive(Clone, Copy, Debug)]
pub struct Fact {
    /// Its name in orders.
    pub name: &'static str,
    /// What it measures, in one line.
    pub meaning: &'static str,
    /// What its program needs.
    pub over: Over,
    /// How it is measured over message sizes.
    pub series: Option<Series>,
    /// A batch of so many samples of the first so many ranks at a point of its series.
    pub at: fn(&AtSize, u32, usize) -> Option<Order>,
    /// Whether an order can be carried out, and whether its messages can be compared each if it
    /// asks for that.
    pub check: fn(&Order, usize) -> Result<(), Refused>,
    /// The rank that times and the one at the other end of the probe.
    pub timed: fn(&Order, usize) -> Result<[Rank; 2], Refused>,
    /// The memory that each rank needs.
    pub needs: fn(&Order, usize) -> Result<Needs, Refused>,
    /// From all ranks' time stamps to samples.
    pub samples: fn(&Order, usize, &Stamps) -> Result<Samples, Refused>,
    /// Orders of its examples on so many ranks, of so many samples.
    pub examples: fn(usize, u32) -> Vec<Order>,
}

impl Fact {
    fn of<K: Kernel>(over: Over) -> Self {
        Self {
            name: K::NAME,
            meaning: K::MEANING,
            over,
            series: K::SERIES,
            at: |point, samples, ranks| Some(Order::of(&K::at(point)?, samples, ranks)),
            check: |order, size| ready::<K>(order, size).map(drop),
            timed: |order, size| Ok(order.kernel::<K>(size)?.timed(order.ranks)),
            needs: |order, size| Ok(order.kernel::<K>(size)?.needs(order.ranks)),
            samples: |order, size, stamps| {
                Ok(order.kernel::<K>(size)?.samples(order.ranks, stamps))
            },
            examples: |size, samples| {
                let possible = K::examples(size).into_iter().filter(|k| k.check(size).is_ok());
                possible.map(|kernel| Order::of(&kernel, samples, size)).collect()
            },
        }
    }
}

/// The kernel of an order that can be carried out, and the places of its messages.
pub(crate) fn ready<K: Kernel>(order: &Order, size: usize) -> Result<(K, Places), Refused> {
    let kernel: K = order.kernel(size)?;
    let needs = kernel.needs(order.ranks);
    if !order.checked {
        return Ok((kernel, Places::shared(&needs)));
    }
    // A word is noted with the rank that it came from.
    if needs.words > (MOST_PLACES / 16) as u64 {
        let why = format!(
            "a checked batch notes each of {} words, and these may take {MOST_PLACES} bytes; order \
             fewer messages a sample, or a timed batch",
            needs.words
        );
        return Err(Refused::because(why).of(K::NAME));
    }
    let places = Places::own(&needs).map_err(|refused| refused.of(K::NAME))?;
    Ok((kernel, places))
}

/// All kernels, in the order of the list.
pub fn facts() -> Vec<Fact> {
    struct Facts(Vec<Fact>);

    impl Visit for Facts {
        fn am<K: OverAm>(&mut self) {
            self.0.push(Fact::of::<K>(Over::Am));
        }
        fn transfer<K: OverTransfer>(&mut self) {
            self.0.push(Fact::of::<K>(Over::Transfer));
        }
        fn comm<K: OverComm>(&mut self) {
            self.0.push(Fact::of::<K>(Over::Comm));
        }
    }

    let mut facts = Facts(Vec::new());
    all(&mut facts);
    facts.0
}

/// The kernel that an order names.
///
/// # Errors
/// There is none of this name; the error lists those that there are.
pub fn fact(order: &Order) -> Result<Fact, Refused> {
    let facts = facts();
    let known = facts.iter().find(|fact| fact.name == order.kernel).copied();
    known.ok_or_else(|| unknown(&order.kernel, facts.iter().map(|fact| fact.name)))
}

/// The kernel whose series has this name.
///
/// # Errors
/// There is none of this name; the error lists those that there are.
pub fn in_series(name: &str) -> Result<(Fact, Series), Refused> {
    let series = |fact: Fact| fact.series.map(|series| (fact, series));
    let all: Vec<(Fact, Series)> = facts().into_iter().filter_map(series).collect();
    let known = all.iter().find(|(_, series)| series.name == name).copied();
    known.ok_or_else(|| unknown(name, all.iter().map(|(_, series)| series.name)))
}

/// No row and no fact has this name.
pub(crate) fn unknown<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Refused {
    let known = known.collect::<Vec<_>>().join(", ");
    Refused::because(format!("there is no such kernel here; there are {known}")).of(name)
}
