//! The kernels on a matrix, as one.

use std::fmt;
use std::marker::PhantomData;

use super::mesh::ProcessorMesh;
use bandgap_comm::{Comm, Rank, Result};
use serde::{Deserialize, Serialize};

use super::{Here, Matrix};
use crate::programs::by_rank;
use crate::{
    AtSize, DOUBLE, Expects, Extent, Kernel, Needs, OverComm, Places, Refused, Round, Seat, Series,
    messages_in_range,
};

/// What one operation on a matrix does, and what every rank has after it.
pub trait MatrixProgram: Copy + fmt::Debug + PartialEq + Eq + 'static {
    /// Its name in orders.
    const NAME: &'static str;

    /// Operations that follow one another for each of M: 2 where one goes there and the next one back.
    const PARTS: u32 = 1;

    /// Whether it sends from an array of its own, which no message changes.
    const SENDS: bool = true;

    /// Elements that one operation moves between ranks.
    fn moves(matrix: Matrix) -> u64;

    /// Bytes of buffers.
    fn scratch(_here: &Here) -> usize {
        0
    }

    /// The position in the mesh of the rank that times.
    fn timed(_mesh: ProcessorMesh) -> (usize, usize) {
        (0, 0)
    }

    /// A rank that the one here exchanges messages with, if there is one.
    fn partner(here: &Here) -> Rank;

    /// What a rank must have before and after operation number `message` of a sample.
    fn expects(here: &Here, places: &Places, message: u64, expects: &mut Expects);

    /// One operation, number `message` of a sample. The arrays of operation i lie in the places of
    /// number i.
    ///
    /// # Errors
    /// A peer is gone, or a deadline passed.
    fn once<C: Comm>(comm: &mut C, here: &Here, places: &Places, message: u64) -> Result<()>;
}

/// M operations on a matrix, or M there and M back ([`MatrixProgram::PARTS`]), t(N) with N = rows and columns of it. Its bandwidth counts all bytes that
/// an operation moves between ranks.
///
/// Marks of the rank that times, in each sample: begin, end, end. A barrier comes before the first
/// sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound = "")]
pub struct MatrixKernel<P> {
    /// The matrix, and the mesh that it is divided over.
    pub matrix: Matrix,
    /// Operations of a sample (M), or half of them.
    pub messages: u32,
    #[serde(skip)]
    program: PhantomData<P>,
}

impl<P> MatrixKernel<P> {
    /// So many operations on a matrix.
    pub fn new(matrix: Matrix, messages: u32) -> Self {
        Self { matrix, messages, program: PhantomData }
    }
}

impl<P: MatrixProgram> MatrixKernel<P> {
    /// Operations of a sample.
    fn operations(&self) -> u32 {
        self.messages.saturating_mul(P::PARTS)
    }
}

impl<P: MatrixProgram> Kernel for MatrixKernel<P> {
    const NAME: &'static str = P::NAME;
    const SERIES: &'static [Series] = &[Series {
        parts: P::PARTS,
        extent: Extent::Dimension,
        // Messages differ in length: this is what a rank sends in an operation, on average.
        message: |point| {
            let matrix = Matrix::at(point);
            let size = matrix.mesh.size();
            let moved = matrix.check(size).map_or(0, |()| P::moves(matrix));
            (moved * DOUBLE as u64).checked_div(size as u64).unwrap_or(0)
        },
        ..Series::of_all(P::NAME, |ranks| ranks as u64)
    }];

    fn at(point: AtSize) -> Option<Self> {
        Some(Self::new(Matrix::at(&point), point.messages))
    }

    fn check(&self, size: usize) -> Result<(), Refused> {
        messages_in_range(self.operations(), 0)?;
        self.matrix.check(size)
    }

    fn timed(&self, _size: usize) -> [Rank; 2] {
        let (row, column) = P::timed(self.matrix.mesh);
        let timed = self.matrix.mesh.rank(row, column);
        let partner = P::partner(&Here::new(self.matrix, timed));
        // Where none exchanges anything, the first that there is.
        let other = if timed == 0 { 1.min(self.matrix.mesh.size() - 1) } else { 0 };
        [timed, if partner == timed { other } else { partner }]
    }

    fn needs(&self, _size: usize) -> Needs {
        // All blocks are of one size.
        let here = Here::new(self.matrix, 0);
        let messages = self.operations().into();
        Needs {
            bytes: here.block.bytes(),
            sends: if P::SENDS { messages } else { 0 },
            receives: messages,
            scratch: P::scratch(&here),
            ..Needs::default()
        }
    }

    fn expects(&self, seat: &Seat) -> Expects {
        let here = Here::new(self.matrix, seat.rank);
        let mut expects = Expects::default();
        for message in 0..self.operations().into() {
            P::expects(&here, &seat.places, message, &mut expects);
        }
        expects
    }
}

impl<P: MatrixProgram> OverComm for MatrixKernel<P> {
    #[inline(never)]
    fn run<C: Comm>(&self, comm: &mut C, places: &Places, round: Round) -> Result<()> {
        let (here, places) = (Here::new(self.matrix, comm.rank()), *places);
        let [timer, _] = self.timed(comm.size());
        comm.barrier()?;
        by_rank(comm, timer, round.samples, self.operations(), |comm, message| {
            P::once(comm, &here, &places, message)
        })
    }
}
