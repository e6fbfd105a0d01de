//! Messages between private buffers: both sides copy at once, through shared slots.
//!
//! Unsafe code here relies on the invariants of `mapping`, and on this protocol for the area's
//! buffer. Each half of the buffer holds the slots of one direction. Piece i of a message lies in
//! slot i mod [`SLOTS`]. The sender touches that slot only between reading that piece i − [`SLOTS`]
//! was read and storing that piece i is written. The receiver touches it only between reading that
//! piece i is written and storing that piece i was read. A peer that breaks the protocol can only
//! spoil the bytes: these are checked, and have no structure.

use std::ptr;

use bandgap_comm::{Measuring, Role, Timer};

use super::copy::{check, fill};
use super::{COPY_BYTES, FloorArea};
use crate::ShmError;
use crate::places::first_number;
use crate::spin::wait;
use crate::sync::{AtomicU64, Ordering};

const FLOOR: &str = "copy_pipeline";
/// Number of slots through which a message passes.
const SLOTS: usize = 8;
/// Largest number of bytes in a slot.
const SLOT_BYTES: usize = 32 << 10;
const _: () = assert!(2 * SLOTS * SLOT_BYTES <= COPY_BYTES, "the slots of both directions fit");

/// A ping-pong of messages of `bytes` between four private buffers. The sender copies a message in
/// pieces into shared slots; the receiver copies the pieces out as they arrive, and says so. Each
/// direction has 8 slots of 32 KiB, or of an eighth of the message if that is less.
///
/// `window.samples` samples of `window.rounds` rounds; a round ends when the initiator has the last
/// piece of the message that comes back. The message of the last round is compared with what was
/// sent.
///
/// Formula: time per message = ticks / (2 · rounds).
///
/// # Errors
/// The other side did not answer before `give_up` returned true, or a byte was wrong.
///
/// # Panics
/// `bytes` is 0 or more than [`COPY_BYTES`], or the pieces of all rounds are 2³² − 1 or more.
pub fn copy_pipeline(
    area: &FloorArea,
    epoch: u64,
    bytes: usize,
    with: &Measuring<'_, impl Timer>,
) -> Result<Vec<u64>, ShmError> {
    let Measuring { role, window, .. } = *with;
    assert!((1..=COPY_BYTES).contains(&bytes), "a copy of {bytes} bytes, not 1 to {COPY_BYTES}");
    let piece = bytes.div_ceil(SLOTS).min(SLOT_BYTES);
    let pieces = bytes.div_ceil(piece) as u64;
    let rounds = window.all_rounds();
    let mut number = first_number(epoch, pieces * rounds);
    // Different bytes for each epoch and direction.
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
    let mut samples = with.timed(|| {
        for _ in 0..window.rounds {
            match role {
                Role::Initiator => {
                    there.send(&sent, number, with)?;
                    back.receive(&mut received, number, with)?;
                }
                Role::Responder => {
                    there.receive(&mut received, number, with)?;
                    back.send(&sent, number, with)?;
                }
            }
            number += pieces;
        }
        Ok(())
    })?;
    if rounds > 0 {
        check(FLOOR, &received, others)?;
    }
    if role == Role::Responder {
        samples.clear();
    }
    Ok(samples)
}

/// One direction. Piece i of a message, counted from 0, has the message's number plus i + 1.
struct Way<'a> {
    area: &'a FloorArea,
    /// Bytes of a piece.
    piece: usize,
    first_slot: usize,
    /// The number of the last piece written.
    written: &'a AtomicU64,
    /// The number of the last piece read.
    read: &'a AtomicU64,
}

impl Way<'_> {
    /// Copies a message into the slots, and waits until the receiver has read all of it.
    fn send<T>(&self, own: &[u8], number: u64, with: &Measuring<'_, T>) -> Result<(), ShmError> {
        let pieces = own.len().div_ceil(self.piece);
        let mut read = 0;
        for (at, piece) in own.chunks(self.piece).enumerate() {
            if at - read == SLOTS {
                read = within(self.read, number, read + 1..=pieces, with)?;
            }
            // SAFETY: all slots lie in the area's buffer, a piece is no longer than a slot, `own`
            // does not overlap it, and the receiver has said that it read the slot's last piece.
            unsafe { ptr::copy_nonoverlapping(piece.as_ptr(), self.slot(at), piece.len()) };
            // Release: pairs with the acquire of `receive`; the piece is there.
            self.written.store(number + at as u64 + 1, Ordering::Release);
        }
        within(self.read, number, pieces..=pieces, with).map(drop)
    }

    fn receive<T>(
        &self,
        own: &mut [u8],
        number: u64,
        with: &Measuring<'_, T>,
    ) -> Result<(), ShmError> {
        let pieces = own.len().div_ceil(self.piece);
        let mut there = 0;
        for (at, piece) in own.chunks_mut(self.piece).enumerate() {
            if at == there {
                there = within(self.written, number, at + 1..=pieces, with)?;
            }
            // SAFETY: as in `send`, and the sender does not touch the slot before this side says
            // that it has read it.
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

/// Waits until the counter says that this many pieces of message `number` are done, and returns how
/// many are. Numbers that an earlier epoch or message left do not count.
#[inline(always)]
fn within<T>(
    counter: &AtomicU64,
    number: u64,
    pieces: std::ops::RangeInclusive<usize>,
    with: &Measuring<'_, T>,
) -> Result<usize, ShmError> {
    let mut found = 0;
    let ready = || {
        // Acquire: pairs with the releases of `send` and `receive`.
        found = counter.load(Ordering::Acquire).wrapping_sub(number) as usize;
        pieces.contains(&found)
    };
    wait(FLOOR, ready, with)?;
    Ok(found)
}
