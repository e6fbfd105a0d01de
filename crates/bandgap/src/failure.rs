//! An error on its way to the user, with the exit code of its class.

use std::fmt::Display;

use crate::exit::Exit;

/// What went wrong, and what to do about it.
#[derive(Debug)]
pub struct Failure {
    /// The class.
    pub exit: Exit,
    /// What went wrong: a fragment fit after "failed to".
    pub what: String,
    /// What to do.
    pub hint: Option<String>,
}

impl Failure {
    /// A failure of this class.
    pub fn new(exit: Exit, what: impl Display) -> Self {
        Self { exit, what: what.to_string(), hint: None }
    }

    /// The same with advice.
    pub fn hint(mut self, hint: impl Display) -> Self {
        self.hint = Some(hint.to_string());
        self
    }
}

/// Gives errors their class.
pub trait Classify<T> {
    /// The value, or the error as a failure of class `exit`.
    ///
    /// # Errors
    /// The error.
    fn class(self, exit: Exit) -> Result<T, Failure>;
}

impl<T, E: Display> Classify<T> for Result<T, E> {
    fn class(self, exit: Exit) -> Result<T, Failure> {
        self.map_err(|error| Failure::new(exit, error))
    }
}
