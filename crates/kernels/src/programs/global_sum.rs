//! Vectors of all ranks added up for all.

use bandgap_comm::collectives::{Algorithm, Sum};
use bandgap_comm::{Comm, CommError};
use serde::{Deserialize, Serialize};

use super::repeat::by_shape;
use super::variant::By;
use crate::kernel::{messages_in_range, ranks_at_least};
use crate::{
    AtSize, Content, DOUBLE, Expects, Extent, Kernel, Needs, OverComm, Places, Refused, Round,
    Seat, Series,
};

/// M sums of vectors of n doubles of all ranks, of which every rank gets the result.
///
/// Marks of rank 0, in each sample: begin, end, end. A barrier comes before the first sample.
/// *Source*: CoMet, section 3.3.4 (global reduction).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GlobalSum {
    /// Sums of a sample (M).
    pub messages: u32,
    /// Elements of a vector (n).
    pub elements: usize,
    /// How they are added up.
    pub algorithm: By<Sum>,
}

impl GlobalSum {
    fn bytes(&self) -> usize {
        self.elements.saturating_mul(DOUBLE)
    }
}

impl Kernel for GlobalSum {
    const NAME: &'static str = "global_sum";
    const MEANING: &'static str = "vectors of all ranks added up for all";
    const SERIES: &'static [Series] = &[Series {
        extent: Extent::Doubles,
        message: |point| (point.size as u64).saturating_mul(DOUBLE as u64),
        variants: Sum::NAMES,
        library: true,
        ..Series::of_all(
            "global_sum",
            "sum of the vectors of all ranks, for all: t(n) is one sum",
            |ranks| ranks as u64,
        )
    }];
    const EXAMPLES: &'static [(u32, usize)] = &[(1, 1), (3, 16), (2, 2500)];

    fn at(AtSize { size: elements, messages, variant, .. }: AtSize) -> Option<Self> {
        Some(Self { messages, elements, algorithm: By::variant(variant)? })
    }

    fn check(&self, size: usize) -> Result<(), Refused> {
        messages_in_range(self.messages, self.bytes())?;
        ranks_at_least(1, size)?;
        let fits = self.algorithm.own().map_or(Ok(()), |own| own.fits(size, self.bytes()));
        fits.map_err(|error| Refused::because(format!("cannot {error}")))
    }

    fn operations(&self) -> Option<u32> {
        Some(self.messages)
    }

    fn needs(&self, _size: usize) -> Needs {
        let scratch = self.bytes();
        Needs { scratch, ..Needs::both_ways(self.messages.into(), self.bytes()) }
    }

    /// A rank that is alone receives nothing, and its sum is its own vector.
    fn expects(&self, seat: &Seat) -> Expects {
        let Seat { rank, size, places, .. } = *seat;
        let mut expects = Expects::default();
        for message in 0..self.messages.into() {
            let term = Content::Doubles { source: rank, message };
            let sum = Content::Sum { sources: size, message };
            expects.fill(places.outgoing(message), term);
            let receives = self.algorithm.own().map_or(1, |own| own.receives(rank, size));
            expects.arrive_by(receives, places.incoming(message), sum);
        }
        expects
    }
}

impl OverComm for GlobalSum {
    #[inline(never)]
    fn run<C: Comm>(&self, comm: &mut C, places: &Places, round: Round) -> Result<(), CommError> {
        let (algorithm, places) = (self.algorithm, *places);
        comm.barrier()?;
        by_shape(comm, round, self.messages, true, |comm, i| {
            let (terms, sums, scratch) = (places.outgoing(i), places.incoming(i), places.scratch());
            match algorithm {
                By::Library => comm.sum(terms, sums, scratch),
                By::Own(algorithm) => algorithm.run(comm, terms, sums, scratch),
            }
        })
    }
}
