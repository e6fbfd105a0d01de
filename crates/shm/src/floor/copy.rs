//! Copies of buffers: within a core, across cores, across processes.
//!
//! Unsafe code here relies on the invariants of `mapping`, and on this protocol for the area's
//! buffer: the responder touches it only between reading number n in `wanted` and storing n in
//! `ready`, the initiator only between reading n in `ready` and storing n + 1 in `wanted`. A peer
//! that breaks the protocol can only spoil the bytes: these are checked, and have no structure.

use std::hint::black_box;
use std::io;
use std::ptr;

use bandgap_comm::{FloorRole, Measuring, Timer};

use super::{COPY_BYTES, FloorArea, Ticks};
use crate::places::first_number;
use crate::spin::wait;
use crate::sync::Ordering;
use crate::{Result, ShmError};

/// Copies `bytes` between two private buffers of the initiator: `window.samples` samples of
/// `window.rounds` copies. The responder does nothing.
///
/// *Formula*: time per copy = ticks / rounds.
///
/// # Errors
/// The copy differs from the original.
pub fn copy_local(bytes: usize, with: &Measuring<'_, impl Timer>) -> Ticks {
    let Measuring { role, window, .. } = *with;
    if role == FloorRole::Responder {
        return Ok(Vec::new());
    }
    let mut from = vec![0; bytes];
    let mut into = vec![0; bytes];
    fill(&mut from, 1);
    let samples = with.timed(|| {
        for _ in 0..window.rounds {
            black_box(&mut into).copy_from_slice(black_box(&from));
        }
        Ok(())
    })?;
    if window.rounds > 0 && window.samples > 0 {
        check("copy_local", &into, 1)?;
    }
    Ok(samples)
}

/// Copies `bytes` from shared memory that the responder's core has just written: `window.samples`
/// samples of `window.rounds` copies. Only the copies are timed, one by one.
///
/// *Formula*: time per copy = ticks / rounds, including the cost of a pair of stamps.
///
/// # Errors
/// The other side did not answer before `give_up` returned true, or a byte was wrong.
///
/// # Panics
/// `bytes` is more than [`COPY_BYTES`], or `samples · rounds` is 2³² − 2 or more.
pub fn copy_cross_core(
    area: &FloorArea,
    epoch: u64,
    bytes: usize,
    with: &Measuring<'_, impl Timer>,
) -> Ticks {
    assert!(bytes <= COPY_BYTES, "a copy of {bytes} bytes; {COPY_BYTES} are the most");
    let shared = area.buffer().as_ptr();
    let mut own = vec![0_u8; bytes];
    let turns = Turns { floor: "copy_cross_core", area, epoch, with };
    match with.role {
        FloorRole::Initiator => turns.take(&mut own, |own| {
            // SAFETY: the area's buffer has at least `bytes` bytes, it is this side's turn to
            // touch it (the protocol above), and `own` does not overlap it.
            unsafe { ptr::copy_nonoverlapping(shared, own.as_mut_ptr(), own.len()) };
            Ok(())
        }),
        FloorRole::Responder => turns.give(&mut own, |own| {
            // SAFETY: as above; it is this side's turn.
            unsafe { ptr::copy_nonoverlapping(own.as_ptr(), shared, own.len()) };
        }),
    }
}

/// As [`copy_cross_core`], but copies from the responder's own memory by a system call. `read`
/// makes that call: its arguments are the responder's process, the address there, and the buffer
/// for the bytes.
///
/// *Formula*: time per copy = ticks / rounds, including the cost of a pair of stamps.
///
/// # Errors
/// The other side did not answer before `give_up` returned true, `read` failed, or a byte was
/// wrong.
///
/// # Panics
/// `samples · rounds` is 2³² − 2 or more.
pub fn copy_vm_readv(
    area: &FloorArea,
    epoch: u64,
    bytes: usize,
    mut read: impl FnMut(u32, u64, &mut [u8]) -> io::Result<()>,
    with: &Measuring<'_, impl Timer>,
) -> Ticks {
    let [process, address] = area.source();
    let mut own = vec![0_u8; bytes];
    let turns = Turns { floor: "copy_vm_readv", area, epoch, with };
    match with.role {
        FloorRole::Initiator => turns.take(&mut own, |own| {
            // With a wrong process or address, the system call or the check below fails.
            let process = process.load(Ordering::Relaxed) as u32;
            read(process, address.load(Ordering::Relaxed), own)
                .map_err(ShmError::system("read another process's memory (process_vm_readv)"))
        }),
        FloorRole::Responder => turns.give(&mut own, |own| {
            process.store(u64::from(std::process::id()), Ordering::Relaxed);
            address.store(black_box(own).as_ptr() as u64, Ordering::Relaxed);
        }),
    }
}

