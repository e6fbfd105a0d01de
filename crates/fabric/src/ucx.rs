//! UCX: tagged messages of its protocol layer, UCP.
//!
//! Source of types and layouts: the header files of UCX 1.11 to 1.22; a test compares them with those installed.

mod put;
mod told;

pub use put::UcpPut;

use std::collections::BTreeSet;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::mem::transmute;
use std::path::PathBuf;
use std::ptr::{null, null_mut};

use bandgap_comm::Yields::HalfRoundTrip;
use bandgap_comm::{Floor, MAX_FRAME, Rank, Rendezvous, Result};
use bandgap_tagged::{Fabric, Kept, Look, Place, Tagged};
use bandgap_units::{Library, Ways};

use crate::FabricError;
use crate::common::{
    ANY, EACH_WAY, LONG, SENDER, WORDS, by_tags, chosen, device, exchange, functions, is_family,
    opened, tag, text,
};
use crate::signals::Handlers;
use crate::structure::Structure;

/// The name by which the loader finds it.
const NAME: &str = "libucp.so.0";
/// The oldest version in use, whose interface is asked for.
const OLDEST: (c_uint, c_uint) = (1, 11);

/// `UCP_PARAM_FIELD_FEATURES`, `…_TAG_SENDER_MASK` and `…_ESTIMATED_NUM_EPS`, and where these fields are.
const CONTEXT: (u64, [usize; 3]) = (0x51, [8, 40, 56]);
/// `UCP_FEATURE_TAG` and `UCP_FEATURE_RMA`.
const TAG: u64 = 1;
const RMA: u64 = 2;
/// `UCP_WORKER_PARAM_FIELD_THREAD_MODE`; the mode for a single thread is 0.
const THREAD_MODE: u64 = 1;
/// `UCP_EP_PARAM_FIELD_REMOTE_ADDRESS`, and where the address is.
const REMOTE_ADDRESS: (u64, usize) = (1, 8);

/// `UCS_ERR_NO_MEMORY`.
const NO_MEMORY: c_int = -4;

/// A handle or structure of UCX.
type Raw = *mut c_void;
/// A structure that UCX reads.
type In = *const c_void;

functions! { "UCX 1.11":
    version ucp_get_version_string () -> *const c_char;
    status_string ucs_status_string (i8) -> *const c_char;
    config_read ucp_config_read (*const c_char, *const c_char, *mut Raw) -> i8;
    config_modify ucp_config_modify (Raw, *const c_char, *const c_char) -> i8;
    config_release ucp_config_release (Raw) -> ();
    init ucp_init_version (c_uint, c_uint, In, In, *mut Raw) -> i8;
    print_info ucp_context_print_info (Raw, *mut libc::FILE) -> ();
    cleanup ucp_cleanup (Raw) -> ();
    worker_create ucp_worker_create (Raw, In, *mut Raw) -> i8;
    worker_destroy ucp_worker_destroy (Raw) -> ();
    address ucp_worker_get_address (Raw, *mut *mut u8, *mut usize) -> i8;
    release_address ucp_worker_release_address (Raw, *mut u8) -> ();
    print_endpoint ucp_ep_print_info (Raw, *mut libc::FILE) -> ();
    endpoint ucp_ep_create (Raw, In, *mut Raw) -> i8;
    progress ucp_worker_progress (Raw) -> c_uint;
    send ucp_tag_send_nbx (Raw, In, usize, u64, In) -> isize;
    recv ucp_tag_recv_nbx (Raw, Raw, usize, u64, u64, In) -> isize;
    probe ucp_tag_probe_nb (Raw, u64, u64, c_int, *mut [u64; 2]) -> Raw;
    recv_probed ucp_tag_msg_recv_nbx (Raw, Raw, usize, Raw, In) -> isize;
    status ucp_request_check_status (Raw) -> i8;
    free ucp_request_free (Raw) -> ();
    memory ucp_mem_map (Raw, In, *mut Raw) -> i8;
    place ucp_mem_query (Raw, Raw) -> i8;
    key ucp_rkey_pack (Raw, Raw, *mut *mut u8, *mut usize) -> i8;
    key_of_peer ucp_ep_rkey_unpack (Raw, *const u8, *mut Raw) -> i8;
    put ucp_put_nbx (Raw, In, usize, u64, Raw, In) -> isize;
}

/// `ucp_ep_evaluate_perf`, from UCX 1.12 on.
type Claims = unsafe extern "C" fn(Raw, In, Raw) -> i8;

/// A message in flight; 0 if it has ended already.
pub struct Request(isize);

