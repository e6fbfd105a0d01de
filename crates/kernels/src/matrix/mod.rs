//! What the matrix kernels share: a matrix of doubles divided into blocks over a mesh of ranks, a
//! rank's block with its guard ring, the values of its elements, and the samples. A kernel itself
//! says only what one operation does and what every rank holds after it.

mod block;
mod elements;
mod here;
mod layout;
mod mesh;
mod program;

pub use block::{Block, Edge, Local};
pub use elements::Elements;
pub use here::Here;
pub use layout::Matrix;
pub use mesh::{MeshOrder, NoMesh, ProcessorMesh};
pub use program::{MatrixKernel, MatrixProgram};
