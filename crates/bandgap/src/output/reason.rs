//! Why the exit code is 1.

use bandgap_results::{Run, Verdict};

use super::streams::tell;

/// Most names of values to print.
const NAMED: usize = 5;

/// Tells why the exit code is 1, even with `--quiet`, unless the command itself has told.
pub fn tell_why(run: &Run) {
    let Verdict { mut doubtful, negative, beyond, untold, .. } = Verdict::of(run);
    if negative {
        doubtful.insert(0, "a model is off".to_owned());
    }
    doubtful.splice(0..0, untold.into_iter().map(|of| format!("cannot tell {of}")));
    for (option, all) in [("--limit): beyond", beyond), ("--strict):", doubtful)] {
        let named = all.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>();
        let more = all.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        if !named.is_empty() {
            tell(format_args!("bandgap: exit 1 ({option} {}{more}", named.join(", ")));
            return;
        }
    }
}
