//! The rate of a stream of messages.

use bandgap_comm::{FloorRole, Measuring, Timer};

use super::area::STREAM_SLOTS;
use super::slot_ring::{check, send};
use super::{FloorArea, Ticks};
use crate::Result;
use crate::places::first_number;
use crate::spin::wait;
use crate::sync::Ordering;

const FLOOR: &str = "slot_ring_stream";

/// Messages per return of credits.
const CREDIT_EVERY: u64 = 128;

/// A stream of 8-byte messages from the initiator through a ring of 512 slots of 64 bytes; each
/// slot also holds the sequence number. Credits return every 128 messages. `window.samples` samples
/// of `window.rounds` messages; a sample ends with the credit for its last message.
///
/// *Formula*: time per message = ticks / rounds, if rounds is much larger than the 512 slots.
///
/// # Errors
/// The other side did not answer before `give_up` returned true, or a payload was wrong.
///
/// # Panics
/// `samples · rounds` is 2³² − 1 or more.
pub fn slot_ring_stream(area: &FloorArea, epoch: u64, with: &Measuring<'_, impl Timer>) -> Ticks {
    match with.role {
        FloorRole::Initiator => initiate(area, epoch, with),
        FloorRole::Responder => respond(area, epoch, with).map(|()| Vec::new()),
    }
}

fn initiate(area: &FloorArea, epoch: u64, with: &Measuring<'_, impl Timer>) -> Ticks {
    let window = with.window;
    let (ring, credits) = area.stream();
    let messages = window.all_rounds();
    let first = first_number(epoch, messages);
    let last = first + messages;
    let mut number = first;
    // The last message known to have been read. The credits may still be those of an earlier epoch.
    let mut read = first;
    let look = |until_read: u64, read: &mut u64| {
        let seen = || {
            // Acquire: pairs with the release in `respond`; the slots that were read may be reused.
            let credit = credits.load(Ordering::Acquire);
            if (first..=last).contains(&credit) {
                *read = credit;
            }
            *read >= until_read
        };
        wait(FLOOR, seen, with)
    };
    with.timed(|| {
        for _ in 0..window.rounds {
            number += 1;
            if number - read > STREAM_SLOTS as u64 {
                look(number - STREAM_SLOTS as u64, &mut read)?;
            }
            send(ring, number);
        }
        look(number, &mut read)
    })
}

fn respond<T>(area: &FloorArea, epoch: u64, with: &Measuring<'_, T>) -> Result<()> {
    let window = with.window;
    let (ring, credits) = area.stream();
    let messages = window.all_rounds();
    let first = first_number(epoch, messages);
    let mut number = first;
    let mut sum = 0_u64;
    for _ in 0..window.samples {
        for _ in 0..window.rounds {
            number += 1;
            let slot = &ring[number as usize & (STREAM_SLOTS - 1)];
            // Acquire: pairs with the release in `send`.
            wait(FLOOR, || slot.sequence.load(Ordering::Acquire) == number, with)?;
            sum = sum.wrapping_add(slot.payload.load(Ordering::Relaxed));
            if number.is_multiple_of(CREDIT_EVERY) {
                // Release: pairs with the acquire in `initiate`.
                credits.store(number, Ordering::Release);
            }
        }
        credits.store(number, Ordering::Release);
    }
    check(FLOOR, first, messages, sum)
}
