//! The options of series.

use bandgap_campaign::series::Points;
use bandgap_campaign::sizes::Sizes;
use bandgap_kernels::{Buffers, LIBRARY, Shape, facts};
use bandgap_units::Bytes;
use clap::Args;
use clap::builder::PossibleValuesParser;

/// The lengths of messages.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Messages")]
pub struct Lengths {
    /// Message sizes: 8,64KiB,1MiB, 0:4MiB (powers of two), 1:4MiB:x4, 1000:8000:+1000 [default: 0:4MiB]
    #[arg(long, value_name = "SIZES")]
    pub sizes: Option<Sizes>,
    /// Measure 3 bytes below and above powers of two as well
    #[arg(long, hide_short_help = true)]
    pub perturb: bool,
    /// Where the lines of the fit end: the greatest size of each but the last [default: found]
    #[arg(long, value_name = "SIZES", value_delimiter = ',')]
    pub breaks: Vec<Bytes>,
}

/// The messages of a series: lengths, ranks and buffers.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Messages")]
pub struct Series {
    #[command(flatten)]
    pub lengths: Lengths,
    /// The two ranks [default: 0,1]
    #[arg(long, value_name = "A,B", value_parser = pair)]
    pub between: Option<[usize; 2]>,
    /// Where messages between two ranks lie: one array that travels, a place to send from and one
    /// to receive into, or new places each time [default: same for comms1 unless --shape osu, else separate]
    #[arg(long, value_name = "same|separate|fresh", hide_short_help = true)]
    pub buffers: Option<Buffers>,
    /// Stamps around the operations of a sample, or as the OSU benchmarks have it: around each, with separate buffers
    #[arg(long, value_name = "batch|osu", default_value_t, hide_short_help = true)]
    pub shape: Shape,
}

/// The algorithms and meshes of CoMet's kernels.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Messages")]
pub struct Ways {
    /// The algorithm of a collective, or all of them [default: the fastest of a first look]
    #[arg(long, value_name = "NAME|all", value_parser = PossibleValuesParser::new(algorithms()))]
    pub algorithm: Option<String>,
    /// Rows and columns of the mesh that the ranks are [default: square, or twice as long as wide]
    #[arg(long, value_name = "RxC", value_parser = mesh)]
    pub mesh: Option<[usize; 2]>,
    /// Messages that stream and bidirectional begin before they wait [default: 64]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=MOST_WINDOW))]
    pub window: Option<u32>,
    /// Rows of the matrices, from the least to the greatest [default: 64:1024]
    #[arg(long, value_name = "FROM:TO", value_parser = dimensions)]
    pub dimension: Option<Dimensions>,
}

/// Rows of matrices, the least and the greatest.
type Dimensions = [u32; 2];

/// Most messages in a window.
const MOST_WINDOW: i64 = 1 << 16;
/// Most ranks of a simulated machine.
const MOST_RANKS: usize = 1 << 20;

impl Series {
    /// The points of series; with `library`, also those of a library's own collectives.
    pub fn points(&self, ways: &Ways, library: bool) -> Points {
        Points {
            sizes: self.lengths.sizes.clone().unwrap_or_default(),
            perturb: self.lengths.perturb,
            buffers: self.buffers,
            shape: self.shape,
            algorithm: ways.algorithm.clone(),
            mesh: ways.mesh,
            window: ways.window,
            dimensions: ways.dimension,
            pair: self.between,
            library,
        }
    }
}

/// Each distinct element once, in order.
pub fn once<T: PartialEq + Copy>(all: &[T]) -> Vec<T> {
    let mut kept = Vec::new();
    for one in all {
        if !kept.contains(one) {
            kept.push(*one);
        }
    }
    kept
}

/// The algorithms of all collectives, and the word for all of them.
fn algorithms() -> Vec<&'static str> {
    let mut names = vec!["all"];
    for fact in facts() {
        for series in fact.series.iter().filter(|series| series.by_algorithm()) {
            names.extend(series.library.then_some(LIBRARY));
            names.extend(series.variants);
        }
    }
    once(&names)
}

/// Two ranks as typed: `0,1`.
fn pair(text: &str) -> Result<[usize; 2], String> {
    let rank = |text: &str| text.trim().parse().ok().filter(|rank| *rank < MOST_RANKS);
    let pair = text.split_once(',').and_then(|(a, b)| Some([rank(a)?, rank(b)?]));
    pair.ok_or_else(|| format!("write two ranks, e.g. 0,1, not {text}"))
}

/// A mesh as typed: `4x2`.
fn mesh(text: &str) -> Result<[usize; 2], String> {
    let side = |text: &str| text.trim().parse().ok().filter(|side| (1..=MOST_RANKS).contains(side));
    let mesh = text.split_once(['x', '×']).and_then(|(a, b)| Some([side(a)?, side(b)?]));
    mesh.ok_or_else(|| format!("write rows and columns, e.g. 4x2, not {text}"))
}

/// Dimensions as typed: `64:1024`, or one.
fn dimensions(text: &str) -> Result<Dimensions, String> {
    let rows = |text: &str| text.trim().parse().ok().filter(|rows| *rows > 0);
    let (from, to) = text.split_once(':').unwrap_or((text, text));
    match (rows(from), rows(to)) {
        (Some(from), Some(to)) if from <= to => Ok([from, to]),
        _ => Err(format!("write numbers of rows, e.g. 64:1024, not {text}")),
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
        assert_eq!(dimensions("8"), Ok([8, 8]));
        for wrong in ["", "0", "16:8", "8:", "a:b"] {
            assert!(dimensions(wrong).is_err(), "{wrong}");
        }
    }
}
