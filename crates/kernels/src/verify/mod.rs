//! Fills memory before a batch, and compares what has arrived after it.

mod batch;
pub(crate) mod blocks;
mod content;
mod words;

pub(crate) use batch::batch;