/// An initialised UCX: one worker, and an endpoint to every other rank.
pub struct Ucx {
    api: Api,
    claims: Option<Claims>,
    context: Raw,
    worker: Raw,
    /// By rank; this rank's own is null.
    endpoints: Vec<Raw>,
    /// `ucp_request_param_t` that asks for nothing.
    plain: Structure<16>,
    rank: Rank,
    look: Look,
    version: String,
    path: PathBuf,
}

impl Drop for Ucx {
    fn drop(&mut self) {
        // SAFETY: nothing uses them any more. Endpoints end with their worker. Memory of messages in flight is not
        // freed, and no message moves afterwards.
        unsafe {
            if !self.worker.is_null() {
                (self.api.worker_destroy)(self.worker);
            }
            if !self.context.is_null() {
                (self.api.cleanup)(self.context);
            }
        }
    }
}

impl Ucx {
    /// A context with these settings, and otherwise with those of the environment.
    fn init(
        &self,
        settings: &[(&CStr, String)],
        can: u64,
        ranks: usize,
    ) -> Result<Raw, FabricError> {
        let (mut config, mut context) = (null_mut(), null_mut());
        let (fields, [features, senders, count]) = CONTEXT;
        let of = [(0, fields), (features, can), (senders, ANY), (count, ranks as u64)];
        let params = Structure::<16>::of(&of);
        // SAFETY: texts end with 0; the configuration is released once.
        unsafe {
            let refused = (self.api.config_read)(null(), null(), &mut config);
            self.fine(refused, "ucp_config_read")?;
            let set = settings.iter().try_for_each(|(name, value)| {
                let value = CString::new(&**value).unwrap_or_default();
                let refused = (self.api.config_modify)(config, name.as_ptr(), value.as_ptr());
                self.fine(refused, "ucp_config_modify")
            });
            let (major, minor) = OLDEST;
            let refused = (self.api.init)(major, minor, params.at(), config, &mut context);
            (self.api.config_release)(config);
            set?;
            let by = chosen(&["UCX_TLS", "UCX_NET_DEVICES"]);
            self.fine(refused, &format!("ucp_init{by}"))?;
        }
        Ok(context)
    }

    /// The devices of a transport, which is refused if UCX does not have it here.
    fn devices(&self, named: &str, ranks: usize) -> Result<BTreeSet<String>, FabricError> {
        let all = self.init(&[(c"TLS", "all".to_owned())], TAG, ranks)?;
        let ways = self.resources(all);
        // SAFETY: the context is used no more.
        unsafe { (self.api.cleanup)(all) };
        let there = ways.keys().cloned().collect();
        let mut its = ways.into_iter().filter(|(name, _)| is_family(named, name)).peekable();
        if its.peek().is_some() {
            return Ok(its.flat_map(|(_, devices)| devices).collect());
        }
        let (named, library) = (named.to_owned(), format!("UCX {}", self.version));
        Err(FabricError::NoTransport { named, library, there })
    }

    /// Opens the library for messages or puts.
    fn open(meeting: &Rendezvous<'_>, look: Look, features: u64) -> Result<Self> {
        // The library takes signals.
        let _restored = Handlers::now();
        let package = "libucx0 or ucx";
        let symbol = "ucp_get_version_string";
        let (opened, path) = opened(meeting.library, NAME, symbol, [package, Self::OPTION])?;
        let api = Api::of(&opened, &path)?;
        let claims = opened.own("ucp_ep_evaluate_perf");
        // SAFETY: the header gives the function of this name this type.
        let claims = claims.map(|at| unsafe { transmute::<*mut c_void, Claims>(at.as_ptr()) });
        // SAFETY: the function may be called at any time.
        let version = unsafe { text((api.version)()) };
        let mut ucx = Self {
            api,
            claims,
            context: null_mut(),
            worker: null_mut(),
            endpoints: Vec::new(),
            plain: Structure::of(&[]),
            rank: meeting.rank,
            look,
            version,
            path,
        };
        let transport = meeting.argument;
        let devices = transport.map(|named| ucx.devices(named, meeting.size)).transpose()?;
        let only = transport.map(|name| (c"TLS", format!("{name},self")));
        // Devices of most transports are no interfaces.
        let over =
            device(meeting.interface).filter(|name| devices.iter().flatten().any(|of| of == name));
        let over = over.map(|name| (c"NET_DEVICES", name));
        let settings: Vec<_> = only.into_iter().chain(over).collect();
        ucx.context = ucx.init(&settings, features, meeting.size)?;
        let params = Structure::<32>::of(&[(0, THREAD_MODE)]);
        // SAFETY: the structures have the layout of the header, as everywhere below.
        let refused = unsafe { (ucx.api.worker_create)(ucx.context, params.at(), &mut ucx.worker) };
        ucx.fine(refused, "ucp_worker_create")?;
        Ok(ucx)
    }

