//! Divides processes that somebody else started among hosts: the first on each host is the agent there.

use std::collections::BTreeSet;
use std::net::TcpStream;
use std::time::Instant;

use bandgap_host::allow;

use crate::Result;
use crate::agents::Channels;
use crate::failure::lost;
use crate::hosts::{HostSlots, Hosts};
use crate::message::Channel;
use crate::protocol::{ProcessRole, Who};

/// Gives each of the processes that call its role; `own` is this process, if it is one of them, and then the first. The
/// first `needed` get ranks. `apart`: every process is an agent. Returns the hosts, the agents, and those who wait.
///
/// # Errors
/// A process is gone.
pub fn divide(
    own: Option<Who>,
    needed: usize,
    apart: bool,
    streams: Vec<TcpStream>,
    until: Instant,
) -> Result<(Hosts, Channels, Vec<Channel>)> {
    let mut all: Vec<_> = own.map(|own| (own, None)).into_iter().collect();
    // This process starts the ranks of the first host.
    let first = all.len();
    for stream in streams {
        let (who, channel, address) = Who::calls(stream, until)?;
        all.push((who, Some((channel, address))));
    }
    let (mut keys, mut places, mut order) = (Vec::new(), Vec::new(), Vec::new());
    for (Who { name, host: key, .. }, _) in all.iter().take(needed.max(1)) {
        let known = keys.iter().position(|of| of == key);
        let at = known.filter(|_| !apart).unwrap_or_else(|| {
            let names = places.iter().map(|place: &HostSlots| &*place.host);
            let same: BTreeSet<&str> =
                names.filter(|of| of.split('#').next() == Some(name)).collect();
            let host = match (known, same.len()) {
                (Some(at), _) => places[at].host.clone(),
                (None, 0) => name.clone(),
                // Hosts of the same name get a number.
                (None, others) => format!("{name}#{}", others + 1),
            };
            keys.push(key.clone());
            places.push(HostSlots { host, slots: 0 });
            places.len() - 1
        });
        places[at].slots += 1;
        order.push(at);
    }
    let allowed = |key: &String| {
        let here = all.iter().filter(|(who, _)| who.host == *key);
        let cpus: BTreeSet<usize> = here.flat_map(|(who, _)| who.allowed.clone()).collect();
        cpus.into_iter().collect()
    };
    let of_hosts: Vec<Vec<usize>> = keys.iter().map(allowed).collect();
    let (mut agents, mut idle) = (Vec::new(), Vec::new());
    agents.resize_with(keys.len(), || None);
    for (who, channel) in all {
        let Some((mut channel, address)) = channel else {
            run_on(&of_hosts[0]);
            continue;
        };
        let free = (first..keys.len()).find(|&at| keys[at] == who.host && agents[at].is_none());
        if let Some(at) = free {
            let role = ProcessRole::Agent(of_hosts[at].clone());
            channel.send(&role).map_err(lost)?;
            agents[at] = Some((channel, address));
        } else {
            channel.send(&ProcessRole::Idle).map_err(lost)?;
            idle.push(channel);
        }
    }
    Ok((Hosts { places, order: Some(order), ..Hosts::default() }, agents, idle))
}

/// Lets this process's ranks run on all processors allowed to its host's processes: the launcher bound each one alone.
pub fn run_on(cpus: &[usize]) {
    // The topology, which is read next, shows whether the system refused.
    let _ = allow(cpus);
}
