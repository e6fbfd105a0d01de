//! Puts of UCP into the other rank's memory: a floor.

use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::os::fd::OwnedFd;
use std::ptr::{null_mut, with_exposed_provenance};

use bandgap_comm::Yields::HalfRoundTrip;
use bandgap_comm::{Bare, Floor, Measuring, Rendezvous, Result, Timer};
use bandgap_tagged::{Fabric, Look, Tagged, Words};

use super::{RMA, Raw, Ucx};
use crate::structure::Structure;

/// `UCP_MEM_MAP_PARAM_FIELD_LENGTH` and `…_FLAGS`, and where these fields are.
const MEMORY: (u64, [usize; 2]) = (2 | 4, [16, 24]);
/// `UCP_MEM_MAP_ALLOCATE`: memory of UCX's own, which alone may be reached by stores.
const ALLOCATED: u64 = 2;
/// `UCP_MEM_ATTR_FIELD_ADDRESS`, and where the address is.
const PLACE: (u64, usize) = (1, 8);
/// Bytes of a word.
const WORD: usize = size_of::<u64>();

/// An end of two ranks that put words into each other's memory. What is open stays so until the process ends.
pub struct UcpPut {
    ucx: ManuallyDrop<Ucx>,
    /// The memory that the peer writes to, and the peer's with its key.
    own: *const u64,
    there: (u64, Raw),
    /// The word on its way.
    word: Box<Cell<u64>>,
    words: Words,
}

impl UcpPut {
    /// Puts a word; returns once it has left.
    #[inline(always)]
    fn post(&self, number: u64) -> Result<bool> {
        let (ucx, (there, key)) = (&*self.ucx, self.there);
        self.word.set(number);
        let (to, from) = (ucx.endpoints[1 - ucx.rank], self.word.as_ptr().cast_const().cast());
        // SAFETY: the word stays, and does not change until it has left; the peer's memory has room for it.
        let begun = unsafe { (ucx.api.put)(to, from, WORD, there, key, ucx.plain.at()) };
        ucx.wait(ucx.begun(begun, "ucp_put_nbx")?).map(|()| true)
    }

    /// Lets the library work. Returns the last word that arrived.
    #[inline(always)]
    fn last(&self) -> u64 {
        // SAFETY: the worker is open. The memory stays, and the peer writes whole words.
        unsafe {
            (self.ucx.api.progress)(self.ucx.worker);
            self.own.read_volatile()
        }
    }
}

impl Bare for UcpPut {
    const NAME: &'static str = "ucp_rma";
    const UNDER: &'static str = Ucx::NAME;
    const HOSTS: bool = true;
    #[rustfmt::skip] // One line each.
    const FLOORS: &'static [Floor] = &[
        Floor::new("ucp_put", "puts of UCP, seen in memory", HalfRoundTrip, 50).compared(&["echo", "comms1"]),
    ];

    fn connect(_inherited: Vec<OwnedFd>, meeting: &mut Rendezvous<'_>) -> Result<Self> {
        let mut ucx = ManuallyDrop::new(Ucx::open(meeting, Look::of_floor(), RMA)?);
        let (fields, [length, flags]) = MEMORY;
        let params = Structure::<32>::of(&[(0, fields), (length, 4096), (flags, ALLOCATED)]);
        let mut told = Structure::<32>::of(&[(0, PLACE.0)]);
        let (mut memory, mut at, mut len, mut key) = (null_mut(), null_mut(), 0, null_mut());
        // SAFETY: structures have the layout of the header. UCX gives memory of its own and a key of this length.
        let (own, more) = unsafe {
            ucx.fine((ucx.api.memory)(ucx.context, params.at(), &mut memory), "ucp_mem_map")?;
            ucx.fine((ucx.api.place)(memory, told.at_mut()), "ucp_mem_query")?;
            ucx.fine((ucx.api.key)(ucx.context, memory, &mut at, &mut len), "ucp_rkey_pack")?;
            let own = with_exposed_provenance::<u64>(told.word(PLACE.1) as usize);
            own.cast_mut().write(0);
            let key = std::slice::from_raw_parts(at, len);
            (own, [&told.word(PLACE.1).to_le_bytes(), key].concat())
        };
        let peer = 1 - meeting.rank;
        let theirs = ucx.meet(meeting, &more)?.swap_remove(peer);
        let (there, packed) = theirs.split_first_chunk::<WORD>().unwrap_or((&[0; WORD], &[]));
        // SAFETY: the other rank, with the same library, packed this key.
        let status =
            unsafe { (ucx.api.key_of_peer)(ucx.endpoints[peer], packed.as_ptr(), &mut key) };
        ucx.fine(status, "ucp_ep_rkey_unpack")?;
        let there = (u64::from_le_bytes(*there), key);
        Ok(Self { ucx, own, there, word: Box::default(), words: Words::default() })
    }

    fn measure(&mut self, _: &str, _: usize, with: &Measuring<'_, impl Timer>) -> Result<Vec<u64>> {
        self.words.there_and_back(with, |number| self.post(number), || Ok(self.last()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{compare, offset};

    #[test]
    fn layouts_are_those_of_the_header() {
        let (fields, [length, flags]) = MEMORY;
        let mask = "UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS";
        let checks = [
            (mask.to_owned(), fields),
            (offset("ucp_mem_map_params_t", "length"), length as u64),
            (offset("ucp_mem_map_params_t", "flags"), flags as u64),
            ("sizeof(ucp_mem_map_params_t) <= 256".to_owned(), 1),
            ("UCP_MEM_MAP_ALLOCATE".to_owned(), ALLOCATED),
            ("UCP_MEM_ATTR_FIELD_ADDRESS".to_owned(), PLACE.0),
            (offset("ucp_mem_attr_t", "address"), PLACE.1 as u64),
            ("sizeof(ucp_mem_attr_t) <= 256".to_owned(), 1),
        ];
        compare(&["ucp/api/ucp.h"], &checks);
    }
}
