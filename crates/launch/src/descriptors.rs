//! File descriptors: how many a run needs, and how the launcher hands some to a rank over their socket pair.

use std::io::{Error, IoSlice, IoSliceMut, Result};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::{Exit, Failure};

/// Most descriptors handed to a rank.
const MOST: usize = 16;

/// Descriptors of a process in addition to its connections: standard streams, the control page and segments, the run's
/// files, a listener, an epoll instance, callers that are strangers, and the segments of earlier launches.
const BESIDE: u64 = 96;

/// Most descriptors that the launcher or a rank needs. The launcher holds a socket to each rank. A rank holds a socket to
/// each peer for each of its connections: one a transport, and the one with stamps. Bare mechanisms need a few, on two
/// ranks only.
fn needed(ranks: usize, connections: usize) -> u64 {
    ranks as u64 * connections.max(1) as u64 + BESIDE
}

/// Raises the limit of descriptors of this process and its ranks as far as the system allows, and refuses a run that
/// needs more.
///
/// # Errors
/// The run needs more.
pub fn check(ranks: usize, connections: usize) -> std::result::Result<(), Failure> {
    let limit = getrlimit(Resource::Nofile);
    // If the system refuses, the soft limit holds.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    let needed = needed(ranks, connections);
    let exceeded = getrlimit(Resource::Nofile).current.filter(|now| needed > *now);
    exceeded.map_or(Ok(()), |now| {
        let what =
            format!("run {ranks} ranks: that takes {needed} descriptors, and the limit is {now}");
        Err(Failure::new(Exit::Host, what).hint("use fewer --ranks, or raise `ulimit -n`"))
    })
}

/// Sends the descriptors with a byte that holds their number.
pub fn send(socket: impl AsFd, descriptors: &[BorrowedFd<'_>]) -> Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let fits = descriptors.len() <= MOST;
    if !fits || !control.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(Error::other("too many descriptors for one rank"));
    }
    let count = [descriptors.len() as u8];
    sendmsg(socket, &[IoSlice::new(&count)], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Receives what [`send`] sent.
pub fn receive(socket: impl AsFd) -> Result<Vec<OwnedFd>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut count = [0];
    recvmsg(socket, &mut [IoSliceMut::new(&mut count)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let mut received = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(descriptors) = message {
            received.extend(descriptors);
        }
    }
    match received.len() == usize::from(count[0]) {
        true => Ok(received),
        false => Err(Error::other("the launcher did not hand over all descriptors")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_connection_of_a_rank_is_counted() {
        // Four transports and one with stamps: a rank of a hundred has five sockets to each of 99 peers.
        assert!(needed(100, 5) >= 5 * 99 + 3);
        // The launcher has a socket to each rank, independent of the connections.
        assert!(needed(256, 0) >= 256 + 3);
        assert!(needed(256, 1) < 1024, "the usual limit is enough for the most ranks");
    }
}
