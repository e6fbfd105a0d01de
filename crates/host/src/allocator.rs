//! What happens when memory is out.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{self, Write};

/// Exit code of a program whose memory is out: the host refused it.
const OUT: i32 = 7;

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

/// Memory, if there is some.
#[inline]
fn given(memory: *mut u8, size: usize) -> *mut u8 {
    if memory.is_null() { out(size) } else { memory }
}

/// Ends the program. Nothing here allocates.
#[cold]
fn out(size: usize) -> ! {
    let said = "the system gave no memory for further";
    let _ =
        writeln!(io::stderr(), "error: {said} {size} bytes: raise `ulimit -v`, or ask for less");
    // SAFETY: it ends the process, as a signal would, and runs nothing of it.
    unsafe { libc::_exit(OUT) }
}
