//! libfabric: tagged messages over its reliable datagram endpoints.
//!
//! Source: the header files of libfabric 1.14 to 2.6, and its manual fi_getinfo(3), fi_tagged(3) and fi_cq(3).

mod abi;
mod offers;

use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::path::{Path, PathBuf};
use std::ptr::null_mut;
use std::time::{Duration, Instant};

use bandgap_comm::Yields::HalfRoundTrip;
use bandgap_comm::{CommError, Floor, MAX_FRAME, Rank, Rendezvous, Result};
use bandgap_tagged::{Fabric, Kept, Look, Place, Tagged, Traffic};

use crate::FabricError;
use crate::common::{EACH_WAY, LONG, WORDS, bytes_of, digits_of, opened, text};
use crate::signals::Handlers;
use abi::{
    ANYONE, AV_TABLE, Api, Av, CONTEXT_BYTES, CQ_CONTEXT, Cq, Domain, EAGAIN, EAVAIL, ENABLE,
    Endpoint, Fabric as Opening, Failed, Fid, Info, OLDEST, RECV, Raw, SEND,
};
use offers::find;

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
/// Fruitless attempts to begin a message until the wait is looked at.
const PATIENCE: u32 = 1 << 10;
/// Bytes of the longest address of an endpoint.
const LONGEST: usize = 512;

/// The place of the sender's rank in a tag, behind that of a program. Some providers have tags of 48 bits.
const SENDER: u32 = 31;
/// The place of the channel in a tag.
const CHANNEL: u32 = 46;

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
    queue: *mut Cq,
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
                ((*(*fid).calls).close)(fid.cast());
            }
            (self.api.freeinfo)(self.info);
        }
    }
}

impl Ofi {
    /// Opens the endpoint and what it needs. Returns the table of addresses.
    fn open(&mut self) -> Result<*mut Av> {
        let none: Raw = null_mut();
        // SAFETY: objects and attributes are those that the library made, in the layout of its headers.
        unsafe {
            let mut fabric: *mut Opening = null_mut();
            let done = (self.api.fabric)((*self.info).fabric, &mut fabric, none);
            self.opened(done, fabric.cast(), "fi_fabric")?;
            let mut domain: *mut Domain = null_mut();
            let done = ((*(*fabric).calls).domain)(fabric, self.info, &mut domain, none);
            self.opened(done, domain.cast(), "fi_domain")?;
            // Its type; no name, and as many as come.
            let (attributes, mut addresses) = ([AV_TABLE, 0, 0, 0, 0, 0, 0, 0], null_mut::<Av>());
            let calls = &*(*domain).calls;
            let done = (calls.av)(domain, attributes.as_ptr(), &mut addresses, none);
            self.opened(done, addresses.cast(), "fi_av_open")?;
            // The usual length, no flags, the format, and nothing to sleep on.
            let attributes = [0, 0, CQ_CONTEXT, 0, 0, 0, 0, 0];
            let done = (calls.cq)(domain, attributes.as_ptr(), &mut self.queue, none);
            self.opened(done, self.queue.cast(), "fi_cq_open")?;
            let done = (calls.endpoint)(domain, self.info, &mut self.endpoint, none);
            self.opened(done, self.endpoint.cast(), "fi_endpoint")?;
            let (endpoint, calls) = (self.endpoint.cast(), &*(*self.endpoint).fid.calls);
            self.fine((calls.bind)(endpoint, addresses.cast(), 0), "fi_ep_bind")?;
            self.fine((calls.bind)(endpoint, self.queue.cast(), SEND | RECV), "fi_ep_bind")?;
            self.fine((calls.control)(endpoint, ENABLE, none), "fi_enable")?;
            Ok(addresses)
        }
    }

    fn opened(&mut self, done: c_int, fid: *mut Fid, operation: &str) -> Result<(), FabricError> {
        self.fine(done, operation)?;
        self.open.push(fid);
        Ok(())
    }

