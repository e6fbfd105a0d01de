//! Helpers for endpoints that forward most calls to an endpoint below.

/// Forwards these methods to the field.
#[doc(hidden)]
#[macro_export]
macro_rules! forward {
    ($below:ident: $(
        fn $name:ident($($own:tt)*)($($arg:ident: $type:ty),*) -> $out:ty;
    )*) => {
        $(
            fn $name($($own)* self, $($arg: $type),*) -> $out {
                self.$below.$name($($arg),*)
            }
        )*
    };
}

/// In an `impl` of [`Endpoint`](bandgap_comm::Endpoint): forwards everything but requests, progress
/// and signals to the endpoint in this field. Without signals, barriers are made of requests.
#[macro_export]
macro_rules! delegate_endpoint {
    ($below:ident) => {
        $crate::forward! { $below:
            fn rank(&)() -> $crate::comm::Rank;
            fn size(&)() -> usize;
            fn capacity(&)() -> usize;
            fn tended(&)() -> bool;
            fn outstanding(&)() -> usize;
            fn unsent(&)() -> usize;
            fn block(&mut)(timeout: std::time::Duration) -> $crate::Result;
        }
    };
}

/// In an `impl` of [`Bulk`](bandgap_comm::Bulk): forwards access to exposed and private memory to
/// the endpoint in this field.
#[macro_export]
macro_rules! delegate_exposed {
    ($below:ident) => {
        $crate::forward! { $below:
            fn exposed(&)() -> usize;
            fn read_exposed(&)(at: usize, into: &mut [u8]) -> $crate::Result;
            fn write_exposed(&mut)(at: usize, from: &[u8]) -> $crate::Result;
            fn shares(&)() -> bool;
            fn read_peer(&)(peer: $crate::comm::Rank, at: usize, into: &mut [u8]) -> $crate::Result;
            fn single_copy(&)() -> Result<(), &str>;
            fn address(&)(bytes: &[u8]) -> $crate::comm::Word;
            fn read_private(&)(peer: $crate::comm::Rank, at: $crate::comm::Word, into: &mut [u8]) -> $crate::Result;
        }
    };
}
