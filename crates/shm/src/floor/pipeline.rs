//! A message between buffers of which neither is shared: two copies at once, by way of slots.
//!
//! Unsafe code here rests on the invariants of `mapping`, and on this protocol for the area's
//! buffer: piece i of a message lies in slot i mod [`SLOTS`]; the initiator touches it between
//! reading that piece i − [`SLOTS`] was read and storing that piece i is written, the responder
//! between reading the latter and storing that piece i was read. A peer that breaks it spoils
//! bytes, which are checked, and nothing else: they are plain bytes without structure.

use std::ptr;

use bandgap_comm::{Role, Timer, Window};

use super::copy::{check, fill};
use super::{COPY_BYTES, FloorArea};
use crate::ShmError;
use crate::probe::first_number;
use crate::spin::until;
use crate::sync::Ordering;

const FLOOR: &str = "copy_pipeline";
/// Slots that a message passes through.
const SLOTS: usize = 8;
/// Bytes of a slot at most.
const SLOT_BYTES: usize = 32 << 10;
const _: () = assert!(SLOTS * SLOT_BYTES <= COPY_BYTES, "the slots fit in the buffer");

/// A message of `bytes` from a buffer of the initiator's to one of the responder's, of which
/// neither is shared: the one copies it in pieces into shared slots, the other copies them out as
/// they come, and says so. 8 slots of 32 KiB, or of an eighth of a message that is shorter than all
/// of them. `window.samples` samples of `window.rounds` messages, timed one by one until the
/// responder has said that it has the last piece; the initiator writes its buffer anew before each.
///
/// Formula: time per message = ticks / rounds, the cost of one pair of stamps included.
///
/// # Errors
/// The other side did not answer until `give_up` said so, or a byte was wrong.
///
/// # Panics
/// `bytes` is 0 or more than [`COPY_BYTES`], or the pieces of all messages are 2³² − 2 or more.
pub fn copy_pipeline(
    area: &FloorArea,
    epoch: u64,
    role: Role,
    window: Window,
    bytes: usize,
    timer: &impl Timer,
    mut give_up: impl FnMut() -> bool,
) -> Result<Vec<u64>, ShmError> {
    assert!((1..=COPY_BYTES).contains(&bytes), "a copy of {bytes} bytes, not 1 to {COPY_BYTES}");
    let piece = bytes.div_ceil(SLOTS).min(SLOT_BYTES);
    // A number for each piece, and one for "the message was checked".
    let numbers = bytes.div_ceil(piece) as u64 + 1;
    let messages = u64::from(window.samples) * u64::from(window.rounds);
    let mut number = first_number(epoch, numbers * messages);
    let mut own = vec![0_u8; bytes];
    let mut samples = Vec::with_capacity(window.samples as usize);
    for _ in 0..window.samples {
        let mut ticks = 0_u64;
        for _ in 0..window.rounds {
            let message = Message { area, piece, number, last: number + numbers };
            match role {
                Role::Initiator => {
                    fill(&mut own, number);
                    let start = timer.stamp();
                    message.send(&own, &mut give_up)?;
                    let end = timer.stamp();
                    ticks = ticks.wrapping_add(end.ticks().wrapping_sub(start.ticks()));
                    // The next message finds the other side waiting.
                    message.await_checked(&mut give_up)?;
                }
                Role::Responder => {
                    message.receive(&mut own, &mut give_up)?;
                    check(FLOOR, &own, number)?;
                    message.checked();
                }
            }
            number += numbers;
        }
        if role == Role::Initiator {
            samples.push(ticks);
        }
    }
    Ok(samples)
}

/// One message: `number` + i is that of its piece i, counted from 1.
struct Message<'a> {
    area: &'a FloorArea,
    /// Bytes of a piece.
    piece: usize,
    number: u64,
    /// The number of "checked".
    last: u64,
}

impl Message<'_> {
    fn send(&self, own: &[u8], give_up: &mut impl FnMut() -> bool) -> Result<(), ShmError> {
        let [written, _] = self.area.wanted_ready();
        let mut read = 0;
        for (at, piece) in own.chunks(self.piece).enumerate() {
            if at - read == SLOTS {
                read = self.await_read(read + 1, give_up)?;
            }
            // SAFETY: the area's buffer has all slots, a piece is no longer than a slot, `own` is
            // elsewhere, and the responder has read what was in the slot before: it said so.
            unsafe { ptr::copy_nonoverlapping(piece.as_ptr(), self.slot(at), piece.len()) };
            // Release: pairs with the acquire in `receive`; the piece is there.
            written.store(self.number + at as u64 + 1, Ordering::Release);
        }
        self.await_read(own.len().div_ceil(self.piece), give_up).map(drop)
    }

    fn receive(&self, own: &mut [u8], give_up: &mut impl FnMut() -> bool) -> Result<(), ShmError> {
        let [written, read] = self.area.wanted_ready();
        let mut there = 0;
        for (at, piece) in own.chunks_mut(self.piece).enumerate() {
            if at == there {
                let wanted = at + 1;
                // Acquire: pairs with the release in `send`.
                let look = || self.within(written.load(Ordering::Acquire), wanted);
                there = awaited(look, give_up)?;
            }
            // SAFETY: as in `send`, and the initiator does not touch the slot until it is told that
            // it was read.
            unsafe { ptr::copy_nonoverlapping(self.slot(at), piece.as_mut_ptr(), piece.len()) };
            // Release: pairs with the acquire in `await_read`; the slot may be written.
            read.store(self.number + at as u64 + 1, Ordering::Release);
        }
        Ok(())
    }

    fn checked(&self) {
        // Release: as in `receive`.
        self.area.wanted_ready()[1].store(self.last, Ordering::Release);
    }

    fn await_checked(&self, give_up: &mut impl FnMut() -> bool) -> Result<(), ShmError> {
        self.await_read((self.last - self.number) as usize, give_up).map(drop)
    }

    /// Waits until so many pieces were read; returns how many.
    fn await_read(
        &self,
        pieces: usize,
        give_up: &mut impl FnMut() -> bool,
    ) -> Result<usize, ShmError> {
        let [_, read] = self.area.wanted_ready();
        // Acquire: pairs with the release in `receive`.
        awaited(|| self.within(read.load(Ordering::Acquire), pieces), give_up)
    }

    /// How far `number` is in this message, if that is at least as far as wanted. What an earlier
    /// epoch or message left is no number of this one.
    #[inline(always)]
    fn within(&self, number: u64, wanted: usize) -> Option<usize> {
        let wanted = self.number + wanted as u64;
        (wanted..=self.last).contains(&number).then(|| (number - self.number) as usize)
    }

    fn slot(&self, piece: usize) -> *mut u8 {
        // SAFETY: all slots lie in the area's buffer.
        unsafe { self.area.buffer().as_ptr().add(piece % SLOTS * SLOT_BYTES) }
    }
}

/// What `look` finds, once it finds something.
#[inline(always)]
fn awaited(
    mut look: impl FnMut() -> Option<usize>,
    give_up: &mut impl FnMut() -> bool,
) -> Result<usize, ShmError> {
    let mut found = 0;
    let ready = || look().inspect(|&at| found = at).is_some();
    until(ready, give_up).ok_or(ShmError::GaveUp { floor: FLOOR })?;
    Ok(found)
}