/// Copies `bytes` to shared memory that the responder's core has just read, and waits until the
/// responder reports that it has seen them: a store with its completion, done by hand.
/// `window.samples` samples of `window.rounds` stores, timed one by one.
///
/// *Formula*: time per store = ticks / rounds, including the cost of a pair of stamps.
///
/// # Errors
/// The other side did not answer before `give_up` returned true, or a byte was wrong.
///
/// # Panics
/// `bytes` is more than [`COPY_BYTES`], or `2 · samples · rounds` is 2³² − 2 or more.
pub fn store_cross_core(
    area: &FloorArea,
    epoch: u64,
    bytes: usize,
    with: &Measuring<'_, impl Timer>,
) -> Ticks {
    const FLOOR: &str = "store_cross_core";
    assert!(bytes <= COPY_BYTES, "a copy of {bytes} bytes; {COPY_BYTES} are the most");
    let Measuring { role, window, timer, .. } = *with;
    let shared = area.buffer().as_ptr();
    let mut own = vec![0_u8; bytes];
    let [stored, seen] = area.wanted_ready();
    let mut number = first_number(epoch, 2 * window.all_rounds());
    let mut samples = Vec::with_capacity(window.samples as usize);
    for _ in 0..window.samples {
        let mut ticks = 0_u64;
        for _ in 0..window.rounds {
            // Each store has two numbers: the responder reports the first when it has seen the
            // store, the second when it has read the bytes.
            number += 2;
            match role {
                FloorRole::Initiator => {
                    fill(&mut own, number);
                    let start = timer.stamp();
                    // SAFETY: the area's buffer has at least `bytes` bytes, `own` does not overlap
                    // it, and the responder has said, below, that it read the last store.
                    unsafe { ptr::copy_nonoverlapping(own.as_ptr(), shared, bytes) };
                    // Release: pairs with the responder's acquire; the bytes are there.
                    stored.store(number, Ordering::Release);
                    wait(FLOOR, || seen.load(Ordering::Relaxed) >= number - 1, with)?;
                    let end = timer.stamp();
                    ticks = ticks.wrapping_add(end.ticks().wrapping_sub(start.ticks()));
                    // Acquire: pairs with the responder's release; it has read the buffer.
                    wait(FLOOR, || seen.load(Ordering::Acquire) == number, with)?;
                }
                FloorRole::Responder => {
                    // Acquire: pairs with the initiator's release.
                    wait(FLOOR, || stored.load(Ordering::Acquire) == number, with)?;
                    seen.store(number - 1, Ordering::Relaxed);
                    // SAFETY: as above, and the initiator does not touch the buffer before this
                    // side says that it has read it.
                    unsafe { ptr::copy_nonoverlapping(shared, own.as_mut_ptr(), bytes) };
                    check(FLOOR, &own, number)?;
                    // Release: pairs with the initiator's acquire; the buffer has been read. The
                    // next store finds this side waiting.
                    seen.store(number, Ordering::Release);
                }
            }
        }
        if role == FloorRole::Initiator {
            samples.push(ticks);
        }
    }
    Ok(samples)
}

/// The turns that the two sides of a copy take.
struct Turns<'a, T> {
    floor: &'static str,
    area: &'a FloorArea,
    epoch: u64,
    with: &'a Measuring<'a, T>,
}

impl<T: Timer> Turns<'_, T> {
    /// The number before the first copy, and the number of the last one.
    fn numbers(&self) -> (u64, u64) {
        let copies = self.with.window.all_rounds();
        let first = first_number(self.epoch, copies + 1);
        (first, first + copies)
    }

    /// The initiator's part: asks for a buffer, copies it, and checks it.
    fn take(&self, own: &mut [u8], mut copy: impl FnMut(&mut [u8]) -> Result<()>) -> Ticks {
        let Measuring { window, timer, .. } = *self.with;
        let [wanted, ready] = self.area.wanted_ready();
        let (mut number, _) = self.numbers();
        let mut samples = Vec::with_capacity(window.samples as usize);
        for _ in 0..window.samples {
            let mut ticks = 0_u64;
            for _ in 0..window.rounds {
                number += 1;
                // Release: pairs with the acquire in `give`; the last copy is finished.
                wanted.store(number, Ordering::Release);
                // Acquire: pairs with the release in `give`; the buffer is written.
                wait(self.floor, || ready.load(Ordering::Acquire) == number, self.with)?;
                let start = timer.stamp();
                copy(own)?;
                let end = timer.stamp();
                ticks = ticks.wrapping_add(end.ticks().wrapping_sub(start.ticks()));
                check(self.floor, own, number)?;
            }
            samples.push(ticks);
        }
        // Lets the responder free its buffer.
        wanted.store(number + 1, Ordering::Release);
        Ok(samples)
    }

    /// The responder's part: fills each buffer on request.
    fn give(&self, own: &mut [u8], mut publish: impl FnMut(&mut [u8])) -> Ticks {
        let [wanted, ready] = self.area.wanted_ready();
        let (first, last) = self.numbers();
        for number in first + 1..=last {
            // Acquire: pairs with the release in `take`.
            wait(self.floor, || wanted.load(Ordering::Acquire) == number, self.with)?;
            fill(own, number);
            publish(own);
            // Release: pairs with the acquire in `take`.
            ready.store(number, Ordering::Release);
        }
        wait(self.floor, || wanted.load(Ordering::Acquire) == last + 1, self.with)?;
        Ok(Vec::new())
    }
}

/// The byte at `at` in buffer `number`. Every byte differs between successive numbers.
fn pattern(number: u64, at: usize) -> u8 {
    (number as u8).wrapping_mul(31).wrapping_add(at as u8).wrapping_add((at >> 8) as u8)
}

fn fill(buffer: &mut [u8], number: u64) {
    for (at, byte) in buffer.iter_mut().enumerate() {
        *byte = pattern(number, at);
    }
}

fn check(floor: &'static str, buffer: &[u8], number: u64) -> Result<()> {
    match (0..buffer.len()).find(|&at| buffer[at] != pattern(number, at)) {
        Some(at) => Err(ShmError::WrongData { floor, at }),
        None => Ok(()),
    }
}
