//! The transfer of a cache line.

use bandgap_comm::{Measuring, Timer};

use super::FloorArea;
use crate::ShmError;
use crate::probe::ping_pong;

/// One 8-byte store each way, in two cache lines: `window.samples` samples of `window.rounds` round
/// trips.
///
/// Formula: half round trip = ticks / (2 · rounds).
///
/// # Errors
/// The other side did not answer before `give_up` returned true.
///
/// # Panics
/// `samples · rounds` is 2³² − 1 or more.
pub fn cache_line(
    area: &FloorArea,
    epoch: u64,
    with: &Measuring<'_, impl Timer>,
) -> Result<Vec<u64>, ShmError> {
    ping_pong("cache_line", area.ping_pong(), epoch, with)
}
