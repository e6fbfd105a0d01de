//! UCX's transport layer, UCT, below the tagged messages of UCP: floors.
//!
//! Source of types and layouts: the header files of UCX 1.11 to 1.22; a test compares them with those installed.

use std::cell::Cell;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::os::fd::OwnedFd;
use std::ptr::{from_ref, null, null_mut, with_exposed_provenance_mut as pointer};

use bandgap_comm::Yields::HalfRoundTrip;
use bandgap_comm::{Bare, CommError, Floor, Measuring, Rendezvous, Result, Timer};
use bandgap_tagged::{Fabric, Words};

use crate::common::{device, exchange, functions, is_family, opened, operations, text};
use crate::signals::Handlers;
use crate::structure::Structure;
use crate::{FabricError, Ucx};

/// The name by which the loader finds it.
const NAME: &str = "libuct.so.0";
/// The number of the handler: any below 32.
const HANDLER: u8 = 5;
/// Bytes of memory that a peer writes to, and room for its packed key, which may name a file.
const EXPOSED: usize = 4096;
const KEY: usize = 8192;
/// More memory domains than a component has.
const DOMAINS: usize = 1024;

/// `UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT` and `…_MD_RESOURCES`, and the places of these fields.
const COMPONENT: (u64, [usize; 2]) = (2 | 4, [24, 32]);
/// `UCT_IFACE_PARAM_FIELD_OPEN_MODE` and `…_DEVICE`; the places of the mode and the names of transport and device.
const OPEN: (u64, [usize; 3]) = (2 | 4, [136, 144, 152]);
/// `UCT_IFACE_OPEN_MODE_DEVICE`.
const BY_DEVICE: u64 = 1;
/// Where an interface tells its flags, and the bytes of the addresses of device, interface and endpoint.
const TOLD: [usize; 4] = [296, 312, 320, 328];
/// `UCT_IFACE_FLAG_PUT_SHORT` and `…_CONNECT_TO_IFACE`.
const FLAGS: [u64; 2] = [1 << 4, 1 << 40];
/// `UCT_EP_PARAM_FIELD_IFACE`; that with the addresses of device and interface; where the three are.
const END: ([u64; 2], [usize; 3]) = ([1, 1 | 4 | 8], [8, 24, 32]);
/// `UCT_PROGRESS_SEND` and `…_RECV`.
const BOTH_WAYS: c_uint = 3;
/// `UCT_MD_MEM_ACCESS_ALL`.
const ANY_ACCESS: c_uint = 0x3e0;
/// Words of `uct_allocated_memory_t`, and which are the address and the handle.
const MEMORY: (usize, [usize; 2]) = (5, [0, 4]);
/// `UCS_ASYNC_MODE_THREAD_SPINLOCK`.
const BY_THREAD: c_int = 1;
/// `UCS_ERR_NO_RESOURCE`: there is no room now.
const BUSY: i8 = -2;

/// A handle or structure of UCX.
type Raw = *mut c_void;
/// A structure that UCX reads.
type In = *const c_void;
/// A handler: its argument, the message, its length, and flags.
type Handler = unsafe extern "C" fn(Raw, In, usize, c_uint) -> i8;

