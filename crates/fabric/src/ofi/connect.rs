//! Opening an endpoint, and meeting the other ranks.

use std::ffi::c_int;
use std::ptr::null_mut;

use bandgap_comm::{Rendezvous, Result};

use super::Ofi;
use super::abi::{AV_TABLE, Av, CQ_CONTEXT, Domain, ENABLE, Fabric, Fid, RECV, Raw, SEND};
use crate::FabricError;
use crate::common::exchange;

/// Bytes of the longest address of an endpoint.
const LONGEST: usize = 512;

impl Ofi {
    /// Opens the endpoint and what it needs. Returns the table of addresses.
    pub(super) fn open(&mut self) -> Result<*mut Av> {
        let none: Raw = null_mut();
        // SAFETY: objects and attributes are those that the library made, in the layout of its headers.
        unsafe {
            let mut fabric: *mut Fabric = null_mut();
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
    pub(super) fn meet(&mut self, table: *mut Av, meeting: &mut Rendezvous<'_>) -> Result<()> {
        let (mut own, mut len) = ([0; LONGEST], LONGEST);
        // SAFETY: there is room for so many bytes.
        let done =
            unsafe { ((*(*self.endpoint).names).get)(self.endpoint, own.as_mut_ptr(), &mut len) };
        self.fine(done, "fi_getname")?;
        let is = format!("libfabric {} {}", self.version, self.provider);
        let told = exchange(meeting, &is, &own[..len.min(LONGEST)])?;
        for (peer, there) in told.into_iter().enumerate() {
            let mut address = 0;
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
}
