//! libfabric: tagged messages over its reliable datagram endpoints.
//!
//! Source: the header files of libfabric 1.14 to 2.6, and its manual fi_getinfo(3), fi_tagged(3) and fi_cq(3).

mod abi;
mod connect;
mod offers;
mod put;

use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::path::PathBuf;
use std::ptr::null_mut;

use bandgap_comm::Yields::HalfRoundTrip;
use bandgap_comm::{CommError, Floor, MAX_FRAME, Rank, Rendezvous, Result};
use bandgap_tagged::{Fabric, Kept, Look, Place, Tagged};
use bandgap_units::{Library, Ways};

use crate::FabricError;
use crate::common::{EACH_WAY, LONG, WORDS, by_tags, opened, tag, text};
use crate::signals::Handlers;
use abi::{
    ANYONE, Api, CONTEXT_BYTES, CQ_CONTEXT, Domain, EAGAIN, EAVAIL, Endpoint, Failed, Fid, Info,
    NO_MEMORY, OLDEST, Object, PROGRESS_AUTO, Raw, TAGGED,
};
use offers::{find, ways};
pub use put::OfiPut;

/// The name by which the loader finds it.
const NAME: &str = "libfabric.so.1";
/// The provider of ranks on one host, if the user names none.
const WITHIN_HOST: &str = "shm";

/// Receives of a peer's frames that are posted. The library keeps what finds none, and searches them for every other message.
const POSTED: usize = 8;
/// Messages in flight for which there is room at first.
const FLIGHTS: usize = 256;
/// Completions that one call takes at most.
const BATCH: usize = 8;

/// A message in flight.
#[repr(C)]
struct Flight {
    /// The library's own while the message is in flight.
    context: [Cell<u64>; CONTEXT_BYTES / 8],
    has_ended: Cell<bool>,
    /// The library's error and the provider's, if it failed.
    failed: Cell<Option<(c_int, c_int)>>,
    /// Its bytes, if it is the receive of a frame.
    bytes: Cell<[u8; MAX_FRAME]>,
}

impl Flight {
    const fn none() -> Self {
        let context = [const { Cell::new(0) }; CONTEXT_BYTES / 8];
        let (has_ended, failed) = (Cell::new(false), Cell::new(None));
        Self { context, has_ended, failed, bytes: Cell::new([0; MAX_FRAME]) }
    }
}

