//! The functions of an MPI, looked up once. Each call is one indirect call.

use std::ffi::{c_char, c_int, c_void};
use std::mem::transmute;

use crate::{Abi, Constant, Loaded, MpiError};

/// Longest text of `MPI_Error_string` and of `MPI_Get_processor_name`, in all families.
const TEXT_BYTES: usize = 2048;

type In = *const c_void;
type Out = *mut c_void;

/// Room for the `MPI_Status` of any family.
#[repr(C, align(8))]
pub(crate) struct Status([u8; 64]);

impl Status {
    fn number(&self, at: usize) -> c_int {
        let mut bytes = [0; size_of::<c_int>()];
        bytes.copy_from_slice(&self.0[at..at + size_of::<c_int>()]);
        c_int::from_ne_bytes(bytes)
    }

    pub(crate) fn source<A: Abi>(&self) -> c_int {
        self.number(A::CONSTANTS.source_at)
    }

    pub(crate) fn tag<A: Abi>(&self) -> c_int {
        self.number(A::CONSTANTS.tag_at)
    }
}

macro_rules! functions {
    ($($field:ident $symbol:ident ($($argument:ty),*);)*) => {
        /// The functions of the MPI standard with their types, and the constants that they take.
        pub(crate) struct Api<A: Abi> {
            pub(crate) world: A::Handle,
            byte: A::Handle,
            double: A::Handle,
            sum: A::Handle,
            no_info: A::Handle,
            pub(crate) no_request: A::Handle,
            errors_return: A::Handle,
            $($field: unsafe extern "C" fn($($argument),*) -> c_int,)*
        }

        impl<A: Abi> Api<A> {
            /// Looks them up.
            pub(crate) fn of(loaded: &Loaded) -> Result<Self, MpiError> {
                let missing = |symbol| MpiError::NoSymbol { path: loaded.path().to_owned(), symbol };
                let handle = |constant| match constant {
                    Constant::Value(value) => Ok(A::handle(value)),
                    Constant::Symbol(name) => match loaded.symbol(name) {
                        Some(at) => Ok(A::handle(at.as_ptr().addr())),
                        None => Err(missing(name.to_str().unwrap_or_default())),
                    },
                };
                let constants = A::CONSTANTS;
                Ok(Self {
                    world: handle(constants.world)?,
                    byte: handle(constants.byte)?,
                    double: handle(constants.double)?,
                    sum: handle(constants.sum)?,
                    no_info: handle(constants.no_info)?,
                    no_request: handle(constants.no_request)?,
                    errors_return: handle(constants.errors_return)?,
                    $($field: {
                        const SYMBOL: &str = stringify!($symbol);
                        const NAME: &str = concat!(stringify!($symbol), "\0");
                        let name = std::ffi::CStr::from_bytes_with_nul(NAME.as_bytes());
                        let at = name.ok().and_then(|name| loaded.symbol(name));
                        let at = at.ok_or_else(|| missing(SYMBOL))?;
                        // SAFETY: the function of this name has this type, by the standard.
                        unsafe {
                            transmute::<*mut c_void, unsafe extern "C" fn($($argument),*) -> c_int>(
                                at.as_ptr(),
                            )
                        }
                    },)*
                })
            }
        }
    };
}