functions! { "UCX 1.11":
    status_string ucs_status_string (i8) -> *const c_char;
    background ucs_async_context_create (c_int, *mut Raw) -> i8;
    worker uct_worker_create (Raw, c_int, *mut Raw) -> i8;
    components uct_query_components (*mut *mut Raw, *mut c_uint) -> i8;
    component uct_component_query (Raw, Raw) -> i8;
    domain_config uct_md_config_read (Raw, *const c_char, *const c_char, *mut Raw) -> i8;
    domain uct_md_open (Raw, *const c_char, Raw, *mut Raw) -> i8;
    resources uct_md_query_tl_resources (Raw, *mut *mut Resource, *mut c_uint) -> i8;
    config uct_md_iface_config_read (Raw, *const c_char, *const c_char, *const c_char, *mut Raw) -> i8;
    interface uct_iface_open (Raw, Raw, In, Raw, *mut Raw) -> i8;
    query uct_iface_query (Raw, Raw) -> i8;
    device_address uct_iface_get_device_address (Raw, *mut u8) -> i8;
    address uct_iface_get_address (Raw, *mut u8) -> i8;
    handler uct_iface_set_am_handler (Raw, u8, Handler, Raw, u32) -> i8;
    endpoint uct_ep_create (In, *mut Raw) -> i8;
    end_address uct_ep_get_address (Raw, *mut u8) -> i8;
    connection uct_ep_connect_to_ep (Raw, *const u8, *const u8) -> i8;
    memory uct_iface_mem_alloc (Raw, usize, c_uint, *const c_char, Raw) -> i8;
    key uct_md_mkey_pack (Raw, Raw, *mut u8) -> i8;
    key_of_peer uct_rkey_unpack (Raw, *const u8, *mut [usize; 3]) -> i8;
}

/// `uct_tl_resource_desc_t`: the names of a transport and, from [`DEVICE`] on, of its device.
type Resource = [u8; 52];
const DEVICE: usize = 10;

// An interface begins with this table.
operations! {
    put_short uct_iface_ops_t ep_put_short 0 (Raw, In, c_uint, u64, usize) -> i8;
    am_short uct_iface_ops_t ep_am_short 6 (Raw, u8, u64, In, c_uint) -> i8;
    enable uct_iface_ops_t iface_progress_enable 40 (Raw, c_uint) -> ();
    progress uct_iface_ops_t iface_progress 42 (Raw) -> c_uint;
}

/// An endpoint of UCT to the other rank. What is open stays so until the process ends.
pub struct Uct {
    api: Api,
    interface: Raw,
    endpoint: Raw,
    /// The memory that the peer writes to, and the peer's, 0 if it cannot be written to, with its key.
    own: *const u64,
    there: (u64, usize),
    /// The number of the last message that arrived.
    arrived: &'static Cell<u64>,
    words: Words,
}

/// Notes the number behind a message's header.
unsafe extern "C" fn note(arrived: Raw, message: In, _: usize, _: c_uint) -> i8 {
    // SAFETY: this is the cell that was set with the handler. Both ranks send only messages of two words.
    unsafe { (*arrived.cast::<Cell<u64>>()).set(message.cast::<u64>().add(1).read_unaligned()) };
    0
}

/// A list that the library makes, which stays; empty if it refuses.
///
/// # Safety
/// The function makes a list of so many.
unsafe fn list<T: Copy>(make: impl FnOnce(*mut *mut T, *mut c_uint) -> i8) -> Vec<T> {
    let (mut at, mut count) = (null_mut(), 0);
    let is_there = make(&mut at, &mut count) >= 0 && !at.is_null();
    // SAFETY: the caller guarantees it.
    (0..count as usize).filter(|_| is_there).map(|which| unsafe { *at.add(which) }).collect()
}

/// The component, the memory domain and the resource of a transport, over this device if it has it.
///
/// # Safety
/// The functions are the library's.
unsafe fn find(api: &Api, named: &str, device: Option<&str>) -> Option<(Raw, Raw, Resource)> {
    let (mut found, (fields, [count, at])) = (None, COMPONENT);
    // SAFETY: names end with 0, and structures have the layout of the header, as everywhere below.
    unsafe {
        for component in list(|at, count| (api.components)(at, count)) {
            let mut names = vec![[0_u8; 16]; DOMAINS];
            let into = names.as_mut_ptr().expose_provenance() as u64;
            let mut told = Structure::<32>::of(&[(0, fields), (at, into)]);
            (api.component)(component, told.at_mut());
            for name in &names[..told.word(count) as u32 as usize] {
                let (mut config, mut domain) = (null_mut(), null_mut());
                let is_open = (api.domain_config)(component, null(), null(), &mut config) >= 0
                    && (api.domain)(component, name.as_ptr().cast(), config, &mut domain) >= 0;
                let all = is_open.then(|| list(|at, count| (api.resources)(domain, at, count)));
                for resource in all.into_iter().flatten() {
                    let [its, over] = [0, DEVICE].map(|at| text(resource.as_ptr().add(at).cast()));
                    if is_family(named, &its) && (found.is_none() || device == Some(&over)) {
                        found = Some((component, domain, resource));
                    }
                }
            }
        }
    }
    found
}

