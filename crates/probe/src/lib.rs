//! Stamps at the borders of MPI, UCP and UCT, in the libraries that this process has loaded.
//!
//! Between two batches a [`Probe`] changes words that calls go through, and puts them back after the batch: jump slots of
//! the loaded objects, the tables at the beginning of UCT's interfaces, the handlers of its Active Messages, and the
//! callbacks of receives. So a batch without stamps has nothing of it. Nothing is compiled, preloaded or patched for the
//! user, and no code page is written. One word stays changed: that through which UCP closes interfaces.
//!
//! *Source*: "Breaking Band: A Breakdown of High-performance Communication", section 3. The layouts are those of UCX 1.11 to
//! 1.22 (`uct/api/tl.h`, `ucp/api/ucp.h`) and of ELF (`DT_JMPREL`, `DT_RELA`).
//!
//! # Invariants
//! Every unsafe block relies on these.
//! * Libraries are never closed, so their functions, slots and strings stay.
//! * A hook has the type of the function in whose place it stands (`hooks.rs`), and calls that function, whose address was
//!   kept before the hook could be reached.
//! * Words are changed only while no call goes through them: between batches, by the one thread that uses MPI. They are
//!   aligned, and read and written as atomics.
//! * What a hook adds up is atomic, so a call by another thread is counted wrongly at most, and is told
//!   ([`Counted::strangers`]).

mod hooks;
mod probe;
mod slots;
mod stamp;

pub use hooks::{CALLBACK, PASSES};
pub use probe::Probe;
pub use slots::Word;
pub use stamp::{Counted, Place, point};

/// Why no stamps can be taken.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// Stamps and relocations are written for another processor architecture.
    #[error("stamp inside MPI: this is written for x86-64 only")]
    Architecture,
    /// UCX is not here.
    #[error("stamp inside MPI: there is no UCX below it ({0})")]
    NoUcx(#[from] bandgap_loader::OpenError),
    /// A library lacks a function, or calls it in no way that can be changed.
    #[error("stamp inside MPI: no call of {0} here can be stamped")]
    NoSlot(&'static str),
    /// The system refused to change the protection of a page, or to show the pages.
    #[error("stamp inside MPI: change a jump slot (mprotect): {0}")]
    Refused(#[from] std::io::Error),
}

#[cfg(test)]
#[path = "../../fabric/src/tests.rs"]
mod headers;