functions! {
    initialized MPI_Initialized (*mut c_int);
    init_thread MPI_Init_thread (*mut c_int, Out, c_int, *mut c_int);
    finalize MPI_Finalize ();
    set_errhandler MPI_Comm_set_errhandler (A::Handle, A::Handle);
    error_string MPI_Error_string (c_int, *mut c_char, *mut c_int);
    processor_name MPI_Get_processor_name (*mut c_char, *mut c_int);
    comm_rank MPI_Comm_rank (A::Handle, *mut c_int);
    comm_size MPI_Comm_size (A::Handle, *mut c_int);
    comm_dup MPI_Comm_dup (A::Handle, *mut A::Handle);
    comm_free MPI_Comm_free (*mut A::Handle);
    comm_group MPI_Comm_group (A::Handle, *mut A::Handle);
    group_range MPI_Group_range_incl (A::Handle, c_int, *mut [c_int; 3], *mut A::Handle);
    group_free MPI_Group_free (*mut A::Handle);
    create_group MPI_Comm_create_group (A::Handle, A::Handle, c_int, *mut A::Handle);
    split_type MPI_Comm_split_type (A::Handle, c_int, c_int, A::Handle, *mut A::Handle);
    send MPI_Send (In, c_int, A::Handle, c_int, c_int, A::Handle);
    recv MPI_Recv (Out, c_int, A::Handle, c_int, c_int, A::Handle, Out);
    sendrecv MPI_Sendrecv (In, c_int, A::Handle, c_int, c_int, Out, c_int, A::Handle, c_int, c_int, A::Handle, Out);
    isend MPI_Isend (In, c_int, A::Handle, c_int, c_int, A::Handle, *mut A::Handle);
    irecv MPI_Irecv (Out, c_int, A::Handle, c_int, c_int, A::Handle, *mut A::Handle);
    wait MPI_Wait (*mut A::Handle, Out);
    test MPI_Test (*mut A::Handle, *mut c_int, Out);
    iprobe MPI_Iprobe (c_int, c_int, A::Handle, *mut c_int, Out);
    get_count MPI_Get_count (In, A::Handle, *mut c_int);
    bcast MPI_Bcast (Out, c_int, A::Handle, c_int, A::Handle);
    allreduce MPI_Allreduce (In, Out, c_int, A::Handle, A::Handle, A::Handle);
    barrier MPI_Barrier (A::Handle);
}

/// Where a message goes to or comes from: communicator, rank in it, tag.
pub(crate) type Place<A> = (<A as Abi>::Handle, c_int, c_int);

/// A number of bytes, as MPI counts.
#[inline(always)]
fn count(bytes: usize) -> Result<c_int, MpiError> {
    c_int::try_from(bytes).map_err(|_| MpiError::TooLong { bytes })
}

/// Calls with slices live as long as the call: MPI reads and writes nothing else, and keeps nothing.
impl<A: Abi> Api<A> {
    const IGNORE: Out = std::ptr::without_provenance_mut(A::CONSTANTS.ignore);

    #[inline(always)]
    fn check(&self, operation: &'static str, code: c_int) -> Result<(), MpiError> {
        if code == 0 { Ok(()) } else { Err(self.refused(operation, code)) }
    }

    #[cold]
    #[inline(never)]
    fn refused(&self, operation: &'static str, code: c_int) -> MpiError {
        // SAFETY: the function of this type.
        let text = text(|at, len| unsafe { (self.error_string)(code, at, len) });
        MpiError::Refused { operation, text, code }
    }

    /// Initialises MPI for one thread. More than that costs Open MPI 4 half as much time again.
    pub(crate) fn init(&self) -> Result<(), MpiError> {
        const SINGLE: c_int = 0;
        let (mut already, mut given) = (0, 0);
        // SAFETY: null pointers stand for the arguments of main.
        unsafe {
            self.check("MPI_Initialized", (self.initialized)(&mut already))?;
            if already != 0 {
                return Err(MpiError::Again);
            }
            let nothing = std::ptr::null_mut();
            let code = (self.init_thread)(nothing, nothing.cast(), SINGLE, &mut given);
            self.check("MPI_Init_thread", code)?;
            let code = (self.set_errhandler)(self.world, self.errors_return);
            self.check("MPI_Comm_set_errhandler", code)
        }
    }

    pub(crate) fn finalize(&self) -> Result<(), MpiError> {
        // SAFETY: no argument.
        self.check("MPI_Finalize", unsafe { (self.finalize)() })
    }

    pub(crate) fn rank(&self, of: A::Handle) -> Result<usize, MpiError> {
        let mut rank = 0;
        // SAFETY: the types of the function.
        self.check("MPI_Comm_rank", unsafe { (self.comm_rank)(of, &mut rank) })?;
        Ok(usize::try_from(rank).unwrap_or_default())
    }

    pub(crate) fn size(&self, of: A::Handle) -> Result<usize, MpiError> {
        let mut size = 0;
        // SAFETY: the types of the function.
        self.check("MPI_Comm_size", unsafe { (self.comm_size)(of, &mut size) })?;
        Ok(usize::try_from(size).unwrap_or_default())
    }