/// Calls a function, and returns the error of a status that is one.
macro_rules! done {
    ($api:ident.$function:ident($($argument:expr),*)) => {
        $api.fine(($api.$function)($($argument),*), stringify!($function))?
    };
}

impl Uct {
    /// Opens the library's transport of this name, and connects it with the other rank's.
    fn open(api: Api, named: &str, meeting: &mut Rendezvous<'_>) -> Result<Self> {
        let (mut background, mut worker, mut config) = (null_mut(), null_mut(), null_mut());
        let (mut interface, mut endpoint) = (null_mut(), null_mut());
        let (mut memory, mut bundle) = ([0_u64; MEMORY.0], [0; 3]);
        let arrived: &Cell<u64> = Box::leak(Box::default());
        let mut told = Structure::<128>::of(&[]);
        // SAFETY: as for [`find`]. Addresses have the lengths that the interface tells, and the handler's cell stays.
        unsafe {
            done!(api.background(BY_THREAD, &mut background));
            done!(api.worker(background, 0, &mut worker));
            let found = find(&api, named, device(meeting.interface).as_deref());
            let (component, domain, resource) = found.ok_or_else(|| lacks(named, "resource"))?;
            let names = resource.as_ptr();
            done!(api.config(domain, names.cast(), null(), null(), &mut config));
            let [transport, over] = [0, DEVICE].map(|at| names.add(at).expose_provenance() as u64);
            let (fields, [mode, by, on]) = OPEN;
            let of = [(0, fields), (mode, BY_DEVICE), (by, transport), (on, over)];
            let params = Structure::<64>::of(&of);
            done!(api.interface(domain, worker, params.at(), config, &mut interface));

            done!(api.query(interface, told.at_mut()));
            let [flags, device, own, end] = TOLD.map(|at| told.word(at));
            let [can_put, is_to_interface] = FLAGS.map(|flag| flags & flag != 0);
            done!(api.handler(interface, HANDLER, note, from_ref(arrived).cast_mut().cast(), 0));
            // What the peer needs: the addresses of device, interface and endpoint, the memory's, and its key.
            let places = [0, device, device + own, device + own + end, device + own + end + 8];
            let mut card = vec![0; places[4] as usize + KEY];
            let to = places.map(|at| card.as_mut_ptr().add(at as usize));
            done!(api.device_address(interface, to[0]));
            done!(api.address(interface, to[1]));
            let ([alone, to_peer], [of, over_device, to_interface]) = END;
            let its = (of, interface.expose_provenance() as u64);
            if !is_to_interface {
                done!(api.endpoint(Structure::<32>::of(&[(0, alone), its]).at(), &mut endpoint));
                done!(api.end_address(endpoint, to[2]));
            }
            if can_put {
                let (name, into) = (c"bandgap".as_ptr(), memory.as_mut_ptr().cast());
                done!(api.memory(interface, EXPOSED, ANY_ACCESS, name, into));
                let [address, handle] = MEMORY.1.map(|at| pointer::<u64>(memory[at] as usize));
                address.write(0);
                to[3].cast::<u64>().write_unaligned(memory[MEMORY.1[0]]);
                done!(api.key(domain, handle.cast(), to[4]));
            }
            let peer = 1 - meeting.rank;
            let mut theirs = exchange(meeting, &format!("UCT {named}"), [&card, &[]])?;
            let [theirs, _] = theirs.swap_remove(peer);
            if theirs.len() != card.len() {
                return Err(lacks(named, "address of the same kind for the other rank"));
            }
            let from = places.map(|at| theirs.as_ptr().add(at as usize));
            if is_to_interface {
                let [device, own] = [from[0], from[1]].map(|at| at.expose_provenance() as u64);
                let of = [(0, to_peer), its, (over_device, device), (to_interface, own)];
                done!(api.endpoint(Structure::<32>::of(&of).at(), &mut endpoint));
            } else {
                done!(api.connection(endpoint, from[0], from[2]));
            }
            if can_put {
                done!(api.key_of_peer(component, from[4], &mut bundle));
            }
            let there = (from[3].cast::<u64>().read_unaligned(), bundle[0]);
            let own = pointer::<u64>(memory[MEMORY.1[0]] as usize).cast_const();
            let words = Words::default();
            let end = Self { api, interface, endpoint, own, there, arrived, words };
            enable(interface)(interface, BOTH_WAYS);
            Ok(end)
        }
    }

