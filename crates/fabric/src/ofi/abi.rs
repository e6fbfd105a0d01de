//! The binary interface of libfabric 1.14 to 2.6, as far as it is in use.
//!
//! Attributes and tables of functions grow at their ends, so that their beginnings stay. The library allocates
//! attributes. A table begins with its size in bytes; the functions in use are in all of them.

use std::ffi::{c_char, c_int, c_void};
use std::ptr::null_mut;

use crate::common::functions;

/// Anything that the library gives, or that it is not given.
pub type Raw = *mut c_void;

/// `struct fi_info`: an endpoint that may be opened.
#[repr(C)]
pub struct Info {
    pub next: *mut Info,
    pub caps: u64,
    pub mode: u64,
    addr_format: u32,
    lengths: [usize; 2],
    addresses: [Raw; 2],
    handle: Raw,
    pub tx: *mut Transmit,
    pub rx: *mut Transmit,
    pub ep: *mut EndpointAttributes,
    pub domain: *mut DomainAttributes,
    pub fabric: *mut FabricAttributes,
}

/// The beginning of `struct fi_tx_attr`, and of `struct fi_rx_attr` but for the last field.
#[repr(C)]
pub struct Transmit {
    caps: u64,
    mode: u64,
    op_flags: u64,
    pub order: u64,
    completion_order: u64,
    pub inject: usize,
}

/// `struct fi_ep_attr`.
#[repr(C)]
pub struct EndpointAttributes {
    pub kind: c_int,
}

/// `struct fi_domain_attr`.
#[repr(C)]
pub struct DomainAttributes {
    domain: Raw,
    pub name: *mut c_char,
    pub threading: c_int,
    progress: [c_int; 2],
    pub resources: c_int,
    av_type: c_int,
    pub registration: c_int,
}

/// `struct fi_fabric_attr`.
#[repr(C)]
pub struct FabricAttributes {
    fabric: Raw,
    pub name: *mut c_char,
    pub provider: *mut c_char,
}

/// `struct fid`: what every object begins with.
#[repr(C)]
pub struct Fid {
    class: usize,
    context: Raw,
    pub calls: *const FidCalls,
}

#[repr(C)]
pub struct FidCalls {
    size: usize,
    pub close: unsafe extern "C" fn(Raw) -> c_int,
    pub bind: unsafe extern "C" fn(Raw, Raw, u64) -> c_int,
    pub control: unsafe extern "C" fn(Raw, c_int, Raw) -> c_int,
}

/// An object with a table of functions of its own.
#[repr(C)]
pub struct Object<T> {
    pub fid: Fid,
    pub calls: *const T,
}

pub type Fabric = Object<FabricCalls>;
pub type Domain = Object<DomainCalls>;
/// A table of addresses.
pub type Av = Object<AvCalls>;
/// A queue of completions.
pub type Cq = Object<CqCalls>;

#[repr(C)]
pub struct FabricCalls {
    size: usize,
    pub domain: unsafe extern "C" fn(*mut Fabric, *mut Info, *mut *mut Domain, Raw) -> c_int,
}

#[repr(C)]
pub struct DomainCalls {
    size: usize,
    pub av: unsafe extern "C" fn(*mut Domain, *const u64, *mut *mut Av, Raw) -> c_int,
    pub cq: unsafe extern "C" fn(*mut Domain, *const u64, *mut *mut Cq, Raw) -> c_int,
    pub endpoint: unsafe extern "C" fn(*mut Domain, *mut Info, *mut *mut Endpoint, Raw) -> c_int,
}

#[repr(C)]
pub struct AvCalls {
    size: usize,
    pub insert: unsafe extern "C" fn(*mut Av, *const u8, usize, *mut u64, u64, Raw) -> c_int,
}

#[repr(C)]
pub struct CqCalls {
    size: usize,
    pub read: unsafe extern "C" fn(*mut Cq, *mut Completion, usize) -> isize,
    read_from: usize,
    pub read_error: unsafe extern "C" fn(*mut Cq, *mut Failed, u64) -> isize,
    waiting: [usize; 3],
    pub text: unsafe extern "C" fn(*mut Cq, c_int, Raw, *mut c_char, usize) -> *const c_char,
}

