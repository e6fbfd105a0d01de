//! The functions that stand in the place of others. Each is compiled for every kind of stamp, and those of UCT's operations
//! for every interface, so that there is no branch and no search on the way.

use std::ffi::{c_int, c_uint, c_void};
use std::mem::transmute_copy;
use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize};

use crate::stamp::{Place, SUMS, add, kind, stamp};

type Out = *mut c_void;
type In = *const c_void;

/// Most interfaces of UCT that are stamped.
pub(crate) const INTERFACES: usize = 8;
/// The operations in an interface's table: am_short, am_short_iov, am_bcopy, am_zcopy.
pub(crate) const OPERATIONS: [usize; 4] = [6, 7, 8, 9];
/// Number of kinds.
const KINDS: usize = 10;

/// The functions that are called through words of their own, in this order: `MPI_Send`, `MPI_Isend`, `MPI_Recv`,
/// `MPI_Waitall`, `ucp_tag_send_nbx`, `ucp_tag_recv_nbx`.
pub(crate) const CALLS: usize = 6;

/// Most different callbacks of receives.
const CALLBACKS: usize = 4;

/// The functions in whose places hooks stand.
pub(crate) struct Real {
    pub calls: [AtomicUsize; CALLS],
    /// The callbacks of receives; 0 where there is none.
    callbacks: [AtomicUsize; CALLBACKS],
    pub open: AtomicUsize,
    pub set: AtomicUsize,
    pub operations: [[AtomicUsize; OPERATIONS.len()]; INTERFACES],
}

pub(crate) static REAL: Real = Real {
    calls: [const { AtomicUsize::new(0) }; CALLS],
    callbacks: [const { AtomicUsize::new(0) }; CALLBACKS],
    open: AtomicUsize::new(0),
    set: AtomicUsize::new(0),
    operations: [const { [const { AtomicUsize::new(0) }; OPERATIONS.len()] }; INTERFACES],
};

/// What was called while [`kind::SEEN`] was in place.
#[derive(Default)]
pub(crate) struct Called {
    /// Operations, a bit each.
    pub operations: AtomicU32,
    pub callback: AtomicBool,
}

pub(crate) static CALLED: Called =
    Called { operations: AtomicU32::new(0), callback: AtomicBool::new(false) };

/// Calls of a function by its address.
macro_rules! call {
    ($address:expr, ($($value:ident: $type:ty),*) -> $result:ty) => {{
        let address: usize = $address.load(Relaxed);
        // SAFETY: the address was that of a function of this type before the hook took its place.
        unsafe {
            transmute_copy::<usize, unsafe extern "C" fn($($type),*) -> $result>(&address)($($value),*)
        }
    }};
}

/// Hooks that stamp and then call.
macro_rules! before {
    ($($name:ident $at:literal ($($value:ident: $type:ty),*) -> $result:ty;)*) => {$(
        unsafe extern "C" fn $name<const K: u8>($($value: $type),*) -> $result {
            stamp::<K>();
            call!(REAL.calls[$at], ($($value: $type),*) -> $result)
        }
    )*};
}

before! {
    send 0 (from: In, len: c_int, of: usize, peer: c_int, tag: c_int, comm: usize) -> c_int;
    isend 1 (from: In, len: c_int, of: usize, peer: c_int, tag: c_int, comm: usize, new: Out) -> c_int;
    ucp_send 4 (endpoint: Out, from: In, len: usize, tag: u64, how: In) -> isize;
}

/// `MPI_Recv` is over.
unsafe extern "C" fn recv<const K: u8>(
    into: Out,
    len: c_int,
    of: usize,
    peer: c_int,
    tag: c_int,
    comm: usize,
    status: Out,
) -> c_int {
    let code = call!(REAL.calls[2], (into: Out, len: c_int, of: usize, peer: c_int, tag: c_int, comm: usize, status: Out) -> c_int);
    stamp::<K>();
    code
}

/// `MPI_Waitall`, both of whose ends can be stamped.
unsafe extern "C" fn waitall<const K: u8>(count: c_int, requests: Out, statuses: Out) -> c_int {
    stamp::<K>();
    let code = call!(REAL.calls[3], (count: c_int, requests: Out, statuses: Out) -> c_int);
    match K {
        kind::BEGIN | kind::BEGIN_WORK => stamp::<{ kind::END }>(),
        kind::EACH => stamp::<{ kind::EACH }>(),
        _ => {}
    }
    code
}

