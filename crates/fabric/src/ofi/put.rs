//! Writes of libfabric into the other rank's memory, which tell it so: a floor.

use std::cell::Cell;
use std::os::fd::OwnedFd;
use std::ptr::{from_ref, null_mut};

use bandgap_comm::Yields::HalfRoundTrip;
use bandgap_comm::{Bare, CommError, Floor, Measuring, Rendezvous, Result, Timer};
use bandgap_tagged::{Fabric, Look, Words};

use super::Ofi;
use super::abi::{
    self, BOUND, BY_ADDRESS, CQ_DATA, EAGAIN, ENABLE, HAS_TOLD, REMOTE_WRITE, RMA, Region, Told,
};

/// Bytes of a word.
const WORD: usize = size_of::<u64>();

/// An end of two ranks that write words into each other's memory.
pub struct OfiPut {
    /// Closed before the memory is freed.
    ofi: Ofi,
    /// What the peer writes to; nobody reads it.
    _memory: Box<Cell<u64>>,
    /// The peer's address, and where its memory is, with the key.
    there: [u64; 3],
    /// What the peer's last write told.
    last: Cell<u64>,
    words: Words,
}

impl OfiPut {
    /// Begins to write a word, and to tell it. Returns whether there was room.
    #[inline(always)]
    fn post(&self, number: u64) -> Result<bool> {
        let (ofi, [peer, there, key]) = (&self.ofi, self.there);
        let from = from_ref(&number).cast();
        // SAFETY: the endpoint is open, and the library copies the word; the peer's memory has room for it.
        let done = unsafe {
            let inject = abi::inject_data((*ofi.endpoint).rma);
            inject(ofi.endpoint, from, WORD, number, peer, there, key)
        };
        let has_begun = ofi.has_begun("fi_inject_writedata", done)?;
        if has_begun { Ok(true) } else { self.last().map(|_| false) }
    }

    /// Lets the library work. Returns what was told last.
    #[inline(always)]
    fn last(&self) -> Result<u64> {
        let (queue, mut told): (_, Told) = (self.ofi.queue, [0; 5]);
        // SAFETY: there is room for one completion.
        let read = unsafe { abi::read((*queue).calls)(queue, told.as_mut_ptr().cast(), 1) };
        if read > 0 && told[1] & HAS_TOLD != 0 {
            self.last.set(told[4]);
        } else if read < 0 && read != EAGAIN {
            return Err(self.ofi.refused(read as i32, "fi_cq_read").into());
        }
        Ok(self.last.get())
    }
}

impl Bare for OfiPut {
    const NAME: &'static str = "ofi_rma";
    const UNDER: &'static str = Ofi::NAME;
    const HOSTS: bool = true;
    #[rustfmt::skip] // One line each.
    const FLOORS: &'static [Floor] = &[
        Floor::new("fi_writedata", "writes of libfabric that tell the other side", HalfRoundTrip, 50).compared(&["echo", "comms1"]),
    ];

    fn connect(_inherited: Vec<OwnedFd>, meeting: &mut Rendezvous<'_>) -> Result<Self> {
        let mut ofi = Ofi::opened_for((RMA, CQ_DATA), meeting, Look::of_floor())?;
        let (memory, mut region) = (Box::<Cell<u64>>::default(), null_mut::<Region>());
        let at = memory.as_ptr();
        // SAFETY: objects and attributes are those that the library made, in the layout of its headers. The memory stays
        // for longer than they do.
        let (own, key) = unsafe {
            let is = &*(*ofi.info).domain;
            if is.told == 0 {
                let reason = format!("{} tells nothing with a write", ofi.provider);
                return Err(CommError::Unavailable { reason });
            }
            let (domain, none) = (ofi.domain, null_mut());
            let register = abi::register((*domain).memory);
            let (access, key) = (REMOTE_WRITE, 1);
            let done = register(domain, at.cast(), WORD, access, 0, key, 0, &mut region, none);
            ofi.opened(done, region.cast(), "fi_mr_reg")?;
            if is.registration & BOUND != 0 {
                let calls = (*region).fid.calls;
                let done = abi::bind(calls)(region.cast(), ofi.endpoint.cast(), 0);
                ofi.fine(done, "fi_mr_bind")?;
                ofi.fine(abi::control(calls)(region.cast(), ENABLE, none), "fi_mr_enable")?;
            }
            let by_address = is.registration & BY_ADDRESS != 0;
            (if by_address { at.expose_provenance() as u64 } else { 0 }, (*region).key)
        };
        let peer = 1 - meeting.rank;
        let more = [own, key].map(u64::to_le_bytes).concat();
        let theirs = ofi.meet(meeting, &more)?.swap_remove(peer);
        let (words, _) = theirs.as_chunks::<WORD>();
        let [there, key] = [0, 1].map(|at| words.get(at).map_or(0, |of| u64::from_le_bytes(*of)));
        let there = [ofi.peers[peer], there, key];
        let (last, words) = (Cell::default(), Words::default());
        Ok(Self { ofi, _memory: memory, there, last, words })
    }

    fn measure(&mut self, _: &str, _: usize, with: &Measuring<'_, impl Timer>) -> Result<Vec<u64>> {
        self.words.there_and_back(with, |number| self.post(number), || self.last())
    }
}
