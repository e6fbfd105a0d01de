//! Switches stamps on and off.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{MutexGuard, PoisonError};

use bandgap_loader::Opened;

use crate::ProbeError;
use crate::hooks::{
    CALLS, HANDLERS, Handler, OPERATED, OPERATIONS, PASSED, PLACES, REAL, TABLES, UCP_SENT, close,
    hooks, open, set, set_handler,
};
use crate::slots::{Word, slots};
use crate::stamp::{Counted, Place, SUMS, kind, kind_of};

type Result<T> = std::result::Result<T, ProbeError>;

/// Functions of UCP that MPI calls, by call.
const OF_UCP: [(usize, &str); 2] = [(4, "ucp_tag_send_nbx"), (5, "ucp_tag_recv_nbx")];
/// Functions of UCX's transports that UCP calls. The first stays changed: interfaces are closed at any time.
const OF_UCT: [&str; 3] = ["uct_iface_close", "uct_iface_open", "uct_iface_set_am_handler"];

/// Stamps inside the MPI of this process.
#[derive(Default)]
pub struct Probe {
    /// The words through which each function is called.
    calls: [Vec<Word>; CALLS],
    /// What was changed for as long as interfaces and handlers are learnt.
    early: Vec<(Word, usize)>,
    /// What was changed for a batch.
    changed: Vec<(Word, usize)>,
    switched: Vec<&'static Handler>,
}

