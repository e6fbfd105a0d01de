//! Stamps inside an MPI that uses UCX.

use std::cell::RefCell;

use bandgap_comm::{AtBorder, Result, Timed};
use bandgap_probe::{Counted, Place, Probe, Seen, Word, point};

use crate::{Loaded, MpiError, World};

/// What Open MPI needs so that UCX carries its messages over every transport, and not only over fabrics.
const OPEN_MPI: [(&str, &str); 3] =
    [("OMPI_MCA_pml", "ucx"), ("OMPI_MCA_pml_ucx_tls", "any"), ("OMPI_MCA_pml_ucx_devices", "any")];

/// Lets this process use UCX below the library, as far as the user has not said what it uses.
fn prefer_ucx(loaded: &Loaded) {
    for (name, value) in OPEN_MPI.into_iter().filter(|_| loaded.is_open_mpi()) {
        if std::env::var_os(name).is_none() {
            // SAFETY: a rank has one thread until it initialises MPI.
            unsafe { std::env::set_var(name, value) };
        }
    }
}

/// Prepares stamps before the library is initialised.
pub(crate) fn before(loaded: &Loaded) -> crate::Result<Probe> {
    prefer_ucx(loaded);
    Ok(Probe::new(&loaded.path)?)
}

/// Takes stamps on the way of this rank's messages ([`bandgap_probe`]).
pub struct Inside<'a> {
    world: &'a World,
    probe: &'a RefCell<Probe>,
}

impl World {
    /// Finds what MPI has loaded while it was initialised. The world stays where it is from now on.
    pub(crate) fn complete(&self) -> crate::Result<()> {
        let Some(probe) = &self.probe else { return Ok(()) };
        // SAFETY: the words stay as long as the world, whose functions have these types; only the thread that has the
        // world calls them.
        unsafe { Ok(probe.borrow_mut().complete(self.api.stamped().map(|at| Word::of(at)))?) }
    }

    /// Stamps inside the library; `None` if it was not started for them.
    pub fn inside(&self) -> Option<Inside<'_>> {
        Some(Inside { world: self, probe: self.probe.as_ref()? })
    }
}

impl Inside<'_> {
    /// Runs messages, and learns from them where they pass.
    ///
    /// # Errors
    /// They do not pass through UCX, the system refused, or `run` failed.
    pub fn learn(&self, run: impl FnOnce() -> Result<()>) -> Result<Seen> {
        self.probe.borrow_mut().learn().map_err(MpiError::from)?;
        let ran = run();
        let seen = self.probe.borrow_mut().learnt().map_err(MpiError::from)?;
        ran?;
        if seen.handlers > 0 {
            return Ok(seen);
        }
        let cure = match self.world.loaded.is_open_mpi() {
            true => "OMPI_MCA_pml=ucx OMPI_MCA_pml_ucx_tls=any OMPI_MCA_pml_ucx_devices=any",
            false => "MPIR_CVAR_NOLOCAL=1, or use a build with UCX's netmod (ch4:ucx)",
        };
        Err(MpiError::Elsewhere { library: self.world.loaded.name(), cure }.into())
    }

    /// Stamps and inserts what `at` says, until [`Inside::end`].
    ///
    /// # Errors
    /// The system refused.
    pub fn begin(&self, at: AtBorder) -> Result<()> {
        let work = at.inserted.map(|(place, computation)| (place, computation.iterations));
        Ok(self.probe.borrow_mut().stamp(at.point, work).map_err(MpiError::from)?)
    }

    /// The version of UCX, and the operations of it that messages used up to now.
    pub fn ucx(&self) -> String {
        let probe = self.probe.borrow();
        format!("UCX {} {}", probe.version, probe.seen().operations.join(" "))
    }

    /// Whether nothing is changed now.
    pub fn is_whole(&self) -> bool {
        self.probe.borrow().is_whole()
    }

    /// Counts from now on.
    pub fn reset(&self) {
        self.probe.borrow().reset();
    }

    /// Removes all stamps, and gives their times; no intervals if they do not belong together. `seen` is of the same kind of
    /// messages.
    ///
    /// # Errors
    /// The system refused.
    pub fn end(&self, at: AtBorder, seen: &Seen) -> Result<Timed> {
        let mut probe = self.probe.borrow_mut();
        let Counted { ticks, begun, ended } = probe.restore().map_err(MpiError::from)?;
        // What the two parts around a callback add up to is known from them.
        if seen.callback && at.point == point::interval(Place::Handler, Place::Received) {
            return Ok(Timed::default());
        }
        // The last interval of a rank may end with the next batch.
        let missing = u64::from(at.point != point::interval(Place::Operation, Place::Handler));
        let is_whole = (ended..=ended + missing).contains(&begun);
        // What another thread stamps belongs to no message.
        let times = if probe.seen().strangers { 2 } else { 1 };
        let count = if is_whole { ended } else { 0 };
        Ok(Timed { ticks, count, begun: times * begun.max(ended) })
    }
}
