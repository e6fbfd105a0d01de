//! What all libraries have in common.

use std::ffi::{CStr, c_char, c_void};
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use bandgap_comm::{CommError, Rank, Rendezvous, Result, Yields};
use bandgap_loader::{Opened, file_of};

use crate::FabricError;

/// Results that are compared with the floor of 8 bytes there and back.
pub(crate) const WORDS: &[&str] = &["signature", "echo", "comms1"];
/// Results that are compared with the floor of 64 KiB there and back: those that return what they received, since from a
/// buffer that nobody writes to a library that copies once reads out of its own cache.
pub(crate) const LONG: &[&str] = &["comms1"];
/// What a round of that yields.
pub(crate) const EACH_WAY: Yields = Yields::BytesEachWay(64 << 10);

/// The functions of a library that are symbols, with their types: `Api`.
macro_rules! functions {
    ($oldest:literal: $($function:ident $symbol:ident ($($type:ty),*) -> $answer:ty;)*) => {
        /// The functions of the library, with their types.
        pub struct Api {
            $(pub $function: unsafe extern "C" fn($($type),*) -> $answer,)*
        }

        impl Api {
            pub fn of(
                opened: &bandgap_loader::Opened,
                path: &std::path::Path,
            ) -> Result<Self, $crate::FabricError> {
                Ok(Self {
                    $($function: {
                        let lacks = stringify!($symbol);
                        let (path, oldest) = (path.to_owned(), $oldest);
                        let missing = $crate::FabricError::TooOld { path, lacks, oldest };
                        let at = opened.own(lacks).ok_or(missing)?;
                        // SAFETY: the header gives the function of this name this type.
                        unsafe {
                            std::mem::transmute::<
                                *mut std::ffi::c_void,
                                unsafe extern "C" fn($($type),*) -> $answer,
                            >(at.as_ptr())
                        }
                    },)*
                })
            }
        }
    };
}
pub(crate) use functions;

/// A table of functions.
pub(crate) type Table = *const c_void;

/// Functions in tables: the table's type, the field, its place in words, and the function's type.
macro_rules! operations {
    ($($function:ident $table:ident $field:ident $at:literal ($($type:ty),*) -> $answer:ty;)*) => {
        $(
            /// The function in a table.
            ///
            /// # Safety
            /// The table is of this type.
            #[inline(always)]
            pub unsafe fn $function(of: $crate::common::Table) -> unsafe extern "C" fn($($type),*) -> $answer {
                // SAFETY: the caller guarantees it.
                unsafe { *of.cast::<unsafe extern "C" fn($($type),*) -> $answer>().add($at) }
            }
        )*

        /// Tables, fields and their places.
        #[allow(dead_code, reason = "a test compares them")]
        const OPERATIONS: &[(&str, &str, usize)] =
            &[$((stringify!($table), stringify!($field), 8 * $at)),*];
    };
}
pub(crate) use operations;

