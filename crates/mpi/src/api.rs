//! The functions of an MPI, looked up once. Each call is one indirect call.

use std::cell::Cell;
use std::ffi::{c_char, c_int, c_void};
use std::mem::transmute;

use crate::load::text;
use crate::{Constant, Family, Handle, Loaded, MpiError, Result};

pub(crate) type In = *const c_void;
pub(crate) type Out = *mut c_void;

/// In place of the code of a function `or missing` that the library does not have. MPI's own codes are not below 0.
const MISSING: c_int = c_int::MIN;

macro_rules! functions {
    ($($function:ident $symbol:ident ($($name:ident: $type:ty),*) $(or $missing:ident)?;)*) => {
        /// The functions of the MPI standard with their types, and the constants that they take.
        pub(crate) struct Api {
            pub(crate) world: Handle,
            pub(crate) byte: Handle,
            pub(crate) double: Handle,
            pub(crate) sum: Handle,
            pub(crate) errors_return: Handle,
            /// `MPI_STATUS_IGNORE`.
            pub(crate) ignore: Out,
            /// `MPI_ANY_SOURCE`.
            pub(crate) any_source: c_int,
            /// Index of the source in a status.
            source_at: usize,
            /// Number of bits above those that the library writes to a handle.
            above: u32,
            /// In cells, since stamps change some between batches.
            $($function: Cell<unsafe extern "C" fn($($type),*) -> c_int>,)*
        }

        impl Api {
            /// Looks up all functions and constants.
            pub(crate) fn of(loaded: &Loaded) -> Result<Self> {
                let handle = |constant| match constant {
                    Constant::Value(value) => Ok(value),
                    Constant::Symbol(name) => loaded.symbol(name).map(|at| at.as_ptr().addr()),
                };
                let constants = loaded.family.constants();
                Ok(Self {
                    world: handle(constants.world)?,
                    byte: handle(constants.byte)?,
                    double: handle(constants.double)?,
                    sum: handle(constants.sum)?,
                    errors_return: handle(constants.errors_return)?,
                    ignore: std::ptr::without_provenance_mut(constants.ignore),
                    any_source: constants.any_source,
                    source_at: constants.source_at / size_of::<c_int>(),
                    above: if loaded.family == Family::Mpich { 32 } else { 0 },
                    $($function: {
                        #[allow(dead_code, reason = "most functions must be there")]
                        extern "C" fn missing($(_: $type),*) -> c_int {
                            MISSING
                        }
                        match loaded.symbol(stringify!($symbol)) {
                            $(Err(_) => Cell::new($missing),)?
                            // SAFETY: the standard gives the function of this name this type; for
                            // handles see `Handle`.
                            at => Cell::new(unsafe {
                                transmute::<Out, unsafe extern "C" fn($($type),*) -> c_int>(at?.as_ptr())
                            }),
                        }
                    },)*
                })
            }

            $(
                #[inline(always)]
                #[allow(dead_code, clippy::too_many_arguments, reason = "they are MPI's")]
                pub(crate) unsafe fn $function(&self, $($name: $type),*) -> Result<()> {
                    // SAFETY: the caller satisfies the standard's conditions for this function.
                    let code = unsafe { self.$function.get()($($name),*) };
                    if code == 0 { Ok(()) } else { Err(self.refused(stringify!($symbol), code)) }
                }
            )*
        }
    };
}