    /// Exchanges addresses and `more`, and makes an endpoint to every other rank. Returns the others' `more`, by rank.
    fn meet(&mut self, meeting: &mut Rendezvous<'_>, more: &[u8]) -> Result<Vec<Vec<u8>>> {
        let (mut at, mut len) = (null_mut(), 0);
        // SAFETY: UCX gives an address of this length, which is released once.
        let own = unsafe {
            let refused = (self.api.address)(self.worker, &mut at, &mut len);
            self.fine(refused, "ucp_worker_get_address")?;
            let own = std::slice::from_raw_parts(at, len).to_vec();
            (self.api.release_address)(self.worker, at);
            own
        };
        let is = format!("UCX {}", self.version);
        let mut theirs = Vec::new();
        for (peer, [there, more]) in exchange(meeting, &is, [&own, more])?.into_iter().enumerate() {
            theirs.push(more);
            let mut endpoint = null_mut();
            if peer != self.rank {
                let (field, at) = REMOTE_ADDRESS;
                let params = Structure::<32>::of(&[(0, field), (at, there.as_ptr().addr() as u64)]);
                // SAFETY: the address stays until the call returns.
                let refused =
                    unsafe { (self.api.endpoint)(self.worker, params.at(), &mut endpoint) };
                let over = meeting.argument.unwrap_or("UCX");
                self.fine(refused, &format!("connect to rank {peer} over {over}"))?;
            }
            self.endpoints.push(endpoint);
        }
        Ok(theirs)
    }

    /// The error of a status that is one.
    #[inline(always)]
    fn fine(&self, status: i8, operation: &str) -> Result<(), FabricError> {
        if status >= 0 { Ok(()) } else { Err(self.refused(status, operation)) }
    }

    #[cold]
    #[inline(never)]
    fn refused(&self, status: i8, operation: &str) -> FabricError {
        // SAFETY: the function takes any status.
        let text = unsafe { text((self.api.status_string)(status)) };
        FabricError::refused(operation.to_owned(), text, status.into(), NO_MEMORY)
    }

    /// The request that a call returned, in place of which it may return an error.
    #[inline(always)]
    fn begun(&self, request: isize, operation: &str) -> Result<Request> {
        // Addresses that are statuses are errors.
        match (-100..0).contains(&request) {
            false => Ok(Request(request)),
            true => Err(self.refused(request as i8, operation).into()),
        }
    }
}

impl Fabric for Ucx {
    const NAME: &'static str = "ucx";
    const MEANING: &'static str =
        "the UCX that is installed, found at run time; ucx:NAME is one of its transports";
    const OPTION: &'static str = "--ucx-lib";
    const ARGUMENT: &'static str = "a transport of UCX, such as posix or tcp";
    const VARIABLES: &'static str = "UCX_";
    const TRIED: [(u32, u32); 2] = [OLDEST, (1, 22)];
    const TRIED_WAYS: &'static [&'static str] = &["self", "posix", "sysv", "tcp", "cma"];
    const FLOORS: &'static [Floor] = &[
        Floor::new("ucp_tag", "tagged messages of UCP, half round trip", HalfRoundTrip, 20)
            .compared(WORDS),
        Floor::new("ucp_tag_64kib", "the same with 64 KiB", EACH_WAY, 8).compared(LONG),
    ];

    fn connect(meeting: &mut Rendezvous<'_>, look: Look) -> Result<Self> {
        let mut ucx = Self::open(meeting, look, TAG)?;
        ucx.meet(meeting, &[])?;
        Ok(ucx)
    }

    fn described(&self) -> Library {
        self.as_it_is()
    }

    fn ways(&self) -> Ways {
        self.resources(self.context)
    }
}

impl Tagged for Ucx {
    by_tags!(endpoints);

    #[inline(always)]
    fn begin_send(&self, from: Kept, (channel, to, id): Place<Self>) -> Result<Request> {
        let (at, len, tag) =
            (from.at().cast_const().cast(), from.len(), tag(channel, self.rank, id));
        // SAFETY: the bytes stay until the request has ended.
        let request = unsafe { (self.api.send)(self.endpoints[to], at, len, tag, self.plain.at()) };
        self.begun(request, "ucp_tag_send_nbx")
    }

