//! The installed UCX as a transport.

use std::os::fd::OwnedFd;
use std::rc::Rc;

use bandgap_comm::{Can, Rendezvous, Result, Waiting, Watch};
use bandgap_fabric::Ucx;
use bandgap_kernels::{Added, Entry};

use crate::foreign::{self, Foreign};
use crate::machine::{Machine, Parts};

/// The transport's name on the command line and in run files.
pub const NAME: &str = "ucx";
/// A short description.
pub const MEANING: &str =
    "the UCX that is installed, found at run time; ucx:NAME is one of its transports";

/// Fruitless looks at a message between two checks whether the run goes on.
const PATIENCE: u32 = 1 << 12;

/// The transport's abilities.
pub const CAN: Can = Can {
    hosts: true,
    messages: true,
    library: Some("--ucx-lib"),
    argument: Some("a transport of UCX, such as posix or tcp"),
    ..Can::USUAL
};

/// Connects this rank.
///
/// # Errors
/// There is no UCX, it has no such transport, it refused, or the ranks did not meet.
pub fn connect(
    _inherited: Vec<OwnedFd>,
    exposed: usize,
    meeting: &mut Rendezvous<'_>,
    parts: Parts,
) -> Result<Box<dyn Machine>> {
    let (mut watch, yields) = (parts.watch.clone(), parts.waiting == Waiting::Yield);
    let look = move |waited| {
        if yields {
            std::thread::yield_now();
        }
        watch.check(waited, "a message")
    };
    let patience = if yields { 1 } else { PATIENCE };
    let ucx = Ucx::connect(parts.argument, meeting, (patience, Box::new(look)))?;
    Foreign::machine(Rc::new(ucx), exposed, parts, described)
}

/// Adds this transport to those that a kernel is compiled for.
pub fn on<E: Entry>(kernel: Added) -> Added {
    foreign::on::<E, Ucx>(kernel)
}

fn described(ucx: &Ucx) -> bandgap_units::Library {
    let named = [format!("UCX {}", ucx.version), ucx.version.clone()];
    foreign::described(named, &ucx.path, &["UCX_"], &[])
}
