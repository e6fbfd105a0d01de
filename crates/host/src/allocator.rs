//! What happens when memory is out.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{self, Write};

/// The system's allocator. When it has no memory left, the program says so and ends with exit code
/// 7, where the standard library would end it with a signal.
pub struct Allocator;

// SAFETY: each call is passed on as it is, and its result is returned unless it is null.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        given(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        given(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, from: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller promises.
        given(unsafe { System.realloc(from, layout, size) }, size)
    }

    unsafe fn dealloc(&self, from: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(from, layout) }
    }
}

/// Memory; if there is none, the program ends. Nothing here allocates.
fn given(memory: *mut u8, size: usize) -> *mut u8 {
    if memory.is_null() {
        let _ = writeln!(io::stderr(), "bandgap: failed to get {size} bytes: see `ulimit -v`");
        // SAFETY: it ends the process, as a signal would, and runs nothing of it.
        unsafe { libc::_exit(7) }
    }
    memory
}
