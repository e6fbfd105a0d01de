//! Stamps, and what they add up to.

use std::cell::Cell;
use std::hint::black_box;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

/// A place on a message's way where a stamp can be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Place {
    /// `MPI_Send` or `MPI_Isend` begins.
    Send,
    /// `ucp_tag_send_nbx` begins.
    UcpSend,
    /// An operation of UCT begins.
    Operation,
    /// UCT's handler begins, on the other rank.
    Handler,
    /// The callback of the receive begins.
    Callback,
    /// `MPI_Recv` has returned.
    Received,
    /// `MPI_Waitall` begins.
    Wait,
}

impl Place {
    /// Whether it follows an awaited load, which a stamp must wait for as well: else it would be taken too early.
    pub const fn is_awaited(self) -> bool {
        matches!(self, Self::Handler | Self::Callback | Self::Received)
    }
}

/// Numbers of what is stamped.
pub mod point {
    use super::Place;

    /// Nothing: no word is changed.
    pub const NOTHING: u8 = 1;
    /// One stamp at every place on the way. None ends an interval.
    pub const EVERYWHERE: u8 = 2;
    /// `MPI_Waitall`.
    pub const WAIT: u8 = interval(Place::Wait, Place::Wait);

    /// Whether it is an interval that the sender begins, and that ends on the other rank.
    pub const fn crosses(at: u8) -> bool {
        let (from, to) = ((at >> 4).wrapping_sub(1), at & 15);
        to == Place::Handler as u8 && from < to
    }

    /// From one place to another. From a place to itself: two stamps in a row there, which show the cost of a stamp.
    pub const fn interval(from: Place, to: Place) -> u8 {
        (from as u8 + 1) << 4 | to as u8
    }
}

/// What a hook does.
pub(crate) mod kind {
    /// It only notes that it was called.
    pub const SEEN: u8 = 0;
    /// An interval begins.
    pub const BEGIN: u8 = 1;
    /// It ends, if one has begun.
    pub const END: u8 = 2;
    /// An interval to the other rank begins: the stamp is taken off.
    pub const LESS: u8 = 3;
    /// It ends: the stamp is added.
    pub const MORE: u8 = 4;
    /// An interval of its own, with nothing in it but what hooks do.
    pub const PAIR: u8 = 5;
    /// A computation.
    pub const WORK: u8 = 6;
    /// [`BEGIN`] or [`LESS`], and then a computation.
    pub const BEGIN_WORK: u8 = 7;
    pub const LESS_WORK: u8 = 8;
}

/// What the hook at a place does at a point, if anything.
pub(crate) fn kind_of(at: u8, place: Place, works: bool) -> Option<u8> {
    let (from, to, own) = ((at >> 4).wrapping_sub(1), at & 15, place as u8);
    let crosses = point::crosses(at);
    // What sends a window ends with the wait.
    let ends = own == to || place == Place::Wait && (from, to) == (Place::Operation as u8, 0);
    let stamped = match at {
        0 | point::NOTHING => None,
        point::EVERYWHERE => Some(kind::BEGIN),
        point::WAIT => (place == Place::Wait).then_some(kind::BEGIN),
        _ if own == from && own == to => Some(kind::PAIR),
        _ if own == from => Some(if crosses { kind::LESS } else { kind::BEGIN }),
        _ => ends.then_some(if crosses { kind::MORE } else { kind::END }),
    };
    match (stamped, works) {
        (None, true) => Some(kind::WORK),
        (Some(kind::BEGIN), true) => Some(kind::BEGIN_WORK),
        (Some(kind::LESS), true) => Some(kind::LESS_WORK),
        (stamped, _) => stamped,
    }
}

/// What the stamps of a batch add up to on this rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Sum of the intervals, in ticks. Between ranks only the sum over both is a time.
    pub ticks: i64,
    /// Intervals that began.
    pub begun: u64,
    /// Intervals that ended.
    pub ended: u64,
    /// Whether another thread called what is stamped.
    pub strangers: bool,
}

