//! The endpoints that libfabric offers, and the choice among them.

use std::ffi::CString;
use std::ptr::{null, null_mut};

use bandgap_comm::Rendezvous;
use bandgap_units::Ways;

use super::WITHIN_HOST;
use super::abi::{
    Api, CONTEXTS, Info, OLDEST, ONE_THREAD, REGISTRATION, RELIABLE_DATAGRAM, SENDS_IN_ORDER,
    SOURCE, TAGGED, WATCHED,
};
use crate::FabricError;
use crate::common::{chosen, text};

/// What the library offers for these ranks with these abilities, the best first.
pub fn find(
    api: &Api,
    provider: Option<&str>,
    caps: u64,
    meeting: &Rendezvous<'_>,
    version: &str,
) -> Result<*mut Info, FabricError> {
    let node = meeting.interface.to_string();
    // Providers of IP want an address of this host. Those within it would take it as a name, which one rank has.
    for node in [Some(&*node).filter(|_| !provider.is_some_and(is_local)), None] {
        let found = offers(api, provider, caps, node);
        let mut best = found;
        // SAFETY: the list ends with a null pointer, its elements have all attributes, and it is used no more.
        unsafe {
            while !best.is_null() && !is_usable(&text((*(*best).fabric).provider)) {
                best = (*best).next;
            }
            let own = best.as_ref().map(|best| (api.dupinfo)(best));
            (api.freeinfo)(found);
            if let Some(own) = own {
                return Ok(own);
            }
        }
    }
    Err(FabricError::NoTransport {
        named: provider.unwrap_or("any provider").to_owned(),
        library: format!("libfabric {version}{}", chosen(&["FI_PROVIDER"])),
        there: ways(api).into_keys().collect(),
    })
}

/// The usable providers, with their domains, which are devices.
pub fn ways(api: &Api) -> Ways {
    let all = offers(api, None, TAGGED, None);
    let (mut ways, mut at) = (Ways::new(), all.cast_const());
    // SAFETY: as above.
    while let Some(info) = unsafe { at.as_ref() } {
        // SAFETY: as above.
        let [name, domain] =
            unsafe { [(*info.fabric).provider, (*info.domain).name].map(|of| text(of)) };
        if is_usable(&name) {
            ways.entry(name).or_default().insert(domain);
        }
        at = info.next;
    }
    // SAFETY: the list is used no more.
    unsafe { (api.freeinfo)(all) };
    ways
}

/// Whether a provider reaches only processes of this host.
pub fn is_local(provider: &str) -> bool {
    provider == WITHIN_HOST || provider == "sm2"
}

/// Whether bandgap runs over a provider. That of `sockets` takes 7 ms a message if its thread shares a processor with the
/// rank, and loses bytes.
fn is_usable(provider: &str) -> bool {
    provider != "sockets" && !provider.starts_with("ofi_hook")
}

/// The endpoints that the library offers; null if none.
fn offers(api: &Api, provider: Option<&str>, caps: u64, node: Option<&str>) -> *mut Info {
    let node = node.and_then(|node| CString::new(node).ok());
    let provider = provider.and_then(|name| CString::new(name).ok());
    let mut found = null_mut();
    // SAFETY: the library makes the hints with all attributes, and frees them with the name, which is a copy.
    unsafe {
        let hints = (api.dupinfo)(null());
        let wanted = &mut *hints;
        (wanted.caps, wanted.mode) = (caps, CONTEXTS);
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
