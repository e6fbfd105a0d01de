//! The placement probe: how far apart two ranks' processors are at this moment.
//!
//! Two processors of a virtual machine may be threads of one core now, and on different sockets a
//! second later. A short ping-pong before and after a batch, with one store each way, reveals this.
//!
//! It goes over several places, so that where lines lie in memory does not look like a distance. Each window has places
//! of its own: of three windows, a slow place is in one, and their median does not see it.

use bandgap_comm::{Measuring, Role, Timer};

use crate::control::PROBE_PLACES;
use crate::places::Walk;
use crate::spin::wait;
use crate::sync::{AtomicU64, Ordering};
use crate::{Control, Result};

const NAME: &str = "placement probe";

/// Windows of a probe: its value is their median.
pub const PROBE_WINDOWS: u32 = 3;

/// The places of a window are its own. Each is visited once before the window is timed.
pub(crate) const WALK: Walk = Walk { at_once: PROBE_PLACES / PROBE_WINDOWS as usize, warm: 1 };

/// A bare cache-line ping-pong between two ranks over the lines of the control page: `window.samples` windows
/// of `window.rounds` round trips, round its own eight places. The initiator gets the ticks of each window, the responder an
/// empty list, and a side that gave up waiting gets `None`. [`Measuring::give_up`] is called every
/// 4096 looks.
///
/// Formula: half round trip = ticks / (2 · rounds).
///
/// Both sides pass the same window and `epoch`. No earlier probe of the run may have had this epoch
/// (modulo 2³²). So nothing that an earlier probe left can match, and nothing needs to be reset,
/// even after a side gave up.
///
/// # Panics
/// samples · (rounds + 8) is 2³² − 1 or more.
pub fn probe(control: &Control, epoch: u64, with: &Measuring<'_, impl Timer>) -> Option<Vec<u64>> {
    ping_pong(NAME, &control.probe_lines(), WALK, epoch, with, || ()).ok()
}

/// Passes a number from the responder of a probe to its initiator, and returns it on both sides. An
/// initiator that gave up waiting gets `None`; the responder does not wait.
///
/// Both sides pass the same `epoch`, as for [`probe`], and it must not be 0.
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
        Role::Responder => {
            line.store(stamp | u64::from(value), Ordering::Relaxed);
            Some(value)
        }
        Role::Initiator => {
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

/// One store to a line each way, at places that a walk goes over. The first line of a place is the initiator's. Each side
/// does `turn` before it stores.
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
        Role::Initiator => walk.over(places, epoch, with, |[ping, pong], number| {
            turn();
            give(ping, number);
            take(pong, number)
        }),
        Role::Responder => walk.over(places, epoch, with, |[ping, pong], number| {
            take(ping, number)?;
            turn();
            give(pong, number);
            Ok(())
        }),
    }
}
