//! The transfer of a message through a ring of slots.

use bandgap_comm::{FloorRole, Measuring, Timer};

use super::area::RING_SLOTS;
use super::{FloorArea, Ticks};
use crate::mapping::Line;
use crate::places::{Walk, first_number};
use crate::spin::wait;
use crate::sync::Ordering;
use crate::{Result, ShmError};

const FLOOR: &str = "slot_ring";

/// A sample stays at one place. The first two passes over its rings bring the slots into the
/// caches.
const WALK: Walk = Walk { at_once: 1, warm: 2 * RING_SLOTS as u32 };

/// Ping-pong of 8 bytes through a ring of 32 slots of 64 bytes each way; each slot also holds the
/// sequence number. `window.samples` samples of `window.rounds` round trips. Each sample uses the
/// next of [`PLACES`](super::PLACES) places, where each ring has its own page.
///
/// *Formula*: half round trip = ticks / (2 · rounds).
///
/// # Errors
/// The other side did not answer before `give_up` returned true, or a payload was wrong.
///
/// # Panics
/// `samples · (rounds + 64)` is 2³² − 1 or more.
pub fn slot_ring(area: &FloorArea, epoch: u64, with: &Measuring<'_, impl Timer>) -> Ticks {
    let exchanges = WALK.exchanges(with.window);
    let mut sum = 0_u64;
    let samples = WALK.over(&area.rings(), epoch, with, |[there, back], number| {
        if with.role == FloorRole::Initiator {
            send(there, number);
            sum = sum.wrapping_add(receive(back, number, with)?);
        } else {
            sum = sum.wrapping_add(receive(there, number, with)?);
            send(back, number);
        }
        Ok(())
    })?;
    check(FLOOR, first_number(epoch, exchanges), exchanges, sum)?;
    Ok(samples)
}

#[inline(always)]
pub(super) fn send<const N: usize>(ring: &[Line; N], number: u64) {
    let slot = &ring[number as usize & (N - 1)];
    slot.payload.store(!number, Ordering::Relaxed);
    // Release: pairs with the acquire of the side that waits for the sequence.
    slot.sequence.store(number, Ordering::Release);
}

#[inline(always)]
fn receive<T>(ring: &[Line; RING_SLOTS], number: u64, with: &Measuring<'_, T>) -> Result<u64> {
    let slot = &ring[number as usize & (RING_SLOTS - 1)];
    // Acquire: pairs with the release in `send`.
    wait(FLOOR, || slot.sequence.load(Ordering::Acquire) == number, with)?;
    Ok(slot.payload.load(Ordering::Relaxed))
}

/// Checks the sum of the payloads of messages `first + 1` to `first + messages`.
pub(super) fn check(floor: &'static str, first: u64, messages: u64, sum: u64) -> Result<()> {
    // The payload of n is !n = −n − 1, and 1 + … + m = m(m + 1)/2.
    let numbers = u128::from(messages) * u128::from(first)
        + u128::from(messages) * (u128::from(messages) + 1) / 2;
    let expected = (numbers as u64).wrapping_add(messages).wrapping_neg();
    if sum == expected { Ok(()) } else { Err(ShmError::WrongData { floor, at: 0 }) }
}
