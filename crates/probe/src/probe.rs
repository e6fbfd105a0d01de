//! Switches stamps on and off.

use std::ffi::{CStr, c_char};
use std::mem::transmute;
use std::path::{Path, PathBuf};
use std::sync::MutexGuard;
use std::sync::atomic::Ordering::Relaxed;

use bandgap_loader::Opened;

use crate::hooks::{
    CALLED, CALLS, HANDLERS, Handler, Hooks, INTERFACES, OPERATIONS, REAL, TABLES, hooks, open,
    set, set_handler,
};
use crate::slots::{Word, loaded, slots};
use crate::stamp::{Counted, Place, SUMS, kind, kind_of};
use crate::{ProbeError, point};

type Result<T> = std::result::Result<T, ProbeError>;

/// The file of UCX's protocols, and functions of it.
const UCP: &str = "libucp";
const UCP_FILE: &str = "libucp.so.0";
const UCT_FILE: &str = "libuct.so.0";
const OF_UCP: [&str; 2] = ["ucp_tag_send_nbx", "ucp_tag_recv_nbx"];
/// Functions of UCX's transports that UCP calls.
const OF_UCT: [&str; 2] = ["uct_iface_open", "uct_iface_set_am_handler"];

/// Stamps inside the MPI of this process.
pub struct Probe {
    /// The version of UCX.
    pub version: String,
    hooks: Hooks,
    /// The words through which each function is called.
    calls: [Vec<Word>; CALLS],
    /// What was changed for as long as interfaces and handlers are learnt.
    early: Vec<(Word, usize)>,
    /// What was changed for a batch.
    changed: Vec<(Word, usize)>,
    switched: Vec<&'static Handler>,
}

/// What was called while [`Probe::learn`] had its hooks in place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Handlers of UCT's Active Messages. None: messages do not pass through UCX.
    pub handlers: usize,
    /// Whether receives have a callback. If not, the places before and after it fall together.
    pub callback: bool,
    /// The operations of UCT.
    pub operations: Vec<&'static str>,
    /// Operations that UCT refused for the time being, so that UCP kept them for later.
    pub busy: u64,
    /// Whether another thread called what is stamped.
    pub strangers: bool,
}

impl Probe {
    /// Opens UCX, the one beside `mpi` if there is one, and notes from now on which interfaces and handlers UCP makes. To be
    /// called before MPI is initialised.
    ///
    /// # Errors
    /// There is no UCX, it is built in another way, or the system refused.
    pub fn new(mpi: &Path) -> Result<Self> {
        if !cfg!(target_arch = "x86_64") {
            return Err(ProbeError::Architecture);
        }
        let library = |file: &str| -> Result<Opened> {
            let name = file.split('.').next().unwrap_or(file);
            let near = mpi.with_file_name(file);
            let near = if near.exists() { near } else { PathBuf::from(file) };
            Ok(Opened::new(&loaded(name)?.unwrap_or(near))?)
        };
        let (ucp, uct) = (library(UCP_FILE)?, library(UCT_FILE)?);
        let address = |of: &Opened, name: &'static str| {
            of.own(name).map(|at| at.as_ptr().expose_provenance()).ok_or(ProbeError::NoSlot(name))
        };
        REAL.open.store(address(&uct, OF_UCT[0])?, Relaxed);
        REAL.set.store(address(&uct, OF_UCT[1])?, Relaxed);
        REAL.calls[4].store(address(&ucp, OF_UCP[0])?, Relaxed);
        REAL.calls[5].store(address(&ucp, OF_UCP[1])?, Relaxed);
        let version = version(address(&ucp, "ucp_get_version_string")?);
        let found = slots(OF_UCT, &|file, _| is_ucp(file))?;
        let (calls, early) = Default::default();
        let (changed, switched) = Default::default();
        let mut probe = Self { version, hooks: hooks(), calls, early, changed, switched };
        let notes = [open as *const () as usize, set as *const () as usize];
        for ((words, hook), name) in found.into_iter().zip(notes).zip(OF_UCT) {
            if words.is_empty() {
                return Err(ProbeError::NoSlot(name));
            }
            for word in words {
                probe.early.push((word, word.get()));
                word.set(hook)?;
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
        for ((call, word), real) in self.calls.iter_mut().zip(own).zip(&REAL.calls) {
            real.store(word.get(), Relaxed);
            *call = vec![word];
        }
        let [sends, receives] = slots(OF_UCP, &|file, _| !is_ucp(file))?;
        (self.calls[4], self.calls[5]) = (sends, receives);
        Ok(())
    }

    /// Puts hooks at every place, which note that they are called, until [`Probe::learnt`].
    ///
    /// # Errors
    /// The system refused.
    pub fn learn(&mut self) -> Result<()> {
        CALLED.callback.store(false, Relaxed);
        self.change(|_| Some(kind::SEEN))
    }

    /// Removes them, and says what was called.
    ///
    /// # Errors
    /// The system refused.
    pub fn learnt(&mut self) -> Result<Seen> {
        self.restore()?;
        put_back(&mut self.early)?;
        Ok(self.seen())
    }

    /// What was called up to now; of callbacks, since the last [`Probe::learn`].
    pub fn seen(&self) -> Seen {
        let called = CALLED.operations.load(Relaxed);
        let names = ["am_short", "am_short_iov", "am_bcopy", "am_zcopy"];
        let operations = (0..).zip(names).filter(|(at, _)| called >> at & 1 == 1);
        Seen {
            handlers: handlers().iter().filter(|of| of.called.load(Relaxed)).count(),
            callback: CALLED.callback.load(Relaxed),
            operations: operations.map(|(_, name)| name).collect(),
            busy: SUMS.busy.load(Relaxed),
            strangers: SUMS.strangers.load(Relaxed) != 0,
        }
    }

    /// Stamps what `at` names, and inserts a computation of so many iterations at a place, until [`Probe::restore`].
    ///
    /// # Errors
    /// The system refused; what was changed is then put back.
    pub fn stamp(&mut self, at: u8, work: Option<(u8, u32)>) -> Result<()> {
        SUMS.work.store(work.map_or(0, |(_, iterations)| iterations), Relaxed);
        let works = |place: Place| work.is_some_and(|(here, _)| here == place as u8);
        self.change(|place| {
            kind_of(at, place, works(place)).filter(|_| at != point::NOTHING || works(place))
        })
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
            let [function, argument] = [&of.function, &of.argument].map(|word| word.load(Relaxed));
            set_handler(of.interface, of.id, function, argument, of.flags);
        }
        put_back(&mut self.changed)?;
        Ok(counted)
    }

