//! The hosts and processors of ranks.

use std::collections::BTreeMap;

use bandgap_host::{Placement, Topology};

use crate::stage::{Stage, placed};
use crate::{Result, hosts};

/// The host and processor of each rank.
pub struct Spread {
    /// The names of the hosts.
    hosts: Vec<String>,
    /// The host of each rank.
    pub by_rank: Vec<usize>,
    /// The processor of each rank, on its host.
    pub placement: Placement,
}

/// Seats `ranks` ranks on the reached hosts, which are examined with their processors.
///
/// # Errors
/// As [`Spread::of`].
pub fn seat(stage: &Stage, ranks: usize, cores: Option<&str>) -> Result<()> {
    let Spread { by_rank, placement, .. } = Spread::of(stage, ranks, cores)?;
    for (host, agent) in stage.agents.borrow_mut().iter_mut().enumerate() {
        let own = by_rank.iter().zip(&placement.cpus).filter(|(at, _)| **at == host);
        agent.cpus = own.map(|(_, cpu)| *cpu).collect();
    }
    Ok(())
}

impl Spread {
    /// The hosts and processors of `ranks` ranks.
    ///
    /// # Errors
    /// There are more ranks than slots, or a processor in `cores` is missing or not allowed.
    pub fn of(stage: &Stage, ranks: usize, cores: Option<&str>) -> Result<Self> {
        let Some(hosts) = &*stage.hosts.borrow() else {
            let placement = placed(&stage.topology, ranks, cores)?;
            return Ok(Self { hosts: Vec::new(), by_rank: vec![0; ranks], placement });
        };
        let by_rank = hosts.by_rank(ranks)?;
        let agents = stage.agents();
        // A host has several agents if each process of a launcher is one.
        let names: Vec<String> = agents.iter().map(|agent| agent.host.clone()).collect();
        let cores = cores.map(|list| hosts::cores(list, &names)).transpose()?;
        let mut placement = Placement { cpus: vec![0; ranks], oversubscribed: false };
        for (at, agent) in agents.iter().enumerate() {
            let own: Vec<usize> =
                (0..ranks).filter(|&rank| names[by_rank[rank]] == agent.host).collect();
            if own.is_empty() || names[..at].contains(&agent.host) {
                continue;
            }
            let cores = cores.as_ref().and_then(|of| of.get(&agent.host));
            let placed = placed(&agent.hello.topology, own.len(), cores.map(String::as_str))
                .map_err(|failure| failure.on(&agent.host))?;
            placement.oversubscribed |= placed.oversubscribed;
            for (rank, cpu) in own.into_iter().zip(placed.cpus) {
                placement.cpus[rank] = cpu;
            }
        }
        Ok(Self { hosts: names, by_rank, placement })
    }

    /// Whether ranks are on several hosts.
    pub fn several(&self) -> bool {
        let names = self.names();
        names.iter().any(|name| *name != names[0])
    }

    /// The name of each rank's host; empty if no hosts were named.
    pub fn names(&self) -> Vec<String> {
        self.by_rank.iter().filter_map(|&host| self.hosts.get(host).cloned()).collect()
    }

    /// The distances between ranks by level, each with its pair of lowest ranks: within a host and over the network, or
    /// between processors of this host. Ranks that share a processor here have no distance.
    pub fn distances(&self, topology: &Topology) -> BTreeMap<u32, [usize; 2]> {
        let (names, cpus) = (self.names(), &self.placement.cpus);
        let is_first = |rank: &usize| !names.is_empty() || !cpus[..*rank].contains(&cpus[*rank]);
        let own: Vec<usize> = (0..cpus.len()).filter(is_first).collect();
        let level = |a: usize, b: usize| match names.is_empty() {
            true => topology.distance(cpus[a], cpus[b]).map(|distance| distance.level()),
            false => Some(if names[a] == names[b] { 1 } else { 2 }),
        };
        let mut nearest = BTreeMap::new();
        for (at, &a) in own.iter().enumerate() {
            for &b in &own[at + 1..] {
                if let Some(level) = level(a, b) {
                    nearest.entry(level).or_insert([a, b]);
                }
            }
        }
        nearest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_found_at_each_distance_within_a_host_between_hosts_and_not_on_one_processor() {
        let topology = Topology::read().unwrap();
        let spread = |hosts: &[&str], cpus: Vec<usize>| Spread {
            hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
            by_rank: (0..cpus.len()).collect(),
            placement: Placement { cpus, oversubscribed: false },
        };
        let found = |of: Spread| of.distances(&topology).into_iter().collect::<Vec<_>>();
        let cpu = topology.allowed_ids()[0];
        assert_eq!(found(spread(&[], vec![cpu, cpu])), []);
        let between = spread(&["a", "a", "b"], vec![cpu; 3]);
        assert_eq!(found(between), [(1, [0, 1]), (2, [0, 2])]);
    }
}