    pub(crate) fn processor(&self) -> String {
        // SAFETY: the function of this type.
        text(|at, len| unsafe { (self.processor_name)(at, len) })
    }

    /// The same ranks, with messages of their own.
    pub(crate) fn dup(&self, of: A::Handle) -> Result<A::Handle, MpiError> {
        let mut new = of;
        // SAFETY: the types of the function.
        self.check("MPI_Comm_dup", unsafe { (self.comm_dup)(of, &mut new) })?;
        Ok(new)
    }

    /// The ranks `first`, `first + stride`, …, `last` of the world, by a call of these alone.
    pub(crate) fn among(&self, [first, last, stride]: [usize; 3]) -> Result<A::Handle, MpiError> {
        let mut range = [count(first)?, count(last)?, count(stride)?];
        let (mut all, mut some, mut new) = (self.world, self.world, self.world);
        // SAFETY: the types of the functions; there is one range.
        unsafe {
            self.check("MPI_Comm_group", (self.comm_group)(self.world, &mut all))?;
            let code = (self.group_range)(all, 1, &mut range, &mut some);
            self.check("MPI_Group_range_incl", code)?;
            let code = (self.create_group)(self.world, some, 0, &mut new);
            self.check("MPI_Comm_create_group", code)?;
            let code = (self.set_errhandler)(new, self.errors_return);
            self.check("MPI_Comm_set_errhandler", code)?;
            self.check("MPI_Group_free", (self.group_free)(&mut some))?;
            self.check("MPI_Group_free", (self.group_free)(&mut all))?;
        }
        Ok(new)
    }

    /// How many ranks share this one's host.
    pub(crate) fn on_this_host(&self) -> Result<usize, MpiError> {
        let mut here = self.world;
        // SAFETY: the types of the functions.
        unsafe {
            let split = self.split_type;
            let code = split(self.world, A::CONSTANTS.shared, 0, self.no_info, &mut here);
            self.check("MPI_Comm_split_type", code)?;
            let size = self.size(here)?;
            self.check("MPI_Comm_free", (self.comm_free)(&mut here))?;
            Ok(size)
        }
    }

    #[inline(always)]
    pub(crate) fn send(&self, from: &[u8], (comm, to, tag): Place<A>) -> Result<(), MpiError> {
        let (at, len) = (from.as_ptr().cast(), count(from.len())?);
        // SAFETY: as said above.
        self.check("MPI_Send", unsafe { (self.send)(at, len, self.byte, to, tag, comm) })
    }

    #[inline(always)]
    pub(crate) fn recv(&self, into: &mut [u8], (comm, of, tag): Place<A>) -> Result<(), MpiError> {
        let (at, len) = (into.as_mut_ptr().cast(), count(into.len())?);
        // SAFETY: as said above.
        let code = unsafe { (self.recv)(at, len, self.byte, of, tag, comm, Self::IGNORE) };
        self.check("MPI_Recv", code)
    }

    #[inline(always)]
    pub(crate) fn sendrecv(
        &self,
        from: &[u8],
        into: &mut [u8],
        (comm, peer, tag): Place<A>,
    ) -> Result<(), MpiError> {
        let (from, sent) = (from.as_ptr().cast(), count(from.len())?);
        let (into, room) = (into.as_mut_ptr().cast(), count(into.len())?);
        // SAFETY: as said above.
        let code = unsafe {
            let (byte, ignore) = (self.byte, Self::IGNORE);
            (self.sendrecv)(from, sent, byte, peer, tag, into, room, byte, peer, tag, comm, ignore)
        };
        self.check("MPI_Sendrecv", code)
    }

    /// Begins to send.
    ///
    /// # Safety
    /// The `len` bytes at `from` stay until the request has ended.
    #[inline(always)]
    pub(crate) unsafe fn isend(
        &self,
        from: *const u8,
        len: usize,
        (comm, to, tag): Place<A>,
    ) -> Result<A::Handle, MpiError> {
        let (mut request, len) = (self.no_request, count(len)?);
        // SAFETY: the caller says so.
        let code =
            unsafe { (self.isend)(from.cast(), len, self.byte, to, tag, comm, &mut request) };
        self.check("MPI_Isend", code)?;
        Ok(request)
    }

