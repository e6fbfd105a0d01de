//! How rank processes come into being.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use crate::rank;

/// A way to start rank processes. What they then do, and over which transport, is not its business.
pub trait Start {
    /// Starts one rank; returns its process and this side of the socket that is its standard input.
    ///
    /// # Errors
    /// The system refused.
    fn start(&self) -> io::Result<(Child, UnixStream)>;
}

/// This program itself, whatever lies at its path by now.
const OWN: &str = "/proc/self/exe";

/// Processes of this machine, children of the launcher, that run this program.
#[derive(Clone, Copy, Debug)]
pub struct Children;

impl Start for Children {
    fn start(&self) -> io::Result<(Child, UnixStream)> {
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
}
