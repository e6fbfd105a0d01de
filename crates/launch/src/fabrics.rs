//! The installed libraries of fabrics as transports.

use std::cell::RefCell;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use bandgap_comm::{Can, Rendezvous, Result, Waiting, Watch};
use bandgap_kernels::{Added, Entry};
use bandgap_tagged::{Fabric, Look};

use crate::foreign::{self, Foreign};
use crate::machine::{Machine, Parts};

/// Fruitless looks at a message between two checks whether the run goes on.
const PATIENCE: u32 = 1 << 12;

/// A module for each transport, as the list wants it.
macro_rules! fabrics {
    ($($module:ident $Library:ty;)*) => {$(
        #[doc = concat!("The transport `", stringify!($module), "`.")]
        pub mod $module {
            use super::*;

            /// The transport's name on the command line and in run files.
            pub const NAME: &str = <$Library>::NAME;
            /// A short description.
            pub const MEANING: &str = <$Library>::MEANING;
            /// The transport's abilities.
            pub const CAN: Can = can::<$Library>();

            /// Connects this rank.
            ///
            /// # Errors
            /// As [`Fabric::connect`].
            pub fn connect(
                _inherited: Vec<OwnedFd>,
                exposed: usize,
                meeting: &mut Rendezvous<'_>,
                parts: Parts,
            ) -> Result<Box<dyn Machine>> {
                machine::<$Library>(exposed, meeting, parts)
            }

            /// Adds this transport to those that a kernel is compiled for.
            pub fn on<E: Entry>(kernel: Added) -> Added {
                foreign::on::<E, $Library>(kernel)
            }
        }
    )*};
}

fabrics! {
    ucx bandgap_fabric::Ucx;
    ofi bandgap_fabric::Ofi;
}

const fn can<T: Fabric>() -> Can {
    let (library, argument) = (Some(T::OPTION), Some(T::ARGUMENT));
    Can { hosts: true, messages: true, library, argument, ..Can::USUAL }
}

fn machine<T: Fabric>(
    exposed: usize,
    meeting: &mut Rendezvous<'_>,
    parts: Parts,
) -> Result<Box<dyn Machine>> {
    let (mut watch, yields) = (parts.watch.clone(), parts.waiting == Waiting::Yield);
    let call = move |waited| {
        if yields {
            std::thread::yield_now();
        }
        watch.check(waited, "a message")
    };
    let patience = if yields { 1 } else { PATIENCE };
    let library = T::connect(meeting, Look { patience, call: RefCell::new(Box::new(call)) })?;
    let described = |library: &T| {
        let (named, path) = library.described();
        foreign::described(named, path, &[T::VARIABLES], &[])
    };
    Ok(Box::new(Foreign::of(Rc::new(library), exposed, parts, described)?))
}