    fn pass<const PUT: bool>(&self, with: &Measuring<'_, impl Timer>) -> Result<Vec<u64>> {
        let (calls, end, (there, key)) = (self.interface, self.endpoint, self.there);
        let post = |number: u64| {
            let at = from_ref(&number).cast();
            // SAFETY: the bytes are copied before the call returns; the peer's memory has room for them.
            let status = unsafe {
                match PUT {
                    true => put_short(calls)(end, at, 8, there, key),
                    false => am_short(calls)(end, HANDLER, number, at, 8),
                }
            };
            if status == BUSY {
                // SAFETY: the interface is open.
                unsafe { progress(calls)(calls) };
            }
            Ok(status != BUSY && self.api.fine(status, "send").map(|()| true)?)
        };
        let last = || {
            // SAFETY: the interface is open.
            unsafe { progress(calls)(calls) };
            // SAFETY: the memory stays, and the peer writes whole words.
            Ok(if PUT { unsafe { self.own.read_volatile() } } else { self.arrived.get() })
        };
        self.words.there_and_back(with, post, last)
    }
}

#[cold]
fn lacks(named: &str, what: &str) -> CommError {
    CommError::Unavailable { reason: format!("{named} of UCX has no {what} in UCT") }
}

impl Api {
    fn fine(&self, status: i8, operation: &str) -> Result<(), FabricError> {
        if status >= 0 {
            return Ok(());
        }
        // SAFETY: the function takes any status.
        let text = unsafe { text((self.status_string)(status)) };
        let operation = format!("use UCT ({operation})");
        Err(FabricError::Refused { operation, text, code: status.into() })
    }
}

