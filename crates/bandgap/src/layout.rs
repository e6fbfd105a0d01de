//! How text is laid out for standard output.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};

use bandgap_report::Layout;

/// Width where nothing says how wide it is.
const WIDTH: u16 = 100;

/// Whether output is plain whatever it goes to: a launcher gives processes a terminal though its own output is a file.
static PLAIN: AtomicBool = AtomicBool::new(false);

/// Sends no escape sequences from now on.
pub fn be_plain() {
    PLAIN.store(true, Ordering::Relaxed);
}

/// Whether a terminal is to be sent escape sequences, as `TERM` and `NO_COLOR` say.
pub fn takes_escapes() -> bool {
    if PLAIN.load(Ordering::Relaxed) {
        return false;
    }
    let term = std::env::var_os("TERM").filter(|term| !term.is_empty() && term != "dumb");
    term.is_some() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// How to lay out text for standard output: as wide as the terminal, else as `COLUMNS` says, else 100 columns.
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

/// Whether what is printed must be ASCII, as the locale says. A file or a pipe in the locale `C` takes UTF-8: batch systems and
/// scripts set it for other reasons.
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