/// A message in flight; `None` if it has ended already.
pub struct Request(Option<&'static Flight>);

/// Receives of a peer's frames, in the order in which they were posted, and the next of them to end.
#[derive(Default)]
struct Ring {
    flights: Vec<&'static Flight>,
    next: usize,
}

/// A ring for each rank, this rank's own without any, and whose turn it is. The sender is in the tag that a receive asks
/// for: a completion's own tag may be that of the receive.
#[derive(Default)]
struct Posts {
    rings: Vec<Ring>,
    turn: Rank,
}

/// An opened libfabric: an endpoint, with the addresses of all ranks.
pub struct Ofi {
    api: Api,
    info: *mut Info,
    /// What is open, in the order in which it was opened.
    open: Vec<*mut Fid>,
    domain: *mut Domain,
    addresses: *mut Object,
    queue: *mut Object,
    endpoint: *mut Endpoint,
    /// Addresses, by rank.
    peers: Vec<u64>,
    rank: Rank,
    /// Longest message that is sent without a completion.
    inject: usize,
    /// Room for messages in flight that is free.
    free: RefCell<Vec<&'static Flight>>,
    posts: RefCell<Posts>,
    look: Look,
    version: String,
    /// The provider in use.
    provider: String,
    path: PathBuf,
}

impl Drop for Ofi {
    fn drop(&mut self) {
        // SAFETY: nothing uses them any more, and each is closed before what it was opened with. Memory of messages in
        // flight stays.
        unsafe {
            for fid in self.open.drain(..).rev() {
                abi::close((*fid).calls)(fid.cast());
            }
            (self.api.freeinfo)(self.info);
        }
    }
}

impl Ofi {
    /// Opens the library for what needs these abilities, with completions of this format.
    ///
    /// By default over shared memory if all ranks are on one host, else over the library's first provider for this
    /// host's address.
    fn opened_for(
        (caps, format): (u64, u64),
        meeting: &Rendezvous<'_>,
        look: Look,
    ) -> Result<Self> {
        // The library, and some of its providers, take signals.
        let _restored = Handlers::now();
        let package = "libfabric1 or libfabric";
        let (opened, path) = opened(meeting.library, NAME, "fi_version", [package, Self::OPTION])?;
        let api = Api::of(&opened, &path)?;
        // SAFETY: the function may be called at any time.
        let version = unsafe { (api.version)() };
        if version < OLDEST {
            let (lacks, oldest) = ("interface 1.14", "libfabric 1.14");
            return Err(FabricError::TooOld { path, lacks, oldest }.into());
        }
        let version = format!("{}.{}", version >> 16, version & 0xffff);
        let usual = meeting.interface.is_loopback().then_some(WITHIN_HOST);
        let info = find(&api, meeting.argument.or(usual), caps, meeting, &version)?;
        // SAFETY: the library made the list, whose first element has all attributes.
        let (provider, inject) =
            unsafe { (text((*(*info).fabric).provider), (*(*info).tx).inject) };
        let mut ofi = Self {
            api,
            info,
            open: Vec::new(),
            domain: null_mut(),
            addresses: null_mut(),
            queue: null_mut(),
            endpoint: null_mut(),
            peers: Vec::new(),
            rank: meeting.rank,
            inject,
            free: RefCell::new(Vec::with_capacity(2 * FLIGHTS)),
            posts: RefCell::default(),
            look,
            version,
            provider,
            path,
        };
        ofi.open(format)?;
        Ok(ofi)
    }

    /// Room for more messages in flight. It stays for as long as the process: the library may still write to it.
    #[cold]
    fn make_room(&self) {
        let flights: &'static [Flight] = Vec::leak((0..FLIGHTS).map(|_| Flight::none()).collect());
        self.free.borrow_mut().extend(flights);
    }

    #[inline(always)]
    fn flight(&self) -> &'static Flight {
        loop {
            if let Some(flight) = self.free.borrow_mut().pop() {
                flight.has_ended.set(false);
                flight.failed.set(None);
                return flight;
            }
            self.make_room();
        }
    }

    /// Repeats a call while there is no room for what it begins.
    #[inline(always)]
    fn begin(&self, operation: &str, call: impl Fn() -> isize) -> Result<()> {
        match self.has_begun(operation, call())? {
            true => Ok(()),
            false => self.begin_when_room(operation, &call),
        }
    }

    /// Whether there was room for what a call begins.
    #[inline(always)]
    fn has_begun(&self, operation: &str, code: isize) -> Result<bool> {
        match code {
            0 => Ok(true),
            EAGAIN => Ok(false),
            error => Err(self.refused(error as c_int, operation).into()),
        }
    }

    #[cold]
    #[inline(never)]
    fn begin_when_room(&self, operation: &str, call: &dyn Fn() -> isize) -> Result<()> {
        self.look.until(|| {
            self.progress()?;
            self.has_begun(operation, call())
        })
    }

    /// Takes completions, and lets the library work.
    #[inline(always)]
    fn progress(&self) -> Result<()> {
        let mut contexts: [Raw; BATCH] = [null_mut(); BATCH];
        // SAFETY: there is room for so many completions.
        let read =
            unsafe { abi::read((*self.queue).calls)(self.queue, contexts.as_mut_ptr(), BATCH) };
        if read < 0 && read != EAGAIN {
            return self.failure(read);
        }
        for context in &contexts[..read.max(0) as usize] {
            // SAFETY: it is that of an operation, and flights stay for ever.
            unsafe { (*context.cast::<Flight>()).has_ended.set(true) };
        }
        Ok(())
    }

    /// Takes a completion that is an error.
    #[cold]
    #[inline(never)]
    fn failure(&self, read: isize) -> Result<()> {
        if read != EAVAIL {
            return Err(self.refused(read as c_int, "fi_cq_read").into());
        }
        let mut failed = Failed::NONE;
        // SAFETY: there is room for the entry of any version; it names the context of an operation, or none.
        let flight = unsafe {
            abi::read_error((*self.queue).calls)(self.queue, &mut failed, 0);
            failed.context.cast::<Flight>().as_ref()
        };
        let Some(flight) = flight else { return Ok(()) };
        flight.failed.set(Some((failed.error, failed.provider)));
        flight.has_ended.set(true);
        Ok(())
    }

    /// Whether this message has ended.
    #[inline(always)]
    fn has_ended(&self, flight: &'static Flight) -> Result<bool> {
        if !flight.has_ended.get() {
            self.progress()?;
            if !flight.has_ended.get() {
                return Ok(false);
            }
        }
        match flight.failed.get() {
            None => Ok(true),
            Some(failed) => Err(self.lost(failed)),
        }
    }

    #[cold]
    #[inline(never)]
    fn lost(&self, (error, provider): (c_int, c_int)) -> CommError {
        let operation = format!("pass a message over {} (its error {provider})", self.provider);
        self.refused(-error, &operation).into()
    }

    /// Posts receives of a peer's frames.
    #[cold]
    fn ring(&self, peer: Rank, tag: u64) -> Result<Ring> {
        let mut flights = Vec::new();
        for _ in 0..if peer == self.rank { 0 } else { POSTED } {
            let flight = self.flight();
            self.post(flight, tag)?;
            flights.push(flight);
        }
        Ok(Ring { flights, next: 0 })
    }

    /// Posts a receive of a frame.
    #[inline(always)]
    fn post(&self, flight: &'static Flight, tag: u64) -> Result<()> {
        flight.bytes.set([0; MAX_FRAME]);
        flight.has_ended.set(false);
        self.receive(flight.bytes.as_ptr().cast(), MAX_FRAME, tag, flight)
    }

    /// Posts a receive of so many bytes, which stay until it has ended. Nobody else uses them meanwhile.
    #[inline(always)]
    fn receive(&self, at: Raw, len: usize, tag: u64, flight: &'static Flight) -> Result<()> {
        // SAFETY: bytes and flight stay until the message has ended.
        self.begin("fi_trecv", || unsafe {
            let recv = abi::recv((*self.endpoint).tagged);
            recv(self.endpoint, at, len, null_mut(), ANYONE, tag, 0, context(flight))
        })
    }

    fn fine(&self, done: c_int, operation: &str) -> Result<(), FabricError> {
        if done == 0 { Ok(()) } else { Err(self.refused(done, operation)) }
    }

    #[cold]
    #[inline(never)]
    fn refused(&self, code: c_int, operation: &str) -> FabricError {
        // SAFETY: the function takes any number.
        let text = unsafe { text((self.api.strerror)(code.abs())) };
        FabricError::refused(operation.to_owned(), text, code, NO_MEMORY)
    }
}

