//! An opened library and its description of itself.

use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_void};
use std::fs::File;
use std::io::Read;
use std::mem::{MaybeUninit, transmute};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

use crate::{Family, MpiError, Result};

/// Longest text of `MPI_Error_string` and `MPI_Get_library_version`, in all families.
const TEXT_BYTES: usize = 16384;
/// A function that every MPI has since MPI 3.
const VERSION: &str = "MPI_Get_library_version";

/// An MPI library, opened but not initialised.
#[derive(Debug)]
pub struct Loaded {
    handle: NonNull<c_void>,
    /// Its file, with symbolic links resolved.
    pub path: PathBuf,
    /// The text of `MPI_Get_library_version`.
    pub version: String,
    /// Its binary interface.
    pub family: Family,
}

impl Loaded {
    /// Opens the library at `path`, or the library of this name that the loader finds, and
    /// determines which MPI it is. Does not initialise it, and hides its symbols from other
    /// libraries.
    ///
    /// # Errors
    /// If it is not a library for this machine, not an MPI, or has an unknown binary interface.
    pub fn open(path: &Path) -> Result<Self> {
        let handle = open(path, libc::RTLD_LOCAL)?;
        let no_symbol = || MpiError::NoSymbol { path: path.to_owned(), symbol: VERSION };
        let get = symbol(handle.as_ptr(), VERSION).ok_or_else(no_symbol)?;
        let file = file_of(get).unwrap_or_else(|| path.to_owned());
        let (path, version) = (file.canonicalize().unwrap_or(file), version(get));
        match recognise(handle) {
            Some(family) => Ok(Self { handle, path, version, family }),
            None => Err(MpiError::UnknownAbi { path, version }),
        }
    }

    /// Shows its symbols to other libraries, as if the program were linked with it. Older MPIs need
    /// this for their plug-ins.
    pub(crate) fn show(&self) -> Result<()> {
        open(&self.path, libc::RTLD_GLOBAL).map(drop)
    }

    /// Its name and version, such as `MPICH 4.0.2`, or the first line of its description.
    pub fn name(&self) -> String {
        name(&self.version)
    }

    /// The address of a symbol: in a library loaded earlier, which may intercept calls, or in this
    /// one.
    pub(crate) fn symbol(&self, name: &'static str) -> Result<NonNull<c_void>> {
        let found = symbol(libc::RTLD_DEFAULT, name).or_else(|| symbol(self.handle.as_ptr(), name));
        found.ok_or_else(|| MpiError::NoSymbol { path: self.path.clone(), symbol: name })
    }

    /// Whether a launcher that speaks PMIx can start it.
    pub(crate) fn knows_pmix(&self) -> bool {
        self.is_open_mpi() || symbol(self.handle.as_ptr(), "PMIx_Init").is_some()
    }

    /// Whether it is an Open MPI, with any binary interface.
    pub(crate) fn is_open_mpi(&self) -> bool {
        self.version.starts_with("Open MPI")
    }
}

fn open(path: &Path, scope: c_int) -> Result<NonNull<c_void>> {
    if is_cut(path) {
        return Err(MpiError::Open {
            path: path.to_owned(),
            reason: "the file is truncated".to_owned(),
        });
    }
    // A path that contains a zero byte names no library.
    let name = CString::new(path.as_os_str().as_bytes()).unwrap_or_default();
    // SAFETY: the name ends with 0. Naming a library allows it to run its initialisers.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | scope) };
    NonNull::new(handle).ok_or_else(|| {
        // SAFETY: the text ends with 0, and stays until the next call of the loader.
        let said = unsafe { libc::dlerror().as_ref().map(|text| CStr::from_ptr(text)) };
        let said = said.map(CStr::to_string_lossy).unwrap_or_default();
        let reason = said.rsplit(": ").next().unwrap_or_default().to_owned();
        // The loader skips files for other processors as if they did not exist.
        let others = ["No such file or directory", "ELFCLASS32", "ELFCLASS64"];
        let named = said.starts_with(&*path.to_string_lossy());
        match named && path.exists() && others.contains(&&*reason) {
            true => MpiError::Architecture(path.to_owned()),
            false => MpiError::Open { path: path.to_owned(), reason },
        }
    })
}

