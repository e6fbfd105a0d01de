//! How the list of kernels is read.

use crate::{OverAm, OverComm, OverTransfer, Refused};

/// A visitor of every kernel in the list.
pub trait Visit {
    /// What the visitor makes of a kernel.
    type Seen: Copy + Send + Sync + 'static;
    /// Visits a kernel over Active Messages.
    fn am<K: OverAm>(&mut self) -> Self::Seen;
    /// Visits a kernel that stores and gets.
    fn transfer<K: OverTransfer>(&mut self) -> Self::Seen;
    /// Visits a kernel over message passing.
    fn comm<K: OverComm>(&mut self) -> Self::Seen;
}

/// Declares each kernel's file, and defines the walk over all kernels.
macro_rules! kernels {
    ($($over:ident $file:ident: $($Name:ident),+;)*) => {
        $(mod $file;)*
        $(pub use $file::{$($Name),+};)*

        /// What `visit` makes of each kernel, with the kernel's name; kernels added by a program
        /// come last. Everything that names kernels reads this list.
        pub fn all<V: Visit>(visit: &mut V) -> Vec<(&'static str, V::Seen)> {
            let mut all = vec![$($((<$Name as crate::Kernel>::NAME, visit.$over::<$Name>())),+),*];
            all.extend(crate::added::seen());
            all
        }
    };
}
pub(crate) use kernels;

/// The entry with this name.
///
/// # Errors
/// There is no such entry; the error lists those that exist.
pub(crate) fn named<T>(mut list: Vec<(&'static str, T)>, name: &str) -> Result<T, Refused> {
    if let Some(at) = list.iter().position(|(known, _)| *known == name) {
        return Ok(list.swap_remove(at).1);
    }
    let known: Vec<&str> = list.iter().map(|(known, _)| *known).collect();
    let why = format!("there is no such kernel; use one of {}", known.join(", "));
    Err(Refused::because(why).of(name))
}
