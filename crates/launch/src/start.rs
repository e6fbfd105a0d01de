//! How rank processes come into being.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use crate::protocol::OWN;
use crate::rank;

/// Starts a rank: a child of this process that runs this program. Returns it, and this side of the socket that is its
/// standard input.
///
/// # Errors
/// The system refused.
pub fn child() -> io::Result<(Child, UnixStream)> {
    let (ours, theirs) = UnixStream::pair()?;
    let child = Command::new(OWN)
        .arg0(std::env::args_os().next().unwrap_or_default())
        .arg(rank::COMMAND)
        .arg(std::process::id().to_string())
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::null())
        // What a terminal sends goes to the launcher alone, which stops and halts the ranks in order.
        .process_group(0)
        .spawn()?;
    Ok((child, ours))
}
