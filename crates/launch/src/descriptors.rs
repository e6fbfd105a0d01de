//! Descriptors handed from the launcher to a rank over their socket pair.

use std::io::{Error, IoSlice, IoSliceMut, Result};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

/// Most descriptors of one rank.
const MOST: usize = 16;

/// Sends the descriptors with one byte that counts them.
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
