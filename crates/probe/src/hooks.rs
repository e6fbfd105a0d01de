//! The functions that stand in the place of others. Each is compiled for every kind of stamp, and those of UCT's operations
//! for every kind of interface, so that nothing is searched on the way.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::mem::{MaybeUninit, transmute};
use std::ops::RangeInclusive;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::Relaxed};

use crate::stamp::{Place, kind, stamp};

type Out = *mut c_void;
type In = *const c_void;

/// Most kinds of interfaces of UCT that are stamped: those on all devices that have the same transport and operations.
pub(crate) const KINDS: usize = 16;
/// What messages can pass, as bits: operations of UCT; one that is busy; UCP's protocol; the callback of a receive; UCT's
/// transports.
#[rustfmt::skip] // A line for each.
pub const PASSES: [&str; 24] = [
    "put_short", "put_bcopy", "put_zcopy", "get_zcopy", "am_short", "am_short_iov", "am_bcopy", "am_zcopy",
    "busy", "eager", "rendezvous", "callback",
    "posix", "sysv", "xpmem", "cma", "knem", "self", "tcp", "rc_verbs", "rc_mlx5", "dc_mlx5", "ud_verbs", "ud_mlx5",
];
const BUSY: usize = OPERATIONS.len();
const EAGER: usize = BUSY + 1;
const RENDEZVOUS: usize = BUSY + 2;
/// The bit of a callback.
pub const CALLBACK: u32 = 1 << (BUSY + 3);

/// Of what is passed: an operation, busy or not; and UCP's function that sends, which has no name.
pub(crate) const OPERATED: u32 = (1 << EAGER) - 1;
pub(crate) const UCP_SENT: u32 = 1 << 31;

/// `UCS_ERR_NO_RESOURCE`: the operation is to be called again.
const NO_RESOURCE: isize = -2;
/// UCP's Active Messages of whole and divided eager messages, and that which begins a rendezvous.
const EAGER_IDS: RangeInclusive<u8> = 2..=8;
const RENDEZVOUS_ID: u8 = 9;

/// The functions that are called through words of their own, in this order: `MPI_Send`, `MPI_Isend`, `MPI_Recv`,
/// `MPI_Waitall`, `ucp_tag_send_nbx`, `ucp_tag_recv_nbx`.
pub(crate) const CALLS: usize = 6;
pub(crate) const PLACES: [Place; CALLS] =
    [Place::Send, Place::Send, Place::Received, Place::Wait, Place::UcpSend, Place::Callback];

/// Most different callbacks of receives.
const CALLBACKS: usize = 4;

/// The functions in whose places hooks stand.
pub(crate) struct Real {
    /// Of calls, and of the operations of each kind of interface.
    pub words: [AtomicUsize; CALLS + KINDS * OPERATIONS.len()],
    /// The callbacks of receives; 0 where there is none.
    callbacks: [AtomicUsize; CALLBACKS],
    pub open: AtomicUsize,
    pub set: AtomicUsize,
    pub close: AtomicUsize,
    /// The bits of the kinds' transports.
    over: [AtomicU32; KINDS],
}

// SAFETY: atomics of 0 are of all zeroes.
pub(crate) static REAL: Real = unsafe { MaybeUninit::zeroed().assume_init() };

/// What was passed while [`kind::SEEN`] was in place.
pub(crate) static PASSED: AtomicU32 = AtomicU32::new(0);

fn passed(bit: u32) {
    PASSED.fetch_or(bit, Relaxed);
}

macro_rules! addresses {
    ($($hook:expr),*) => { [$($hook as *const () as usize),*] };
}

/// Calls a function by its address.
macro_rules! call {
    ($address:expr, ($($value:ident: $type:ty),*) -> $result:ty) => {{
        type Real = unsafe extern "C" fn($($type),*) -> $result;
        let address: usize = $address;
        // SAFETY: the address was that of a function of this type before the hook took its place.
        unsafe { transmute::<usize, Real>(address)($($value),*) }
    }};
}