functions! {
    init_thread MPI_Init_thread (count: *mut c_int, arguments: Out, level: c_int, given: *mut c_int);
    finalize MPI_Finalize ();
    set_errhandler MPI_Comm_set_errhandler (comm: Handle, handler: Handle);
    error_string MPI_Error_string (code: c_int, at: *mut c_char, len: *mut c_int);
    comm_rank MPI_Comm_rank (comm: Handle, rank: *mut c_int);
    comm_size MPI_Comm_size (comm: Handle, size: *mut c_int);
    comm_dup MPI_Comm_dup (comm: Handle, new: *mut Handle);
    comm_group MPI_Comm_group (comm: Handle, group: *mut Handle);
    group_range MPI_Group_range_incl (of: Handle, count: c_int, ranges: *mut [c_int; 3], new: *mut Handle);
    group_free MPI_Group_free (group: *mut Handle);
    create_group MPI_Comm_create_group (comm: Handle, group: Handle, tag: c_int, new: *mut Handle);
    send MPI_Send (from: In, len: c_int, of: Handle, peer: c_int, tag: c_int, comm: Handle);
    recv MPI_Recv (into: Out, len: c_int, of: Handle, peer: c_int, tag: c_int, comm: Handle, status: Out);
    sendrecv MPI_Sendrecv (
        from: In, sent: c_int, of: Handle, to: c_int, tag: c_int,
        into: Out, room: c_int, with: Handle, peer: c_int, other: c_int, comm: Handle, status: Out
    );
    isend MPI_Isend (from: In, len: c_int, of: Handle, peer: c_int, tag: c_int, comm: Handle, new: *mut Handle);
    irecv MPI_Irecv (into: Out, len: c_int, of: Handle, peer: c_int, tag: c_int, comm: Handle, new: *mut Handle);
    wait MPI_Wait (request: *mut Handle, status: Out);
    waitall MPI_Waitall (count: c_int, requests: *mut Handle, statuses: Out);
    test MPI_Test (request: *mut Handle, ended: *mut c_int, status: Out);
    iprobe MPI_Iprobe (peer: c_int, tag: c_int, comm: Handle, there: *mut c_int, status: Out);
    bcast MPI_Bcast (bytes: Out, len: c_int, of: Handle, root: c_int, comm: Handle);
    allreduce MPI_Allreduce (from: In, into: Out, count: c_int, of: Handle, sum: Handle, comm: Handle);
    allgather MPI_Allgather (
        from: In, sent: c_int, of: Handle, into: Out, each: c_int, with: Handle, comm: Handle
    ) or missing;
    alltoall MPI_Alltoall (
        from: In, sent: c_int, of: Handle, into: Out, each: c_int, with: Handle, comm: Handle
    ) or missing;
    reduce_scatter MPI_Reduce_scatter (
        from: In, into: Out, counts: *const c_int, of: Handle, sum: Handle, comm: Handle
    ) or missing;
    reduce MPI_Reduce (
        from: In, into: Out, count: c_int, of: Handle, sum: Handle, root: c_int, comm: Handle
    ) or missing;
    gather MPI_Gather (
        from: In, sent: c_int, of: Handle, into: Out, each: c_int, with: Handle, root: c_int, comm: Handle
    ) or missing;
    scatter MPI_Scatter (
        from: In, sent: c_int, of: Handle, into: Out, each: c_int, with: Handle, root: c_int, comm: Handle
    ) or missing;
    barrier MPI_Barrier (comm: Handle);
}

/// A number of bytes in MPI's type for counts.
#[inline(always)]
pub(crate) fn count(bytes: usize) -> Result<c_int> {
    c_int::try_from(bytes).map_err(|_| MpiError::TooLong(bytes))
}

/// Operations that several parts of this crate use. Slices outlive the call, and MPI keeps no
/// pointer to them.
impl Api {
    #[cold]
    #[inline(never)]
    fn refused(&self, operation: &'static str, code: c_int) -> MpiError {
        if code == MISSING {
            return MpiError::Missing(operation);
        }
        // SAFETY: as `text` says.
        let text = text(|at, len| unsafe { self.error_string.get()(code, at, len) });
        MpiError::Refused { operation, text, code }
    }

    /// The words through which `MPI_Send`, `MPI_Isend`, `MPI_Recv` and `MPI_Waitall` are called.
    pub(crate) fn stamped(&self) -> [*mut usize; 4] {
        let Self { send, isend, recv, waitall, .. } = self;
        [send.as_ptr().cast(), isend.as_ptr().cast(), recv.as_ptr().cast(), waitall.as_ptr().cast()]
    }

    /// Handles that the library wrote, as an array of its own: side by side, or two in each `Handle`.
    #[inline(always)]
    pub(crate) fn side_by_side(&self, made: impl Iterator<Item = Handle>, into: &mut Vec<Handle>) {
        into.clear();
        if self.above == 0 {
            return into.extend(made);
        }
        let mut halves = made.map(|handle| handle & (Handle::MAX >> self.above));
        while let Some(low) = halves.next() {
            into.push(low | halves.next().unwrap_or(0) << self.above);
        }
    }

    /// A handle that the library wrote, in the form that it takes as an argument: an `int` with its
    /// sign.
    pub(crate) fn argument(&self, made: Handle) -> Handle {
        (((made << self.above) as isize) >> self.above) as Handle
    }

    /// Looks for a message from any rank without receiving it. Returns its sender.
    #[inline(always)]
    pub(crate) fn probe(&self, comm: Handle, tag: c_int) -> Result<Option<c_int>> {
        let (mut there, mut status) = (0, Status([0; 16]));
        let at = (&raw mut status).cast();
        // SAFETY: there is room for a status of any family.
        unsafe { self.iprobe(self.any_source, tag, comm, &mut there, at)? };
        Ok((there != 0).then_some(status.0[self.source_at]))
    }
}

/// Room for the `MPI_Status` of any family.
#[repr(C, align(8))]
struct Status([c_int; 16]);