/// Opens the library at `path`, or the one of this name that the loader finds; returns its file too.
///
/// # Errors
/// There is none.
pub(crate) fn opened(
    path: Option<&Path>,
    name: &str,
    symbol: &str,
    [package, option]: [&'static str; 2],
) -> Result<(Opened, PathBuf), FabricError> {
    let named = path.unwrap_or(Path::new(name));
    let opened =
        Opened::new(named).map_err(|error| FabricError::Open { error, package, option })?;
    let file = opened.own(symbol).and_then(file_of).unwrap_or_else(|| named.to_owned());
    Ok((opened, file))
}

/// The place of the sender's rank in a tag, behind that of a program. Some providers have tags of 48 bits.
pub(crate) const SENDER: u32 = 31;
/// The place of the channel in a tag.
pub(crate) const CHANNEL: u32 = 46;
/// The bits of the sender's rank.
pub(crate) const ANY: u64 = (1 << CHANNEL) - (1 << SENDER);

/// What both libraries, whose ranks and channels are parts of a tag, do of [`bandgap_tagged::Tagged`].
macro_rules! by_tags {
    ($peers:ident) => {
        /// The highest bits of a tag.
        type Channel = u64;
        type Request = Request;

        #[inline(always)]
        fn rank(&self) -> Rank {
            self.rank
        }

        #[inline(always)]
        fn size(&self) -> usize {
            self.$peers.len()
        }

        fn channel(&self, of: bandgap_tagged::Traffic, _: usize) -> Result<u64> {
            Ok((of as u64) << $crate::common::CHANNEL)
        }

        #[inline(always)]
        fn wait(&self, mut request: Request) -> Result<()> {
            self.look.until(|| self.ended(&mut request))
        }
    };
}
pub(crate) use by_tags;

/// The tag of a message.
#[inline(always)]
pub(crate) fn tag(channel: u64, sender: Rank, tag: u32) -> u64 {
    channel | (sender as u64) << SENDER | u64::from(tag)
}

/// A text of a library's; empty without one.
///
/// # Safety
/// It ends with 0.
pub(crate) unsafe fn text(at: *const c_char) -> String {
    // SAFETY: the caller guarantees it.
    let text = unsafe { at.as_ref().map(|at| CStr::from_ptr(at)) };
    text.map(|text| text.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Whether UCX's transport of this name is the one meant. Of `rc_verbs` and `rc_mlx5`, `rc` is the family.
pub(crate) fn is_family(meant: &str, name: &str) -> bool {
    name.strip_prefix(meant).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
}

/// The interface with this address; `None` within a host: of the loopback alone, some UCX say that it reaches nobody.
pub(crate) fn device(at: IpAddr) -> Option<String> {
    let all = if_addrs::get_if_addrs().ok().filter(|_| !at.is_loopback())?;
    all.into_iter().find(|one| one.ip() == at).map(|one| one.name)
}

/// Tells all ranks which library `own` is, its address here, and what else a peer needs; returns theirs, by rank.
///
/// # Errors
/// A rank has another library, or an address that is none.
pub(crate) fn exchange(
    meeting: &mut Rendezvous<'_>,
    own: &str,
    parts: [&[u8]; 2],
) -> Result<Vec<[Vec<u8>; 2]>> {
    let digits = |of: &[u8]| of.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let [address, more] = parts.map(digits);
    let told = (meeting.exchange)(format!("{own} {address} {more}"))?;
    let of = |(peer, told): (Rank, &String)| {
        let mut words = told.rsplitn(3, ' ');
        let [more, address, theirs] = [(); 3].map(|()| words.next().unwrap_or_default());
        if theirs != own {
            let (own, theirs) = (own.to_owned(), theirs.to_owned());
            return Err(FabricError::Other { peer, own, theirs }.into());
        }
        let bytes = |digits: &str| -> Option<Vec<u8>> {
            let digits = digits.as_bytes().chunks(2).map(|two| str::from_utf8(two).ok());
            digits.map(|two| u8::from_str_radix(two?, 16).ok()).collect()
        };
        let garbage = || CommError::Garbage { peer, what: "its address".to_owned() };
        bytes(address).zip(bytes(more)).map(<[_; 2]>::from).ok_or_else(garbage)
    };
    told.iter().enumerate().map(of).collect()
}

/// The variables among these that are set: ` with NAME=VALUE`.
#[cold]
pub(crate) fn chosen(variables: &[&str]) -> String {
    let told = |name: &&str| Some(format!(" with {name}={}", std::env::var(name).ok()?));
    variables.iter().filter_map(told).collect()
}

#[cfg(test)]
mod tests {
    use bandgap_tagged::Fabric;

    use super::*;
    use crate::{Ofi, Ucx};

    fn exchanged(told: impl Fn(&str) -> String) -> Result<Vec<[Vec<u8>; 2]>> {
        let told = &mut |own: String| Ok(vec![own.clone(), told(&own)]);
        exchange(&mut Rendezvous::new([0, 2], told), "libfabric 1.17 tcp;ofi_rxm", [&[1, 254], &[]])
    }

    #[test]
    fn ranks_with_other_libraries_or_providers_do_not_meet() {
        assert_eq!(exchanged(str::to_owned).unwrap(), [(); 2].map(|()| [vec![1, 254], vec![]]));
        for (from, to) in [("1.17", "1.20"), ("tcp", "udp")] {
            let error = exchanged(|own| own.replace(from, to)).unwrap_err();
            let CommError::Missing(error) = error else { panic!("{error}") };
            assert!(error.to_string().contains(to), "{error}");
        }
        let error = exchanged(|own| own.replace("fe", "fx")).unwrap_err();
        assert!(matches!(error, CommError::Garbage { peer: 1, .. }), "{error}");
    }

    #[test]
    fn versions_that_were_not_tried_are_told_with_those_that_were() {
        let tried = |of: bandgap_units::Library| of.facts.get("tried").cloned();
        let ucx = |version| tried(Ucx::known("UCX".to_owned(), version, Path::new("")));
        let ofi = |version| tried(Ofi::known("libfabric".to_owned(), version, Path::new("")));
        assert_eq!(["1.11.0", "1.22.1"].map(ucx), [None, None]);
        assert_eq!(["1.14", "2.6"].map(ofi), [None, None]);
        assert_eq!(ucx("1.23.0").unwrap(), "1.11 to 1.22");
        assert_eq!(["1.9", "2.10"].map(ofi), [(); 2].map(|()| Some("1.14 to 2.6".to_owned())));
    }
}
