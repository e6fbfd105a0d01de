//! Kernels that a program adds to the list.
//!
//! What there is to know of one, and its programs for each kind of rig, are compiled where the
//! kernel is known, and are kept here under their types. The list is set once, before it is read.

use std::any::Any;
use std::fmt;
use std::sync::OnceLock;

pub(crate) static ADDED: OnceLock<Vec<Added>> = OnceLock::new();

/// A kernel to be added to the list, with what visitors made of it.
pub struct Added {
    /// Its name.
    pub(crate) name: &'static str,
    seen: Vec<Box<dyn Any + Send + Sync>>,
}

impl Added {
    pub(crate) fn named(name: &'static str) -> Self {
        Self { name, seen: Vec::new() }
    }

    /// The same, with what one more visitor made of it.
    pub(crate) fn with<S: Copy + Send + Sync + 'static>(mut self, seen: S) -> Self {
        self.seen.push(Box::new(seen));
        self
    }

    /// What a visitor made of it whose kind of result is `S`.
    pub(crate) fn seen<S: Copy + 'static>(&self) -> Option<S> {
        self.seen.iter().find_map(|seen| seen.downcast_ref().copied())
    }
}

impl fmt::Debug for Added {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Added").field("name", &self.name).finish_non_exhaustive()
    }
}

/// What visitors whose kind of result is `S` made of the kernels that were added. Those that no
/// such visitor saw are left out: they were not compiled for it.
pub(crate) fn seen<S: Copy + 'static>() -> impl Iterator<Item = (&'static str, S)> {
    let added = ADDED.get().into_iter().flatten();
    added.filter_map(|kernel| Some((kernel.name, kernel.seen()?)))
}
