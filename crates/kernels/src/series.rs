//! Kernels over sizes, ranks and variants.

use crate::{Buffers, Pair, Refused};

/// How a kernel is measured over sizes and numbers of ranks.
#[derive(Clone, Copy, Debug)]
pub struct Series {
    /// The series' name on the command line and in run files.
    pub name: &'static str,
    /// What its operation is, and what the time of a point is.
    pub meaning: &'static str,
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
    /// Whether sizes near powers of two are measured too, not only these.
    pub beside_powers: bool,
    /// What it is measured over.
    pub extent: Extent,
    /// Bytes of a message at a point.
    pub message: fn(&AtSize) -> u64,
    /// Messages of that length that one operation moves between so many ranks: the bandwidth counts
    /// them all.
    pub moves: fn(usize) -> u64,
    /// The ways in which its operation can be done, where there are several.
    pub variants: &'static [&'static str],
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

/// Bytes of an element of a vector or a matrix.
pub const DOUBLE: usize = size_of::<f64>();

impl Series {
    /// A series over bytes whose point is one operation between two ranks, which moves one message.
    pub const fn between_two(name: &'static str, meaning: &'static str) -> Self {
        Self {
            name,
            meaning,
            parts: 1,
            of_all: false,
            at_distances: false,
            buffers: None,
            beside_powers: true,
            extent: Extent::Bytes,
            message: |point| point.size as u64,
            moves: |_| 1,
            variants: &[],
        }
    }

    /// A series over bytes whose point is one operation of all ranks, which moves so many messages.
    pub const fn of_all(
        name: &'static str,
        meaning: &'static str,
        moves: fn(usize) -> u64,
    ) -> Self {
        Self { of_all: true, moves, ..Self::between_two(name, meaning) }
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
        let found = self.variants.iter().find(|variant| **variant == name);
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
}

impl AtSize {
    /// So many messages of so many bytes, between the first two ranks or all of `ranks`.
    pub fn of(bytes: usize, messages: u32, ranks: usize) -> Self {
        let (pair, buffers) = (Pair::FIRST, Buffers::default());
        Self { size: bytes, messages, ranks, pair, variant: None, mesh: None, buffers }
    }
}
