//! What is fuzzed.

/// A reader, and what inputs for it are made of.
#[derive(Debug)]
pub struct Target {
    /// Its name, and that of its folder in `corpus/`.
    pub name: &'static str,
    /// What it reads.
    pub about: &'static str,
    /// How inputs are changed.
    pub shape: Shape,
    /// Files and folders of the repository whose contents are examples.
    pub real: &'static [&'static str],
    /// Examples that no file holds. The reader accepts each of them.
    pub made: fn() -> Vec<Vec<u8>>,
    /// Examples that are wrong on purpose. The reader refuses each of them.
    pub wrong: fn() -> Vec<Vec<u8>>,
    /// Words that mean something to the reader.
    pub words: &'static [&'static str],
    /// Reads an input to its end. Panics if what it accepts breaks a promise.
    pub read: fn(&[u8]) -> Verdict,
    /// Its share of the inputs of a hunt over all targets, relative to the others'.
    pub share: u64,
}

/// What a reader made of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It took the input for what it reads.
    Accepted,
    /// It said what is wrong.
    Refused,
}

impl<T, E> From<&Result<T, E>> for Verdict {
    fn from(read: &Result<T, E>) -> Self {
        if read.is_ok() { Self::Accepted } else { Self::Refused }
    }
}

/// What an input is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Lines of words and numbers.
    Lines,
    /// JSON.
    Json,
    /// Bytes.
    Bytes,
}
