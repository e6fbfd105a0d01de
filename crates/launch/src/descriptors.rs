//! Memory handed from the launcher to a rank over their socket pair.

use std::io::{Error, IoSlice, IoSliceMut, Result};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

/// Descriptors that travel: the control page, the transport's segment, the exposed memory, and the
/// floors' area; where there is none, the page again.
const COUNT: usize = 4;

/// Sends the descriptors with one byte.
pub fn send(socket: impl AsFd, descriptors: [BorrowedFd<'_>; COUNT]) -> Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(COUNT))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(&descriptors)) {
        return Err(Error::other("no room for descriptors"));
    }
    sendmsg(socket, &[IoSlice::new(b"d")], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Receives what [`send`] sent.
pub fn receive(socket: impl AsFd) -> Result<[OwnedFd; COUNT]> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(COUNT))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    recvmsg(socket, &mut [IoSliceMut::new(&mut byte)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let mut received = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(descriptors) = message {
            received.extend(descriptors);
        }
    }
    received.try_into().map_err(|_| Error::other("the launcher did not hand over its memory"))
}
