//! Kernels over sizes, ranks and variants.

use crate::{Buffers, LIBRARY, Pair, Refused, Shape};

/// How a kernel is measured over sizes and numbers of ranks.
#[derive(Clone, Copy, Debug)]
pub struct Series {
    /// The series' name on the command line and in run files.
    pub name: &'static str,
    /// Equal parts of one operation, of which the time of a point is one: 2 where that is half of a
    /// round trip, or of a way there and back.
    pub parts: u32,
    /// Whether all ranks take part, rather than two.
    pub of_all: bool,
    /// Whether it is measured at each distance that there is between two ranks.
    pub at_distances: bool,
    /// Where successive messages lie, unless another place is asked for; none where it leaves no
    /// choice.
    pub buffers: Option<Buffers>,
    /// What it is measured over.
    pub extent: Extent,
    /// Bytes of a message at a point.
    pub message: fn(&AtSize) -> u64,
    /// Messages of that length that one operation moves between so many ranks: the bandwidth counts
    /// them all.
    pub moves: fn(usize) -> u64,
    /// The ways in which its operation can be done, where there are several.
    pub variants: &'static [&'static str],
    /// Whether a library that has message passing of its own has the operation too.
    pub library: bool,
}

/// What a series is measured over, beside numbers of ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Nothing: a barrier has no size. The result is a rate instead of a bandwidth.
    None,
    /// Bytes of a message.
    Bytes,
    /// Elements of a vector of doubles.
    Doubles,
    /// Rows and columns of a square matrix of doubles.
    Dimension,
}

pub use bandgap_comm::DOUBLE;

impl Series {
    /// A series over bytes whose point is one operation between two ranks, which moves one message.
    pub const fn between_two(name: &'static str) -> Self {
        Self {
            name,
            parts: 1,
            of_all: false,
            at_distances: false,
            buffers: None,
            extent: Extent::Bytes,
            message: |point| point.size as u64,
            moves: |_| 1,
            variants: &[],
            library: false,
        }
    }

    /// A series over bytes whose point is one operation of all ranks, which moves so many messages.
    pub const fn of_all(name: &'static str, moves: fn(usize) -> u64) -> Self {
        Self { of_all: true, moves, ..Self::between_two(name) }
    }

    /// Whether its variants are algorithms for one operation, of which one may be chosen.
    pub fn by_algorithm(&self) -> bool {
        self.of_all && !self.variants.is_empty()
    }

    /// The variant of this name, as the series has it.
    ///
    /// # Errors
    /// It has none of this name; the error lists those that it has.
    pub fn variant(&self, name: &str) -> Result<&'static str, Refused> {
        let library = [LIBRARY];
        let own = self.variants.iter().chain(library.iter().filter(|_| self.library));
        let found = own.into_iter().find(|variant| **variant == name);
        found.copied().ok_or_else(|| {
            let why = match self.variants {
                [] => format!("it is done in one way, and none is called {name}"),
                some => format!("it is not done by {name}; there are {}", some.join(", ")),
            };
            Refused::because(why).of(self.name)
        })
    }
}

impl Extent {
    /// Its name as an axis.
    pub fn axis(self) -> &'static str {
        match self {
            Self::None | Self::Bytes => "bytes",
            Self::Doubles => "elements",
            Self::Dimension => "dimension",
        }
    }
}

/// A point of a series, or a layer beside its floors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtSize {
    /// Its place on the series' extent; without one, bytes of a message.
    pub size: usize,
    /// Operations of a sample (M).
    pub messages: u32,
    /// Number of ranks that take part.
    pub ranks: usize,
    /// Between which ranks, where two take part.
    pub pair: Pair,
    /// Which of the series' variants; `None` is the usual one.
    pub variant: Option<&'static str>,
    /// Rows and columns of the mesh that the ranks are, where it is not the usual one.
    pub mesh: Option<[usize; 2]>,
    /// Where successive messages lie, if the kernel leaves a choice.
    pub buffers: Buffers,
    /// What lies between two stamps.
    pub shape: Shape,
}

impl AtSize {
    /// So many messages of so many bytes, between the first two ranks or all of `ranks`.
    pub fn of(bytes: usize, messages: u32, ranks: usize) -> Self {
        let (variant, mesh, buffers, shape) = Default::default();
        Self { size: bytes, messages, ranks, pair: Pair::FIRST, variant, mesh, buffers, shape }
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
        let mut algorithms = named(Series::by_algorithm);
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
                "elements" => assert_eq!((once, twice), (8 << 12, 8 << 13), "{}", series.name),
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
        assert_eq!(axes.len(), 3);
    }
}
