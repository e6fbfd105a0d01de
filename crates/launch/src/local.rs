//! Ranks of this host: children of this process that share a control page.

use std::io::ErrorKind::{BrokenPipe, ConnectionReset};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bandgap_fabric::remove_leavings;
use bandgap_host::process::is_stopped;
use bandgap_shm::Control;
use rustix::event::{PollFd, PollFlags};

use crate::failure::unstarted;
use crate::group::{Group, Heard};
use crate::message::{Assignment, ToRank};
use crate::process::{RankProcess, child};
use crate::{Exit, Failure, Result, descriptors, told};

/// Longest wait for resting ranks to end by themselves.
const LEAVING: Duration = Duration::from_secs(2);

/// Rank processes that this process started.
pub struct Local {
    ranks: Vec<(usize, RankProcess)>,
    control: Arc<Control>,
}

impl Local {
    /// Starts a rank for each assignment, and hands each rank the descriptors.
    ///
    /// # Errors
    /// The system refused processes, descriptors or memory; the ranks already started are then ended.
    pub fn start(assignments: &[Assignment], inherited: &[OwnedFd]) -> Result<Self> {
        let (size, of) = (assignments.len(), assignments.first().map_or(0, |first| first.size));
        let control = Control::create().map_err(|error| {
            let why = told(&error);
            Failure::new(Exit::Host, format_args!("make shared memory for {size} ranks: {why}"))
        })?;
        // The ranks, the launcher, and its signal thread.
        let unstarted = |rank, error: std::io::Error| {
            unstarted(&format!("start rank {rank} of {of}"), size + 2, &error)
        };
        let mut group = Self { ranks: Vec::with_capacity(size), control: control.into() };
        for Assignment { rank, environment, .. } in assignments {
            let started = child(environment).map_err(|error| unstarted(rank, error))?;
            group.ranks.push((*rank, RankProcess::of(started)));
        }
        for ((_, process), assignment) in group.ranks.iter_mut().zip(assignments) {
            let page = [group.control.fd()];
            let all: Vec<BorrowedFd<'_>> =
                page.into_iter().chain(inherited.iter().map(AsFd::as_fd)).collect();
            let begin = ToRank::Begin(Box::new(assignment.clone()));
            let handed = descriptors::send(process.channel.input(), &all)
                .and_then(|()| process.channel.queue(&begin));
            match handed {
                // `attend` finds a rank that died before it received anything.
                Err(error) if matches!(error.kind(), BrokenPipe | ConnectionReset) => {}
                handed => handed.map_err(|error| unstarted(&assignment.rank, error))?,
            }
        }
        Ok(group)
    }

    /// Lets resting ranks begin again.
    pub fn again(&mut self, assignments: &[Assignment]) {
        for ((rank, process), assignment) in self.ranks.iter_mut().zip(assignments) {
            *rank = assignment.rank;
            (process.resting, process.done) = (false, false);
            // `attend` finds a rank that died.
            let _ = process.channel.queue(&ToRank::Begin(Box::new(assignment.clone())));
        }
    }

    /// Whether all ranks rest.
    pub fn rests(&self) -> bool {
        self.ranks.iter().all(|(_, process)| process.open && process.resting)
    }

    fn open(&self) -> impl Iterator<Item = &(usize, RankProcess)> {
        self.ranks.iter().filter(|(_, process)| process.open)
    }
}

impl Group for Local {
    fn awaited(&self) -> Vec<PollFd<'_>> {
        self.open().flat_map(|(_, process)| process.channel.awaited()).collect()
    }

    fn attend(&mut self, found: &[PollFlags]) -> Vec<(usize, Heard)> {
        let mut heard = Vec::new();
        let open = self.ranks.iter_mut().filter(|(_, process)| process.open);
        for ((rank, process), found) in open.zip(found) {
            if !process.channel.goes_on(*found) {
                continue;
            }
            let (messages, noted) = process.hear();
            if !messages.is_empty() {
                heard.push((*rank, Heard::Said(messages)));
            }
            if !process.open {
                heard.push((*rank, Heard::Ended(process.status(), noted)));
            }
        }
        heard
    }

    fn tell(&mut self, rank: usize, message: &ToRank) {
        if let Some((_, process)) = self.ranks.iter_mut().find(|(of, _)| *of == rank) {
            // `attend` finds a rank that died.
            let _ = process.channel.queue(message);
        }
    }

    fn has(&self, rank: usize) -> bool {
        self.ranks.iter().any(|(of, _)| *of == rank)
    }

    fn poison(&mut self, rank: usize, status: i32) {
        self.control.poison(rank, status);
    }

    fn stop(&mut self) {
        self.control.stop();
    }

    fn stopped(&self) -> Vec<(usize, u32)> {
        let all = self.open().map(|(rank, process)| (*rank, process.child.id()));
        all.filter(|(_, process)| is_stopped(*process)).collect()
    }

    fn is_open(&self) -> bool {
        self.open().any(|(_, process)| !process.resting)
    }

    fn end(&mut self) -> Vec<(usize, Heard)> {
        let ended = self.ranks.iter_mut().filter_map(|(rank, process)| {
            let noted = process.end()?;
            Some((*rank, Heard::Ended(process.status(), Some(noted))))
        });
        ended.collect()
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        let until = Instant::now() + LEAVING;
        self.ranks.iter().for_each(|(_, process)| process.dismiss());
        self.ranks.iter_mut().for_each(|(_, process)| process.leave(until));
        self.control.stop();
        self.end();
        let processes: Vec<u32> =
            self.ranks.iter().map(|(_, process)| process.child.id()).collect();
        remove_leavings(&processes);
    }
}
