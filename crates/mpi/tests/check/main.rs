//! A rank of the tests: `check WHAT [LIBRARY]`. What it finds wrong is a panic.
#![allow(clippy::unwrap_used)]

mod inside;
mod library;
mod link;
mod messages;

use std::path::PathBuf;
use std::rc::Rc;

use bandgap_mpi::{MpiError, World, find, start};

/// What a rank does; `leader` is the socket of the test that leads the link of this rank.
fn check(world: Rc<World>, what: &str, leader: Option<PathBuf>) {
    match what {
        "library" => library::check(&world),
        "messages" => messages::check(&world),
        "inside" => println!("inside: {}", inside::check(&world)),
        "link" => link::serve(&world, &leader.unwrap()),
        _ => {}
    }
    if world.rank == 0 {
        let (size, loaded) = (world.size, &world.loaded);
        println!("right: {size} ranks, {}, {:?}", loaded.name(), loaded.family);
    }
    world.finalize().unwrap();
}

fn main() {
    // SAFETY: no handler. A rank whose peers are gone does not spin for ever.
    unsafe { libc::alarm(100) };
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().unwrap_or_default();
    let named = arguments.next().filter(|named| !named.is_empty()).map(PathBuf::from);
    let leader = arguments.next().map(PathBuf::from);
    match find(named.as_deref()).and_then(|mpi| start(mpi, what == "inside")) {
        Ok(world) => check(world, &what, leader),
        Err(MpiError::WrongLauncher { launcher, expected, library, seen, .. }) => {
            println!("wrong launcher: {launcher}, {expected}, {library}, {seen:?}");
        }
        Err(error) => panic!("failed to {error}"),
    }
}
