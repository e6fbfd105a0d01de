//! A library that was opened, and what it says of itself.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fs::File;
use std::io::Read;
use std::mem::{MaybeUninit, transmute};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

use crate::{Family, MpiError};

/// Longest text of `MPI_Get_library_version`, in all families.
const VERSION_BYTES: usize = 16384;

/// An MPI, opened and not initialised.
#[derive(Debug)]
pub struct Loaded {
    handle: NonNull<c_void>,
    path: PathBuf,
    version: String,
    family: Family,
}

impl Loaded {
    /// Opens the library at `path`, or of this name where the loader finds it, and asks which MPI it is. Nothing is
    /// initialised, and its symbols are hidden from other libraries.
    ///
    /// # Errors
    /// It is no library for this machine, no MPI, or one of an unknown binary interface.
    pub fn open(path: &Path) -> Result<Self, MpiError> {
        let handle = open(path, libc::RTLD_LOCAL)?;
        let mut loaded =
            Self { handle, path: path.to_owned(), version: String::new(), family: Family::Mpich };
        let get = loaded.function(c"MPI_Get_library_version", "MPI_Get_library_version")?;
        if let Some(file) = file_of(get) {
            loaded.path = file;
        }
        loaded.version = version(get);
        loaded.family = match loaded.recognise() {
            Some(family) => family,
            None => {
                let Self { path, version, .. } = loaded;
                return Err(MpiError::UnknownAbi { path, version });
            }
        };
        Ok(loaded)
    }

