//! The common part of all kernels on vectors.

use std::fmt;

use bandgap_comm::collectives::Blocks;
use bandgap_comm::{Comm, Part, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::programs::by_shape;
use crate::{
    AtSize, DOUBLE, Expects, Extent, Kernel, Needs, OverComm, Places, Refused, Round, Seat, Series,
    Shape, messages_in_range, ranks_at_least,
};

/// What one operation on vectors does, and what every rank holds after it. The value says how it is
/// done.
pub trait VectorProgram:
    Copy + fmt::Debug + Default + PartialEq + Eq + Serialize + DeserializeOwned + 'static
{
    /// Name in orders.
    const NAME: &'static str;
    /// Ways to carry it out, if there are several.
    const VARIANTS: &'static [&'static str] = &[];
    /// Whether a library with its own message passing has the operation too.
    const LIBRARY: bool = false;
    /// The factor of its bus bandwidth ([`Series::bus`]): all blocks but its own pass a rank's link.
    const BUS: fn(usize) -> f64 = |ranks| 1.0 - 1.0 / ranks as f64;
    /// Operations that are timed together, and of which a point's time is one.
    const PARTS: u32 = 1;
    /// Vectors that it works in, besides those of input and output.
    const SCRATCH: usize = 0;

    /// The operation in this variant, or in the default one, as it is timed in this shape.
    fn at(_variant: Option<&str>, _shape: Shape) -> Option<Self> {
        Some(Self::default())
    }

    /// Checks that it works for this number of ranks and bytes.
    ///
    /// # Errors
    /// It does not; the error says why.
    fn check(&self, _ranks: usize, _bytes: usize) -> Result<(), Refused> {
        Ok(())
    }

    /// Adds what a rank must hold before and after operation `message` of a sample.
    fn expects(&self, seat: &Seat, message: u64, vectors: Vectors, expects: &mut Expects);

    /// Carries out operation `message` of a sample.
    ///
    /// # Errors
    /// A peer is gone, or a deadline passed.
    fn once<C: Comm>(&self, comm: &mut C, message: u64, vectors: Vectors) -> Result<()>;
}

/// Where an operation's vectors lie in a rank's memory.
#[derive(Clone, Copy, Debug)]
pub struct Vectors {
    /// Input of the rank.
    pub from: Part,
    /// Output of the rank.
    pub into: Part,
    /// Working memory, if the operation needs it.
    pub scratch: Part,
}

impl Vectors {
    fn of(places: &Places, message: u64) -> Self {
        let (from, into) = (places.outgoing(message), places.incoming(message));
        Self { from, into, scratch: places.scratch() }
    }

    /// Block `index` of a rank's input and of its output, if there are `ranks` ranks.
    pub fn blocks(self, ranks: usize, index: usize) -> [Part; 2] {
        [self.from, self.into].map(|part| Blocks::of(part, DOUBLE, ranks).one(index))
    }
}

/// M operations on vectors of n bytes, one vector on each rank; or M there and M back.
///
/// Marks of rank 0, in each sample: begin, end, end. A barrier precedes the first sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound = "P: VectorProgram")]
pub struct VectorKernel<P> {
    /// Operations in a sample, or those of each direction (M).
    pub messages: u32,
    /// Elements of a vector (n).
    pub elements: usize,
    /// Operation, and how it is carried out.
    pub program: P,
}

impl<P: VectorProgram> VectorKernel<P> {
    fn bytes(&self) -> usize {
        self.elements.saturating_mul(DOUBLE)
    }

    /// Operations in a sample.
    fn count(&self) -> u32 {
        self.messages.saturating_mul(P::PARTS)
    }
}

impl<P: VectorProgram> Kernel for VectorKernel<P> {
    const NAME: &'static str = P::NAME;
    const SERIES: &'static [Series] = &[Series {
        parts: P::PARTS,
        extent: Extent::Doubles,
        variants: P::VARIANTS,
        library: P::LIBRARY,
        bus: Some(P::BUS),
        ..Series::of_all(P::NAME, |_| 1)
    }];

    fn at(AtSize { size, messages, variant, shape, .. }: AtSize) -> Option<Self> {
        Some(Self { messages, elements: size / DOUBLE, program: P::at(variant, shape)? })
    }

    fn check(&self, size: usize) -> Result<(), Refused> {
        messages_in_range(self.count(), self.bytes())?;
        ranks_at_least(1, size)?;
        self.program.check(size, self.bytes())
    }

    fn operations(&self) -> Option<u32> {
        Some(self.count())
    }

    fn needs(&self, _size: usize) -> Needs {
        let scratch = P::SCRATCH * self.bytes();
        Needs { scratch, ..Needs::both_ways(self.count().into(), self.bytes()) }
    }

    fn expects(&self, seat: &Seat) -> Expects {
        let mut expects = Expects::default();
        for message in 0..self.count().into() {
            let vectors = Vectors::of(&seat.places, message);
            self.program.expects(seat, message, vectors, &mut expects);
        }
        expects
    }
}

impl<P: VectorProgram> OverComm for VectorKernel<P> {
    #[inline(never)]
    fn run<C: Comm>(&self, comm: &mut C, places: &Places, round: Round) -> Result<()> {
        let (program, places) = (self.program, *places);
        comm.barrier()?;
        by_shape(comm, round, self.count(), true, |comm, message| {
            program.once(comm, message, Vectors::of(&places, message))
        })
    }
}
