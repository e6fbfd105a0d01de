//! How a program adds its own kernels to the list.

use std::marker::PhantomData;

use bandgap_comm::{Comm, Transfer};

use crate::added::ADDED;
use crate::facts::Facts;
use crate::rows::{ActiveRows, PassingRows, Programs};
use crate::{Added, BareLoop, Fact, Kernel, OverAm, OverComm, OverTransfer, Rig, Visit, facts};

/// A kernel, and what its program needs of a rank: one line of the list.
pub trait Entry {
    /// Kernel type.
    type Kernel: Kernel;
    /// Shows the kernel to `visit`, and returns what `visit` makes of it.
    fn show<V: Visit>(visit: &mut V) -> V::Seen;
}

macro_rules! entries {
    ($($(#[$doc:meta])* $Entry:ident $Over:ident $show:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $Entry<K>(PhantomData<K>);

        impl<K: $Over> Entry for $Entry<K> {
            type Kernel = K;
            fn show<V: Visit>(visit: &mut V) -> V::Seen {
                visit.$show::<K>()
            }
        }
    )*};
}

entries! {
    /// A kernel over Active Messages.
    AmEntry OverAm am;
    /// A kernel that stores and gets.
    TransferEntry OverTransfer transfer;
    /// A kernel over message passing.
    CommEntry OverComm comm;
}

impl Added {
    /// The kernel of `E`, not yet compiled for any rig.
    pub fn of<E: Entry>() -> Self {
        Self::named(E::Kernel::NAME).with(E::show(&mut Facts))
    }

    /// Compiles the kernel for rigs of type `M`, so that [`crate::carry_out`] finds it.
    pub fn on<E: Entry, M: Rig + Transfer + Comm + 'static>(self) -> Self {
        self.active::<E, M>().passing::<E, M>()
    }

    /// Compiles the kernel for rigs of type `M` without Active Messages, so that
    /// [`crate::carry_out_passing`] finds it.
    pub fn passing<E: Entry, M: Rig + Comm + 'static>(self) -> Self {
        self.with(E::show(&mut PassingRows::<M>(PhantomData)))
    }

    /// Compiles the kernel for rigs of type `M` that leave message passing to another rig, so that
    /// [`crate::carry_out_active`] finds it.
    pub fn active<E: Entry, M: Rig + Transfer + 'static>(self) -> Self {
        self.with(E::show(&mut ActiveRows::<M>(PhantomData)))
    }

    /// Compiles the kernel for interpreters of type `M`, so that [`crate::program`] finds it.
    pub fn written_for<E: Entry, M: Transfer + Comm + 'static>(self) -> Self {
        self.with(E::show(&mut Programs::<M>(PhantomData)))
    }

    /// Names that no other kernel may have: the kernel's own, and its series'.
    pub fn names(&self) -> Vec<&'static str> {
        self.seen::<Fact>().map_or(vec![self.name], |fact| names(&fact))
    }
}

fn names(fact: &Fact) -> Vec<&'static str> {
    let series = fact.series.iter().map(|series| series.name);
    let mut names = vec![fact.name];
    names.extend(series.filter(|name| *name != fact.name));
    names
}

/// Why kernels cannot be added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAdded {
    /// A name is taken.
    #[error("add a kernel: the name {0:?} is taken; rename the kernel or its series")]
    Taken(&'static str),
    /// Kernels were added before.
    #[error("add kernels: they can be added only once; add all of them in one call")]
    Twice,
}

/// Adds kernels to this process's list. Call it once, before anything reads the list.
///
/// # Errors
/// A name is taken, or kernels were added before.
pub fn add(kernels: Vec<Added>) -> Result<(), NotAdded> {
    let mut taken = vec![BareLoop::NAME];
    taken.extend(facts().iter().flat_map(names));
    for name in kernels.iter().flat_map(Added::names) {
        if taken.contains(&name) {
            return Err(NotAdded::Taken(name));
        }
        taken.push(name);
    }
    ADDED.set(kernels).map_err(|_| NotAdded::Twice)
}

#[cfg(test)]
mod tests {
    use bandgap_comm::CommError;
    use bandgap_sim::Recorder;
    use serde::{Deserialize, Serialize};

    use super::*;
    use crate::{Comms1, Expects, Order, Places, Program, Refused, Round, Seat, Series};

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct Nothing;

    impl Kernel for Nothing {
        const NAME: &'static str = "nothing";
        const SERIES: &'static [Series] = &[Series::between_two("void")];
        fn check(&self, _size: usize) -> Result<(), Refused> {
            Ok(())
        }
        fn expects(&self, _seat: &Seat) -> Expects {
            Expects::default()
        }
    }

    impl OverComm for Nothing {
        fn run<C: Comm>(&self, _: &mut C, _: &Places, _: Round) -> Result<(), CommError> {
            Ok(())
        }
    }

    type Written = fn(&Order) -> Result<Program<Recorder>, Refused>;

    #[test]
    fn a_kernel_is_found_by_what_it_was_compiled_for() {
        let of = Added::of::<CommEntry<Nothing>>();
        assert_eq!(of.seen::<Fact>().unwrap().name, Nothing::NAME);
        assert!(of.seen::<Written>().is_none());
        let program = of.written_for::<CommEntry<Nothing>, Recorder>().seen::<Written>().unwrap();
        assert!(program(&Order::of(&Nothing, 1, 2)).is_ok());
    }

    #[test]
    fn names_that_are_taken_are_refused() {
        let nothing = || Added::of::<CommEntry<Nothing>>();
        assert_eq!(nothing().names(), ["nothing", "void"]);
        let own = add(vec![nothing(), Added::of::<CommEntry<Comms1>>()]);
        assert_eq!(own, Err(NotAdded::Taken("comms1")));
        assert_eq!(add(vec![nothing(), nothing()]), Err(NotAdded::Taken("nothing")));
        // None of these was added, nor is what comes after the first list.
        assert_eq!(add(Vec::new()), Ok(()));
        assert_eq!(add(vec![nothing()]), Err(NotAdded::Twice));
        assert!(crate::fact("nothing").is_err());
    }
}
