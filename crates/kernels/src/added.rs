//! Kernels that a program adds to the list.
//!
//! A kernel's facts and its compiled programs, one for each type of rig, are made where the
//! kernel's type is known and stored here as type-erased values. The list is set once, before it is
//! read.

use std::any::Any;
use std::fmt;
use std::sync::OnceLock;

pub(crate) static ADDED: OnceLock<Vec<Added>> = OnceLock::new();

/// A kernel to be added to the list, with the values that visitors made of it.
pub struct Added {
    /// Its name.
    pub(crate) name: &'static str,
    seen: Vec<Box<dyn Any + Send + Sync>>,
}

impl Added {
    pub(crate) fn named(name: &'static str) -> Self {
        Self { name, seen: Vec::new() }
    }

    /// Adds the value that one more visitor made of the kernel.
    pub(crate) fn with<S: Copy + Send + Sync + 'static>(mut self, seen: S) -> Self {
        self.seen.push(Box::new(seen));
        self
    }

    /// The value of type `S` that a visitor made of the kernel, if one did.
    pub(crate) fn seen<S: Copy + 'static>(&self) -> Option<S> {
        self.seen.iter().find_map(|seen| seen.downcast_ref().copied())
    }
}

impl fmt::Debug for Added {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Added").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The values of type `S` that visitors made of the added kernels. A kernel that no such visitor
/// saw is left out: it was not compiled for it.
pub(crate) fn seen<S: Copy + 'static>() -> impl Iterator<Item = (&'static str, S)> {
    let added = ADDED.get().into_iter().flatten();
    added.filter_map(|kernel| Some((kernel.name, kernel.seen()?)))
}