/// Words of `ucp_request_param_t` that are copied: 72 bytes in 1.13; what newer ones have behind has no bit in the mask.
const PARAMETERS: usize = 9;
/// The word of the callback, and its bit in the mask (`UCP_OP_ATTR_FIELD_CALLBACK`).
const CALLBACK: usize = 2;
const HAS_CALLBACK: usize = 2;

/// Gives UCP a copy of the parameters with another callback. UCP reads them only during the call.
unsafe extern "C" fn ucp_recv<const K: u8>(
    worker: Out,
    into: Out,
    len: usize,
    tag: u64,
    mask: u64,
    how: *const usize,
) -> isize {
    let mut copy = [0_usize; PARAMETERS + 3];
    // SAFETY: the caller's parameters have at least as many words.
    unsafe { std::ptr::copy_nonoverlapping(how, copy.as_mut_ptr(), PARAMETERS) };
    let (old, mut new) = (copy[CALLBACK], copy[CALLBACK]);
    if K == kind::SEEN && copy[0] & HAS_CALLBACK != 0 {
        let known = |at: &&AtomicUsize| [0, old].contains(&at.load(Relaxed));
        REAL.callbacks.iter().find(known).into_iter().for_each(|at| at.store(old, Relaxed));
    }
    // Chosen, not jumped to. What is in the word without the bit in the mask is no callback.
    let hooks = [callback::<K, 0>, callback::<K, 1>, callback::<K, 2>, callback::<K, 3>];
    for (known, hook) in REAL.callbacks.iter().zip(hooks) {
        let is_it = (known.load(Relaxed) == old) & (copy[0] & HAS_CALLBACK != 0);
        new = if is_it { hook as *const () as usize } else { new };
    }
    copy[CALLBACK] = new;
    let how: In = copy.as_ptr().cast();
    call!(REAL.calls[5], (worker: Out, into: Out, len: usize, tag: u64, mask: u64, how: In) -> isize)
}

unsafe extern "C" fn callback<const K: u8, const N: usize>(
    request: Out,
    status: i8,
    info: In,
    user: Out,
) {
    stamp::<K>();
    if K == kind::SEEN {
        CALLED.callback.store(true, Relaxed);
    }
    call!(REAL.callbacks[N], (request: Out, status: i8, info: In, user: Out) -> ());
}

/// Operations of UCT. A result below 0 says that it is busy.
macro_rules! operations {
    ($($name:ident $at:literal ($($value:ident: $type:ty),*) -> $result:ty;)*) => {$(
        unsafe extern "C" fn $name<const K: u8, const I: usize>($($value: $type),*) -> $result {
            stamp::<K>();
            if K == kind::SEEN {
                CALLED.operations.fetch_or(1 << $at, Relaxed);
            }
            let result = call!(REAL.operations[I][$at], ($($value: $type),*) -> $result);
            add(&SUMS.busy, u64::from(result == BUSY as $result));
            result
        }
    )*};
}

/// `UCS_ERR_NO_RESOURCE`.
const BUSY: i8 = -2;

operations! {
    am_short 0 (endpoint: Out, id: u8, head: u64, from: In, len: c_uint) -> i8;
    am_short_iov 1 (endpoint: Out, id: u8, parts: In, count: usize) -> i8;
    am_bcopy 2 (endpoint: Out, id: u8, pack: In, with: Out, flags: c_uint) -> isize;
    am_zcopy 3 (endpoint: Out, id: u8, head: In, bytes: c_uint, parts: In, count: usize, flags: c_uint, end: Out) -> i8;
}

/// A handler of UCT's Active Messages, as UCP has set it. It is never freed.
pub(crate) struct Handler {
    pub interface: usize,
    pub id: u8,
    pub function: AtomicUsize,
    pub argument: AtomicUsize,
    pub flags: u32,
    pub called: AtomicBool,
}

/// The tables of interfaces as they were, and the handlers that are set.
pub(crate) static TABLES: Mutex<Vec<usize>> = Mutex::new(Vec::new());
pub(crate) static HANDLERS: Mutex<Vec<&'static Handler>> = Mutex::new(Vec::new());

