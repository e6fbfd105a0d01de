//! A rank of the tests: `check WHAT [LIBRARY]`. What it finds wrong is a panic.
#![allow(clippy::unwrap_used)]

mod library;
mod link;
mod messages;

use std::path::PathBuf;
use std::rc::Rc;

use bandgap_mpi::{MpiError, World, find, start};

/// What a rank does.
struct Check {
    what: String,
    /// The socket of the test that leads the link of this rank.
    leader: Option<PathBuf>,
}

impl Check {
    fn visit(self, world: Rc<World>) {
        match self.what.as_str() {
            "library" => library::check(&world),
            "messages" => messages::check(&world),
            "link" => link::serve(&world, &self.leader.unwrap()),
            _ => {}
        }
        if world.rank() == 0 {
            let (size, loaded) = (world.size(), &world.loaded);
            println!("right: {size} ranks, {}, {:?}", loaded.name(), loaded.family);
        }
        world.finalize().unwrap();
    }
}

fn main() {
    // SAFETY: no handler. A rank whose peers are gone does not spin for ever.
    unsafe { libc::alarm(100) };
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().unwrap_or_default();
    let named = arguments.next().filter(|named| !named.is_empty()).map(PathBuf::from);
    let leader = arguments.next().map(PathBuf::from);
    match find(named.as_deref()).and_then(start) {
        Ok(world) => Check { what, leader }.visit(world),
        Err(MpiError::WrongLauncher { launcher, expected, library, seen, .. }) => {
            println!("wrong launcher: {launcher}, {expected}, {library}, {seen:?}");
        }
        Err(error) => panic!("failed to {error}"),
    }
}
