//! A boxed endpoint of any type.

use std::fmt;
use std::time::Duration;

use crate::{
    Begun, Bulk, Deliver, Endpoint, Message, NoHandler, Posted, Rank, Result, Source, Word,
};

/// A boxed endpoint of any type. Code above it is compiled once for all types; each call and each
/// delivery goes through a pointer. Over sockets this costs 70 instructions per round trip, which
/// cannot be measured next to a system call.
pub struct AnyEndpoint {
    rank: Rank,
    size: usize,
    exposed: usize,
    end: Box<dyn Erased + Send>,
}

impl AnyEndpoint {
    /// Boxes an endpoint.
    pub fn of(end: impl Bulk + Send) -> Self {
        let (rank, size, exposed) = (end.rank(), end.size(), end.exposed());
        Self { rank, size, exposed, end: Box::new(end) }
    }
}

impl fmt::Debug for AnyEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnyEndpoint").field("rank", &self.rank).finish_non_exhaustive()
    }
}

impl Deliver for &mut dyn Deliver {
    #[inline]
    fn request(&mut self, from: Rank, message: Message) -> Result<Option<&Message>, NoHandler> {
        (**self).request(from, message)
    }

    #[inline]
    fn reply(&mut self, from: Rank, message: Message) -> Result<(), NoHandler> {
        (**self).reply(from, message)
    }

    fn room(&mut self, from: Rank, done: usize) -> Option<&mut [u8]> {
        (**self).room(from, done)
    }
}

/// From one list of methods, makes the trait of the box, its implementation for every endpoint, and
/// the calls through the box. Rank, size and exposed bytes never change, so they are kept outside
/// of the box.
macro_rules! erased {
    ($($trait:ident {$(
        fn $name:ident($($own:tt)*)($($arg:ident: $type:ty),*) -> $out:ty;
    )*} and { $($kept:tt)* })*) => {
        trait Erased: 'static {
            fn progress(&mut self, deliver: &mut dyn Deliver) -> Result<usize>;
            $($(fn $name($($own)* self, $($arg: $type),*) -> $out;)*)*
        }

        impl<E: Bulk> Erased for E {
            fn progress(&mut self, mut deliver: &mut dyn Deliver) -> Result<usize> {
                Endpoint::progress(self, &mut deliver)
            }

            $($(
                fn $name($($own)* self, $($arg: $type),*) -> $out {
                    $trait::$name(self, $($arg),*)
                }
            )*)*
        }

        $(impl $trait for AnyEndpoint {
            $($kept)*

            $(
                #[inline(always)]
                fn $name($($own)* self, $($arg: $type),*) -> $out {
                    self.end.$name($($arg),*)
                }
            )*
        })*
    };
}

erased! {
    Endpoint {
        fn capacity(&)() -> usize;
        fn try_request(&mut)(peer: Rank, message: Message) -> Result<Posted>;
        fn tended(&)() -> bool;
        fn outstanding(&)() -> usize;
        fn unsent(&)() -> usize;
        fn signals(&)() -> bool;
        fn signal(&mut)(peer: Rank) -> ();
        fn signalled(&)(peer: Rank) -> u64;
        fn take_signal(&mut)(peer: Rank) -> bool;
        fn block(&mut)(timeout: Duration) -> Result<()>;
    } and {
        #[inline(always)]
        fn rank(&self) -> Rank {
            self.rank
        }

        #[inline(always)]
        fn size(&self) -> usize {
            self.size
        }

        #[inline(always)]
        fn progress<D: Deliver>(&mut self, deliver: &mut D) -> Result<usize> {
            self.end.progress(deliver)
        }
    }
    Bulk {
        fn read_exposed(&)(at: usize, into: &mut [u8]) -> Result<()>;
        fn write_exposed(&mut)(at: usize, from: &[u8]) -> Result<()>;
        fn try_store(&mut)(peer: Rank, into: usize, from: Source<'_>, done: &mut usize) -> Result<Posted>;
        fn try_store_then(&mut)(peer: Rank, into: usize, from: Source<'_>, done: &mut usize, message: Message) -> Result<Posted>;
        fn try_carry(&mut)(peer: Rank, message: Message, bytes: &[u8], done: &mut usize) -> Result<Posted>;
        fn try_get(&mut)(peer: Rank, at: usize, into: usize, len: usize, message: Message) -> Result<Begun>;
        fn shares(&)() -> bool;
        fn read_peer(&)(peer: Rank, at: usize, into: &mut [u8]) -> Result<()>;
        fn single_copy(&)() -> Result<(), &str>;
        fn address(&)(bytes: &[u8]) -> Word;
        fn read_private(&)(peer: Rank, at: Word, into: &mut [u8]) -> Result<()>;
    } and {
        #[inline(always)]
        fn exposed(&self) -> usize {
            self.exposed
        }
    }
}
