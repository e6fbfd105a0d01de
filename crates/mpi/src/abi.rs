//! Tables of what differs between the families of MPI's binary interface.
//!
//! Source: the header files of MPICH 4.0 and 5.0, Open MPI 4.1 and 5.0, and of the standard (MPI 5.0, chapter 20).
//! A test compares the tables with the installed headers.

use std::ffi::c_int;

/// A family of libraries with the same binary interface: a program compiled for one can use the
/// others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// MPICH and libraries with its interface: Intel MPI, MVAPICH, Cray MPICH.
    Mpich,
    /// Open MPI.
    OpenMpi,
    /// The interface of the standard itself, since MPI 5.
    Mpi5,
}

/// A constant of a type such as `MPI_Comm` or `MPI_Datatype`.
pub enum Constant {
    /// Its value.
    Value(usize),
    /// The address of this symbol.
    Symbol(&'static str),
}

use Constant::{Symbol, Value};

/// A family's constants, as far as this crate uses them.
pub struct Constants {
    /// `MPI_COMM_WORLD`.
    pub world: Constant,
    /// `MPI_BYTE`.
    pub byte: Constant,
    /// `MPI_DOUBLE`.
    pub double: Constant,
    /// `MPI_SUM`.
    pub sum: Constant,
    /// `MPI_ERRORS_RETURN`.
    pub errors_return: Constant,
    /// `MPI_STATUS_IGNORE` and `MPI_STATUSES_IGNORE`.
    pub ignore: usize,
    /// `MPI_ANY_SOURCE`.
    pub any_source: c_int,
    /// Offset of `MPI_SOURCE` in `MPI_Status`.
    pub source_at: usize,
}

/// `MPI_Comm`, `MPI_Datatype`, `MPI_Request` and the like, of any family: a pointer, or an `int` in
/// its lower half.
///
/// Assumes what all 64-bit little-endian processors under Linux share: an argument takes a register
/// or eight bytes of stack, in which an `int` fills the lower half, with its sign above; and an
/// `int` that is written to a handle fills its lower half.
pub type Handle = usize;

const _: () = assert!(cfg!(all(target_pointer_width = "64", target_endian = "little")));

/// [`Family::Mpich`]: handles are `int`.
const MPICH: Constants = Constants {
    world: Value(0x4400_0000),
    byte: Value(0x4c00_010d),
    double: Value(0x4c00_080b),
    sum: Value(0x5800_0003),
    errors_return: Value(0x5400_0001),
    ignore: 1,
    any_source: -2,
    source_at: 8,
};

/// [`Family::OpenMpi`].
const OPEN_MPI: Constants = Constants {
    world: Symbol("ompi_mpi_comm_world"),
    byte: Symbol("ompi_mpi_byte"),
    double: Symbol("ompi_mpi_double"),
    sum: Symbol("ompi_mpi_op_sum"),
    errors_return: Symbol("ompi_mpi_errors_return"),
    ignore: 0,
    any_source: -1,
    source_at: 0,
};

/// [`Family::Mpi5`].
const MPI_5: Constants = Constants {
    world: Value(0x101),
    byte: Value(0x247),
    double: Value(0x214),
    sum: Value(0x21),
    errors_return: Value(0x143),
    ..OPEN_MPI
};

impl Family {
    /// The family's constants.
    pub fn constants(self) -> Constants {
        match self {
            Self::Mpich => MPICH,
            Self::OpenMpi => OPEN_MPI,
            Self::Mpi5 => MPI_5,
        }
    }
}