#[inline(always)]
fn context(flight: &'static Flight) -> Raw {
    std::ptr::from_ref(flight).cast_mut().cast()
}

impl Fabric for Ofi {
    const NAME: &'static str = "ofi";
    const MEANING: &'static str =
        "the libfabric that is installed, found at run time; ofi:NAME is one of its providers";
    const OPTION: &'static str = "--ofi-lib";
    const ARGUMENT: &'static str = "a provider of libfabric, such as shm or tcp";
    const VARIABLES: &'static str = "FI_";
    const TRIED: [(u32, u32); 2] = [(1, 14), (2, 6)];
    const TRIED_WAYS: &'static [&'static str] =
        &["shm", "tcp", "tcp;ofi_rxm", "udp;ofi_rxd", "net", "sm2"];
    const FLOORS: &'static [Floor] = &[
        Floor::new("fi_tagged", "tagged messages of libfabric, half round trip", HalfRoundTrip, 20)
            .compared(WORDS),
        Floor::new("fi_tagged_64kib", "the same with 64 KiB", EACH_WAY, 8).compared(LONG),
    ];

    fn connect(meeting: &mut Rendezvous<'_>, look: Look) -> Result<Self> {
        let mut ofi = Self::opened_for((TAGGED, CQ_CONTEXT), meeting, look)?;
        ofi.make_room();
        ofi.meet(meeting, &[])?;
        Ok(ofi)
    }

    fn described(&self) -> Library {
        let Self { version, provider, path, .. } = self;
        let mut is = Self::known(format!("libfabric {version}"), version, path);
        // SAFETY: the library made it, with all attributes.
        let [_, progress] = unsafe { (*(*self.info).domain).progress };
        let progress = if progress == PROGRESS_AUTO { "auto" } else { "manual" };
        let facts = [("progress", progress), ("provider", provider)];
        is.facts.extend(facts.map(|(name, fact)| (name.to_owned(), fact.to_owned())));
        is
    }

    fn ways(&self) -> Ways {
        ways(&self.api)
    }
}