impl Probe {
    /// Opens UCX, that of the MPI if it has one, and notes from now on which interfaces and handlers UCP makes. To be called
    /// before MPI is initialised.
    ///
    /// # Errors
    /// There is no UCX, it is built in another way, or the system refused.
    pub fn new() -> Result<Self> {
        if !cfg!(target_arch = "x86_64") {
            return Err(ProbeError::Architecture);
        }
        // Only Intel's processors read the counter late enough where nothing is awaited.
        let processor = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        SUMS.all_wait.store(!processor.contains("GenuineIntel"), Relaxed);
        // What is loaded already goes by this name, too.
        let [ucp, uct] = ["libucp.so.0", "libuct.so.0"].map(|name| Opened::new(Path::new(name)));
        let (ucp, uct, mut probe) = (ucp?, uct?, Self::default());
        let find = |of: &Opened, name: &'static str, real: &AtomicUsize| -> Result<()> {
            let at = of.own(name).ok_or(ProbeError::NoSlot(name))?;
            real.store(at.as_ptr().expose_provenance(), Relaxed);
            Ok(())
        };
        OF_UCP.into_iter().try_for_each(|(call, name)| find(&ucp, name, &REAL.words[call]))?;
        let (close, open, set) = (close as *const (), open as *const (), set as *const ());
        let notes = [(&REAL.close, close), (&REAL.open, open), (&REAL.set, set)];
        for (name, (real, hook)) in OF_UCT.into_iter().zip(notes) {
            find(&uct, name, real)?;
            let words = slots(name, true)?;
            words.first().ok_or(ProbeError::NoSlot(name))?;
            for word in words {
                if name != OF_UCT[0] {
                    probe.early.push((word, word.get()));
                }
                word.set(hook as usize)?;
            }
        }
        Ok(probe)
    }

    /// Finds the words through which MPI calls UCP. To be called once MPI is initialised and has loaded all of its parts.
    ///
    /// # Errors
    /// The system does not show the process's pages.
    ///
    /// # Safety
    /// `own` are the words through which the caller calls `MPI_Send`, `MPI_Isend`, `MPI_Recv` and `MPI_Waitall`, whose handles
    /// are words.
    pub unsafe fn complete(&mut self, own: [Word; 4]) -> Result<()> {
        for ((call, word), real) in self.calls.iter_mut().zip(own).zip(&REAL.words) {
            real.store(word.get(), Relaxed);
            *call = vec![word];
        }
        for (call, name) in OF_UCP {
            self.calls[call] = slots(name, false)?;
        }
        Ok(())
    }

    /// Puts hooks at every place, which note that they are called, until [`Probe::learnt`].
    ///
    /// # Errors
    /// The system refused.
    pub fn learn(&mut self) -> Result<()> {
        PASSED.store(0, Relaxed);
        self.change(|_| Some(kind::SEEN))
    }

    /// Removes them, and says what messages passed, as bits of [`crate::PASSES`]; without a callback, the places before and
    /// after it fall together. `None` if no handler of UCT was ever called: messages do not pass through UCX.
    ///
    /// # Errors
    /// They pass a place that cannot be stamped, or the system refused.
    pub fn learnt(&mut self) -> Result<Option<u32>> {
        self.restore()?;
        put_back(&self.early)?;
        let called = handlers().iter().any(|of| of.called.load(Relaxed));
        let passed = PASSED.load(Relaxed);
        for (bits, name) in [(UCP_SENT, OF_UCP[0].1), (OPERATED, "an operation of UCT")] {
            if called && passed & bits == 0 {
                return Err(ProbeError::NoSlot(name));
            }
        }
        Ok(called.then_some(passed & !UCP_SENT))
    }

    /// Stamps what `at` names, and inserts a computation of so many iterations at a place, until [`Probe::restore`].
    ///
    /// # Errors
    /// The system refused; what was changed is then put back.
    pub fn stamp(&mut self, at: u8, work: Option<(u8, u32)>) -> Result<()> {
        SUMS.work.store(work.map_or(0, |(_, iterations)| iterations), Relaxed);
        let works = |place: Place| work.is_some_and(|(here, _)| here == place as u8);
        self.change(|place| kind_of(at, place, works(place)))
    }

    /// Counts anew.
    pub fn reset(&self) {
        SUMS.reset();
    }

    /// Puts everything back, and gives what was counted since [`Probe::reset`].
    ///
    /// # Errors
    /// The system refused.
    pub fn restore(&mut self) -> Result<Counted> {
        let counted = SUMS.counted();
        for of in self.switched.drain(..) {
            set_handler(of.interface, of.id, of.function, of.argument, of.flags);
        }
        put_back(&self.changed)?;
        self.changed.clear();
        Ok(counted)
    }

    fn change(&mut self, does: impl Fn(Place) -> Option<u8>) -> Result<()> {
        let changed = self.try_change(does);
        if changed.is_err() {
            // The first refusal is the one to tell.
            let _ = self.restore();
        }
        changed
    }

    /// Every word that is ever changed, with its number among the hooks.
    fn all(&self) -> Vec<(Word, usize)> {
        let calls = self.calls.iter().enumerate();
        let calls = calls.flat_map(|(at, words)| words.iter().map(move |word| (*word, at)));
        let tables = TABLES.lock().unwrap_or_else(PoisonError::into_inner);
        let of = |&(table, kind): &(usize, usize)| {
            let table = std::ptr::with_exposed_provenance_mut::<usize>(table);
            let all = OPERATIONS.into_iter().zip(CALLS + kind * OPERATIONS.len()..);
            // SAFETY: an open interface begins with its table of operations, in memory of UCT.
            all.map(move |(operation, at)| (unsafe { Word::of(table.add(operation)) }, at))
        };
        let operations = tables.iter().flat_map(of);
        calls.chain(operations).collect()
    }

    /// Every word that is ever changed.
    pub fn words(&self) -> Vec<Word> {
        let early = self.early.iter().map(|(word, _)| *word);
        early.chain(self.all().into_iter().map(|(word, _)| word)).collect()
    }

    fn try_change(&mut self, does: impl Fn(Place) -> Option<u8>) -> Result<()> {
        SUMS.reset();
        for (word, at) in self.all() {
            let Some(kind) = does(PLACES.get(at).copied().unwrap_or(Place::Operation)) else {
                continue;
            };
            // The hook would call another function.
            if at >= CALLS && word.get() != REAL.words[at].load(Relaxed) {
                continue;
            }
            self.changed.push((word, word.get()));
            word.set(hooks(kind).words[at])?;
        }
        // Setting one costs system calls over some transports, and most are never called.
        let learns = does(Place::Handler) == Some(kind::SEEN);
        let Some(hooks) = does(Place::Handler).map(hooks) else { return Ok(()) };
        for &of in handlers().iter().filter(|of| learns || of.called.load(Relaxed)) {
            let own = std::ptr::from_ref(of).expose_provenance();
            set_handler(of.interface, of.id, hooks.handler, own, of.flags);
            self.switched.push(of);
        }
        Ok(())
    }
}

fn handlers() -> MutexGuard<'static, Vec<&'static Handler>> {
    HANDLERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives the words what they held, the last changed first.
fn put_back(changed: &[(Word, usize)]) -> Result<()> {
    Ok(changed.iter().rev().try_for_each(|(word, old)| word.set(*old))?)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    #[test]
    fn what_messages_pass_without_a_stamp_is_refused() {
        let learnt = |passed: u32| {
            PASSED.store(passed, Relaxed);
            Probe::default().learnt()
        };
        assert!(matches!(learnt(UCP_SENT | 1), Ok(None)));
        let called = AtomicBool::new(true);
        let (interface, id, function, argument, flags) = (1, 2, 3, 4, 5);
        let handler = Handler { interface, id, function, argument, flags, called };
        handlers().push(Box::leak(Box::new(handler)));
        assert!(matches!(learnt(UCP_SENT | 1), Ok(Some(1))));
        for passed in [1, UCP_SENT, 0] {
            assert!(matches!(learnt(passed), Err(ProbeError::NoSlot(_))));
        }
    }
}
