//! Barriers.

use bandgap_comm::collectives::{Algorithm, Barrier};
use bandgap_comm::{Comm, Result};
use serde::{Deserialize, Serialize};

use super::repeat::by_shape;
use super::variant::By;
use crate::{
    AtSize, Expects, Extent, Kernel, Look, OverComm, Places, Refused, Round, Seat, Series,
    messages_in_range, ranks_at_least,
};

/// M barriers of all ranks: PARKBENCH's SYNCH1 and CoMet's global synchronization. No bytes arrive
/// that could be compared, but a missing or a surplus barrier message is noticed.
///
/// Marks of rank 0, in each sample: begin, end, end. A barrier precedes the first sample.
/// *Source*: as [`super::Comms1`]; CoMet, section 3.3.5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Synch1 {
    /// Barriers in a sample (M).
    pub messages: u32,
    /// Algorithm.
    pub algorithm: By<Barrier>,
}

const fn barriers(name: &'static str) -> Series {
    let series = Series::of_all(name, |_| 0);
    Series { extent: Extent::None, message: |_| 0, library: true, ..series }
}

impl Kernel for Synch1 {
    const NAME: &'static str = "synch1";
    const SERIES: &'static [Series] = &[
        Series { look: Look::Many, ..barriers("synch1") },
        Series { variants: Barrier::NAMES, ..barriers("barrier") },
    ];

    fn at(point: AtSize) -> Option<Self> {
        let algorithm = By::variant(point.variant)?;
        Some(Self { messages: point.messages, algorithm })
    }

    fn check(&self, size: usize) -> Result<(), Refused> {
        messages_in_range(self.messages, 0)?;
        ranks_at_least(1, size)
    }

    fn operations(&self) -> Option<u32> {
        Some(self.messages)
    }

    fn expects(&self, _seat: &Seat) -> Expects {
        Expects::default()
    }
}

impl OverComm for Synch1 {
    #[inline(never)]
    fn run<C: Comm>(&self, comm: &mut C, _places: &Places, round: Round) -> Result<()> {
        comm.barrier()?;
        let algorithm = self.algorithm;
        by_shape(comm, round, self.messages, false, |comm, _| match algorithm {
            By::Library => comm.barrier(),
            By::Own(algorithm) => algorithm.run(comm),
        })
    }
}