/// Hooks of calls: what they do before and after.
macro_rules! calls {
    ($($name:ident $at:literal $before:ident $after:ident ($($value:ident: $type:ty),*) -> $result:ty;)*) => {$(
        unsafe extern "C" fn $name<const K: u8>($($value: $type),*) -> $result {
            $before::<K>();
            let result = call!(REAL.words[$at].load(Relaxed), ($($value: $type),*) -> $result);
            $after::<K>();
            result
        }
    )*};
}

calls! {
    send 0 plain nothing (from: In, len: c_int, of: usize, peer: c_int, tag: c_int, comm: usize) -> c_int;
    isend 1 plain nothing (from: In, len: c_int, of: usize, peer: c_int, tag: c_int, comm: usize, new: Out) -> c_int;
    recv 2 nothing waiting (into: Out, len: c_int, of: usize, peer: c_int, tag: c_int, comm: usize, status: Out) -> c_int;
    waitall 3 plain ended (count: c_int, requests: Out, statuses: Out) -> c_int;
    ucp_send 4 sent nothing (endpoint: Out, from: In, len: usize, tag: u64, how: In) -> isize;
}

fn nothing<const K: u8>() {}

/// A stamp where nothing is awaited.
#[inline(always)]
fn plain<const K: u8>() {
    stamp::<K, false>();
}

/// The same, where UCP sends.
#[inline(always)]
fn sent<const K: u8>() {
    plain::<K>();
    if K == kind::SEEN {
        passed(UCP_SENT);
    }
}

/// A stamp behind an awaited load.
#[inline(always)]
fn waiting<const K: u8>() {
    stamp::<K, true>();
}

/// Both ends of a wait are stamped, if its beginning begins an interval.
#[inline(always)]
fn ended<const K: u8>() {
    if matches!(K, kind::BEGIN | kind::BEGIN_WORK) {
        stamp::<{ kind::END }, false>();
    }
}

/// Words of `ucp_request_param_t` in UCX 1.11. Newer ones have one more, if its bit is in the mask
/// (`UCP_OP_ATTR_FIELD_MEMH`).
const PARAMETERS: usize = 8;
const HAS_MEMORY: usize = 1 << 8;
/// The word of the callback, and its bit in the mask (`UCP_OP_ATTR_FIELD_CALLBACK`).
const AT_CALLBACK: usize = 2;
const HAS_CALLBACK: usize = 2;

/// Gives UCP a copy of the parameters with another callback. UCP reads them only during the call.
#[rustfmt::skip] // As above.
unsafe extern "C" fn ucp_recv<const K: u8>(worker: Out, into: Out, len: usize, tag: u64, mask: u64, how: In) -> isize {
    let (mut copy, given) = ([0_usize; PARAMETERS + 4], how.cast::<usize>());
    // SAFETY: the caller's parameters have at least as many words, and one more if their mask, the first one, says so.
    unsafe {
        std::ptr::copy_nonoverlapping(given, copy.as_mut_ptr(), PARAMETERS);
        if copy[0] & HAS_MEMORY != 0 {
            copy[PARAMETERS] = *given.add(PARAMETERS);
        }
    }
    let (old, mut new) = (copy[AT_CALLBACK], copy[AT_CALLBACK]);
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
    copy[AT_CALLBACK] = new;
    let how: In = copy.as_ptr().cast();
    call!(REAL.words[5].load(Relaxed), (worker: Out, into: Out, len: usize, tag: u64, mask: u64, how: In) -> isize)
}

#[rustfmt::skip] // As above.
unsafe extern "C" fn callback<const K: u8, const N: usize>(of: Out, status: i8, info: In, user: Out) {
    waiting::<K>();
    if K == kind::SEEN {
        passed(CALLBACK);
    }
    call!(REAL.callbacks[N].load(Relaxed), (of: Out, status: i8, info: In, user: Out) -> ());
}