    /// Exchanges addresses.
    fn meet(&mut self, table: *mut Av, meeting: &mut Rendezvous<'_>) -> Result<()> {
        let (mut own, mut len) = ([0; LONGEST], LONGEST);
        // SAFETY: there is room for so many bytes.
        let done =
            unsafe { ((*(*self.endpoint).names).get)(self.endpoint, own.as_mut_ptr(), &mut len) };
        self.fine(done, "fi_getname")?;
        let told = format!("{} {}", self.provider, digits_of(&own[..len.min(LONGEST)]));
        for (peer, there) in (meeting.exchange)(told)?.into_iter().enumerate() {
            let (theirs, address) = there.split_once(' ').unwrap_or_default();
            if theirs != self.provider {
                let (own, theirs) = (self.provider.clone(), theirs.to_owned());
                return Err(FabricError::OtherProvider { peer, own, theirs }.into());
            }
            let (there, mut address) = (bytes_of(peer, address)?, 0);
            // SAFETY: the address is one of this provider's endpoints.
            let inserted = unsafe {
                ((*(*table).calls).insert)(table, there.as_ptr(), 1, &mut address, 0, null_mut())
            };
            if inserted != 1 {
                self.fine(
                    inserted.min(-1),
                    &format!("connect to rank {peer} over {}", self.provider),
                )?;
            }
            self.peers.push(address);
        }
        Ok(())
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
        match call() {
            0 => Ok(()),
            EAGAIN => self.begin_when_room(operation, &call),
            error => Err(self.refused(error as c_int, operation).into()),
        }
    }

    #[cold]
    #[inline(never)]
    fn begin_when_room(&self, operation: &str, call: &dyn Fn() -> isize) -> Result<()> {
        let since = Instant::now();
        loop {
            for _ in 0..PATIENCE {
                self.progress()?;
                match call() {
                    0 => return Ok(()),
                    EAGAIN => {}
                    error => return Err(self.refused(error as c_int, operation).into()),
                }
            }
            Tagged::look(self, since.elapsed())?;
        }
    }

    /// Takes completions, and lets the library work.
    #[inline(always)]
    fn progress(&self) -> Result<()> {
        let mut contexts: [Raw; BATCH] = [null_mut(); BATCH];
        // SAFETY: there is room for so many completions.
        let read =
            unsafe { ((*(*self.queue).calls).read)(self.queue, contexts.as_mut_ptr(), BATCH) };
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
            ((*(*self.queue).calls).read_error)(self.queue, &mut failed, 0);
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
        let (at, calls) = (flight.bytes.as_ptr().cast(), self.calls().recv);
        // SAFETY: the flight stays for ever, and nobody reads it before the message has ended.
        self.begin("fi_trecv", || unsafe {
            (calls)(self.endpoint, at, MAX_FRAME, null_mut(), ANYONE, tag, 0, context(flight))
        })
    }

    #[inline(always)]
    fn calls(&self) -> &abi::TaggedCalls {
        // SAFETY: the endpoint is open.
        unsafe { &*(*self.endpoint).tagged }
    }

    fn fine(&self, done: c_int, operation: &str) -> Result<(), FabricError> {
        if done == 0 { Ok(()) } else { Err(self.refused(done, operation)) }
    }

    #[cold]
    #[inline(never)]
    fn refused(&self, code: c_int, operation: &str) -> FabricError {
        // SAFETY: the function takes any number.
        let text = unsafe { text((self.api.strerror)(code.abs())) };
        FabricError::Refused { operation: operation.to_owned(), text, code }
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
    const FLOORS: &'static [Floor] = &[
        Floor::new(
            "fi_tagged",
            "tagged messages of libfabric, half round trip",
            HalfRoundTrip,
            500,
        )
        .compared(WORDS),
        Floor::new("fi_tagged_64kib", "the same with 64 KiB", EACH_WAY, 50).compared(LONG),
    ];

