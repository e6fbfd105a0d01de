//! How the list of kernels is read.

use crate::{OverAm, OverComm, OverTransfer, Refused};

/// Looks at every kernel.
pub trait Visit {
    /// What it makes of a kernel.
    type Seen: Copy + Send + Sync + 'static;
    /// A kernel over Active Messages.
    fn am<K: OverAm>(&mut self) -> Self::Seen;
    /// A kernel of stores and gets.
    fn transfer<K: OverTransfer>(&mut self) -> Self::Seen;
    /// A kernel over message passing.
    fn comm<K: OverComm>(&mut self) -> Self::Seen;
}

/// Declares the file of each kernel, and shows the kernels to whoever looks.
macro_rules! kernels {
    ($($over:ident $file:ident: $($Name:ident),+;)*) => {
        $(mod $file;)*
        $(pub use $file::{$($Name),+};)*

        /// What `visit` makes of each kernel, with the kernel's name, and what it made of those
        /// that were added. Everything that names kernels reads this list.
        pub fn all<V: Visit>(visit: &mut V) -> Vec<(&'static str, V::Seen)> {
            let mut all = vec![$($((<$Name as crate::Kernel>::NAME, visit.$over::<$Name>())),+),*];
            all.extend(crate::added::seen());
            all
        }
    };
}
pub(crate) use kernels;

/// The one of this name.
///
/// # Errors
/// There is none; the error lists those that there are.
pub(crate) fn named<T>(mut list: Vec<(&'static str, T)>, name: &str) -> Result<T, Refused> {
    if let Some(at) = list.iter().position(|(known, _)| *known == name) {
        return Ok(list.swap_remove(at).1);
    }
    let known: Vec<&str> = list.iter().map(|(known, _)| *known).collect();
    let why = format!("there is no such kernel here; there are {}", known.join(", "));
    Err(Refused::because(why).of(name))
}
