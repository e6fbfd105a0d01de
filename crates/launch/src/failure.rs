//! Errors for the user, each with the exit code of its class.

use std::error::Error;
use std::fmt::Display;
use std::{io, iter};

use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};
use serde::{Deserialize, Serialize};

use crate::Exit;

/// A value, or a failure.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// What went wrong, and what to do about it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Failure {
    /// The class.
    pub exit: Exit,
    /// What went wrong, worded to follow "failed to".
    pub what: String,
    /// What to do.
    pub hint: Option<String>,
}

impl Failure {
    /// A failure of this class.
    pub fn new(exit: Exit, what: impl Display) -> Self {
        Self { exit, what: what.to_string(), hint: None }
    }

    /// The same failure, with a hint.
    pub fn hint(mut self, hint: impl Display) -> Self {
        self.hint = Some(hint.to_string());
        self
    }

    /// The same failure, of this host.
    pub(crate) fn on(self, host: &str) -> Self {
        Self { what: format!("{}, on {host}", self.what), ..self }
    }
}

/// A [`Failure`] of class [`Exit::Usage`], from a format string and its arguments.
#[macro_export]
macro_rules! usage {
    ($($what:tt)*) => { $crate::Failure::new($crate::Exit::Usage, format_args!($($what)*)) };
}

/// A [`Failure`] of class [`Exit::Input`], likewise.
#[macro_export]
macro_rules! input {
    ($($what:tt)*) => { $crate::Failure::new($crate::Exit::Input, format_args!($($what)*)) };
}

/// A [`Failure`] of class [`Exit::Remote`], likewise.
#[macro_export]
macro_rules! elsewhere {
    ($($what:tt)*) => { $crate::Failure::new($crate::Exit::Remote, format_args!($($what)*)) };
}

/// Classifies errors.
pub trait Classify<T> {
    /// The value, or the error as a failure of class `exit`.
    ///
    /// # Errors
    /// The classified error.
    fn class(self, exit: Exit) -> Result<T>;
}

impl<T, E: Error + 'static> Classify<T> for Result<T, E> {
    fn class(self, exit: Exit) -> Result<T> {
        self.map_err(|error| {
            let hint = limit(&error).map(str::to_owned);
            Failure { hint, ..Failure::new(exit, told(&error)) }
        })
    }
}

/// Failure of processes to join the run.
pub(crate) fn lost(error: impl Error) -> Failure {
    elsewhere!("join the run's processes: {}", told(&error))
}

/// Failure to start ranks or threads; `tasks` is the number of all that are needed.
pub(crate) fn unstarted(what: &str, tasks: usize, error: &io::Error) -> Failure {
    let refused = error.raw_os_error().map(Errno::from_raw_os_error);
    match (refused, getrlimit(Resource::Nproc).current) {
        (Some(Errno::AGAIN), Some(most)) => {
            let what = format!(
                "{what}: {error}; bandgap takes {tasks} processes and threads here, and the limit of all that the \
                 user has is {most}"
            );
            usage!("{what}").hint("raise `ulimit -u`, or use fewer ranks")
        }
        _ => {
            let failure = Failure::new(Exit::Host, format!("{what}: {error}"));
            limit(error).into_iter().fold(failure, Failure::hint)
        }
    }
}

/// The limit to raise, if one caused the error.
pub fn limit(error: &(dyn Error + 'static)) -> Option<&'static str> {
    let causes = iter::successors(Some(error), |&cause| cause.source());
    let codes = causes.filter_map(|cause| {
        let io = cause.downcast_ref::<io::Error>().and_then(io::Error::raw_os_error);
        io.map(Errno::from_raw_os_error).or_else(|| cause.downcast_ref::<Errno>().copied())
    });
    codes.into_iter().find_map(|code| match code {
        Errno::MFILE => Some("raise `ulimit -n`"),
        Errno::FBIG => Some("raise `ulimit -f`"),
        _ => None,
    })
}

/// An error with the causes that its own text does not name: `write x: disk full`.
pub fn told(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let reason = error.to_string();
        if !text.contains(&reason) {
            text = format!("{text}: {reason}");
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    enum Outer {
        #[error("open the box")]
        Silent(#[source] std::io::Error),
        #[error("open the box: {0}")]
        Telling(#[source] std::io::Error),
    }

    #[test]
    fn causes_are_told_once() {
        let cause = || std::io::Error::other("it is locked");
        assert_eq!(told(&Outer::Silent(cause())), "open the box: it is locked");
        assert_eq!(told(&Outer::Telling(cause())), "open the box: it is locked");
    }
}