/// Whether a 64-bit ELF file is shorter than its header says. The loader would map missing pages.
fn is_cut(path: &Path) -> bool {
    let mut header = [0; 64];
    let Ok(mut file) = File::open(path) else { return false };
    if file.read_exact(&mut header).is_err() || !header.starts_with(b"\x7fELF\x02\x01") {
        return false;
    }
    // The section table at the end: e_shoff, e_shentsize and e_shnum (ELF-64 object file format,
    // table 1).
    let word = |at: usize| u64::from(u16::from_le_bytes([header[at], header[at + 1]]));
    let sections = (40..48).rev().fold(0, |sum, at| sum << 8 | u64::from(header[at]));
    let end = sections.saturating_add(word(58) * word(60));
    file.metadata().is_ok_and(|found| found.len() < end)
}

/// The address of a symbol in an open library and its dependencies, or in all libraries.
fn symbol(scope: *mut c_void, name: &str) -> Option<NonNull<c_void>> {
    let name = CString::new(name).ok()?;
    // SAFETY: the name ends with 0; the global scope always exists, and no library is closed.
    NonNull::new(unsafe { libc::dlsym(scope, name.as_ptr()) })
}

/// The library's family. MPICH 5 also has the standard's function in its own interface, where it
/// returns no version. `MPIR_Dup_fn` is what `MPI_DUP_FN` stands for in MPICH's header.
fn recognise(handle: NonNull<c_void>) -> Option<Family> {
    type AbiVersion = unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int;
    let own = |name| symbol(handle.as_ptr(), name);
    let (mut major, mut minor) = (-1, -1);
    if let Some(at) = own("MPI_Abi_get_version") {
        // SAFETY: the function has this type, and may be called before MPI_Init (MPI 5.0, 20.2).
        unsafe { transmute::<*mut c_void, AbiVersion>(at.as_ptr())(&mut major, &mut minor) };
    }
    if major >= 1 {
        return Some(Family::Mpi5);
    }
    let signs = [("ompi_mpi_comm_world", Family::OpenMpi), ("MPIR_Dup_fn", Family::Mpich)];
    signs.into_iter().find_map(|(name, family)| own(name).map(|_| family))
}

/// The file that contains this address.
fn file_of(at: NonNull<c_void>) -> Option<PathBuf> {
    let mut info = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: there is room for the answer, and zeroes are a valid value of it. The file name in it
    // ends with 0.
    let name = unsafe {
        libc::dladdr(at.as_ptr(), info.as_mut_ptr());
        CStr::from_ptr(info.assume_init().dli_fname.as_ref()?)
    };
    Some(OsStr::from_bytes(name.to_bytes()).into())
}

/// A text that a function of MPI writes into a buffer large enough for any family.
pub(crate) fn text<R>(write: impl FnOnce(*mut c_char, *mut c_int) -> R) -> String {
    let (mut text, mut len) = (vec![0_u8; TEXT_BYTES], 0);
    write(text.as_mut_ptr().cast(), &mut len);
    text.truncate(usize::try_from(len).unwrap_or_default());
    // Open MPI counts zero bytes after its text.
    String::from_utf8_lossy(&text).trim_end_matches('\0').to_owned()
}

fn version(get: NonNull<c_void>) -> String {
    type Get = unsafe extern "C" fn(*mut c_char, *mut c_int) -> c_int;
    // SAFETY: the function has this type, may be called before MPI_Init (MPI 4.1, 9.1.1), and has
    // at least as much room as any family needs.
    text(|at, len| unsafe { transmute::<*mut c_void, Get>(get.as_ptr())(at, len) })
        .trim()
        .to_owned()
}

fn name(version: &str) -> String {
    let line = version.lines().next().unwrap_or_default().trim();
    let starts = [
        ("Open MPI v", "Open MPI"),
        ("MPICH Version:", "MPICH"),
        ("Intel(R) MPI Library", "Intel MPI"),
    ];
    let known = starts.iter().find_map(|(start, name)| Some((line.strip_prefix(start)?, name)));
    let Some((rest, name)) = known else { return line.to_owned() };
    let number = rest.trim_start().split([',', ' ']).next().unwrap_or_default();
    format!("{name} {number}")
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn a_library_is_named_as_people_name_it() {
        assert_eq!(name("MPICH Version:\t4.0.2\nMPICH Release date: x"), "MPICH 4.0.2");
        assert_eq!(name("Open MPI v4.1.4, package: Debian OpenMPI"), "Open MPI 4.1.4");
        assert_eq!(name("Intel(R) MPI Library 2021.19 for Linux* OS"), "Intel MPI 2021.19");
        assert_eq!(name("Fancy 1.0\nand more"), "Fancy 1.0");
        assert_eq!(name(""), "");
    }
}
