//! Kernels that a program adds, on every transport and in virtual time.

use bandgap_kernels::{Added, Entry};
use bandgap_sim::Recorder;

use crate::{Classify, Exit, Result, transports};

/// A kernel, compiled for every transport and for virtual time.
pub fn compiled<K: Entry>() -> Added {
    transports::on_each::<K>(Added::of::<K>().written_for::<K, Recorder>())
}

/// Adds kernels to the list of this process. The launcher and every rank must call it before anything
/// else.
///
/// # Errors
/// Another kernel or series has the same name, or kernels were added before.
pub fn add(kernels: Vec<Added>) -> Result<()> {
    bandgap_kernels::add(kernels).class(Exit::Defect)
}
