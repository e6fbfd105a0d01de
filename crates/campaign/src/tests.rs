//! What the tests of several files share, and the whole procedure on machines that are known.

mod procedure;
pub mod scripted;