    #[inline(always)]
    fn begin_recv(&self, into: Kept, (channel, of, id): Place<Self>) -> Result<Request> {
        let (at, len, tag) = (into.at().cast(), into.len(), tag(channel, of, id));
        // SAFETY: as for a send; nobody else uses them meanwhile.
        let request =
            unsafe { (self.api.recv)(self.worker, at, len, tag, u64::MAX, self.plain.at()) };
        self.begun(request, "ucp_tag_recv_nbx")
    }

    #[inline(always)]
    fn ended(&self, request: &mut Request) -> Result<bool> {
        if request.0 == 0 {
            return Ok(true);
        }
        let at = std::ptr::with_exposed_provenance_mut(request.0 as usize);
        // SAFETY: a request of this worker that has not been freed.
        unsafe {
            let status = (self.api.status)(at);
            if status > 0 {
                (self.api.progress)(self.worker);
                return Ok(false);
            }
            request.0 = 0;
            (self.api.free)(at);
            self.fine(status, "pass a message")?;
        }
        Ok(true)
    }

    #[inline(always)]
    fn frame(&self, channel: u64, id: u32) -> Result<Option<(Rank, [u8; MAX_FRAME])>> {
        let (mut info, mut bytes) = ([0; 2], [0; MAX_FRAME]);
        // SAFETY: there is room for the sender's tag and the length, and for a frame: a longer message is an error. The
        // bytes stay until it has arrived.
        unsafe {
            (self.api.progress)(self.worker);
            let message = (self.api.probe)(self.worker, tag(channel, 0, id), !ANY, 1, &mut info);
            if message.is_null() {
                return Ok(None);
            }
            let (at, plain) = (bytes.as_mut_ptr().cast(), self.plain.at());
            let request = (self.api.recv_probed)(self.worker, at, MAX_FRAME, message, plain);
            let mut request = self.begun(request, "ucp_tag_msg_recv_nbx")?;
            // So short a message has come whole.
            while !self.ended(&mut request)? {}
        }
        Ok(Some((((info[0] & ANY) >> SENDER) as Rank, bytes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{compare, offset};

    #[test]
    fn layouts_are_those_of_the_header() {
        let (fields, [features, senders, count]) = CONTEXT;
        let mask = "UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_TAG_SENDER_MASK | \
                    UCP_PARAM_FIELD_ESTIMATED_NUM_EPS";
        let checks = [
            (mask.to_owned(), fields),
            (offset("ucp_params_t", "features"), features as u64),
            (offset("ucp_params_t", "tag_sender_mask"), senders as u64),
            (offset("ucp_params_t", "estimated_num_eps"), count as u64),
            ("sizeof(ucp_params_t) <= 128".to_owned(), 1),
            ("UCP_FEATURE_TAG".to_owned(), TAG),
            ("UCP_FEATURE_RMA".to_owned(), RMA),
            ("UCP_WORKER_PARAM_FIELD_THREAD_MODE".to_owned(), THREAD_MODE),
            ("UCS_THREAD_MODE_SINGLE".to_owned(), 0),
            ("sizeof(ucp_worker_params_t) <= 256".to_owned(), 1),
            ("UCP_EP_PARAM_FIELD_REMOTE_ADDRESS".to_owned(), REMOTE_ADDRESS.0),
            (offset("ucp_ep_params_t", "address"), REMOTE_ADDRESS.1 as u64),
            ("sizeof(ucp_ep_params_t) <= 256".to_owned(), 1),
            ("sizeof(ucp_request_param_t) <= 128".to_owned(), 1),
            ("sizeof(ucs_status_t)".to_owned(), 1),
            ("UCS_ERR_LAST".to_owned(), -100_i64 as u64),
            ("UCS_ERR_NO_MEMORY".to_owned(), i64::from(NO_MEMORY) as u64),
            ("sizeof(ucp_tag_recv_info_t)".to_owned(), 16),
            ("UCP_EP_PERF_PARAM_FIELD_MESSAGE_SIZE".to_owned(), told::CLAIM.0),
            ("UCP_EP_PERF_ATTR_FIELD_ESTIMATED_TIME".to_owned(), told::CLAIM.0),
            (offset("ucp_ep_evaluate_perf_param_t", "message_size"), told::CLAIM.1 as u64),
            (offset("ucp_ep_evaluate_perf_attr_t", "estimated_time"), told::CLAIM.1 as u64),
            ("sizeof(ucp_ep_evaluate_perf_attr_t) <= 64".to_owned(), 1),
            (offset("ucp_tag_recv_info_t", "sender_tag"), 0),
        ];
        compare(&["ucp/api/ucp.h"], &checks);
    }
}
