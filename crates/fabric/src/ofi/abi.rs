//! The binary interface of libfabric 1.14 to 2.6, as far as it is in use.
//!
//! Attributes and tables of functions grow at their ends, so that their beginnings stay. The library allocates
//! attributes, but for those of a table of addresses and a queue, which have room to spare. A table begins with its size in bytes; the functions in use are in all of them.

use std::ffi::{c_char, c_int, c_void};
use std::ptr::null_mut;

use crate::common::{Table, functions, operations};

/// Anything that the library gives, or that it is not given.
pub type Raw = *mut c_void;
/// What it reads.
type In = *const c_void;

operations! {
    close fi_ops close 1 (Raw) -> c_int;
    bind fi_ops bind 2 (Raw, Raw, u64) -> c_int;
    control fi_ops control 3 (Raw, c_int, Raw) -> c_int;
    domain fi_ops_fabric domain 1 (*mut Object, *mut Info, *mut *mut Domain, Raw) -> c_int;
    addresses fi_ops_domain av_open 1 (*mut Domain, *const u64, *mut *mut Object, Raw) -> c_int;
    queue fi_ops_domain cq_open 2 (*mut Domain, *const u64, *mut *mut Object, Raw) -> c_int;
    endpoint fi_ops_domain endpoint 3 (*mut Domain, *mut Info, *mut *mut Endpoint, Raw) -> c_int;
    register fi_ops_mr reg 1 (*mut Domain, In, usize, u64, u64, u64, u64, *mut *mut Region, Raw) -> c_int;
    insert fi_ops_av insert 1 (*mut Object, *const u8, usize, *mut u64, u64, Raw) -> c_int;
    read fi_ops_cq read 1 (*mut Object, *mut Raw, usize) -> isize;
    read_error fi_ops_cq readerr 3 (*mut Object, *mut Failed, u64) -> isize;
    name fi_ops_cm getname 2 (*mut Endpoint, *mut u8, *mut usize) -> c_int;
    inject_data fi_ops_rma injectdata 9 (*mut Endpoint, In, usize, u64, u64, u64, u64) -> isize;
    recv fi_ops_tagged recv 1 (*mut Endpoint, Raw, usize, Raw, u64, u64, u64, Raw) -> isize;
    send fi_ops_tagged send 4 (*mut Endpoint, In, usize, Raw, u64, u64, Raw) -> isize;
    inject fi_ops_tagged inject 7 (*mut Endpoint, In, usize, u64, u64) -> isize;
}

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
    /// For control, and for data.
    pub progress: [c_int; 2],
    pub resources: c_int,
    av_type: c_int,
    pub registration: c_int,
    key_size: usize,
    /// Bytes that a write may tell the other side.
    pub told: usize,
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
    pub calls: Table,
}

/// An object with functions of its own: a fabric, a table of addresses, a queue of completions.
#[repr(C)]
pub struct Object {
    fid: Fid,
    pub calls: Table,
}

/// `struct fid_domain`.
#[repr(C)]
pub struct Domain {
    fid: Fid,
    pub calls: Table,
    pub memory: Table,
}

/// `struct fid_mr`: memory that a peer may write to.
#[repr(C)]
pub struct Region {
    pub fid: Fid,
    description: Raw,
    pub key: u64,
}

/// `struct fi_cq_err_entry`, with room for what later versions add.
#[repr(C)]
pub struct Failed {
    pub context: Raw,
    rest: [u64; 6],
    pub error: c_int,
    pub provider: c_int,
    later: [u64; 8],
}

impl Failed {
    pub const NONE: Self =
        Self { context: null_mut(), rest: [0; 6], error: 0, provider: 0, later: [0; 8] };
}

/// `struct fid_ep`.
#[repr(C)]
pub struct Endpoint {
    pub fid: Fid,
    calls: Raw,
    pub names: Table,
    messages: Raw,
    pub rma: Table,
    pub tagged: Table,
}

