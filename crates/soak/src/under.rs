//! Limits that a process sets on itself before it becomes another program.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Error;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, id};

use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::thread::{CpuSet, sched_setaffinity};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter};

use crate::SoakError;
use crate::error::Doing;

/// The exit code with which this program says that it could not set the limits: no code of the program under test.
pub const UNDER_FAILED: u8 = 99;

/// The limits, and the program.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Under {
    /// Refuse memfd_create
    #[arg(long)]
    pub no_memfd: bool,
    /// Refuse process_vm_readv
    #[arg(long)]
    pub no_vm_readv: bool,
    /// At most so many descriptors
    #[arg(long, value_name = "N")]
    pub descriptors: Option<u64>,
    /// At most so many processes of this user
    #[arg(long, value_name = "N")]
    pub processes: Option<u64>,
    /// No file longer than so many bytes
    #[arg(long, value_name = "BYTES")]
    pub file_size: Option<u64>,
    /// Only this processor
    #[arg(long, value_name = "CPU")]
    pub processor: Option<usize>,
    /// Join this memory group
    #[arg(long, value_name = "DIR")]
    pub group: Option<PathBuf>,
    /// The program, and its arguments
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

impl Under {
    /// The same limits as arguments of this program, up to the program.
    pub fn arguments(&self) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec!["under".into()];
        for (name, is_set) in [("--no-memfd", self.no_memfd), ("--no-vm-readv", self.no_vm_readv)] {
            words.extend(is_set.then(|| name.into()));
        }
        let numbers = [
            ("--descriptors", self.descriptors),
            ("--processes", self.processes),
            ("--file-size", self.file_size),
            ("--processor", self.processor.map(|processor| processor as u64)),
        ];
        for (name, number) in numbers {
            words.extend(number.into_iter().flat_map(|n| [name.into(), n.to_string().into()]));
        }
        words.extend(self.group.iter().flat_map(|group| ["--group".into(), group.into()]));
        words.push("--".into());
        words
    }

    /// Whether nothing is limited.
    pub fn is_free(&self) -> bool {
        self.arguments().len() == 2
    }

    /// Sets the limits on this process, and becomes the program.
    ///
    /// # Errors
    /// A limit or the program was refused; otherwise this does not return.
    pub fn become_program(&self) -> Result<(), SoakError> {
        let limits = [
            (Resource::Fsize, self.file_size),
            (Resource::Nproc, self.processes),
            (Resource::Nofile, self.descriptors),
        ];
        if let Some(group) = &self.group {
            let join = std::fs::write(group.join("cgroup.procs"), id().to_string());
            join.doing(|| format!("join {}", group.display()))?;
        }
        if let Some(processor) = self.processor {
            let mut set = CpuSet::new();
            set.set(processor);
            sched_setaffinity(None, &set).doing(|| format!("stay on processor {processor}"))?;
        }
        for (resource, limit) in limits.into_iter().filter(|(_, limit)| limit.is_some()) {
            let limit = Rlimit { current: limit, maximum: limit };
            setrlimit(resource, limit).doing(|| format!("limit {resource:?}"))?;
        }
        // The last: nothing above may need what it refuses.
        let memfd = self.no_memfd.then_some(libc::SYS_memfd_create);
        let readv = self.no_vm_readv.then_some(libc::SYS_process_vm_readv);
        let refused: Vec<i64> = memfd.into_iter().chain(readv).collect();
        if !refused.is_empty() {
            apply_filter(&refusing(&refused)?).map_err(SoakError::Refused)?;
        }
        let mut words = self.program.iter();
        let program = words.next().cloned().unwrap_or_default();
        let refused: Error = Command::new(&program).args(words).exec();
        Err(refused).doing(|| format!("become {}", program.to_string_lossy()))
    }
}

/// A filter that answers these system calls with EPERM, as the profiles of containers do.
fn refusing(calls: &[i64]) -> Result<BpfProgram, SoakError> {
    let rules: BTreeMap<i64, Vec<_>> = calls.iter().map(|call| (*call, Vec::new())).collect();
    let refuse = SeccompAction::Errno(libc::EPERM.cast_unsigned());
    let here = TargetArch::try_from(std::env::consts::ARCH)?;
    Ok(SeccompFilter::new(rules, SeccompAction::Allow, refuse, here)?.try_into()?)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Typed {
        #[command(flatten)]
        under: Under,
    }

    #[test]
    fn limits_survive_the_way_over_the_command_line() {
        let under = Under {
            no_memfd: true,
            descriptors: Some(12),
            processor: Some(1),
            group: Some("/group".into()),
            ..Under::default()
        };
        assert!(!under.is_free() && Under::default().is_free());
        let words = under.arguments().into_iter().chain(["true".into()]);
        let read = Typed::try_parse_from(words).unwrap().under;
        assert_eq!(read.arguments(), under.arguments());
        assert_eq!(read.program, ["true"]);
        assert!(read.no_memfd && !read.no_vm_readv && read.descriptors == Some(12));
    }
}
