//! Feeds inputs to a reader, and notes what went wrong.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use crate::{ALLOCATED, Inputs, Target, Verdict};

/// Longest time that an input may take.
pub const SECOND: Duration = Duration::from_secs(1);
/// Most bytes that an input may have allocated at a time.
pub const GIB: usize = 1 << 30;

/// When a hunt ends.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Number of the first input.
    pub first: u64,
    /// Inputs.
    pub inputs: u64,
    /// Time, if it is limited.
    pub until: Option<Instant>,
}

/// What an input did.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// It made the reader panic, with this message.
    Panic(String),
    /// It took so much of the processor's time.
    Slow(Duration),
    /// It had so many bytes allocated at a time.
    Large(usize),
}

/// What one input came to.
#[derive(Clone, Debug)]
pub struct Tried {
    /// What the reader said; `None` if it panicked.
    pub verdict: Option<Verdict>,
    /// The processor's time for it.
    pub took: Duration,
    /// Bytes that were allocated at a time, beyond those before.
    pub bytes: usize,
    /// What was wrong.
    pub fault: Option<Fault>,
}

/// What a hunt brought.
#[derive(Clone, Debug, Default)]
pub struct Hunted {
    /// Inputs tried.
    pub inputs: u64,
    /// Of these, those that the reader took.
    pub accepted: u64,
    /// The longest time of an input, and its number.
    pub slowest: (Duration, u64),
    /// The most memory of an input, and its number.
    pub largest: (usize, u64),
    /// What went wrong, by the number of the input.
    pub faults: Vec<(u64, Fault)>,
}

/// Faults after which a hunt ends: more say the same again.
const ENOUGH: usize = 20;

/// Feeds inputs of a target. `underway` is told the number of each before it is read.
pub fn hunt(
    target: &Target,
    inputs: &Inputs,
    limits: &Limits,
    mut underway: impl FnMut(u64),
) -> Hunted {
    let mut hunted = Hunted::default();
    for number in limits.first..limits.first.saturating_add(limits.inputs) {
        if limits.until.is_some_and(|until| Instant::now() >= until)
            || hunted.faults.len() >= ENOUGH
        {
            break;
        }
        let input = inputs.get(number);
        underway(number);
        let tried = try_one(target, &input);
        hunted.inputs += 1;
        hunted.accepted += u64::from(tried.verdict == Some(Verdict::Accepted));
        hunted.slowest = hunted.slowest.max((tried.took, number));
        hunted.largest = hunted.largest.max((tried.bytes, number));
        hunted.faults.extend(tried.fault.map(|fault| (number, fault)));
    }
    hunted
}

/// Feeds one input. One is fed at a time: memory is counted for the whole process.
pub fn try_one(target: &Target, input: &[u8]) -> Tried {
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let once = || {
        let before = ALLOCATED.current_usage();
        ALLOCATED.reset_peak_usage();
        let begun = processor_time();
        let read = quietly(|| (target.read)(input));
        let took = processor_time().saturating_sub(begun);
        (read, took, ALLOCATED.peak_usage().saturating_sub(before))
    };
    let (read, mut took, bytes) = once();
    // Pages that are touched for the first time, and other tenants, may have made it slow once.
    for _ in 0..2 {
        if took > SECOND {
            took = took.min(once().1);
        }
    }
    let fault = match &read {
        Err(why) => Some(Fault::Panic(why.clone())),
        Ok(_) if bytes > GIB => Some(Fault::Large(bytes)),
        Ok(_) if took > SECOND => Some(Fault::Slow(took)),
        Ok(_) => None,
    };
    Tried { verdict: read.ok(), took, bytes, fault }
}

/// Time that the processor has spent on this thread: other processes do not count.
fn processor_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec as u32)
}

/// What the last panic said, and where it was.
static SAID: Mutex<String> = Mutex::new(String::new());

/// Calls `read`. A panic is an error, and is not printed.
fn quietly<T>(read: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: std::sync::Once = std::sync::Once::new();
    thread_local!(static HUNTS: std::cell::Cell<bool> = const { std::cell::Cell::new(false) });
    HOOK.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !HUNTS.get() {
                return usual(panic);
            }
            let payload = panic.payload();
            let said = payload.downcast_ref::<&str>().copied();
            let said = said.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
            let said = said.unwrap_or("?");
            let place = panic.location().map(ToString::to_string).unwrap_or_default();
            if let Ok(mut last) = SAID.lock() {
                *last = format!("{said} ({place})");
            }
        }));
    });
    HUNTS.set(true);
    let read = catch_unwind(AssertUnwindSafe(read));
    HUNTS.set(false);
    read.map_err(|_| SAID.lock().map_or_else(|_| "?".to_owned(), |said| said.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Shape;

    fn target(read: fn(&[u8]) -> Verdict) -> Target {
        let (name, about, shape) = ("none", "nothing", Shape::Bytes);
        Target {
            name,
            about,
            shape,
            real: &[],
            made: || vec![vec![1]],
            wrong: Vec::new,
            words: &[],
            read,
            share: 1,
        }
    }

    #[test]
    fn a_panic_and_much_memory_are_faults_and_the_hunt_goes_on() {
        let panics =
            target(|input| if input == [1] { panic!("it is one") } else { Verdict::Refused });
        let inputs = Inputs::of(&panics, 1).unwrap();
        let limits = Limits { first: 0, inputs: 50, until: None };
        let hunted = hunt(&panics, &inputs, &limits, |_| ());
        assert!(
            matches!(&hunted.faults[0], (0, Fault::Panic(said)) if said.starts_with("it is one ("))
        );
        assert_eq!((hunted.inputs, hunted.accepted), (50, 0));

        let fills = target(|_| {
            let mut much = Vec::<u8>::new();
            // Far above the bound: tests beside this one free memory too.
            let reserved = Verdict::from(&much.try_reserve(2 * GIB));
            // An allocation that nobody sees may be left out.
            std::hint::black_box(&much);
            reserved
        });
        assert!(matches!(try_one(&fills, &[]).fault, Some(Fault::Large(bytes)) if bytes > GIB));
    }

    #[test]
    fn an_input_is_that_of_its_seed_and_number() {
        let target = target(|_| Verdict::Refused);
        let of = |seed, number| Inputs::of(&target, seed).unwrap().get(number);
        assert_eq!(of(1, 0), [1]);
        assert_eq!(of(1, 77), of(1, 77));
        let all = |seed| (0..50).map(|number| of(seed, number)).collect::<Vec<_>>();
        assert_ne!(all(1), all(2));
    }
}