/// `struct fi_cq_tagged_entry`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Completion {
    pub context: Raw,
    flags: u64,
    len: usize,
    buffer: Raw,
    data: u64,
    pub tag: u64,
}

impl Completion {
    pub const NONE: Self =
        Self { context: null_mut(), flags: 0, len: 0, buffer: null_mut(), data: 0, tag: 0 };
}

/// `struct fi_cq_err_entry`, with room for what later versions add.
#[repr(C)]
pub struct Failed {
    pub context: Raw,
    rest: [u64; 6],
    pub error: c_int,
    pub provider: c_int,
    pub data: usize,
    later: [u64; 7],
}

impl Failed {
    pub const NONE: Self =
        Self { context: null_mut(), rest: [0; 6], error: 0, provider: 0, data: 0, later: [0; 7] };
}

/// `struct fid_ep`.
#[repr(C)]
pub struct Endpoint {
    pub fid: Fid,
    calls: Raw,
    pub names: *const NameCalls,
    messages: Raw,
    rma: Raw,
    pub tagged: *const TaggedCalls,
}

#[repr(C)]
pub struct NameCalls {
    size: usize,
    set: usize,
    pub get: unsafe extern "C" fn(*mut Endpoint, *mut u8, *mut usize) -> c_int,
}

#[repr(C)]
pub struct TaggedCalls {
    size: usize,
    pub recv: unsafe extern "C" fn(*mut Endpoint, Raw, usize, Raw, u64, u64, u64, Raw) -> isize,
    vectors: [usize; 2],
    pub send:
        unsafe extern "C" fn(*mut Endpoint, *const c_void, usize, Raw, u64, u64, Raw) -> isize,
    more_vectors: [usize; 2],
    pub inject: unsafe extern "C" fn(*mut Endpoint, *const c_void, usize, u64, u64) -> isize,
}

pub const TAGGED: u64 = 1 << 3;
pub const RECV: u64 = 1 << 10;
pub const SEND: u64 = 1 << 11;
/// The address of a node is this host's own.
pub const SOURCE: u64 = 1 << 57;
/// Operations bring memory that stays: FI_CONTEXT and FI_CONTEXT2.
pub const CONTEXTS: u64 = 1 << 59 | 1 << 52;
/// Bytes of that memory.
pub const CONTEXT_BYTES: usize = 64;
/// Sends arrive in order.
pub const SENDS_IN_ORDER: u64 = 1 << 8;
/// Any peer.
pub const ANYONE: u64 = u64::MAX;
/// What memory of remote access may need: addresses, allocated pages, the provider's keys, its endpoint.
pub const REGISTRATION: c_int = 1 << 4 | 1 << 5 | 1 << 6 | 1 << 9;
pub const RELIABLE_DATAGRAM: c_int = 3;
/// One thread uses a domain: FI_THREAD_DOMAIN.
pub const ONE_THREAD: c_int = 3;
/// The library watches its queues: FI_RM_ENABLED.
pub const WATCHED: c_int = 2;
pub const AV_TABLE: u64 = 2;
/// Completions are [`Completion`]s.
pub const CQ_TAGGED: u64 = 4;
pub const ENABLE: c_int = 6;
/// Nothing is there, or there is no room.
pub const EAGAIN: isize = -11;
/// A completion is an error.
pub const EAVAIL: isize = -259;
/// The version whose meaning is asked for.
pub const OLDEST: u32 = 1 << 16 | 14;

functions! { "libfabric 1.14":
    version fi_version () -> u32;
    getinfo fi_getinfo (u32, *const c_char, *const c_char, u64, *const Info, *mut *mut Info) -> c_int;
    freeinfo fi_freeinfo (*mut Info) -> ();
    dupinfo fi_dupinfo (*const Info) -> *mut Info;
    fabric fi_fabric (*mut FabricAttributes, *mut *mut Fabric, Raw) -> c_int;
    strerror fi_strerror (c_int) -> *const c_char;
}
