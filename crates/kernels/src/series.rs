//! Series: kernels over sizes, ranks and variants.

use crate::{Buffers, LIBRARY, Pair, Refused, Shape};

/// How a kernel is measured over sizes and numbers of ranks.
#[derive(Clone, Copy, Debug)]
pub struct Series {
    /// Name on the command line and in run files.
    pub name: &'static str,
    /// Number of equal parts of an operation; a point's time is that of one part. 2 for half a
    /// round trip, or for half of a way there and back.
    pub parts: u32,
    /// Whether all ranks take part, rather than two.
    pub of_all: bool,
    /// Whether it is measured at each distance between two ranks.
    pub at_distances: bool,
    /// Default place of successive messages; `None` if the series leaves no choice.
    pub buffers: Option<Buffers>,
    /// Whether an operation is a window of messages, whose number is its `parts` unless a point says
    /// otherwise. Then the rate of messages is shown too.
    pub windows: bool,
    /// Unit of its sizes.
    pub extent: Extent,
    /// Bytes of a message at a point.
    pub message: fn(&AtSize) -> u64,
    /// Messages of that length that one operation moves between this number of ranks. The bandwidth
    /// counts all of them. 1 where there is a factor `bus`: the bandwidth is n/t then.
    pub moves: fn(usize) -> u64,
    /// The factor of NCCL's bus bandwidth for this number of ranks: n/t times it is what each rank's link carries at
    /// least, whatever the algorithm. `None` if the operation has none.
    pub bus: Option<fn(usize) -> f64>,
    /// Ways to carry out its operation, if there are several.
    pub variants: &'static [&'static str],
    /// Whether a library with its own message passing has the operation too.
    pub library: bool,
    /// How it is shown on one screen.
    pub look: Look,
}

/// How a series is shown on one screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// One line among several series; alone, a few rows of its curve.
    Few,
    /// As [`Look::Few`], with more rows of the curve.
    Many,
    /// As [`Look::Few`]; next to a LogP signature, the table of the signature also has the
    /// parameters of its fit.
    Headline,
    /// The curves under several loads, side by side.
    Loads,
    /// Not shown on the screen, unless the run has no other result.
    Details,
}

/// Unit of a series' sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// None: a barrier has no size. The result is a rate instead of a bandwidth.
    None,
    /// Bytes of a message.
    Bytes,
    /// Bytes of a vector of doubles.
    Doubles,
    /// Rows (and columns) of a square matrix of doubles.
    Dimension,
}

pub use bandgap_comm::DOUBLE;

impl Series {
    /// A series over bytes. A point is one operation between two ranks, which moves one message.
    pub const fn between_two(name: &'static str) -> Self {
        Self {
            name,
            parts: 1,
            of_all: false,
            at_distances: false,
            buffers: None,
            windows: false,
            extent: Extent::Bytes,
            message: |point| point.size as u64,
            moves: |_| 1,
            bus: None,
            variants: &[],
            library: false,
            look: Look::Few,
        }
    }

    /// A series over bytes. A point is one operation of all ranks, which moves `moves` messages.
    pub const fn of_all(name: &'static str, moves: fn(usize) -> u64) -> Self {
        Self { of_all: true, moves, ..Self::between_two(name) }
    }

    /// Whether its variants are algorithms for the same operation, one of which can be chosen.
    pub fn by_algorithm(&self) -> bool {
        self.of_all && !self.variants.is_empty()
    }

    /// The variant with this name.
    ///
    /// # Errors
    /// There is no such variant; the error lists those that exist.
    pub fn variant(&self, name: &str) -> Result<&'static str, Refused> {
        let library = [LIBRARY];
        let own = self.variants.iter().chain(library.iter().filter(|_| self.library));
        let found = own.into_iter().find(|variant| **variant == name);
        found.copied().ok_or_else(|| {
            let why = match self.variants {
                [] => format!("it has no algorithm {name:?}, and only one way"),
                some => format!("it has no algorithm {name:?}; use one of {}", some.join(", ")),
            };
            Refused::because(why).of(self.name)
        })
    }
}

impl Extent {
    /// Name as an axis.
    pub fn axis(self) -> &'static str {
        match self {
            Self::None | Self::Bytes | Self::Doubles => "bytes",
            Self::Dimension => "dimension",
        }
    }
}

/// A point of a series, or a layer measured together with its floors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtSize {
    /// Size, in the unit of the series; bytes of a message if there is no series.
    pub size: usize,
    /// Operations in a sample (M).
    pub messages: u32,
    /// Number of ranks that take part.
    pub ranks: usize,
    /// The two ranks, if only two take part.
    pub pair: Pair,
    /// Variant of the series; `None` is the default.
    pub variant: Option<&'static str>,
    /// Rows and columns of the mesh, if it is not the usual one.
    pub mesh: Option<[usize; 2]>,
    /// Messages in a window, if it is not the usual number.
    pub window: Option<u32>,
    /// Where successive messages lie, if the kernel leaves a choice.
    pub buffers: Buffers,
    /// What is between two stamps.
    pub shape: Shape,
}

impl AtSize {
    /// A point of `messages` messages of `bytes` bytes, between ranks 0 and 1, or among all of
    /// `ranks`.
    pub fn of(bytes: usize, messages: u32, ranks: usize) -> Self {
        let (variant, mesh, window, buffers, shape) = Default::default();
        let pair = Pair::FIRST;
        Self { size: bytes, messages, ranks, pair, variant, mesh, window, buffers, shape }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts;

    fn all() -> Vec<Series> {
        facts().iter().flat_map(|fact| fact.series).copied().collect()
    }

    #[test]
    fn ways_of_doing_one_operation_are_algorithms_and_other_variants_are_not() {
        let named = |of: fn(&Series) -> bool| -> Vec<&str> {
            all().iter().filter(|series| of(series)).map(|series| series.name).collect()
        };
        let mut algorithms = named(|of| of.by_algorithm() && of.variants.len() > 1);
        algorithms.sort_unstable();
        assert_eq!(algorithms, ["all_reduce", "barrier", "broadcast", "global_sum"]);
        // Loads beside an echo, and parts of a message's cost: none is chosen in place of another.
        let others = named(|series| !series.variants.is_empty() && !series.by_algorithm());
        assert_eq!(others.len(), 2, "{others:?}");
    }

    #[test]
    fn an_axis_is_named_after_what_a_message_grows_with() {
        // On 2 × 2 ranks; of a matrix with sides so long that the ring round a block is little.
        let message = |series: &Series, size| {
            let point = AtSize { mesh: Some([2, 2]), ..AtSize::of(size, 1, 4) };
            (series.message)(&point)
        };
        let mut axes = std::collections::BTreeSet::new();
        for series in all() {
            let axis = series.extent.axis();
            let [once, twice] = [1 << 12, 1 << 13].map(|size| message(&series, size));
            match axis {
                "bytes" if series.extent == Extent::None => assert_eq!((once, twice), (0, 0)),
                "bytes" => assert_eq!((once, twice), (1 << 12, 1 << 13), "{}", series.name),
                // Lines of a matrix, or blocks.
                "dimension" => {
                    let growth = twice as f64 / once as f64;
                    let near = |power: f64| (growth / power - 1.0).abs() < 0.01;
                    assert!(near(2.0) || near(4.0), "{}: {once} {twice}", series.name);
                }
                other => panic!("{}: {other}", series.name),
            }
            axes.insert(axis);
        }
        assert_eq!(axes.len(), 2);
    }
}
