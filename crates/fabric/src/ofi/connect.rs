//! Opening an endpoint, and meeting the other ranks.

use std::ffi::c_int;
use std::ptr::null_mut;

use bandgap_comm::{Rendezvous, Result};

use super::Ofi;
use super::abi::{self, AV_TABLE, ENABLE, Fid, Object, RECV, Raw, SEND};
use super::offers::is_local;
use crate::FabricError;
use crate::common::exchange;

/// Bytes of the longest address of an endpoint.
const LONGEST: usize = 512;

impl Ofi {
    /// Opens the endpoint and what it needs, with completions of this format.
    pub(super) fn open(&mut self, format: u64) -> Result<()> {
        let none: Raw = null_mut();
        // SAFETY: objects and attributes are those that the library made, in the layout of its headers.
        unsafe {
            let mut fabric: *mut Object = null_mut();
            let done = (self.api.fabric)((*self.info).fabric, &mut fabric, none);
            self.opened(done, fabric.cast(), "fi_fabric")?;
            let done = abi::domain((*fabric).calls)(fabric, self.info, &mut self.domain, none);
            self.opened(done, self.domain.cast(), "fi_domain")?;
            let domain = self.domain;
            // Its type; no name, and as many as come.
            let attributes = [AV_TABLE, 0, 0, 0, 0, 0, 0, 0];
            let calls = (*domain).calls;
            let done =
                abi::addresses(calls)(domain, attributes.as_ptr(), &mut self.addresses, none);
            self.opened(done, self.addresses.cast(), "fi_av_open")?;
            // The usual length, no flags, the format, and nothing to sleep on.
            let attributes = [0, 0, format, 0, 0, 0, 0, 0];
            let done = abi::queue(calls)(domain, attributes.as_ptr(), &mut self.queue, none);
            self.opened(done, self.queue.cast(), "fi_cq_open")?;
            let done = abi::endpoint(calls)(domain, self.info, &mut self.endpoint, none);
            self.opened(done, self.endpoint.cast(), "fi_endpoint")?;
            let (endpoint, calls) = (self.endpoint.cast(), (*self.endpoint).fid.calls);
            self.fine(abi::bind(calls)(endpoint, self.addresses.cast(), 0), "fi_ep_bind")?;
            self.fine(abi::bind(calls)(endpoint, self.queue.cast(), SEND | RECV), "fi_ep_bind")?;
            self.fine(abi::control(calls)(endpoint, ENABLE, none), "fi_enable")?;
            Ok(())
        }
    }

    pub(super) fn opened(
        &mut self,
        done: c_int,
        fid: *mut Fid,
        operation: &str,
    ) -> Result<(), FabricError> {
        self.fine(done, operation)?;
        self.open.push(fid);
        Ok(())
    }

    /// Exchanges addresses and `more`. Returns the others' `more`, by rank.
    pub(super) fn meet(
        &mut self,
        meeting: &mut Rendezvous<'_>,
        more: &[u8],
    ) -> Result<Vec<Vec<u8>>> {
        let (mut own, mut len) = ([0; LONGEST], LONGEST);
        // SAFETY: there is room for so many bytes.
        let done =
            unsafe { abi::name((*self.endpoint).names)(self.endpoint, own.as_mut_ptr(), &mut len) };
        self.fine(done, "fi_getname")?;
        let mut is = format!("libfabric {} {}", self.version, self.provider);
        if is_local(&self.provider) {
            // A rank of another host would wait in vain.
            let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
            is += &format!(" of {}", host.trim_end());
        }
        let told = exchange(meeting, &is, [&own[..len.min(LONGEST)], more])?;
        let (table, mut theirs) = (self.addresses, Vec::new());
        for (peer, [there, more]) in told.into_iter().enumerate() {
            theirs.push(more);
            // A peer's bytes, as long as any provider reads.
            let (mut at, len) = ([0; LONGEST], there.len().min(LONGEST));
            at[..len].copy_from_slice(&there[..len]);
            let mut address = 0;
            // SAFETY: there are as many bytes as any address has.
            let inserted = unsafe {
                abi::insert((*table).calls)(table, at.as_ptr(), 1, &mut address, 0, null_mut())
            };
            if inserted != 1 {
                self.fine(
                    inserted.min(-1),
                    &format!("connect to rank {peer} over {}", self.provider),
                )?;
            }
            self.peers.push(address);
        }
        Ok(theirs)
    }
}
