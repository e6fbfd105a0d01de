//! An opened library and its description of itself.

use std::ffi::{c_char, c_int, c_void};
use std::mem::transmute;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

use bandgap_loader::{Opened, file_of, mapped};

use crate::{Family, MpiError, Result};

/// Longest text of `MPI_Error_string` and `MPI_Get_library_version`, in all families.
const TEXT_BYTES: usize = 16384;
/// A function that every MPI has since MPI 3.
const VERSION: &str = "MPI_Get_library_version";

/// An MPI library, opened but not initialised.
#[derive(Debug)]
pub struct Loaded {
    opened: Opened,
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
        let opened = Opened::new(path)?;
        let no_symbol = || MpiError::NoSymbol { path: path.to_owned(), symbol: VERSION };
        let get = opened.own(VERSION).ok_or_else(no_symbol)?;
        let (path, version) = (file_of(get).unwrap_or_else(|| path.to_owned()), version(get));
        match recognise(&opened) {
            Some(family) => Ok(Self { opened, path, version, family }),
            None => Err(MpiError::UnknownAbi { path, version }),
        }
    }

    /// Shows its symbols to other libraries, as if the program were linked with it. Older MPIs need
    /// this for their plug-ins.
    pub(crate) fn show(&self) -> Result<()> {
        Ok(Opened::show(&self.path)?)
    }

    /// Its name and version, such as `MPICH 4.0.2`, or the first line of its description.
    pub fn name(&self) -> String {
        name(&self.version)
    }

    /// The files of libraries of fabrics in this process: what it is linked with or has loaded.
    pub fn fabrics(&self) -> Vec<String> {
        mapped(&["libucp", "libfabric"]).into_iter().collect()
    }

    /// Opens what it itself opens only when it is initialised: plug-ins for fabrics, or a fabric's library.
    pub fn open_fabrics(&self) {
        // Plug-ins want its symbols. What cannot be opened it cannot use.
        let _ = self.show();
        let open = |file: &str| drop(Opened::new(&self.path.with_file_name(file)));
        // Those of Open MPI, where it puts them, and where Debian does.
        for folder in ["openmpi", "openmpi/lib/openmpi3"] {
            open(&format!("{folder}/mca_pml_ucx.so"));
            open(&format!("{folder}/mca_mtl_ofi.so"));
        }
        // Intel MPI has a library of its own.
        if self.fabrics().is_empty() {
            open("libfabric.so.1");
            open("../opt/mpi/libfabric/lib/libfabric.so.1");
        }
    }

    /// The address of a symbol: in a library loaded earlier, which may intercept calls, or in this
    /// one.
    pub(crate) fn symbol(&self, name: &'static str) -> Result<NonNull<c_void>> {
        self.opened
            .symbol(name)
            .ok_or_else(|| MpiError::NoSymbol { path: self.path.clone(), symbol: name })
    }

    /// Whether a launcher that speaks PMIx can start it.
    pub(crate) fn knows_pmix(&self) -> bool {
        self.is_open_mpi() || self.opened.own("PMIx_Init").is_some()
    }

    /// Whether it is an Open MPI, with any binary interface.
    pub(crate) fn is_open_mpi(&self) -> bool {
        self.version.starts_with("Open MPI")
    }
}

/// The library's family. MPICH 5 also has the standard's function in its own interface, where it
/// returns no version. `MPIR_Dup_fn` is what `MPI_DUP_FN` stands for in MPICH's header.
fn recognise(opened: &Opened) -> Option<Family> {
    type AbiVersion = unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int;
    let (mut major, mut minor) = (-1, -1);
    if let Some(at) = opened.own("MPI_Abi_get_version") {
        // SAFETY: the function has this type, and may be called before MPI_Init (MPI 5.0, 20.2).
        unsafe { transmute::<*mut c_void, AbiVersion>(at.as_ptr())(&mut major, &mut minor) };
    }
    if major >= 1 {
        return Some(Family::Mpi5);
    }
    let signs = [("ompi_mpi_comm_world", Family::OpenMpi), ("MPIR_Dup_fn", Family::Mpich)];
    signs.into_iter().find_map(|(name, family)| opened.own(name).map(|_| family))
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
