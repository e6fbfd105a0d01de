//! The options of series of message passing, and what is typed for them.

use std::collections::BTreeSet;

use bandgap_kernels::{Buffers, facts};
use bandgap_launch::Failure;
use clap::Args;
use clap::builder::PossibleValuesParser;

use crate::args::SizeRange;

/// What messages are sent, and between whom.
#[derive(Clone, Debug, Default, Args)]
pub struct Comms {
    /// Message sizes, from the least to the greatest, of 1GiB at most [default: 0:4MiB]
    #[arg(long, value_name = "FROM:TO")]
    pub sizes: Option<SizeRange>,
    /// The two ranks [default: 0,1]
    #[arg(long, value_name = "A,B", value_parser = pair)]
    pub between: Option<[usize; 2]>,
    /// Where messages between two ranks lie: one array that travels, a place to send from and one
    /// to receive into, or new places each time [default: same for comms1, else separate]
    #[arg(long, value_name = "same|separate|fresh")]
    pub buffers: Option<Buffers>,
}

/// How CoMet's kernels are done.
#[derive(Clone, Debug, Default, Args)]
pub struct Ways {
    /// The algorithm of a collective, or all of them [default: the fastest of a first look]
    #[arg(long, value_name = "NAME|all", value_parser = PossibleValuesParser::new(algorithms()))]
    pub algorithm: Option<String>,
    /// Rows and columns of the mesh that the ranks are [default: square, or twice as long as wide]
    #[arg(long, value_name = "RxC", value_parser = mesh)]
    pub mesh: Option<[usize; 2]>,
    /// Rows of the matrices, from the least to the greatest [default: 64:1024]
    #[arg(long, value_name = "FROM:TO", value_parser = dimensions)]
    pub dimension: Option<Dimensions>,
    /// Lengths of the vectors of overlap's computation, in elements
    /// [default: 0, 1024, 8192 and 65536]
    #[arg(long, value_name = "V,…", value_delimiter = ',')]
    pub vectors: Vec<u32>,
}

/// Rows of matrices, from the least to the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimensions(pub(super) u32, pub(super) u32);

impl Default for Dimensions {
    fn default() -> Self {
        Self(64, 1024)
    }
}

impl Comms {
    /// The least and the greatest of the message sizes.
    ///
    /// # Errors
    /// The greatest is longer than a message may be.
    pub(super) fn bounds(&self) -> Result<(u32, u32), Failure> {
        self.sizes.map_or(Ok(USUAL), SizeRange::bounds)
    }
}

/// The sizes where none are named.
const USUAL: (u32, u32) = (0, 4 << 20);

/// The algorithms of all collectives, and the word for all of them.
fn algorithms() -> Vec<&'static str> {
    let mut names = vec!["all"];
    for fact in facts() {
        for series in fact.series.iter().filter(|series| series.by_algorithm()) {
            names.extend(series.variants);
        }
    }
    let mut known = BTreeSet::new();
    names.retain(|name| known.insert(*name));
    names
}

/// More ranks than any machine has, simulated ones included.
const MOST: usize = 1 << 24;

/// Two ranks as typed: `0,1`.
fn pair(text: &str) -> Result<[usize; 2], String> {
    let rank = |text: &str| text.trim().parse().ok().filter(|rank| *rank < MOST);
    let pair = text.split_once(',').and_then(|(a, b)| Some([rank(a)?, rank(b)?]));
    pair.ok_or_else(|| format!("it must be two ranks, as in 0,1: {text}"))
}

/// A mesh as typed: `4x2`.
fn mesh(text: &str) -> Result<[usize; 2], String> {
    let side = |text: &str| text.trim().parse().ok().filter(|side| (1..=MOST).contains(side));
    let mesh = text.split_once(['x', '×']).and_then(|(a, b)| Some([side(a)?, side(b)?]));
    mesh.ok_or_else(|| format!("it must be rows and columns, as in 4x2: {text}"))
}

/// Dimensions as typed: `64:1024`, or one.
fn dimensions(text: &str) -> Result<Dimensions, String> {
    let rows = |text: &str| text.trim().parse().ok().filter(|rows| *rows > 0);
    let (from, to) = text.split_once(':').unwrap_or((text, text));
    match (rows(from), rows(to)) {
        (Some(from), Some(to)) if from <= to => Ok(Dimensions(from, to)),
        _ => Err(format!("it must be numbers of rows, as in 64:1024: {text}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meshes_and_dimensions_are_numbers_that_can_be() {
        assert_eq!((mesh("4x2"), mesh("1x9")), (Ok([4, 2]), Ok([1, 9])));
        for wrong in ["", "4", "0x2", "4x", "x", "2x2x2", "-1x2"] {
            assert!(mesh(wrong).is_err(), "{wrong}");
        }
        assert_eq!(dimensions("8"), Ok(Dimensions(8, 8)));
        assert_eq!(dimensions("8:16"), Ok(Dimensions(8, 16)));
        for wrong in ["", "0", "16:8", "8:", "a:b"] {
            assert!(dimensions(wrong).is_err(), "{wrong}");
        }
    }
}