    /// Begins to receive.
    ///
    /// # Safety
    /// The `len` bytes at `into` stay, and nobody else uses them, until the request has ended.
    #[inline(always)]
    pub(crate) unsafe fn irecv(
        &self,
        into: *mut u8,
        len: usize,
        (comm, of, tag): Place<A>,
    ) -> Result<A::Handle, MpiError> {
        let (mut request, len) = (self.no_request, count(len)?);
        // SAFETY: the caller says so.
        let code =
            unsafe { (self.irecv)(into.cast(), len, self.byte, of, tag, comm, &mut request) };
        self.check("MPI_Irecv", code)?;
        Ok(request)
    }

    /// Waits until a request has ended.
    #[inline(always)]
    pub(crate) fn wait(&self, mut request: A::Handle) -> Result<(), MpiError> {
        // SAFETY: a request of this library; one that has ended is no longer in use.
        self.check("MPI_Wait", unsafe { (self.wait)(&mut request, Self::IGNORE) })
    }

    /// Whether a request has ended. If it has, it is no longer in use.
    #[inline(always)]
    pub(crate) fn test(&self, request: &mut A::Handle) -> Result<bool, MpiError> {
        let mut ended = 0;
        // SAFETY: as in `wait`.
        self.check("MPI_Test", unsafe { (self.test)(request, &mut ended, Self::IGNORE) })?;
        Ok(ended != 0)
    }

    /// Looks for a message, which stays where it is.
    #[inline(always)]
    pub(crate) fn iprobe(&self, (comm, of, tag): Place<A>) -> Result<Option<Status>, MpiError> {
        let (mut there, mut status) = (0, Status([0; 64]));
        // SAFETY: there is room for a status of any family.
        let code = unsafe { (self.iprobe)(of, tag, comm, &mut there, (&raw mut status).cast()) };
        self.check("MPI_Iprobe", code)?;
        Ok((there != 0).then_some(status))
    }

    /// Bytes of the message that a status is of.
    pub(crate) fn bytes(&self, status: &Status) -> Result<usize, MpiError> {
        let mut bytes = 0;
        let at = std::ptr::from_ref(status).cast();
        // SAFETY: a status that MPI filled.
        self.check("MPI_Get_count", unsafe { (self.get_count)(at, self.byte, &mut bytes) })?;
        Ok(usize::try_from(bytes).unwrap_or_default())
    }

    #[inline(always)]
    pub(crate) fn bcast(
        &self,
        bytes: &mut [u8],
        root: c_int,
        comm: A::Handle,
    ) -> Result<(), MpiError> {
        let (at, len) = (bytes.as_mut_ptr().cast(), count(bytes.len())?);
        // SAFETY: as said above.
        self.check("MPI_Bcast", unsafe { (self.bcast)(at, len, self.byte, root, comm) })
    }

    /// Adds the doubles of all ranks, of `from` or of `into` itself, into `into`.
    ///
    /// # Safety
    /// There are so many aligned doubles at `into` and, if named, at `from`, apart from each other.
    #[inline(always)]
    pub(crate) unsafe fn allreduce(
        &self,
        from: Option<*const u8>,
        into: *mut u8,
        doubles: usize,
        comm: A::Handle,
    ) -> Result<(), MpiError> {
        let in_place = std::ptr::without_provenance(A::CONSTANTS.in_place);
        let (from, doubles) = (from.map_or(in_place, <*const u8>::cast), count(doubles)?);
        // SAFETY: the caller says so.
        let code =
            unsafe { (self.allreduce)(from, into.cast(), doubles, self.double, self.sum, comm) };
        self.check("MPI_Allreduce", code)
    }

    #[inline(always)]
    pub(crate) fn barrier(&self, comm: A::Handle) -> Result<(), MpiError> {
        // SAFETY: the types of the function.
        self.check("MPI_Barrier", unsafe { (self.barrier)(comm) })
    }
}

/// A text that a function of MPI writes.
fn text(write: impl FnOnce(*mut c_char, *mut c_int) -> c_int) -> String {
    let (mut text, mut len) = (vec![0_u8; TEXT_BYTES], 0);
    write(text.as_mut_ptr().cast(), &mut len);
    text.truncate(usize::try_from(len).unwrap_or_default());
    String::from_utf8_lossy(&text).trim_end_matches('\0').to_owned()
}