unsafe extern "C" fn handler<const K: u8>(own: Out, data: Out, len: usize, flags: c_uint) -> i8 {
    stamp::<K>();
    // SAFETY: it was set with its handler as argument.
    let own = unsafe { &*own.cast_const().cast::<Handler>() };
    if K == kind::SEEN {
        own.called.store(true, Relaxed);
    }
    let argument = std::ptr::with_exposed_provenance_mut(own.argument.load(Relaxed));
    call!(own.function, (argument: Out, data: Out, len: usize, flags: c_uint) -> i8)
}

/// Notes the interfaces that UCP opens.
pub(crate) unsafe extern "C" fn open(
    domain: Out,
    worker: Out,
    how: In,
    with: In,
    new: *mut usize,
) -> i8 {
    let status =
        call!(REAL.open, (domain: Out, worker: Out, how: In, with: In, new: *mut usize) -> i8);
    if let (0, Ok(mut all)) = (status, TABLES.lock()) {
        // SAFETY: a status of 0 says that UCT has written the interface.
        all.push(unsafe { *new });
    }
    status
}

/// Notes the handlers that UCP sets.
pub(crate) unsafe extern "C" fn set(
    interface: usize,
    id: u8,
    function: usize,
    argument: usize,
    flags: u32,
) -> i8 {
    if let Ok(mut all) = HANDLERS.lock() {
        all.retain(|of| (of.interface, of.id) != (interface, id));
        if function != 0 {
            let [function, argument] = [function, argument].map(AtomicUsize::new);
            let called = AtomicBool::new(false);
            all.push(Box::leak(Box::new(Handler {
                interface,
                id,
                function,
                argument,
                flags,
                called,
            })));
        }
    }
    set_handler(interface, id, function, argument, flags)
}

/// `uct_iface_set_am_handler`.
pub(crate) fn set_handler(
    interface: usize,
    id: u8,
    function: usize,
    argument: usize,
    flags: u32,
) -> i8 {
    call!(REAL.set, (interface: usize, id: u8, function: usize, argument: usize, flags: u32) -> i8)
}

macro_rules! kinds {
    ($hook:ident $(, $interface:literal)?) => {
        [
            $hook::<0 $(, $interface)?> as *const () as usize,
            $hook::<1 $(, $interface)?> as *const () as usize,
            $hook::<2 $(, $interface)?> as *const () as usize,
            $hook::<3 $(, $interface)?> as *const () as usize,
            $hook::<4 $(, $interface)?> as *const () as usize,
            $hook::<5 $(, $interface)?> as *const () as usize,
            $hook::<6 $(, $interface)?> as *const () as usize,
            $hook::<7 $(, $interface)?> as *const () as usize,
            $hook::<8 $(, $interface)?> as *const () as usize,
            $hook::<9 $(, $interface)?> as *const () as usize,
        ]
    };
}

macro_rules! interfaces {
    ($hook:ident) => {
        [
            kinds!($hook, 0),
            kinds!($hook, 1),
            kinds!($hook, 2),
            kinds!($hook, 3),
            kinds!($hook, 4),
            kinds!($hook, 5),
            kinds!($hook, 6),
            kinds!($hook, 7),
        ]
    };
}

/// Every hook, by kind.
pub(crate) struct Hooks {
    pub calls: [(Place, [usize; KINDS]); CALLS],
    pub handler: [usize; KINDS],
    pub operations: [[[usize; KINDS]; INTERFACES]; OPERATIONS.len()],
}

pub(crate) fn hooks() -> Hooks {
    Hooks {
        calls: [
            (Place::Send, kinds!(send)),
            (Place::Send, kinds!(isend)),
            (Place::Received, kinds!(recv)),
            (Place::Wait, kinds!(waitall)),
            (Place::UcpSend, kinds!(ucp_send)),
            (Place::Callback, kinds!(ucp_recv)),
        ],
        handler: kinds!(handler),
        operations: [
            interfaces!(am_short),
            interfaces!(am_short_iov),
            interfaces!(am_bcopy),
            interfaces!(am_zcopy),
        ],
    }
}