#[repr(align(64))]
pub(crate) struct Sums {
    ticks: AtomicU64,
    begun: AtomicU64,
    ended: AtomicU64,
    last: AtomicU64,
    /// All bits if an interval has begun, else none.
    armed: AtomicU64,
    /// The thread whose calls are stamped; and what others add to its address.
    thread: AtomicU64,
    strangers: AtomicU64,
    /// Length of the computation.
    pub work: AtomicU32,
    /// Whether every stamp waits, not only those behind an awaited load.
    pub all_wait: AtomicBool,
}

// SAFETY: atomics of 0 are of all zeroes.
pub(crate) static SUMS: Sums = unsafe { MaybeUninit::zeroed().assume_init() };

thread_local! {
    /// Its address is the thread's own.
    static THREAD: Cell<u8> = const { Cell::new(0) };
}

/// The cycle counter; `AWAITED`: once all earlier instructions have finished.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn now<const AWAITED: bool>() -> u64 {
    // SAFETY: every x86-64 processor has both; the clock of the run reads the same counter.
    unsafe {
        if AWAITED || SUMS.all_wait.load(Relaxed) {
            std::arch::x86_64::_mm_lfence();
        }
        std::arch::x86_64::_rdtsc()
    }
}

/// Never called: there is no [`crate::Probe`] on this architecture.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn now<const AWAITED: bool>() -> u64 {
    0
}

#[inline(always)]
fn add(to: &AtomicU64, more: u64) {
    to.store(to.load(Relaxed).wrapping_add(more), Relaxed);
}

/// What a hook of this kind does. Its branches are decided when it is compiled.
#[inline(always)]
pub(crate) fn stamp<const K: u8, const AWAITED: bool>() {
    let sums = &SUMS;
    let thread = THREAD.with(|own| own.as_ptr().addr() as u64);
    let stranger = thread ^ sums.thread.load(Relaxed);
    sums.strangers.store(sums.strangers.load(Relaxed) | stranger, Relaxed);
    match K {
        kind::BEGIN | kind::BEGIN_WORK => {
            add(&sums.begun, 1);
            sums.armed.store(u64::MAX, Relaxed);
            sums.last.store(now::<AWAITED>(), Relaxed);
        }
        kind::END => {
            let now = now::<AWAITED>();
            let armed = sums.armed.load(Relaxed);
            add(&sums.ticks, now.wrapping_sub(sums.last.load(Relaxed)) & armed);
            add(&sums.ended, armed & 1);
            sums.armed.store(0, Relaxed);
        }
        kind::LESS | kind::LESS_WORK => {
            add(&sums.begun, 1);
            add(&sums.ticks, now::<AWAITED>().wrapping_neg());
        }
        kind::MORE => {
            let now = now::<AWAITED>();
            add(&sums.ticks, now);
            add(&sums.ended, 1);
        }
        // Where every stamp waits, what else hooks do runs beside the software between.
        kind::PAIR if sums.all_wait.load(Relaxed) => {
            stamp::<{ kind::BEGIN }, AWAITED>();
            stamp::<{ kind::END }, AWAITED>();
        }
        // As in two hooks: a stamp, a call of what is called next, and the stamp of its hook.
        kind::PAIR => {
            stamp::<{ kind::BEGIN }, AWAITED>();
            let next: extern "C" fn() = stamped_next::<AWAITED>;
            black_box(next)();
        }
        _ => {}
    }
    if matches!(K, kind::WORK | kind::BEGIN_WORK | kind::LESS_WORK) {
        bandgap_host::compute(sums.work.load(Relaxed));
    }
}

extern "C" fn stamped_next<const AWAITED: bool>() {
    stamp::<{ kind::END }, AWAITED>();
}

impl Sums {
    /// Begins anew, on this thread.
    pub fn reset(&self) {
        for sum in [&self.ticks, &self.begun, &self.ended, &self.armed, &self.strangers] {
            sum.store(0, Relaxed);
        }
        self.thread.store(THREAD.with(|own| own.as_ptr().addr() as u64), Relaxed);
    }

