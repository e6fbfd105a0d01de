//! What the program gets as its standard streams.

use std::fs;
use std::process::Stdio;

use crate::SoakError;
use crate::error::Doing;
use crate::faults::{Broken, Does, Streams};
use crate::plan::Plan;
use crate::screen::Screen;

/// How a shell becomes the program without the streams that were never open, if there are any.
pub(crate) fn closing(does: Does) -> Option<&'static str> {
    let Does::Stream(streams, Broken::Closed) = does else { return None };
    Some(match streams {
        Streams::Output => "exec \"$@\" >&-",
        Streams::Error => "exec \"$@\" 2>&-",
        Streams::Both => "exec \"$@\" >&- 2>&-",
    })
}

/// What the program gets as one of its standard streams, and where that is read.
///
/// # Errors
/// The system has none.
pub(crate) fn stream(plan: &Plan, which: Streams) -> Result<(Screen, Stdio), SoakError> {
    let full = || {
        let file = fs::OpenOptions::new().write(true).open("/dev/full");
        file.doing(|| "open /dev/full".to_owned())
    };
    if let Does::Stream(streams, broken) = plan.fault.does
        && [which, Streams::Both].contains(&streams)
    {
        return match broken {
            Broken::Full => Ok((Screen::none(), Stdio::from(full()?))),
            Broken::Gone => Screen::pipe(plan.between(0, 200) as usize),
            Broken::Closed => Ok((Screen::none(), Stdio::null())),
            Broken::Unread => Screen::unread(),
        };
    }
    // Progress is shown on a terminal only.
    if which == Streams::Error { Screen::terminal() } else { Screen::pipe(usize::MAX) }
}
