//! How text is laid out for standard output.

use std::io::IsTerminal;

use bandgap_report::Layout;
use bandgap_units::Fraction;

/// Width where standard output is no terminal.
const WIDTH: u16 = 100;

/// How to lay out text for standard output.
pub fn layout(confidence: f64) -> Layout {
    let stdout = std::io::stdout();
    let terminal = stdout.is_terminal();
    let columns = terminal
        .then(|| rustix::termios::tcgetwinsize(&stdout).ok())
        .flatten()
        .map(|size| size.ws_col)
        .filter(|columns| *columns > 0);
    let utf8 = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
        .is_none_or(|locale| {
            let locale = locale.to_lowercase();
            locale.contains("utf-8")
                || locale.contains("utf8")
                || locale == "c"
                || locale == "posix"
        });
    let color = terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    Layout {
        width: columns.unwrap_or(WIDTH),
        ascii: !utf8,
        color,
        confidence: Fraction(confidence),
    }
}
