//! The placement probe: how far apart two ranks' processors are at this moment.
//!
//! Two processors of a virtual machine may be two threads of one core now and on two sockets a
//! second later. A short ping-pong of one store each way, before and after a batch, tells.

use bandgap_comm::{Role, Timer};

use crate::Control;
use crate::spin::until;
use crate::sync::{AtomicU64, Ordering};

/// The bare cache-line ping-pong between two ranks over the control page: `windows` windows of
/// `rounds` round trips. Returns the ticks of each window to the initiator, an empty list to the
/// responder, and `None` to a side that gave up waiting; `give_up` is asked every 4096 looks.
///
/// Formula: half round trip = ticks / (2 · rounds).
///
/// Both sides give the same `windows` and `rounds` and the same `epoch`, one that no earlier probe
/// of the run had (modulo 2³²): what an earlier probe left then matches nothing, so nothing need
/// be reset, not even after a side gave up.
///
/// # Panics
/// `windows · rounds` is 2³² − 1 or more.
pub fn probe(
    control: &Control,
    role: Role,
    epoch: u64,
    windows: u32,
    rounds: u32,
    timer: &impl Timer,
    mut give_up: impl FnMut() -> bool,
) -> Option<Vec<u64>> {
    ping_pong(control.probe_lines(), role, epoch, [windows, rounds], timer, &mut give_up)
}

/// Hands a number from the responder of a probe to its initiator: what the one gave is what the
/// other gets. `None` to an initiator that gave up waiting; the responder does not wait.
///
/// Both sides give the same `epoch`, as for [`probe`], and not 0.
pub fn report(
    control: &Control,
    role: Role,
    epoch: u64,
    value: u32,
    mut give_up: impl FnMut() -> bool,
) -> Option<u32> {
    let line = control.report_line();
    let stamp = epoch << 32;
    match role {
        // The number is the payload, and nothing is read on its strength.
        Role::Responder => {
            line.store(stamp | u64::from(value), Ordering::Relaxed);
            Some(value)
        }
        Role::Initiator => {
            let mut seen = 0;
            until(
                || {
                    seen = line.load(Ordering::Relaxed);
                    seen & !u64::from(u32::MAX) == stamp
                },
                &mut give_up,
            )?;
            Some(seen as u32)
        }
    }
}

/// First number of an epoch; the numbers used are the ones after it.
pub(crate) fn first_number(epoch: u64, exchanges: u64) -> u64 {
    assert!(exchanges < u64::from(u32::MAX), "an epoch has fewer than 2^32 - 1 exchanges");
    epoch << 32
}

/// One store to a line each way, for each round: the initiator's line is the first.
pub(crate) fn ping_pong(
    [ping, pong]: [&AtomicU64; 2],
    role: Role,
    epoch: u64,
    [windows, rounds]: [u32; 2],
    timer: &impl Timer,
    give_up: &mut impl FnMut() -> bool,
) -> Option<Vec<u64>> {
    let exchanges = u64::from(windows) * u64::from(rounds);
    let mut number = first_number(epoch, exchanges);
    match role {
        Role::Initiator => {
            let mut ticks = Vec::with_capacity(windows as usize);
            for _ in 0..windows {
                let start = timer.stamp();
                for _ in 0..rounds {
                    number += 1;
                    // The number is the payload, and nothing is read on its strength.
                    ping.store(number, Ordering::Relaxed);
                    until(|| pong.load(Ordering::Relaxed) == number, give_up)?;
                }
                ticks.push(timer.stamp().ticks().wrapping_sub(start.ticks()));
            }
            Some(ticks)
        }
        Role::Responder => {
            for _ in 0..exchanges {
                number += 1;
                until(|| ping.load(Ordering::Relaxed) == number, give_up)?;
                pong.store(number, Ordering::Relaxed);
            }
            Some(Vec::new())
        }
    }
}
