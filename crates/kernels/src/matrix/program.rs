//! The common part of all kernels on a matrix.

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

/// What one operation on a matrix does, and what every rank holds after it.
pub trait MatrixProgram: Copy + fmt::Debug + PartialEq + Eq + 'static {
    /// Name in orders.
    const NAME: &'static str;

    /// Operations for each of a sample's M messages: 2 if an operation is followed by one that goes
    /// back.
    const PARTS: u32 = 1;

    /// Whether the operation sends from a separate array, which no message changes.
    const SENDS: bool = true;

    /// Elements that one operation moves between ranks.
    fn moves(matrix: Matrix) -> u64;

    /// Bytes of buffers that the operation needs.
    fn scratch(_here: &Here) -> usize {
        0
    }

    /// Mesh position of the rank that times.
    fn timed(_mesh: ProcessorMesh) -> (usize, usize) {
        (0, 0)
    }

    /// A rank that this one exchanges messages with; the rank itself if there is none.
    fn partner(here: &Here) -> Rank;

    /// Adds what a rank must hold before and after operation `message` of a sample.
    fn expects(here: &Here, places: &Places, message: u64, expects: &mut Expects);

    /// Carries out operation `message` of a sample. Its arrays lie in places number `message`.
    ///
    /// # Errors
    /// A peer is gone, or a deadline passed.
    fn once<C: Comm>(comm: &mut C, here: &Here, places: &Places, message: u64) -> Result<()>;
}

/// M operations on a matrix, or M there and M back ([`MatrixProgram::PARTS`]): t(N), where N is the
/// number of its rows and columns. The bandwidth counts all bytes that an operation moves between
/// ranks.
///
/// Marks of the rank that times, in each sample: begin, end, end. A barrier precedes the first
/// sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound = "")]
pub struct MatrixKernel<P> {
    /// The matrix, and its mesh.
    pub matrix: Matrix,
    /// Operations in a sample (M), or half of them.
    pub messages: u32,
    #[serde(skip)]
    program: PhantomData<P>,
}

impl<P> MatrixKernel<P> {
    /// `messages` operations in a sample, on `matrix`.
    pub fn new(matrix: Matrix, messages: u32) -> Self {
        Self { matrix, messages, program: PhantomData }
    }
}

impl<P: MatrixProgram> MatrixKernel<P> {
    /// Operations in a sample.
    fn operations(&self) -> u32 {
        self.messages.saturating_mul(P::PARTS)
    }
}

impl<P: MatrixProgram> Kernel for MatrixKernel<P> {
    const NAME: &'static str = P::NAME;
    const SERIES: &'static [Series] = &[Series {
        parts: P::PARTS,
        extent: Extent::Dimension,
        // Messages differ in length; this is the mean number of bytes that a rank sends in an
        // operation.
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
        // If no message is exchanged, the first other rank.
        let other = if timed == 0 { 1.min(self.matrix.mesh.size() - 1) } else { 0 };
        [timed, if partner == timed { other } else { partner }]
    }

    fn needs(&self, _size: usize) -> Needs {
        // All blocks have the same size.
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
