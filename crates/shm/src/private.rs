//! Memory that peers do not expose, read through the kernel.

use std::process;

use bandgap_comm::{CommError, Rank, Rendezvous, Result, Word};

use crate::other_process::{allow_reading, read};

/// The processes of a run's ranks, if this rank may read their memory; otherwise the reason why
/// not.
#[derive(Debug)]
pub struct Readable {
    processes: Result<Vec<u32>, String>,
    /// What peers read as a test; it must stay where they were told.
    _token: Box<[u8; 16]>,
}

impl Readable {
    /// Tells all ranks this rank's process, and tries to read the run's secret from each rank,
    /// which proves that the process belongs to this run.
    ///
    /// # Errors
    /// The launcher is gone.
    pub fn meet(meeting: &mut Rendezvous<'_>) -> Result<Self> {
        allow_reading();
        let token = Box::new(meeting.secret);
        let address = (&raw const *token).expose_provenance();
        let all = (meeting.exchange)(format!("{} {address}", process::id()))?;
        let mut peers = Vec::with_capacity(all.len());
        for (rank, told) in all.iter().enumerate() {
            let numbers = told.split_once(' ').and_then(|(process, address)| {
                Some((process.parse().ok()?, address.parse::<Word>().ok()?))
            });
            let garbage = || CommError::Garbage {
                peer: rank,
                what: format!("{told:?} instead of its process and an address"),
            };
            peers.push(numbers.ok_or_else(garbage)?);
        }
        let try_each = peers.iter().enumerate().filter(|(rank, _)| *rank != meeting.rank);
        let mut processes = Ok(peers.iter().map(|(process, _)| *process).collect());
        for (rank, &(process, address)) in try_each {
            let mut got = [0; 16];
            let why = match read(process, address, &mut got) {
                Ok(()) if got == *token => continue,
                Ok(()) => "another process has its number on this host".to_owned(),
                Err(error) => error.to_string(),
            };
            processes = Err(format!("read memory of rank {rank} (process_vm_readv): {why}"));
        }
        Ok(Self { processes, _token: token })
    }

    /// The processes of the ranks, by rank, if they are known to let this one read; otherwise the
    /// reason why not.
    pub fn of(processes: Result<Vec<u32>, String>) -> Self {
        Self { processes, _token: Box::default() }
    }

    /// Checks that this rank may read its peers.
    pub(crate) fn allowed(&self) -> Result<(), &str> {
        self.processes.as_ref().map(drop).map_err(String::as_str)
    }

    /// Fills `into` with the bytes at `address` in the process of `peer`. The kernel checks the
    /// address.
    pub(crate) fn read(&self, peer: Rank, at: Word, into: &mut [u8]) -> Result<()> {
        let process = match &self.processes {
            Ok(processes) => processes.get(peer).copied().unwrap_or(0),
            Err(reason) => return Err(CommError::SingleCopy { reason: reason.clone() }),
        };
        read(process, at, into).map_err(|error| match error.raw_os_error() {
            Some(libc::ESRCH) => {
                CommError::PeerGone { peer, detail: ", as a read of its memory shows".to_owned() }
            }
            Some(libc::EPERM | libc::ENOSYS) => CommError::System {
                operation: "read a peer's memory (process_vm_readv)",
                source: error,
            },
            _ => {
                let len = into.len();
                let what = format!("an announcement of {len} bytes at address {at:#x}: {error}");
                CommError::Garbage { peer, what }
            }
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    const SECRET: [u8; 16] = *b"of this run only";

    /// Calls `connect` with a meeting of rank 0 and a rank 1 that is told of by `other`, from what
    /// rank 0 tells.
    pub(crate) fn met<T>(
        other: impl Fn(String) -> String,
        connect: impl FnOnce(&mut Rendezvous<'_>) -> T,
    ) -> T {
        let exchange = &mut |own: String| Ok(vec![own.clone(), other(own)]);
        connect(&mut Rendezvous { secret: SECRET, ..Rendezvous::new([0, 2], exchange) })
    }

    #[test]
    fn ranks_that_can_read_each_other_may() {
        let readable = met(|own| own, Readable::meet).unwrap();
        assert_eq!(readable.allowed(), Ok(()));
        let mut got = [0; 16];
        let at = (&raw const *readable._token).addr() as Word;
        readable.read(1, at, &mut got).unwrap();
        assert_eq!(got, SECRET);
    }

    #[test]
    fn why_a_rank_may_not_read_is_told_and_a_peer_that_tells_no_place_is_named() {
        let process = process::id();
        let elsewhere = Box::new([0_u8; 16]);
        let address = (&raw const *elsewhere).expose_provenance();
        let reasons = [
            (format!("{process} 8"), "os error 14"),
            (format!("{} 8", i32::MAX), "os error 3"),
            (format!("{process} {address}"), "another process"),
        ];
        for (told, why) in reasons {
            let readable = met(|_| told.clone(), Readable::meet).unwrap();
            let reason = readable.allowed().unwrap_err();
            assert!(reason.contains("rank 1") && reason.contains(why), "{reason}");
            let refused = readable.read(1, 8, &mut [0]);
            assert!(matches!(refused, Err(CommError::SingleCopy { .. })));
        }
        for garbage in ["", "7", "seven 8", "-1 8"] {
            let error = met(|_| garbage.to_owned(), Readable::meet).unwrap_err();
            assert!(matches!(error, CommError::Garbage { peer: 1, .. }), "{error}");
        }
    }
}