    /// By default over shared memory if all ranks are on one host, else over the library's first provider for this
    /// host's address.
    fn connect(meeting: &mut Rendezvous<'_>, look: Look) -> Result<Self> {
        // The library, and some of its providers, take signals.
        let handlers = Handlers::now();
        let package = "libfabric1 or libfabric";
        let (opened, path) = opened(meeting.library, NAME, "fi_version", [package, Self::OPTION])?;
        let api = Api::of(&opened, &path)?;
        // SAFETY: the function may be called at any time.
        let version = unsafe { (api.version)() };
        let is_old = version < OLDEST;
        let version = format!("{}.{}", version >> 16, version & 0xffff);
        if is_old {
            let (library, oldest) = (format!("libfabric {version}"), "1.14");
            return Err(FabricError::TooOld { path, library, oldest }.into());
        }
        let usual = meeting.interface.is_loopback().then_some(WITHIN_HOST);
        let info = find(&api, meeting.argument.or(usual), meeting, &version)?;
        // SAFETY: the library made the list, whose first element has all attributes.
        let (provider, inject) =
            unsafe { (text((*(*info).fabric).provider), (*(*info).tx).inject) };
        let mut ofi = Self {
            api,
            info,
            open: Vec::new(),
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
        ofi.make_room();
        let addresses = ofi.open()?;
        drop(handlers);
        ofi.meet(addresses, meeting)?;
        Ok(ofi)
    }

    fn described(&self) -> ([String; 2], &Path) {
        let Self { version, provider, path, .. } = self;
        ([format!("libfabric {version} {provider}"), version.clone()], path)
    }
}

/// The tag of a message.
#[inline(always)]
fn tag(channel: u64, sender: Rank, tag: u32) -> u64 {
    channel | (sender as u64) << SENDER | u64::from(tag)
}

impl Tagged for Ofi {
    /// The highest bits of a tag.
    type Channel = u64;
    type Request = Request;

    #[inline(always)]
    fn rank(&self) -> Rank {
        self.rank
    }

    #[inline(always)]
    fn size(&self) -> usize {
        self.peers.len()
    }

    fn channel(&self, of: Traffic, _: usize) -> Result<u64> {
        Ok((of as u64) << CHANNEL)
    }

    #[inline(always)]
    fn begin_send(&self, from: Kept, (channel, to, id): Place<Self>) -> Result<Request> {
        let (at, len, tag) =
            (from.at().cast_const().cast(), from.len(), tag(channel, self.rank, id));
        let (calls, peer) = (self.calls(), self.peers[to]);
        if len <= self.inject {
            // SAFETY: the library copies the bytes.
            self.begin("fi_tinject", || unsafe {
                (calls.inject)(self.endpoint, at, len, peer, tag)
            })?;
            return Ok(Request(None));
        }
        let flight = self.flight();
        // SAFETY: bytes and flight stay until the message has ended.
        self.begin("fi_tsend", || unsafe {
            (calls.send)(self.endpoint, at, len, null_mut(), peer, tag, context(flight))
        })?;
        Ok(Request(Some(flight)))
    }

    #[inline(always)]
    fn begin_recv(&self, into: Kept, (channel, of, id): Place<Self>) -> Result<Request> {
        let (at, len, tag) = (into.at().cast(), into.len(), tag(channel, of, id));
        let (calls, flight) = (self.calls(), self.flight());
        // SAFETY: as for a send; nobody else uses the bytes meanwhile.
        self.begin("fi_trecv", || unsafe {
            (calls.recv)(self.endpoint, at, len, null_mut(), ANYONE, tag, 0, context(flight))
        })?;
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

    #[inline(always)]
    fn patience(&self) -> u32 {
        self.look.patience
    }

    #[cold]
    fn look(&self, waited: Duration) -> Result<()> {
        (self.look.call.borrow_mut())(waited)
    }
}
