//! Words that calls go through, and the jump slots of the loaded objects (ELF-64 object file format; System V ABI, dynamic
//! linking).

use std::ffi::{CStr, c_int, c_void};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

/// A word that holds the address of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    at: *mut usize,
    /// The protection of its page.
    protection: c_int,
}

const WRITABLE: c_int = libc::PROT_READ | libc::PROT_WRITE;

impl Word {
    /// A word in memory that this process may write.
    ///
    /// # Safety
    /// It is aligned, stays, and nobody else writes it while a [`crate::Probe`] has it. Who reads it calls what is there, and
    /// not at the same time as it is written.
    pub unsafe fn of(at: *mut usize) -> Self {
        Self { at, protection: WRITABLE }
    }

    fn atomic(&self) -> &AtomicUsize {
        // SAFETY: the word is aligned and stays.
        unsafe { AtomicUsize::from_ptr(self.at) }
    }

    /// The address that it holds.
    pub fn get(&self) -> usize {
        self.atomic().load(Relaxed)
    }

    /// Writes a function of the type that the word is called as; the page is then protected as before.
    ///
    /// # Errors
    /// The system refused to change the protection.
    pub(crate) fn set(&self, function: usize) -> io::Result<()> {
        if self.protection & libc::PROT_WRITE != 0 {
            self.atomic().store(function, Relaxed);
            return Ok(());
        }
        self.protect(self.protection | WRITABLE)?;
        self.atomic().store(function, Relaxed);
        self.protect(self.protection)
    }

    fn protect(&self, protection: c_int) -> io::Result<()> {
        // SAFETY: it only asks for a number.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        let begin = self.at.map_addr(|at| at & !(page - 1));
        // SAFETY: the page holds the word. It stays readable, and what is executed there stays executable.
        match unsafe { libc::mprotect(begin.cast(), page, protection) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// The jump slots of these functions in the objects that are loaded now, by function. `is_meant` gets an object's file and
/// the function.
///
/// # Errors
/// The system does not show the process's pages.
pub(crate) fn slots<const N: usize>(
    functions: [&str; N],
    is_meant: &dyn Fn(&str, usize) -> bool,
) -> io::Result<[Vec<Word>; N]> {
    let mut search = Search { functions: &functions, is_meant, found: Vec::new() };
    // SAFETY: the callback gets the search, which outlives the call, and unwinds nowhere.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
    let pages = pages(&fs::read_to_string("/proc/self/maps")?);
    let mut all = [const { Vec::new() }; N];
    for (function, at) in search.found {
        let page = pages.iter().find(|(begin, end, _)| (*begin..*end).contains(&at.addr()));
        if let Some((.., protection)) = page {
            all[function].push(Word { at, protection: *protection });
        }
    }
    Ok(all)
}

struct Search<'a> {
    functions: &'a [&'a str],
    is_meant: &'a dyn Fn(&str, usize) -> bool,
    found: Vec<(usize, *mut usize)>,
}

/// Kinds of relocation whose word is the address of a function: GLOB_DAT and JUMP_SLOT.
#[cfg(not(target_arch = "aarch64"))]
const KINDS: [u64; 2] = [6, 7];
#[cfg(target_arch = "aarch64")]
const KINDS: [u64; 2] = [1025, 1026];

/// Tags of the dynamic section.
const PLTRELSZ: usize = 2;
const STRTAB: usize = 5;
const SYMTAB: usize = 6;
const RELA: usize = 7;
const RELASZ: usize = 8;
const JMPREL: usize = 23;
/// Bytes of a relocation with an addend, and of a symbol.
const ENTRY: usize = 24;

unsafe extern "C" fn visit(
    object: *mut libc::dl_phdr_info,
    _: libc::size_t,
    search: *mut c_void,
) -> c_int {
    // SAFETY: the loader gives a valid object; the search is that of `slots`.
    let (object, search) = unsafe { (&*object, &mut *search.cast::<Search<'_>>()) };
    // SAFETY: the loader's names end with 0 and stay.
    let file = unsafe { CStr::from_ptr(object.dlpi_name) }.to_string_lossy();
    // The kernel's own object has no slots, and its tables are not relocated.
    if file.contains("linux-vdso") {
        return 0;
    }
    // SAFETY: there are this many headers, and they stay.
    let heads =
        unsafe { std::slice::from_raw_parts(object.dlpi_phdr, usize::from(object.dlpi_phnum)) };
    let Some(dynamic) = heads.iter().find(|head| head.p_type == libc::PT_DYNAMIC) else { return 0 };
    let base = object.dlpi_addr as usize;
    let at = |address: usize| std::ptr::with_exposed_provenance_mut::<usize>(address);
    let mut tags = [0_usize; JMPREL + 1];
    let mut entry = at(base + dynamic.p_vaddr as usize);
    // SAFETY: the dynamic section is a list of pairs that ends with tag 0.
    while let tag @ 1.. = unsafe { *entry } {
        if let Some(slot) = tags.get_mut(tag) {
            // SAFETY: as above.
            *slot = unsafe { *entry.add(1) };
        }
        // SAFETY: as above.
        entry = unsafe { entry.add(2) };
    }
    for (table, bytes) in [(tags[JMPREL], tags[PLTRELSZ]), (tags[RELA], tags[RELASZ])] {
        for relocation in (table..table + bytes).step_by(ENTRY) {
            // SAFETY: a relocation is its offset, its symbol and kind, and an addend; the loader has made the tables'
            // addresses absolute. A symbol begins with the 32-bit offset of its name, which ends with 0.
            let (offset, kind, name) = unsafe {
                let (offset, info) = (*at(relocation), *at(relocation).add(1) as u64);
                let symbol = at(tags[SYMTAB] + (info >> 32) as usize * ENTRY).cast::<u32>();
                let name = at(tags[STRTAB] + *symbol as usize).cast_const().cast();
                (offset, info & 0xffff_ffff, CStr::from_ptr(name).to_bytes())
            };
            let is_its = |function: &&str| function.as_bytes() == name;
            if KINDS.contains(&kind)
                && let Some(function) = search.functions.iter().position(|one| is_its(&one))
                && (search.is_meant)(&file, function)
            {
                search.found.push((function, at(base + offset)));
            }
        }
    }
    0
}

/// Begin, end and protection of each mapping in /proc/self/maps.
fn pages(maps: &str) -> Vec<(usize, usize, c_int)> {
    let of = |line: &str| {
        let (range, rest) = line.split_once(' ')?;
        let (begin, end) = range.split_once('-')?;
        let hex = |text| usize::from_str_radix(text, 16).ok();
        let bits = [('r', libc::PROT_READ), ('w', libc::PROT_WRITE), ('x', libc::PROT_EXEC)];
        let allowed = bits.iter().zip(rest.chars()).filter(|((letter, _), is)| letter == is);
        Some((hex(begin)?, hex(end)?, allowed.fold(0, |all, ((_, bit), _)| all | bit)))
    };
    maps.lines().filter_map(of).collect()
}

/// The file of a library that is loaded, by the beginning of its name.
///
/// # Errors
/// The system does not show the process's pages.
pub(crate) fn loaded(name: &str) -> io::Result<Option<PathBuf>> {
    let maps = fs::read_to_string("/proc/self/maps")?;
    let files = maps.lines().filter_map(|line| line.find('/').map(|at| Path::new(&line[at..])));
    let is_its =
        |file: &&Path| file.file_name().is_some_and(|of| of.to_string_lossy().starts_with(name));
    Ok(files.into_iter().find(is_its).map(Path::to_owned))
}