/// Operations of UCT: each with its number here, and its place in an interface's table.
macro_rules! operations {
    ($($name:ident $at:literal $in_table:literal ($($value:ident: $type:ty),*) -> $result:ty;)*) => {$(
        unsafe extern "C" fn $name<const K: u8, const I: usize>($($value: $type),*) -> $result {
            plain::<K>();
            let result = call!(REAL.words[CALLS + I * OPERATIONS.len() + $at].load(Relaxed), ($($value: $type),*) -> $result);
            if K == kind::SEEN {
                let bit = if result as isize == NO_RESOURCE { BUSY } else { $at };
                passed(1 << bit | REAL.over[I].load(Relaxed));
            }
            result
        }
    )*
        /// The operations that are stamped, in an interface's table; their names begin [`PASSES`].
        pub(crate) const OPERATIONS: [usize; 8] = [$($in_table),*];

        fn on<const K: u8, const I: usize>() -> [usize; OPERATIONS.len()] {
            addresses!($($name::<K, I>),*)
        }
    };
}

operations! {
    put_short 0 0 (endpoint: Out, from: In, len: c_uint, to: u64, key: usize) -> i8;
    put_bcopy 1 1 (endpoint: Out, pack: In, with: Out, to: u64, key: usize) -> isize;
    put_zcopy 2 2 (endpoint: Out, parts: In, count: usize, to: u64, key: usize, end: Out) -> i8;
    get_zcopy 3 5 (endpoint: Out, parts: In, count: usize, from: u64, key: usize, end: Out) -> i8;
    am_short 4 6 (endpoint: Out, id: u8, head: u64, from: In, len: c_uint) -> i8;
    am_short_iov 5 7 (endpoint: Out, id: u8, parts: In, count: usize) -> i8;
    am_bcopy 6 8 (endpoint: Out, id: u8, pack: In, with: Out, flags: c_uint) -> isize;
    am_zcopy 7 9 (endpoint: Out, id: u8, head: In, bytes: c_uint, parts: In, count: usize, flags: c_uint, end: Out) -> i8;
}

/// A handler of UCT's Active Messages, as UCP has set it. It is never freed.
pub(crate) struct Handler {
    pub interface: usize,
    pub id: u8,
    pub function: usize,
    pub argument: usize,
    pub flags: u32,
    pub called: AtomicBool,
}

/// The interfaces that are open, each with its kind, and the handlers that are set.
pub(crate) static TABLES: Mutex<Vec<(usize, usize)>> = Mutex::new(Vec::new());
pub(crate) static HANDLERS: Mutex<Vec<&'static Handler>> = Mutex::new(Vec::new());

unsafe extern "C" fn handler<const K: u8>(own: Out, data: Out, len: usize, flags: c_uint) -> i8 {
    waiting::<K>();
    // SAFETY: it was set with its handler as argument.
    let own = unsafe { &*own.cast_const().cast::<Handler>() };
    if K == kind::SEEN {
        own.called.store(true, Relaxed);
        passed(u32::from(EAGER_IDS.contains(&own.id)) << EAGER);
        passed(u32::from(own.id == RENDEZVOUS_ID) << RENDEZVOUS);
    }
    let argument = own.argument;
    call!(own.function, (argument: usize, data: Out, len: usize, flags: c_uint) -> i8)
}

/// Words of `uct_iface_params_t`: the mode, and of a device (bit 0) the transport's name.
const MODE: usize = 17;
const TRANSPORT: usize = 18;

/// Notes the interfaces that UCP opens.
#[rustfmt::skip] // As above.
pub(crate) unsafe extern "C" fn open(domain: Out, worker: Out, how: In, with: In, new: *mut usize) -> i8 {
    let real = REAL.open.load(Relaxed);
    let status = call!(real, (domain: Out, worker: Out, how: In, with: In, new: *mut usize) -> i8);
    if let (0, Ok(mut all)) = (status, TABLES.lock()) {
        let how = how.cast::<*const c_char>();
        // SAFETY: a device has been opened, and its transport's name ends with 0.
        let name = unsafe {
            let is_device = (*how.add(MODE)).addr() & 1 != 0;
            if is_device { CStr::from_ptr(*how.add(TRANSPORT)).to_bytes() } else { b"" }
        };
        let over = PASSES.iter().position(|known| known.as_bytes() == name);
        let over = over.map_or(0, |bit| 1 << bit);
        // SAFETY: a status of 0 says that UCT has written the interface, which begins with its table of operations.
        let (table, operations) = unsafe {
            let at = std::ptr::with_exposed_provenance::<usize>(*new);
            (*new, OPERATIONS.map(|operation| *at.add(operation)))
        };
        all.extend(kind_of_interface(over, operations).map(|of| (table, of)));
    }
    status
}