pub const RMA: u64 = 1 << 2;
pub const TAGGED: u64 = 1 << 3;
pub const RECV: u64 = 1 << 10;
pub const SEND: u64 = 1 << 11;
pub const REMOTE_WRITE: u64 = 1 << 13;
/// A completion has what a peer's write tells.
pub const HAS_TOLD: u64 = 1 << 17;
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
pub const REGISTRATION: c_int = BY_ADDRESS | 1 << 5 | 1 << 6 | BOUND;
/// Remote memory is named by its address: FI_MR_VIRT_ADDR.
pub const BY_ADDRESS: c_int = 1 << 4;
/// Memory belongs to an endpoint: FI_MR_ENDPOINT.
pub const BOUND: c_int = 1 << 9;
pub const RELIABLE_DATAGRAM: c_int = 3;
/// One thread uses a domain: FI_THREAD_DOMAIN.
pub const ONE_THREAD: c_int = 3;
/// A queue's reader does not let the library work: FI_PROGRESS_AUTO.
pub const PROGRESS_AUTO: c_int = 1;
/// No memory: -FI_ENOMEM.
pub const NO_MEMORY: c_int = -12;
/// The library watches its queues: FI_RM_ENABLED.
pub const WATCHED: c_int = 2;
pub const AV_TABLE: u64 = 2;
/// A completion is the context of its operation.
pub const CQ_CONTEXT: u64 = 1;
/// A completion is a [`Told`].
pub const CQ_DATA: u64 = 3;
/// `struct fi_cq_data_entry`: its second word is flags, the last what the peer tells.
pub type Told = [u64; 5];
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
    fabric fi_fabric (*mut FabricAttributes, *mut *mut Object, Raw) -> c_int;
    strerror fi_strerror (c_int) -> *const c_char;
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::*;
    use crate::tests::{compare, offset};

    /// Structures of C, with those here: fields, and those here.
    macro_rules! fields {
        ($($c:ident $own:ident: $($field:ident $name:ident),*;)*) => {
            [$($((stringify!($c), stringify!($field), offset_of!($own, $name))),*),*]
        };
    }

    #[test]
    fn layouts_are_those_of_the_header() {
        let fields = fields! {
            fi_info Info: mode mode, tx_attr tx, rx_attr rx, ep_attr ep, domain_attr domain,
                fabric_attr fabric;
            fi_domain_attr DomainAttributes: control_progress progress, threading threading,
                resource_mgmt resources, mr_mode registration, cq_data_size told;
            fi_tx_attr Transmit: msg_order order, inject_size inject;
            fi_rx_attr Transmit: msg_order order;
            fi_ep_attr EndpointAttributes: type kind;
            fid_domain Domain: mr memory, ops calls;
            fid_mr Region: key key;
            fid_ep Endpoint: rma rma, cm names, tagged tagged;
            fi_fabric_attr FabricAttributes: prov_name provider;
            fid Fid: ops calls;
            fid_fabric Object: ops calls;
            fid_av Object: ops calls;
            fid_cq Object: ops calls;
            fi_cq_err_entry Failed: err error, prov_errno provider;
        };
        let values = [
            ("FI_RMA", RMA),
            ("FI_TAGGED", TAGGED),
            ("FI_REMOTE_WRITE", REMOTE_WRITE),
            ("FI_REMOTE_CQ_DATA", HAS_TOLD),
            ("FI_CQ_FORMAT_DATA", CQ_DATA),
            ("sizeof(struct fi_cq_data_entry)", size_of::<Told>() as u64),
            ("FI_MR_VIRT_ADDR", BY_ADDRESS as u64),
            ("FI_MR_ENDPOINT", BOUND as u64),
            ("FI_RECV", RECV),
            ("FI_SEND", SEND),
            ("FI_SOURCE", SOURCE),
            ("FI_CONTEXT | FI_CONTEXT2", CONTEXTS),
            ("sizeof(struct fi_context2)", CONTEXT_BYTES as u64),
            ("FI_ORDER_SAS", SENDS_IN_ORDER),
            ("FI_EP_RDM", RELIABLE_DATAGRAM as u64),
            ("FI_THREAD_DOMAIN", ONE_THREAD as u64),
            ("FI_RM_ENABLED", WATCHED as u64),
            ("FI_PROGRESS_AUTO", PROGRESS_AUTO as u64),
            ("-FI_ENOMEM", NO_MEMORY as u64),
            ("FI_AV_TABLE", AV_TABLE),
            ("FI_CQ_FORMAT_CONTEXT", CQ_CONTEXT),
            ("FI_ENABLE", ENABLE as u64),
            ("-FI_EAGAIN", EAGAIN as u64),
            ("-FI_EAVAIL", EAVAIL as u64),
            ("offsetof(struct fi_cq_data_entry, flags)", 8),
            ("offsetof(struct fi_cq_data_entry, data)", 32),
            ("sizeof(struct fi_cq_entry)", size_of::<Raw>() as u64),
            ("sizeof(struct fi_cq_err_entry) <= 128", u64::from(size_of::<Failed>() >= 128)),
            ("sizeof(struct fi_av_attr) <= 64 && sizeof(struct fi_cq_attr) <= 64", 1),
            ("offsetof(struct fi_cq_attr, format)", 16),
            (
                "FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT",
                REGISTRATION as u64,
            ),
        ];
        let fields = fields.iter().chain(OPERATIONS);
        let fields: Vec<_> = fields
            .map(|&(of, field, at)| (offset(&format!("struct {of}"), field), at as u64))
            .collect();
        let values = values.map(|(c, value)| (c.to_owned(), value));
        let headers = [
            "fabric",
            "fi_domain",
            "fi_endpoint",
            "fi_cm",
            "fi_tagged",
            "fi_rma",
            "fi_eq",
            "fi_errno",
        ];
        let headers = headers.map(|name| format!("rdma/{name}.h"));
        compare(&headers.each_ref().map(String::as_str), &[&fields[..], &values[..]].concat());
    }
}
