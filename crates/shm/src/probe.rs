//! The placement probe: how far apart two ranks' processors are at this moment.
//!
//! Two processors of a virtual machine may be threads of one core now, and on different sockets a
//! second later. A short ping-pong before and after a batch, with one store each way, reveals this.

use bandgap_comm::{Measuring, Role, Timer};

use crate::spin::wait;
use crate::sync::{AtomicU64, Ordering};
use crate::{Control, ShmError};

const NAME: &str = "placement probe";

/// A bare cache-line ping-pong between two ranks over the control page: `window.samples` windows
/// of `window.rounds` round trips. The initiator gets the ticks of each window, the responder an
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
/// samples · rounds is 2³² − 1 or more.
pub fn probe(control: &Control, epoch: u64, with: &Measuring<'_, impl Timer>) -> Option<Vec<u64>> {
    ping_pong(NAME, control.probe_lines(), epoch, with).ok()
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

/// The number before the first one of an epoch.
pub(crate) fn first_number(epoch: u64, exchanges: u64) -> u64 {
    assert!(exchanges < u64::from(u32::MAX), "an epoch has fewer than 2^32 - 1 exchanges");
    epoch << 32
}

/// One store to a line each way per round. The first line is the initiator's.
pub(crate) fn ping_pong(
    floor: &'static str,
    [ping, pong]: [&AtomicU64; 2],
    epoch: u64,
    with: &Measuring<'_, impl Timer>,
) -> Result<Vec<u64>, ShmError> {
    let exchanges = with.window.all_rounds();
    let mut number = first_number(epoch, exchanges);
    match with.role {
        Role::Initiator => with.timed(|| {
            for _ in 0..with.window.rounds {
                number += 1;
                // The number itself is the payload: it orders no other memory.
                ping.store(number, Ordering::Relaxed);
                wait(floor, || pong.load(Ordering::Relaxed) == number, with)?;
            }
            Ok(())
        }),
        Role::Responder => {
            for _ in 0..exchanges {
                number += 1;
                wait(floor, || ping.load(Ordering::Relaxed) == number, with)?;
                pong.store(number, Ordering::Relaxed);
            }
            Ok(Vec::new())
        }
    }
}