impl Bare for Uct {
    const NAME: &'static str = "uct";
    const UNDER: &'static str = Ucx::NAME;
    const CARRIES: Option<&'static str> = Some("uct_short");
    const HOSTS: bool = true;
    #[rustfmt::skip] // One line each.
    const FLOORS: &'static [Floor] = &[
        Floor::new("uct_short", "short messages of UCT, half round trip", HalfRoundTrip, 50).compared(&["echo", "comms1"]),
        Floor::new("uct_put", "short puts of UCT, seen in memory", HalfRoundTrip, 50).compared(&["echo", "comms1"]),
    ];

    fn connect(_inherited: Vec<OwnedFd>, meeting: &mut Rendezvous<'_>) -> Result<Self> {
        let beside = meeting.library.map(|above| {
            let name = above.file_name().unwrap_or_default().to_string_lossy();
            above.with_file_name(name.replace("libucp", "libuct"))
        });
        let whose = ["libucx0 or ucx", Ucx::OPTION];
        // The library takes signals.
        let _restored = Handlers::now();
        let (opened, path) = opened(beside.as_deref(), NAME, "uct_iface_open", whose)?;
        let usual = if meeting.interface.is_loopback() { "posix" } else { "tcp" };
        let named = meeting.argument.unwrap_or(usual);
        Self::open(Api::of(&opened, &path)?, named, meeting)
    }

    fn measure(
        &mut self,
        floor: &str,
        _bytes: usize,
        with: &Measuring<'_, impl Timer>,
    ) -> Result<Vec<u64>> {
        match floor {
            "uct_put" if self.there.0 == 0 => Err(lacks("this way", "short put")),
            "uct_put" => self.pass::<true>(with),
            _ => self.pass::<false>(with),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{compare, offset};

    #[test]
    fn layouts_are_those_of_the_header() {
        let at = |of: &str, field: &str, at: usize| (offset(of, field), at as u64);
        let ([alone, to_peer], [interface, to_device, to_interface]) = END;
        let [flags, device, own, end] = TOLD;
        let (modes, [mode, transport, over]) = OPEN;
        let [address, handle] = MEMORY.1.map(|word| 8 * word);
        let field = "UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE";
        let addresses = "UCT_EP_PARAM_FIELD_DEV_ADDR | UCT_EP_PARAM_FIELD_IFACE_ADDR";
        let checks = [
            at("uct_component_attr_t", "md_resource_count", COMPONENT.1[0]),
            at("uct_component_attr_t", "md_resources", COMPONENT.1[1]),
            ("sizeof(uct_component_attr_t) <= 256".to_owned(), 1),
            (format!("{field}_COUNT | {field}S"), COMPONENT.0),
            ("sizeof(uct_md_resource_desc_t)".to_owned(), 16),
            at("uct_tl_resource_desc_t", "dev_name", DEVICE),
            ("sizeof(uct_tl_resource_desc_t)".to_owned(), size_of::<Resource>() as u64),
            at("uct_iface_params_t", "open_mode", mode),
            at("uct_iface_params_t", "mode.device.tl_name", transport),
            at("uct_iface_params_t", "mode.device.dev_name", over),
            ("sizeof(uct_iface_params_t) <= 512".to_owned(), 1),
            ("UCT_IFACE_PARAM_FIELD_OPEN_MODE | UCT_IFACE_PARAM_FIELD_DEVICE".to_owned(), modes),
            ("UCT_IFACE_OPEN_MODE_DEVICE".to_owned(), BY_DEVICE),
            at("uct_iface_attr_t", "cap.flags", flags),
            at("uct_iface_attr_t", "device_addr_len", device),
            at("uct_iface_attr_t", "iface_addr_len", own),
            at("uct_iface_attr_t", "ep_addr_len", end),
            ("sizeof(uct_iface_attr_t) <= 1024".to_owned(), 1),
            ("UCT_IFACE_FLAG_PUT_SHORT".to_owned(), FLAGS[0]),
            ("UCT_IFACE_FLAG_CONNECT_TO_IFACE".to_owned(), FLAGS[1]),
            at("uct_ep_params_t", "iface", interface),
            at("uct_ep_params_t", "dev_addr", to_device),
            at("uct_ep_params_t", "iface_addr", to_interface),
            ("sizeof(uct_ep_params_t) <= 256".to_owned(), 1),
            ("UCT_EP_PARAM_FIELD_IFACE".to_owned(), alone),
            (format!("UCT_EP_PARAM_FIELD_IFACE | {addresses}"), to_peer),
            ("UCT_PROGRESS_SEND | UCT_PROGRESS_RECV".to_owned(), BOTH_WAYS.into()),
            ("UCT_MD_MEM_ACCESS_ALL".to_owned(), ANY_ACCESS.into()),
            at("uct_allocated_memory_t", "address", address),
            at("uct_allocated_memory_t", "memh", handle),
            ("sizeof(uct_allocated_memory_t)".to_owned(), 8 * MEMORY.0 as u64),
            at("uct_rkey_bundle_t", "rkey", 0),
            ("sizeof(uct_rkey_bundle_t)".to_owned(), 24),
            ("UCS_ASYNC_MODE_THREAD_SPINLOCK".to_owned(), BY_THREAD as u64),
            ("UCS_ERR_NO_RESOURCE".to_owned(), i64::from(BUSY) as u64),
            at("uct_iface_t", "ops", 0),
            at("uct_ep_t", "iface", 0),
            (format!("UCT_AM_ID_MAX > {HANDLER}"), 1),
        ];
        let operations: Vec<_> = OPERATIONS.iter().map(|of| at(of.0, of.1, of.2)).collect();
        let headers = ["uct/api/uct.h", "ucs/async/async_fwd.h"];
        compare(&headers, &[&operations[..], &checks].concat());
    }
}
