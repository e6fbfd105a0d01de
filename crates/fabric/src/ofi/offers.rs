//! The endpoints that libfabric offers, and the choice among them.

use std::ffi::CString;
use std::ptr::{null, null_mut};

use bandgap_comm::Rendezvous;

use super::WITHIN_HOST;
use super::abi::{
    Api, CONTEXTS, Info, OLDEST, ONE_THREAD, REGISTRATION, RELIABLE_DATAGRAM, SENDS_IN_ORDER,
    SOURCE, TAGGED, WATCHED,
};
use crate::FabricError;
use crate::common::text;

/// What the library offers for these ranks, the best first.
pub fn find(
    api: &Api,
    provider: Option<&str>,
    meeting: &Rendezvous<'_>,
    version: &str,
) -> Result<*mut Info, FabricError> {
    let there = |infos: *mut Info| {
        let mut names = Vec::new();
        let mut at = infos;
        while !at.is_null() {
            // SAFETY: the list ends with a null pointer, and its elements have all attributes.
            let (name, next) = unsafe { (text((*(*at).fabric).provider), (*at).next) };
            if !names.contains(&name) && is_usable(&name) {
                names.push(name);
            }
            at = next;
        }
        names
    };
    if let Some(named) = provider.filter(|name| !is_usable(name)) {
        let why = "it is deprecated, and breaks off long messages";
        return Err(FabricError::NotUsed { named: named.to_owned(), why });
    }
    let node = meeting.interface.to_string();
    // Providers of IP want an address of this host. Those within it would take it as a name, which one rank has.
    let is_local = |name: &str| name == WITHIN_HOST || name == "sm2";
    for node in [Some(&*node).filter(|_| !provider.is_some_and(is_local)), None] {
        let found = offers(api, provider, node);
        let Some(first) = there(found).into_iter().next() else {
            // SAFETY: the list is used no more.
            unsafe { (api.freeinfo)(found) };
            continue;
        };
        let mut best = found;
        // SAFETY: as above; the first usable one is in the list.
        unsafe {
            while text((*(*best).fabric).provider) != first {
                best = (*best).next;
            }
            let own = (api.dupinfo)(best);
            (api.freeinfo)(found);
            return Ok(own);
        }
    }
    let all = offers(api, None, None);
    let names = there(all);
    // SAFETY: the list is used no more.
    unsafe { (api.freeinfo)(all) };
    Err(FabricError::NoTransport {
        named: provider.unwrap_or("any provider").to_owned(),
        library: format!("libfabric {version}"),
        there: names,
    })
}

/// Whether bandgap runs over a provider. That of `sockets` takes 7 ms a message if its thread shares a processor with the
/// rank, and loses bytes.
fn is_usable(provider: &str) -> bool {
    provider != "sockets" && !provider.starts_with("ofi_hook")
}

/// The endpoints that the library offers; null if none.
fn offers(api: &Api, provider: Option<&str>, node: Option<&str>) -> *mut Info {
    let node = node.and_then(|node| CString::new(node).ok());
    let provider = provider.and_then(|name| CString::new(name).ok());
    let mut found = null_mut();
    // SAFETY: the library makes the hints with all attributes, and frees them with the name, which is a copy.
    unsafe {
        let hints = (api.dupinfo)(null());
        let wanted = &mut *hints;
        (wanted.caps, wanted.mode) = (TAGGED, CONTEXTS);
        (*wanted.ep).kind = RELIABLE_DATAGRAM;
        let domain = &mut *wanted.domain;
        (domain.threading, domain.resources, domain.registration) =
            (ONE_THREAD, WATCHED, REGISTRATION);
        ((*wanted.tx).order, (*wanted.rx).order) = (SENDS_IN_ORDER, SENDS_IN_ORDER);
        if let Some(name) = &provider {
            (*wanted.fabric).provider = libc::strdup(name.as_ptr());
        }
        let (at, flags) = node.as_ref().map_or((null(), 0), |node| (node.as_ptr(), SOURCE));
        (api.getinfo)(OLDEST, at, null(), flags, hints, &mut found);
        (api.freeinfo)(hints);
    }
    found
}
