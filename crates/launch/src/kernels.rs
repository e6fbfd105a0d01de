//! Kernels of a program's own, on every transport and in virtual time.

use bandgap_kernels::{Added, Entry, NotAdded};
use bandgap_sim::Recorder;

use crate::{Classify, Exit, Result, floors, transports};

/// The kernel, compiled for every transport and for virtual time.
pub fn compiled<K: Entry>() -> Added {
    transports::on_each::<K>(Added::of::<K>().written_for::<K, Recorder>())
}

/// Adds these kernels to the list, in this process: the launcher and every rank must do so, before
/// they do anything else.
///
/// # Errors
/// A name is taken, by another kernel, a series or a floor; or kernels were added before.
pub fn add(kernels: Vec<Added>) -> Result<()> {
    // A rank looks among floors first.
    let names = kernels.iter().flat_map(Added::names);
    let taken = names.into_iter().find(|name| floors::find(name).is_some());
    let free = taken.map_or(Ok(()), |name| Err(NotAdded::Taken(name)));
    free.and_then(|()| bandgap_kernels::add(kernels)).class(Exit::Defect)
}

#[cfg(test)]
mod tests {
    use bandgap_comm::{Comm, CommError};
    use bandgap_kernels::{CommEntry, Expects, Kernel, OverComm, Places, Refused, Round, Seat};
    use serde::{Deserialize, Serialize};

    use super::*;

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct Floored;

    impl Kernel for Floored {
        const NAME: &'static str = "cache_line";
        fn check(&self, _size: usize) -> Result<(), Refused> {
            Ok(())
        }
        fn expects(&self, _seat: &Seat) -> Expects {
            Expects::default()
        }
    }

    impl OverComm for Floored {
        fn run<C: Comm>(&self, _: &mut C, _: &Places, _: Round) -> Result<(), CommError> {
            Ok(())
        }
    }

    #[test]
    fn a_kernel_cannot_be_called_as_a_floor() {
        let refused = add(vec![compiled::<CommEntry<Floored>>()]).unwrap_err();
        assert!(refused.what.contains("\"cache_line\""), "{}", refused.what);
    }
}
