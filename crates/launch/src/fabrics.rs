//! The installed libraries of fabrics as transports.

use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::rc::Rc;

use bandgap_comm::{Rendezvous, Result, Waiting, Watch};
use bandgap_tagged::{Fabric, Look};
use bandgap_units::Library;

use crate::foreign::Foreign;
use crate::machine::{Machine, Parts};

/// Fruitless looks at a message between two checks whether the run goes on.
const PATIENCE: u32 = 1 << 12;

/// Connects this rank.
///
/// # Errors
/// As [`Fabric::connect`].
pub fn connect<T: Fabric>(
    _inherited: Vec<OwnedFd>,
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
    let library = T::connect(meeting, Look::new(patience, call))?;
    Ok(Box::new(Foreign::of(Rc::new(library), exposed, parts, T::described)?))
}

/// The library at `path`, or the one that is installed if that is empty, with all its ways: a rank that is alone opens it.
///
/// # Errors
/// There is none, or it cannot be used.
pub fn survey<T: Fabric>(path: &str) -> Result<Library> {
    // There is nobody to reach.
    let exchange = &mut |_| Ok(Vec::new());
    let mut meeting = Rendezvous {
        library: Some(Path::new(path)).filter(|_| !path.is_empty()),
        // No provider is asked for, so that those of the environment do.
        interface: Ipv4Addr::UNSPECIFIED.into(),
        ..Rendezvous::new([0, 1], exchange)
    };
    let library = T::connect(&mut meeting, Look::of_floor())?;
    let (ways, mut is) = (library.ways(), library.described());
    let names = ways.keys().map(String::as_str);
    let untried: Vec<&str> = names.filter(|way| !T::TRIED_WAYS.contains(way)).collect();
    is.facts.insert("untried".to_owned(), untried.join(", "));
    Ok(Library { ways, ..is })
}
