//! Messages between buffers of which none is shared: two copies at once, by way of slots.
//!
//! Unsafe code here rests on the invariants of `mapping`, and on this protocol for the area's
//! buffer: either half of it has the slots of one way. Piece i of a message lies in slot i mod
//! [`SLOTS`]; its sender touches it between reading that piece i − [`SLOTS`] was read and storing
//! that piece i is written, its receiver between reading the latter and storing that piece i was
//! read. A peer that breaks it spoils bytes, which are checked, and nothing else: they are plain
//! bytes without structure.

use std::ptr;

use bandgap_comm::{Role, Timer, Window};

use super::copy::{check, fill};
use super::{COPY_BYTES, FloorArea};
use crate::ShmError;
use crate::probe::first_number;
use crate::spin::until;
use crate::sync::{AtomicU64, Ordering};

const FLOOR: &str = "copy_pipeline";
/// Slots that a message passes through.
const SLOTS: usize = 8;
/// Bytes of a slot at most.
const SLOT_BYTES: usize = 32 << 10;
const _: () = assert!(2 * SLOTS * SLOT_BYTES <= COPY_BYTES, "the slots of both ways fit");

/// A message of `bytes` from a buffer of the initiator's to one of the responder's, and one back
/// between two other buffers, of which none is shared: a sender copies it in pieces into shared
/// slots, its receiver copies them out as they come, and says so. 8 slots of 32 KiB each way, or of
/// an eighth of a message that is shorter than all of them. `window.samples` samples of
/// `window.rounds` such rounds, until the initiator has the last piece back; what the last round
/// brought is compared with what was sent.
///
/// Formula: time per message = ticks / (2 · rounds).
///
/// # Errors
/// The other side did not answer until `give_up` said so, or a byte was wrong.
///
/// # Panics
/// `bytes` is 0 or more than [`COPY_BYTES`], or the pieces of all rounds are 2³² − 1 or more.
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
    let pieces = bytes.div_ceil(piece) as u64;
    let rounds = u64::from(window.samples) * u64::from(window.rounds);
    let mut number = first_number(epoch, pieces * rounds);
    // Other bytes each epoch and way.
    let [there, back] = [0, 1].map(|way| epoch.wrapping_mul(2).wrapping_add(way));
    let (own, others) = match role {
        Role::Initiator => (there, back),
        Role::Responder => (back, there),
    };
    let (mut sent, mut received) = (vec![0_u8; bytes], vec![0_u8; bytes]);
    fill(&mut sent, own);
    let [there, back] = area.pipelines();
    let there = Way { area, piece, first_slot: 0, written: there[0], read: there[1] };
    let back = Way { area, piece, first_slot: SLOTS, written: back[0], read: back[1] };
    let mut samples = Vec::with_capacity(window.samples as usize);
    for _ in 0..window.samples {
        let start = timer.stamp();
        for _ in 0..window.rounds {
            match role {
                Role::Initiator => {
                    there.send(&sent, number, &mut give_up)?;
                    back.receive(&mut received, number, &mut give_up)?;
                }
                Role::Responder => {
                    there.receive(&mut received, number, &mut give_up)?;
                    back.send(&sent, number, &mut give_up)?;
                }
            }
            number += pieces;
        }
        let end = timer.stamp();
        if role == Role::Initiator {
            samples.push(end.ticks().wrapping_sub(start.ticks()));
        }
    }
    if rounds > 0 {
        check(FLOOR, &received, others)?;
    }
    Ok(samples)
}

/// One direction. Piece i of a message, counted from 0, has the number that follows i more than the
/// message's own.
struct Way<'a> {
    area: &'a FloorArea,
    /// Bytes of a piece.
    piece: usize,
    first_slot: usize,
    /// Number of the last piece written.
    written: &'a AtomicU64,
    /// Number of the last piece read.
    read: &'a AtomicU64,
}

impl Way<'_> {
    /// Copies a message into the slots. When this returns, all of it was read.
    fn send(
        &self,
        own: &[u8],
        number: u64,
        give_up: &mut impl FnMut() -> bool,
    ) -> Result<(), ShmError> {
        let pieces = own.len().div_ceil(self.piece);
        let mut read = 0;
        for (at, piece) in own.chunks(self.piece).enumerate() {
            if at - read == SLOTS {
                read = within(self.read, number, read + 1..=pieces, give_up)?;
            }
            // SAFETY: the area's buffer has all slots, a piece is no longer than a slot, `own` is
            // elsewhere, and the receiver has read what was in the slot before: it said so.
            unsafe { ptr::copy_nonoverlapping(piece.as_ptr(), self.slot(at), piece.len()) };
            // Release: pairs with the acquire of `receive`; the piece is there.
            self.written.store(number + at as u64 + 1, Ordering::Release);
        }
        within(self.read, number, pieces..=pieces, give_up).map(drop)
    }

    fn receive(
        &self,
        own: &mut [u8],
        number: u64,
        give_up: &mut impl FnMut() -> bool,
    ) -> Result<(), ShmError> {
        let pieces = own.len().div_ceil(self.piece);
        let mut there = 0;
        for (at, piece) in own.chunks_mut(self.piece).enumerate() {
            if at == there {
                there = within(self.written, number, at + 1..=pieces, give_up)?;
            }
            // SAFETY: as in `send`, and the sender does not touch the slot until it is told that it
            // was read.
            unsafe { ptr::copy_nonoverlapping(self.slot(at), piece.as_mut_ptr(), piece.len()) };
            // Release: pairs with the acquire of `send`; the slot may be written.
            self.read.store(number + at as u64 + 1, Ordering::Release);
        }
        Ok(())
    }

    fn slot(&self, piece: usize) -> *mut u8 {
        let slot = self.first_slot + piece % SLOTS;
        // SAFETY: all slots lie in the area's buffer.
        unsafe { self.area.buffer().as_ptr().add(slot * SLOT_BYTES) }
    }
}

/// Waits until so many pieces of the message of this number were counted; returns how many. What an
/// earlier epoch or message left is no number of this one.
#[inline(always)]
fn within(
    counter: &AtomicU64,
    number: u64,
    pieces: std::ops::RangeInclusive<usize>,
    give_up: &mut impl FnMut() -> bool,
) -> Result<usize, ShmError> {
    let mut found = 0;
    let ready = || {
        // Acquire: pairs with the releases of `send` and `receive`.
        found = counter.load(Ordering::Acquire).wrapping_sub(number) as usize;
        pieces.contains(&found)
    };
    until(ready, give_up).ok_or(ShmError::GaveUp { floor: FLOOR })?;
    Ok(found)
}
