//! Whether there is a standard output at all.

use std::sync::atomic::{AtomicBool, Ordering};

static CLOSED: AtomicBool = AtomicBool::new(false);

/// Whether this process was started with its standard output closed, as by `>&-`.
///
/// Rust's runtime opens the null device in its place before `main`, and printed text is then lost
/// without an error. So this is checked before the runtime starts.
pub fn was_closed() -> bool {
    CLOSED.load(Ordering::Relaxed)
}

extern "C" fn look() {
    let closed = rustix::io::fcntl_getfd(rustix::stdio::stdout()).is_err();
    CLOSED.store(closed, Ordering::Relaxed);
}

// SAFETY: the loader calls each function in this section once, before `main`, on the only thread. The type is that of
// such a function; it takes none of its arguments, which the C calling convention allows. It uses nothing that
// Rust's runtime sets up: one system call, and a store to an atomic.
#[used]
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = look;
