//! The layout of text on standard output.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};

use bandgap_report::Layout;

/// Default width in columns.
const WIDTH: u16 = 100;

/// Whether output is plain even on a terminal: a launcher may give its processes a terminal though it writes to a file.
static PLAIN: AtomicBool = AtomicBool::new(false);

/// Disables escape sequences from now on.
pub fn be_plain() {
    PLAIN.store(true, Ordering::Relaxed);
}

/// Whether `TERM` and `NO_COLOR` allow escape sequences on a terminal.
pub fn takes_escapes() -> bool {
    if PLAIN.load(Ordering::Relaxed) {
        return false;
    }
    let term = std::env::var_os("TERM").filter(|term| !term.is_empty() && term != "dumb");
    term.is_some() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// The layout for standard output: as wide as the terminal, else `COLUMNS`, else 100 columns.
pub fn layout() -> Layout {
    let stdout = std::io::stdout();
    let terminal = stdout.is_terminal();
    let size = terminal.then(|| rustix::termios::tcgetwinsize(&stdout).ok()).flatten();
    let named = || std::env::var("COLUMNS").ok()?.parse().ok();
    let width = size.map(|size| size.ws_col).filter(|columns| *columns > 0).or_else(named);
    Layout {
        width: width.filter(|columns| *columns > 0).unwrap_or(WIDTH),
        ascii: is_ascii(terminal),
        color: terminal && takes_escapes(),
    }
}

/// Whether the locale demands ASCII. Files and pipes take UTF-8 even in the locale `C`, which batch systems and scripts
/// set for other reasons.
pub fn is_ascii(terminal: bool) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
        .map(|locale| locale.to_lowercase());
    locale.is_some_and(|locale| {
        !["utf-8", "utf8"].iter().any(|name| locale.contains(name))
            && (terminal || !["c", "posix"].contains(&&*locale))
    })
}
