//! Limits of a program that are lowered while it runs.

use rustix::io::Errno;
use rustix::process::{Pid, Resource, Rlimit, prlimit};

use crate::SoakError;
use crate::error::Doing;

/// The limits, and the process.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Lower {
    /// The process
    pub pid: u32,
    /// At most so many processes of its user
    #[arg(long, value_name = "N")]
    pub processes: Option<u64>,
    /// At most so many descriptors
    #[arg(long, value_name = "N")]
    pub descriptors: Option<u64>,
}

impl Lower {
    /// The same as arguments of this program.
    pub fn arguments(&self) -> Vec<String> {
        let numbers = [("--processes", self.processes), ("--descriptors", self.descriptors)];
        let numbers = numbers.into_iter().flat_map(|(name, number)| {
            number.into_iter().flat_map(|n| [name.into(), n.to_string()])
        });
        ["lower".to_owned(), self.pid.to_string()].into_iter().chain(numbers).collect()
    }

    /// Lowers the limits of the process, for good.
    ///
    /// # Errors
    /// It has ended, or is another user's.
    pub fn lower(&self) -> Result<(), SoakError> {
        let limits = [(Resource::Nproc, self.processes), (Resource::Nofile, self.descriptors)];
        let pid = Pid::from_raw(self.pid.cast_signed());
        for (resource, limit) in limits.into_iter().filter(|(_, limit)| limit.is_some()) {
            let limit = Rlimit { current: limit, maximum: limit };
            let pid = pid.ok_or(Errno::SRCH).doing(|| format!("find process {}", self.pid))?;
            prlimit(Some(pid), resource, limit).doing(|| format!("limit {resource:?}"))?;
        }
        Ok(())
    }
}