    /// The words that were changed and are not put back.
    pub fn is_whole(&self) -> bool {
        self.early.is_empty() && self.changed.is_empty() && self.switched.is_empty()
    }

    fn change(&mut self, does: impl Fn(Place) -> Option<u8>) -> Result<()> {
        let changed = self.try_change(does);
        if changed.is_err() {
            // The first refusal is the one to tell.
            let _ = self.restore();
        }
        changed
    }

    fn try_change(&mut self, does: impl Fn(Place) -> Option<u8>) -> Result<()> {
        SUMS.reset();
        let mut words = Vec::new();
        for ((place, hooks), call) in self.hooks.calls.iter().zip(&self.calls) {
            let hook = does(*place).map(|kind| hooks[usize::from(kind)]);
            words.extend(
                hook.into_iter().flat_map(|hook| call.iter().map(move |word| (*word, hook))),
            );
        }
        if let Some(kind) = does(Place::Operation) {
            let tables = TABLES.lock().map_or_else(|_| Vec::new(), |all| all.clone());
            for (interface, table) in tables.into_iter().take(INTERFACES).enumerate() {
                let table = std::ptr::with_exposed_provenance_mut::<usize>(table);
                for (at, operation) in OPERATIONS.into_iter().enumerate() {
                    // SAFETY: an interface begins with its table of operations, in memory of UCT.
                    let word = unsafe { Word::of(table.add(operation)) };
                    REAL.operations[interface][at].store(word.get(), Relaxed);
                    words.push((word, self.hooks.operations[at][interface][usize::from(kind)]));
                }
            }
        }
        for (word, hook) in words {
            self.changed.push((word, word.get()));
            word.set(hook)?;
        }
        if let Some(kind) = does(Place::Handler) {
            // Setting one costs system calls over some transports, and most are never called.
            let is_meant = |of: &&Handler| kind == kind::SEEN || of.called.load(Relaxed);
            let meant: Vec<&'static Handler> =
                handlers().iter().copied().filter(|of| is_meant(of)).collect();
            for of in meant {
                let own = std::ptr::from_ref(of).expose_provenance();
                set_handler(
                    of.interface,
                    of.id,
                    self.hooks.handler[usize::from(kind)],
                    own,
                    of.flags,
                );
                self.switched.push(of);
            }
        }
        Ok(())
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        // Nobody is left to tell.
        let _ = self.restore().and_then(|_| put_back(&mut self.early));
    }
}

/// The text of `ucp_get_version_string` at this address.
fn version(at: usize) -> String {
    type Get = unsafe extern "C" fn() -> *const c_char;
    // SAFETY: the function has this type; its text ends with 0 and stays.
    let text = unsafe { CStr::from_ptr(transmute::<usize, Get>(at)()) };
    text.to_string_lossy().into_owned()
}

fn is_ucp(file: &str) -> bool {
    file.rsplit('/').next().is_some_and(|name| name.starts_with(UCP))
}

fn handlers() -> MutexGuard<'static, Vec<&'static Handler>> {
    HANDLERS.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Gives the words what they held, the last changed first.
fn put_back(changed: &mut Vec<(Word, usize)>) -> Result<()> {
    while let Some((word, old)) = changed.pop() {
        word.set(old)?;
    }
    Ok(())
}
