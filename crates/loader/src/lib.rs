//! Libraries opened at run time.

use std::collections::BTreeSet;
use std::ffi::{CStr, CString, OsStr, c_int, c_void};
use std::fs::File;
use std::io::Read;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

/// A file cannot be opened as a library.
#[derive(Debug, thiserror::Error)]
#[error("open {}: {reason}", .path.display())]
pub struct OpenError {
    /// The file.
    pub path: PathBuf,
    /// Why: mostly the loader's message.
    pub reason: String,
}

/// An open library. It is never closed, so what is in it stays.
#[derive(Debug)]
pub struct Opened(NonNull<c_void>);

impl Opened {
    /// Opens the library at `path`, or the library of this name that the loader finds, and runs its initialisers. Hides
    /// its symbols from other libraries.
    ///
    /// # Errors
    /// If it is not a library for this machine.
    pub fn new(path: &Path) -> Result<Self, OpenError> {
        open(path, libc::RTLD_LOCAL).map(Self)
    }

    /// Shows the symbols of the library at `path` to other libraries, as if the program were linked with it.
    ///
    /// # Errors
    /// As [`Opened::new`].
    pub fn show(path: &Path) -> Result<(), OpenError> {
        open(path, libc::RTLD_GLOBAL).map(drop)
    }

    /// The address of a symbol in the library and its dependencies.
    pub fn own(&self, name: &str) -> Option<NonNull<c_void>> {
        symbol(self.0.as_ptr(), name)
    }

    /// The address of a symbol: in a library loaded earlier, which may intercept calls, or in this one.
    pub fn symbol(&self, name: &str) -> Option<NonNull<c_void>> {
        symbol(libc::RTLD_DEFAULT, name).or_else(|| self.own(name))
    }
}

fn open(path: &Path, scope: c_int) -> Result<NonNull<c_void>, OpenError> {
    // A mere name is no file of the working directory.
    if path.as_os_str().as_bytes().contains(&b'/') && is_cut(path) {
        let reason = "the file is truncated".to_owned();
        return Err(OpenError { path: path.to_owned(), reason });
    }
    // A path that contains a zero byte names no library.
    let name = CString::new(path.as_os_str().as_bytes()).unwrap_or_default();
    // SAFETY: the name ends with 0. Naming a library allows it to run its initialisers.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | scope) };
    NonNull::new(handle).ok_or_else(|| {
        // SAFETY: the text ends with 0, and stays until the next call of the loader.
        let said = unsafe { libc::dlerror().as_ref().map(|text| CStr::from_ptr(text)) };
        let said = said.map(CStr::to_string_lossy).unwrap_or_default();
        let mut reason = said.rsplit(": ").next().unwrap_or_default();
        // The loader skips files for other processors as if they did not exist.
        let others = ["No such file or directory", "ELFCLASS32", "ELFCLASS64"];
        let named = said.starts_with(&*path.to_string_lossy());
        if named && path.exists() && others.contains(&reason) {
            reason = "the library is for another processor architecture";
        }
        OpenError { path: path.to_owned(), reason: reason.to_owned() }
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

/// The file that contains this address, with symbolic links resolved.
pub fn file_of(at: NonNull<c_void>) -> Option<PathBuf> {
    let mut info = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: there is room for the answer, and zeroes are a valid value of it. The file name in it
    // ends with 0.
    let name = unsafe {
        libc::dladdr(at.as_ptr(), info.as_mut_ptr());
        CStr::from_ptr(info.assume_init().dli_fname.as_ref()?)
    };
    let file = PathBuf::from(OsStr::from_bytes(name.to_bytes()));
    Some(file.canonicalize().unwrap_or(file))
}

/// The files mapped into this process whose names begin with one of these.
pub fn mapped(names: &[&str]) -> BTreeSet<String> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let files = maps.lines().filter_map(|line| Some(line[line.find('/')?..].to_owned()));
    let is_one = |name: &str| names.iter().any(|with| name.starts_with(with));
    files.filter(|file| file.rsplit('/').next().is_some_and(is_one)).collect()
}
