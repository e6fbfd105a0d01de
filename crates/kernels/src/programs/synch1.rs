//! Barriers.

use bandgap_comm::{Comm, CommError};
use serde::{Deserialize, Serialize};

use super::repeat::by_rank;
use crate::kernel::{messages_in_range, ranks_at_least};
use crate::{AtSize, Expects, Kernel, OverComm, Places, Refused, Round, Seat, Series};

/// M barriers of all ranks: PARKBENCH's SYNCH1. No bytes arrive that could be compared; a barrier
/// message that is missing, or one too many, is seen.
///
/// Marks of rank 0, in each sample: begin, end, end. A barrier comes before the first sample.
/// *Source*: as [`super::Comms1`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Synch1 {
    /// Barriers of a sample (M).
    pub messages: u32,
}

impl Kernel for Synch1 {
    const NAME: &'static str = "synch1";
    const MEANING: &'static str = "barriers of all ranks";
    const SERIES: Option<Series> = Some(Series {
        sized: false,
        ..Series::of_all("synch1", "barriers: t is the time of one", |_| 0)
    });
    const EXAMPLES: &'static [(u32, usize)] = &[(1, 0), (9, 0)];

    fn at(point: AtSize) -> Option<Self> {
        Some(Self { messages: point.messages })
    }

    fn check(&self, size: usize) -> Result<(), Refused> {
        messages_in_range(self.messages, 0)?;
        ranks_at_least(1, size)
    }

    fn expects(&self, _seat: &Seat) -> Expects {
        Expects::default()
    }
}

impl OverComm for Synch1 {
    #[inline(never)]
    fn run<C: Comm>(&self, comm: &mut C, _places: &Places, round: Round) -> Result<(), CommError> {
        comm.barrier()?;
        by_rank(comm, 0, round.samples, self.messages, |comm, _| comm.barrier())
    }
}