    /// Shows its symbols to other libraries, as if the program were linked with it. Older MPIs load their parts so that
    /// they need that.
    pub(crate) fn show(&self) -> Result<(), MpiError> {
        open(&self.path, libc::RTLD_GLOBAL).map(drop)
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The text of `MPI_Get_library_version`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Its name and number, such as `MPICH 4.0.2`, or the first line of [`Loaded::version`].
    pub fn name(&self) -> String {
        name(&self.version)
    }

    /// Its binary interface.
    pub fn family(&self) -> Family {
        self.family
    }

    /// The address of a symbol: of a library loaded before it, which may stand between, or of its own.
    pub(crate) fn symbol(&self, name: &CStr) -> Option<NonNull<c_void>> {
        // SAFETY: the name ends with 0; the default scope exists always, and the handle is never closed.
        let find = |scope| NonNull::new(unsafe { libc::dlsym(scope, name.as_ptr()) });
        find(libc::RTLD_DEFAULT).or_else(|| find(self.handle.as_ptr()))
    }

    /// The address of a symbol of it or of what it is linked with.
    fn own(&self, name: &CStr) -> Option<NonNull<c_void>> {
        // SAFETY: as in `symbol`.
        NonNull::new(unsafe { libc::dlsym(self.handle.as_ptr(), name.as_ptr()) })
    }

    fn function(&self, name: &CStr, symbol: &'static str) -> Result<NonNull<c_void>, MpiError> {
        let missing = || MpiError::NoSymbol { path: self.path.clone(), symbol };
        self.own(name).ok_or_else(missing)
    }

    /// Whether it can be started by what speaks PMIx.
    pub(crate) fn knows_pmix(&self) -> bool {
        self.family == Family::OpenMpi || self.own(c"PMIx_Init").is_some()
    }

    /// Whether it is an Open MPI, by whichever interface.
    pub(crate) fn is_open_mpi(&self) -> bool {
        self.version.starts_with("Open MPI")
    }

    /// The family. MPICH 5 has the standard's function in its own interface too, where it answers that there is none.
    /// The last symbol is what `MPI_DUP_FN` stands for in the header of MPICH.
    fn recognise(&self) -> Option<Family> {
        if let Some(at) = self.own(c"MPI_Abi_get_version") {
            type AbiVersion = unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int;
            let (mut major, mut minor) = (-1, -1);
            // SAFETY: the function has this type, and may be called before MPI_Init (MPI 5.0, 20.2).
            let code = unsafe {
                transmute::<*mut c_void, AbiVersion>(at.as_ptr())(&mut major, &mut minor)
            };
            if code == 0 && major >= 1 {
                return Some(Family::Mpi5);
            }
        }
        let signs = [(c"ompi_mpi_comm_world", Family::OpenMpi), (c"MPIR_Dup_fn", Family::Mpich)];
        let found = signs.into_iter().find(|(symbol, _)| self.own(symbol).is_some());
        found.map(|(_, family)| family)
    }
}

fn open(path: &Path, scope: c_int) -> Result<NonNull<c_void>, MpiError> {
    let failed = |reason| MpiError::Open { path: path.to_owned(), reason };
    let name = CString::new(path.as_os_str().as_bytes());
    let name = name.map_err(|_| failed("its name has a zero byte".to_owned()))?;
    // SAFETY: the name ends with 0. Whoever names a library lets it run its initialisers.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | scope) };
    NonNull::new(handle).ok_or_else(|| {
        match (machine(path), machine(Path::new("/proc/self/exe"))) {
            (Some(found), Some(own)) if found != own => {
                MpiError::Architecture { path: path.to_owned(), found, own }
            }
            _ => failed(last_reason()),
        }
    })
}

/// What the loader says of its last failure.
fn last_reason() -> String {
    // SAFETY: the text ends with 0, and stays until the next call of the loader.
    match unsafe { libc::dlerror().as_ref().map(|text| CStr::from_ptr(text)) } {
        Some(text) => text.to_string_lossy().into_owned(),
        None => "the loader does not say why".to_owned(),
    }
}

/// The machine that an ELF file is for, with its class and byte order above; `None` where it is no such file.
fn machine(path: &Path) -> Option<u32> {
    let mut header = [0; 20];
    File::open(path).ok()?.read_exact(&mut header).ok()?;
    let kind = u32::from(header[4]) << 24 | u32::from(header[5]) << 16;
    let machine = u32::from(u16::from_ne_bytes([header[18], header[19]]));
    header.starts_with(b"\x7fELF").then_some(kind | machine)
}

/// The file that has what is at this address.
fn file_of(at: NonNull<c_void>) -> Option<PathBuf> {
    let mut info = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: there is room for the answer, which zeroes are a value of. A file's name in it ends with 0.
    let name = unsafe {
        if libc::dladdr(at.as_ptr(), info.as_mut_ptr()) == 0 {
            return None;
        }
        CStr::from_ptr(info.assume_init().dli_fname.as_ref()?)
    };
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(name.to_bytes())))
}

fn version(get: NonNull<c_void>) -> String {
    type Get = unsafe extern "C" fn(*mut c_char, *mut c_int) -> c_int;
    let mut text = vec![0_u8; VERSION_BYTES];
    let mut len = 0;
    // SAFETY: the function has this type, may be called before MPI_Init (MPI 4.1, 9.1.1), and has more room than any
    // family asks for.
    unsafe { transmute::<*mut c_void, Get>(get.as_ptr())(text.as_mut_ptr().cast(), &mut len) };
    text.truncate(usize::try_from(len).unwrap_or(0));
    // Open MPI counts zero bytes behind its text.
    text.retain(|&byte| byte != 0);
    String::from_utf8_lossy(&text).trim().to_owned()
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
    use super::*;

    #[test]
    fn a_library_is_named_as_people_name_it() {
        let of = |version| name(version);
        assert_eq!(of("MPICH Version:\t4.0.2\nMPICH Release date: x"), "MPICH 4.0.2");
        assert_eq!(of("Open MPI v4.1.4, package: Debian OpenMPI"), "Open MPI 4.1.4");
        assert_eq!(of("Intel(R) MPI Library 2021.19 for Linux* OS"), "Intel MPI 2021.19");
        assert_eq!(of("Fancy 1.0\nand more"), "Fancy 1.0");
        assert_eq!(of(""), "");
    }
}
