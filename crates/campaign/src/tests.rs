//! What the tests of several files share, and the whole procedure on machines that are known.

pub mod division;
mod procedure;
pub mod scripted;