    pub fn counted(&self) -> Counted {
        let [ticks, begun, ended] =
            [&self.ticks, &self.begun, &self.ended].map(|sum| sum.load(Relaxed));
        let strangers = self.strangers.load(Relaxed) != 0;
        Counted { ticks: ticks as i64, begun, ended, strangers }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is done at each place on the way.
    fn kinds(at: u8, work: Option<Place>) -> [Option<u8>; 7] {
        use Place::{Callback, Handler, Operation, Received, Send, UcpSend, Wait};
        let all = [Send, UcpSend, Operation, Handler, Callback, Received, Wait];
        all.map(|place| kind_of(at, place, Some(place) == work))
    }

    #[test]
    fn an_interval_has_stamps_at_its_ends_and_nowhere_else() {
        use kind::{BEGIN, END, LESS, LESS_WORK, MORE, PAIR, WORK};
        let [begin, end, less, more] = [BEGIN, END, LESS, MORE].map(Some);
        let interval = point::interval;
        let none = None;
        for (at, expected) in [
            (interval(Place::Send, Place::UcpSend), [begin, end, none, none, none, none, none]),
            (
                interval(Place::Operation, Place::Handler),
                [none, none, less, more, none, none, none],
            ),
            (interval(Place::Received, Place::Send), [end, none, none, none, none, begin, none]),
            // A window ends with the wait.
            (interval(Place::Operation, Place::Send), [end, none, begin, none, none, none, end]),
            (
                interval(Place::UcpSend, Place::UcpSend),
                [none, Some(PAIR), none, none, none, none, none],
            ),
            (point::WAIT, [none, none, none, none, none, none, begin]),
            (point::EVERYWHERE, [begin; 7]),
            (point::NOTHING, [none; 7]),
        ] {
            assert_eq!(kinds(at, None), expected, "{at}");
        }
        let works = kinds(interval(Place::Operation, Place::Handler), Some(Place::Operation));
        assert_eq!(works[2..4], [Some(LESS_WORK), more]);
        assert_eq!(kinds(point::NOTHING, Some(Place::Callback))[4], Some(WORK));
    }

    /// One test, since what is counted is the process's.
    #[cfg(target_arch = "x86_64")]
    #[test]
    fn intervals_are_counted_once_each_and_strangers_are_told() {
        let counted = || {
            let Counted { begun, ended, strangers, .. } = SUMS.counted();
            (begun, ended, strangers)
        };
        SUMS.reset();
        // An end without a beginning is none.
        stamp::<{ kind::END }, true>();
        assert_eq!((counted(), SUMS.counted().ticks), ((0, 0, false), 0));
        for _ in 0..3 {
            stamp::<{ kind::BEGIN }, true>();
            stamp::<{ kind::END }, true>();
            stamp::<{ kind::END }, true>();
        }
        assert_eq!((counted(), SUMS.counted().ticks > 0), ((3, 3, false), true));
        stamp::<{ kind::PAIR }, true>();
        stamp::<{ kind::LESS }, true>();
        stamp::<{ kind::MORE }, true>();
        assert_eq!(counted(), (5, 5, false));
        std::thread::scope(|threads| threads.spawn(stamp::<{ kind::BEGIN }, true>).join())
            .unwrap_or(());
        assert_eq!(counted(), (6, 5, true));
        SUMS.reset();
        assert_eq!(SUMS.counted(), Counted::default());
        // Each of its rounds takes four cycles or more.
        const ROUNDS: i64 = 1_000_000;
        SUMS.work.store(ROUNDS as u32, Relaxed);
        let longer = |stamps: fn()| {
            let before = SUMS.counted().ticks;
            stamps();
            SUMS.counted().ticks - before
        };
        let own = longer(|| {
            stamp::<{ kind::BEGIN_WORK }, false>();
            stamp::<{ kind::END }, false>();
        });
        let crossing = longer(|| {
            stamp::<{ kind::LESS_WORK }, false>();
            stamp::<{ kind::MORE }, false>();
        });
        assert!(own >= ROUNDS && crossing >= ROUNDS, "{own} {crossing}");
        // A stamp that waits is not taken before what is computed ahead of it: roots that wait for each other, of ten
        // cycles or more each.
        let waited = (0..1000).map(|_| {
            longer(|| {
                stamp::<{ kind::BEGIN }, true>();
                let roots = (0..40).fold(black_box(1e300_f64), |root, _| root.sqrt());
                black_box(roots);
                stamp::<{ kind::END }, true>();
            })
        });
        assert!(waited.min() >= Some(200), "a stamp is too early");
    }
}
