//! Kernels that a program adds, on every transport and in virtual time.

use bandgap_kernels::{Added, Entry};
use bandgap_sim::Recorder;

use crate::transports;

/// A kernel, compiled for every transport and for virtual time.
pub fn compiled<K: Entry>() -> Added {
    transports::on_each::<K>(Added::of::<K>().written_for::<K, Recorder>())
}