/// The kind of interface over this transport with these operations, which are kept; `None` if there are too many others.
fn kind_of_interface(over: u32, operations: [usize; OPERATIONS.len()]) -> Option<usize> {
    let mut all = REAL.words[CALLS..].chunks(OPERATIONS.len()).zip(&REAL.over).enumerate();
    let (found, (kept, its)) = all.find(|(_, (kept, its))| {
        let kept = kept.iter().map(|word| word.load(Relaxed));
        kept.clone().all(|word| word == 0) || its.load(Relaxed) == over && kept.eq(operations)
    })?;
    its.store(over, Relaxed);
    kept.iter().zip(operations).for_each(|(word, operation)| word.store(operation, Relaxed));
    Some(found)
}

/// Forgets an interface that UCP closes, since its memory is freed.
pub(crate) unsafe extern "C" fn close(interface: usize) {
    if let (Ok(mut tables), Ok(mut handlers)) = (TABLES.lock(), HANDLERS.lock()) {
        tables.retain(|of| of.0 != interface);
        handlers.retain(|of| of.interface != interface);
    }
    call!(REAL.close.load(Relaxed), (interface: usize) -> ())
}

/// Notes the handlers that UCP sets.
#[rustfmt::skip] // As above.
pub(crate) unsafe extern "C" fn set(interface: usize, id: u8, function: usize, argument: usize, flags: u32) -> i8 {
    if let Ok(mut all) = HANDLERS.lock() {
        all.retain(|of| (of.interface, of.id) != (interface, id));
        if function != 0 {
            let called = AtomicBool::new(false);
            all.push(Box::leak(Box::new(Handler { interface, id, function, argument, flags, called })));
        }
    }
    set_handler(interface, id, function, argument, flags)
}

/// `uct_iface_set_am_handler`.
pub(crate) fn set_handler(on: usize, id: u8, function: usize, own: usize, flags: u32) -> i8 {
    let real = REAL.set.load(Relaxed);
    call!(real, (on: usize, id: u8, function: usize, own: usize, flags: u32) -> i8)
}

/// Every hook of a kind: of words as in [`Real::words`], and of handlers.
pub(crate) struct Hooks {
    pub words: Vec<usize>,
    pub handler: usize,
}

/// The hooks of this kind.
#[rustfmt::skip] // One line.
pub(crate) fn hooks(kind: u8) -> Hooks {
    let all = [of::<0>, of::<1>, of::<2>, of::<3>, of::<4>, of::<5>, of::<6>, of::<7>, of::<8>];
    all[usize::from(kind)]()
}

#[rustfmt::skip] // One line each.
fn of<const K: u8>() -> Hooks {
    let calls = addresses!(send::<K>, isend::<K>, recv::<K>, waitall::<K>, ucp_send::<K>, ucp_recv::<K>);
    let [handler] = addresses!(handler::<K>);
    let all = [on::<K, 0>, on::<K, 1>, on::<K, 2>, on::<K, 3>, on::<K, 4>, on::<K, 5>, on::<K, 6>, on::<K, 7>, on::<K, 8>, on::<K, 9>, on::<K, 10>, on::<K, 11>, on::<K, 12>, on::<K, 13>, on::<K, 14>, on::<K, 15>];
    Hooks { words: calls.into_iter().chain(all.into_iter().flat_map(|on| on())).collect(), handler }
}

#[cfg(test)]
mod tests;
