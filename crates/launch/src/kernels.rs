//! Kernels of a program's own, on every transport and in virtual time.

use bandgap_kernels::{Added, Entry};
use bandgap_sim::Recorder;

use crate::{Classify, Exit, Result, transports};

/// The kernel, compiled for every transport and for virtual time.
pub fn compiled<K: Entry>() -> Added {
    transports::on_each::<K>(Added::of::<K>().written_for::<K, Recorder>())
}

/// Adds these kernels to the list, in this process: the launcher and every rank must do so, before
/// they do anything else.
///
/// # Errors
/// A name is taken, by another kernel or a series; or kernels were added before.
pub fn add(kernels: Vec<Added>) -> Result<()> {
    bandgap_kernels::add(kernels).class(Exit::Defect)
}
