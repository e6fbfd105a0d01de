//! Checks before ranks start: memory, descriptors, nodes of a simulated machine.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;

use bandgap_campaign::Task;
use bandgap_campaign::planned::Room;
use bandgap_comm::CommError;
use bandgap_sim::Machine;
use rustix::fs::{FileType, Stat, fstat};

use crate::memory::Need;
use crate::{Classify, Exit, Result, Target, Transport, descriptors, floors, memory, usage};

/// The memory that a task needs at each rank, if available.
pub(crate) fn room(ranks: usize, task: &Task, transports: &[Transport]) -> Result<Room> {
    let room = task.room(ranks, &transports[0].can.tuning).class(Exit::Defect)?;
    let shared = transports.iter().map(|transport| (transport.shared)(ranks)).sum();
    // Ranks with common memory also map what the others expose.
    let mapped = if shared > 0 { room.exposed.saturating_mul(ranks.saturating_sub(1)) } else { 0 };
    memory::check(Need { ranks, each: room.memory, shared, mapped })?;
    Ok(room)
}

/// Checks that a target has room for a task of `ranks` ranks. `collect` checks it too; this is for tasks
/// that come after others.
///
/// # Errors
/// The target lacks room.
pub fn has_room(target: &Target, ranks: usize, task: &Task) -> Result<()> {
    match target {
        Target::Simulated(name) => with_nodes_for(ranks, name).map(drop),
        Target::Real(transport) => {
            check_limits(ranks, &[*transport])?;
            descriptors::check(ranks, 1)?;
            room(ranks, task, &[*transport]).map(drop)
        }
    }
}

/// The descriptors that ranks inherit, and the number of them for each transport.
#[derive(Default)]
pub(crate) struct Prepared {
    pub transports: Vec<(String, usize)>,
    pub bares: Vec<(String, usize)>,
    pub descriptors: Vec<OwnedFd>,
}

impl Prepared {
    /// Prepares local ranks, given their number and the bytes that each exposes. Ranks of agents inherit nothing.
    pub fn of(transports: &[Transport], local: Option<(usize, usize)>) -> Result<Self, CommError> {
        let mut prepared = Self::default();
        let mut bare = Vec::new();
        for transport in transports {
            let name = || transport.name.to_owned();
            let own = |(ranks, exposed)| (transport.prepare)(ranks, exposed);
            let own = local.map_or(Ok(Vec::new()), own)?;
            if local.is_some() {
                let descriptors = floors::prepare(transport.name, &own)?;
                prepared.bares.push((name(), descriptors.len()));
                bare.extend(descriptors);
            }
            prepared.transports.push((name(), own.len()));
            prepared.descriptors.extend(own);
        }
        prepared.descriptors.extend(bare);
        Ok(prepared)
    }
}

/// The largest memory that is kept, in bytes: that of 11 ranks.
const LARGEST: i64 = 1 << 20;
/// Descriptors of it that are kept at most: those of 16 launches, each with one for its floors. Their 16 MiB are within
/// what is added for the processes of 11 ranks.
const MOST: usize = 32;

/// The memory between ranks of earlier launches. A launch that gets the pages of the launch before is as fast or as slow
/// as that one, so launches would not be independent.
#[derive(Default)]
pub(crate) struct Used(VecDeque<OwnedFd>);

impl Used {
    /// Keeps the memory of a launch that is over, instead of the oldest where there is much.
    pub fn keep(&mut self, prepared: Prepared) {
        let is_file = |mode| FileType::from_raw_mode(mode) == FileType::RegularFile;
        let is_small = |of: Stat| is_file(of.st_mode) && of.st_size <= LARGEST;
        let small = |descriptor: &OwnedFd| fstat(descriptor).is_ok_and(is_small);
        self.0.extend(prepared.descriptors.into_iter().filter(small));
        self.0.drain(..self.0.len().saturating_sub(MOST));
    }
}

/// Refuses more ranks than a transport supports.
pub(crate) fn check_limits(ranks: usize, transports: &[Transport]) -> Result<()> {
    let over = transports.iter().find(|transport| ranks > transport.can.ranks);
    over.map_or(Ok(()), |over| {
        let most = over.can.ranks;
        Err(usage!("run {ranks} ranks over {over}: one machine takes {most} at most"))
    })
}

/// The simulated machine with this name or file, if it has enough nodes.
pub(crate) fn with_nodes_for(ranks: usize, machine: &str) -> Result<Machine> {
    let machine = simulated(machine)?;
    if ranks > machine.ranks {
        return Err(usage!("run {ranks} ranks: {} has {}", machine.name, machine.ranks));
    }
    Ok(machine)
}

/// The simulated machine with this name or file.
///
/// # Errors
/// There is none, or its file is wrong.
pub fn simulated(machine: &str) -> Result<Machine> {
    Machine::load(machine).class(Exit::Input)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_the_last_launches_is_kept_while_it_is_small() {
        let shm: Transport = "shm".parse().unwrap();
        let mut used = Used::default();
        let mut launch = |ranks, exposed| {
            let prepared = Prepared::of(&[shm], Some((ranks, exposed))).unwrap();
            let file = fstat(&prepared.descriptors[0]).unwrap().st_ino;
            used.keep(prepared);
            (file, used.0.iter().step_by(2).map(|fd| fstat(fd).unwrap().st_ino).collect::<Vec<_>>())
        };
        let files: Vec<u64> = (0..20).map(|_| launch(2, 8 << 20).0).collect();
        // Of each the rings, which are 37 KiB, and not what ranks expose.
        let (last, kept) = launch(2, 0);
        assert_eq!(kept, [&files[5..], &[last]].concat());
        // Those of 16 ranks are 2 MiB.
        assert_eq!(launch(16, 0).1, kept);
    }
}
