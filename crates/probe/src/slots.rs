//! Words that calls go through, and the jump slots of the loaded objects (ELF-64 object file format; System V ABI, dynamic
//! linking).

use std::ffi::{CStr, c_int, c_void};
use std::fs;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

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

/// The jump slots of a function in the objects that are loaded now: in UCP alone, or in all but UCP.
///
/// # Errors
/// The system does not show the process's pages.
pub(crate) fn slots(function: &str, of_ucp: bool) -> io::Result<Vec<Word>> {
    let mut search = Search { function, of_ucp, found: Vec::new() };
    // SAFETY: the callback gets the search, which outlives the call, and unwinds nowhere.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
    let pages = pages(&fs::read_to_string("/proc/self/maps")?);
    let word = |at: *mut usize| {
        let of = pages.iter().find(|(begin, end, _)| (*begin..*end).contains(&at.addr()))?;
        Some(Word { at, protection: of.2 })
    };
    Ok(search.found.into_iter().filter_map(word).collect())
}

struct Search<'a> {
    function: &'a str,
    of_ucp: bool,
    found: Vec<*mut usize>,
}

/// GLOB_DAT and JUMP_SLOT of x86-64: the word is the address of a function.
const KINDS: [u64; 2] = [6, 7];
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
    let is_ucp = file.rsplit('/').next().is_some_and(|name| name.starts_with("libucp"));
    if is_ucp != search.of_ucp {
        return 0;
    }
    // SAFETY: there are this many headers, and they stay.
    let heads =
        unsafe { std::slice::from_raw_parts(object.dlpi_phdr, usize::from(object.dlpi_phnum)) };
    let Some(dynamic) = heads.iter().find(|head| head.p_type == libc::PT_DYNAMIC) else { return 0 };
    let base = object.dlpi_addr as usize;
    let at = |address: usize| std::ptr::with_exposed_provenance_mut::<usize>(address);
    let mut tags = [0_usize; 24];
    let mut entry = at(base + dynamic.p_vaddr as usize);
    // SAFETY: the dynamic section is a list of pairs that ends with tag 0.
    while let tag @ 1.. = unsafe { *entry } {
        if let Some(slot) = tags.get_mut(tag) {
            // SAFETY: as above.
            let value = unsafe { *entry.add(1) };
            // The loader makes addresses absolute where it may write: not in the kernel's own object, for one.
            let is_relative = [5, 6, 7, 23].contains(&tag) && value < base;
            *slot = if is_relative { base + value } else { value };
        }
        // SAFETY: as above.
        entry = unsafe { entry.add(2) };
    }
    // DT_JMPREL with DT_PLTRELSZ, DT_RELA with DT_RELASZ.
    for (table, bytes) in [(tags[23], tags[2]), (tags[7], tags[8])] {
        for relocation in (table..table + bytes).step_by(ENTRY) {
            // SAFETY: a relocation is its offset, its symbol and kind, and an addend; tables lie where their addresses say,
            // which are absolute by now. A symbol (DT_SYMTAB) begins with the 32-bit offset of its name (in DT_STRTAB), which ends
            // with 0.
            let (offset, kind, name) = unsafe {
                let (offset, info) = (*at(relocation), *at(relocation).add(1) as u64);
                let symbol = at(tags[6] + (info >> 32) as usize * ENTRY).cast::<u32>();
                let name = at(tags[5] + *symbol as usize).cast_const().cast();
                (offset, info & 0xffff_ffff, CStr::from_ptr(name).to_bytes())
            };
            if KINDS.contains(&kind) && name == search.function.as_bytes() {
                search.found.push(at(base + offset));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn protection(at: usize) -> c_int {
        let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
        let page = pages(&maps).into_iter().find(|(begin, end, _)| (*begin..*end).contains(&at));
        page.map_or(-1, |(.., protection)| protection)
    }

    #[test]
    fn a_word_in_a_page_that_may_not_be_written_is_written_and_the_page_is_as_before() {
        let (bytes, flags) = (4096, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a page of its own, which is never unmapped.
        let page =
            unsafe { libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_READ, flags, -1, 0) };
        let word = Word { at: page.cast(), protection: libc::PROT_READ };
        assert_eq!((word.get(), protection(page.addr())), (0, libc::PROT_READ));
        assert!(word.set(7).is_ok());
        assert_eq!((word.get(), protection(page.addr())), (7, libc::PROT_READ));
        // Where there is no page, the system refuses.
        let none = Word { at: std::ptr::without_provenance_mut(8), ..word };
        assert!(none.set(7).is_err());
    }

    #[test]
    fn tables_of_a_read_only_dynamic_section_are_relative() {
        // At words 0 to 13 the dynamic section, then a relocation, two symbols, a name, and the slot of the second symbol.
        let (relocation, symbols, names, slot) = (8 * 14, 8 * 17, 8 * 23, 8 * 24);
        let name = usize::from_le_bytes(*b"\0called\0");
        let tags = [[5, names], [6, symbols], [23, relocation], [2, ENTRY], [0, 0], [0, 0], [0, 0]];
        let tables = [[slot, 1 << 32 | 7, 0], [0; 3], [1, 0, 0]];
        let all: Vec<usize> = tags
            .into_iter()
            .flatten()
            .chain(tables.into_iter().flatten())
            .chain([name, 0])
            .collect();
        // SAFETY: both are numbers and pointers, of which 0 is none.
        let (mut head, mut object): (libc::Elf64_Phdr, libc::dl_phdr_info) =
            unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
        head.p_type = libc::PT_DYNAMIC;
        (object.dlpi_addr, object.dlpi_name) =
            (all.as_ptr().expose_provenance() as u64, c"".as_ptr());
        (object.dlpi_phdr, object.dlpi_phnum) = (&raw const head, 1);
        let mut search = Search { function: "called", of_ucp: false, found: Vec::new() };
        // SAFETY: an object as the loader gives it.
        unsafe { visit(&raw mut object, 0, (&raw mut search).cast()) };
        assert_eq!(search.found, [all.as_ptr().cast_mut().wrapping_add(24)]);
    }

    #[test]
    fn slots_are_found_by_the_name_of_their_function() {
        let found = |name| slots(name, false).map(|words| words.iter().all(|word| word.get() != 0));
        // The system's own libraries call it through a slot, and nothing has the other name.
        assert!(matches!(found("free"), Ok(true)));
        assert!(slots("free", false).is_ok_and(|words| !words.is_empty()));
        for (name, of_ucp) in [("no_such_function", false), ("free", true)] {
            assert!(slots(name, of_ucp).is_ok_and(|words| words.is_empty()), "{name}");
        }
    }
}
