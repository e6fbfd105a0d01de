//! The placement probe: the present distance between two ranks' processors.
//!
//! Two processors of a virtual machine may be threads of one core now, and on different sockets a
//! second later. A short ping-pong before and after a batch, with one store each way, reveals this.
//!
//! It uses several places, so that the position of lines in memory does not look like a distance.
//! Each of its three windows has its own places, so a slow place affects only one of them, and not
//! their median.

use bandgap_comm::{FloorRole, Measuring, Timer};

use crate::control::PROBE_PLACES;
use crate::places::Walk;
use crate::spin::wait;
use crate::sync::{AtomicU64, Ordering};
use crate::{Control, Result};

const NAME: &str = "placement probe";

/// Number of windows of a probe; its value is their median.
pub const PROBE_WINDOWS: u32 = 3;

/// Each window has its own places, and visits each once before it is timed.
pub(crate) const WALK: Walk = Walk { at_once: PROBE_PLACES / PROBE_WINDOWS as usize, warm: 1 };

/// A bare cache-line ping-pong between two ranks over the lines of the control page:
/// `window.samples` windows of `window.rounds` round trips, each over its own eight places. The
/// initiator gets the ticks of each window, the responder an empty list, and a side that gave up
/// waiting gets `None`. [`Measuring::give_up`] is called after every 4096 checks.
///
/// *Formula*: half round trip = ticks / (2 · rounds).
///
/// Both sides must pass the same window and `epoch`. No earlier probe of the run may have had this
/// epoch (modulo 2³²), so that no number left by an earlier probe matches, and nothing needs to be
/// reset, even after a side gave up.
///
/// # Panics
/// samples · (rounds + 8) is 2³² − 1 or more.
pub fn probe(control: &Control, epoch: u64, with: &Measuring<'_, impl Timer>) -> Option<Vec<u64>> {
    ping_pong(NAME, &control.probe_lines(), WALK, epoch, with, || ()).ok()
}

/// Passes a number from the responder of a probe to its initiator, and returns it on both sides. An
/// initiator that gave up waiting gets `None`; the responder does not wait.
///
/// Both sides must pass the same `epoch`, as for [`probe`]; it must not be 0.
pub fn report<T>(
    control: &Control,
    epoch: u64,
    value: u32,
    with: &Measuring<'_, T>,
) -> Option<u32> {
    let line = control.report_line();
    let stamp = epoch << 32;
    match with.role {
        // The number itself is the payload: it orders no other memory.
        FloorRole::Responder => {
            line.store(stamp | u64::from(value), Ordering::Relaxed);
            Some(value)
        }
        FloorRole::Initiator => {
            let mut seen = 0;
            let ready = || {
                seen = line.load(Ordering::Relaxed);
                seen & !u64::from(u32::MAX) == stamp
            };
            wait(NAME, ready, with).ok()?;
            Some(seen as u32)
        }
    }
}

/// One store to a line each way, at the places of a walk. The first line of a place belongs to the
/// initiator. Each side calls `turn` before it stores.
pub(crate) fn ping_pong(
    floor: &'static str,
    places: &[[&AtomicU64; 2]],
    walk: Walk,
    epoch: u64,
    with: &Measuring<'_, impl Timer>,
    turn: impl Fn(),
) -> Result<Vec<u64>> {
    // The number itself is the payload: it orders no other memory.
    let give = |line: &AtomicU64, number| line.store(number, Ordering::Relaxed);
    let take =
        |line: &AtomicU64, number| wait(floor, || line.load(Ordering::Relaxed) == number, with);
    match with.role {
        FloorRole::Initiator => walk.over(places, epoch, with, |[ping, pong], number| {
            turn();
            give(ping, number);
            take(pong, number)
        }),
        FloorRole::Responder => walk.over(places, epoch, with, |[ping, pong], number| {
            take(ping, number)?;
            turn();
            give(pong, number);
            Ok(())
        }),
    }
}