impl Tagged for Ofi {
    by_tags!(peers);

    #[inline(always)]
    fn begin_send(&self, from: Kept, (channel, to, id): Place<Self>) -> Result<Request> {
        let (at, len, tag) =
            (from.at().cast_const().cast(), from.len(), tag(channel, self.rank, id));
        let peer = self.peers[to];
        if len <= self.inject {
            // SAFETY: the library copies the bytes.
            self.begin("fi_tinject", || unsafe {
                abi::inject((*self.endpoint).tagged)(self.endpoint, at, len, peer, tag)
            })?;
            return Ok(Request(None));
        }
        let flight = self.flight();
        // SAFETY: bytes and flight stay until the message has ended.
        self.begin("fi_tsend", || unsafe {
            let send = abi::send((*self.endpoint).tagged);
            send(self.endpoint, at, len, null_mut(), peer, tag, context(flight))
        })?;
        Ok(Request(Some(flight)))
    }

    #[inline(always)]
    fn begin_recv(&self, into: Kept, (channel, of, id): Place<Self>) -> Result<Request> {
        let flight = self.flight();
        self.receive(into.at().cast(), into.len(), tag(channel, of, id), flight)?;
        Ok(Request(Some(flight)))
    }

    #[inline(always)]
    fn ended(&self, request: &mut Request) -> Result<bool> {
        let Some(flight) = request.0 else { return Ok(true) };
        let ended = self.has_ended(flight)?;
        if ended {
            self.free.borrow_mut().push(flight);
        }
        Ok(ended)
    }

    #[inline(always)]
    fn frame(&self, channel: u64, id: u32) -> Result<Option<(Rank, [u8; MAX_FRAME])>> {
        let Posts { rings, turn } = &mut *self.posts.borrow_mut();
        if rings.is_empty() {
            let ring = |peer| self.ring(peer, tag(channel, peer, id));
            *rings = (0..self.peers.len()).map(ring).collect::<Result<_>>()?;
        }
        self.progress()?;
        for _ in 0..rings.len() {
            let peer = *turn;
            *turn = if peer + 1 == rings.len() { 0 } else { peer + 1 };
            let Ring { flights, next } = &mut rings[peer];
            let Some(&flight) = flights.get(*next).filter(|flight| flight.has_ended.get()) else {
                continue;
            };
            if let Some(failed) = flight.failed.get() {
                return Err(self.lost(failed));
            }
            *next = (*next + 1) % flights.len();
            let bytes = flight.bytes.get();
            self.post(flight, tag(channel, peer, id))?;
            return Ok(Some((peer, bytes)));
        }
        Ok(None)
    }
}
