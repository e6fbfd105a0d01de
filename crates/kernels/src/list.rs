//! How the list of kernels is read.

use crate::{OverAm, OverComm, OverTransfer};

/// Looks at every kernel.
pub trait Visit {
    /// A kernel over Active Messages.
    fn am<K: OverAm>(&mut self);
    /// A kernel of stores and gets.
    fn transfer<K: OverTransfer>(&mut self);
    /// A kernel over message passing.
    fn comm<K: OverComm>(&mut self);
}

/// Declares the file of each kernel, and shows the kernels to whoever looks.
macro_rules! kernels {
    ($($over:ident $file:ident::$Name:ident;)*) => {
        $(mod $file;)*
        $(pub use $file::$Name;)*

        /// Shows every kernel to `visit`. Everything that names kernels reads this list.
        pub fn all<V: Visit>(visit: &mut V) {
            $(visit.$over::<$Name>();)*
        }
    };
}
pub(crate) use kernels;
