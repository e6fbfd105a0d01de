//! How text is laid out for standard output.

use std::io::IsTerminal;

use bandgap_report::Layout;

/// Width where nothing says how wide it is.
const WIDTH: u16 = 100;

/// How to lay out text for standard output: as wide as the terminal, else as `COLUMNS` says, else 100 columns.
pub fn layout() -> Layout {
    let stdout = std::io::stdout();
    let terminal = stdout.is_terminal();
    let size = terminal.then(|| rustix::termios::tcgetwinsize(&stdout).ok()).flatten();
    let named = || std::env::var("COLUMNS").ok()?.parse().ok();
    let width = size.map(|size| size.ws_col).filter(|columns| *columns > 0).or_else(named);
    let utf8 = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
        .is_none_or(|locale| {
            let locale = locale.to_lowercase();
            ["utf-8", "utf8"].iter().any(|name| locale.contains(name))
                || ["c", "posix"].contains(&&*locale)
        });
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    Layout {
        width: width.filter(|columns| *columns > 0).unwrap_or(WIDTH),
        ascii: !utf8,
        color: terminal && !dumb && !plain,
    }
}
