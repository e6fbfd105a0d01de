//! What the leader tells the other ranks to run, in the four words of an Active Message.

use bandgap_comm::{Delay, Rank, Word};

/// Who sends requests to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// One requester, one replier.
    OneToOne {
        /// The rank that sends and times.
        requester: Rank,
        /// The rank that replies.
        replier: Rank,
    },
    /// Half of the ranks against the other half: rank i asks rank i + P/2; rank 0 times.
    Pairs,
    /// Rank 0 asks all others in turn, and times.
    FanOut,
    /// Ranks 1 to `requesters` ask rank 0, which times.
    FanIn {
        /// The number K of requesters.
        requesters: usize,
    },
    /// All ranks with all; rank 0 times.
    All,
}

/// The kernels: of small messages, of bulk transfers, and of message passing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// `messages` requests with a delay after each, then the remaining replies are drained: one
    /// point of the LogP signature, and for one message the round trip.
    Burst,
    /// `messages` round trips one after the other: the ping-pong.
    PingPong,
    /// `messages` requests that have no reply, streamed.
    Stream,
    /// As [`Kernel::Burst`], each request behind `bytes` bytes stored in the replier's memory,
    /// which the replier reads between samples.
    Store,
    /// As [`Kernel::Burst`], with gets of `bytes` bytes of the replier's memory in place of
    /// requests. The replier writes these bytes anew before each sample.
    Get,
    /// `messages` round trips of messages of `bytes` bytes: PARKBENCH's COMMS1.
    Comms1,
    /// `messages` exchanges of such messages, both ways at once: COMMS2.
    Comms2,
    /// `messages` times all ranks exchange such messages with all others: COMMS3.
    Comms3,
    /// `messages` barriers of all ranks: SYNCH1.
    Synch1,
}

impl Kernel {
    const ALL: [Self; 9] = [
        Self::Burst,
        Self::PingPong,
        Self::Stream,
        Self::Store,
        Self::Get,
        Self::Comms1,
        Self::Comms2,
        Self::Comms3,
        Self::Synch1,
    ];
}

/// One call of a rank program on all ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Job {
    /// The kernel.
    pub kernel: Kernel,
    /// Who asks whom.
    pub pattern: Pattern,
    /// Messages per sample (M).
    pub messages: u32,
    /// Samples.
    pub samples: u32,
    /// Bytes of each transfer; 0 where the kernel moves none.
    pub bytes: u32,
    /// Computation after each request (Δ).
    pub delay: Delay,
    /// Whether the requester and its first peer probe the placement before and after.
    pub probed: bool,
}

/// Four words that are no job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobError;

impl Job {
    /// The job in four words.
    pub fn encode(&self) -> [Word; 4] {
        let (pattern, a, b) = match self.pattern {
            Pattern::OneToOne { requester, replier } => (0, requester as u64, replier as u64),
            Pattern::Pairs => (1, 0, 0),
            Pattern::FanOut => (2, 0, 0),
            Pattern::FanIn { requesters } => (3, requesters as u64, 0),
            Pattern::All => (4, 0, 0),
        };
        let kernel = self.kernel as u64;
        [
            kernel
                | pattern << 4
                | u64::from(self.probed) << 8
                | (a & 0xFFFF) << 16
                | (b & 0xFFFF) << 32,
            u64::from(self.messages) | u64::from(self.samples) << 32,
            u64::from(self.delay.iterations) | u64::from(self.bytes) << 32,
            self.delay.picoseconds,
        ]
    }

    /// The job of four words that came from a peer.
    ///
    /// # Errors
    /// The words are none, or name ranks that are not among `size`.
    pub fn decode(words: [Word; 4], size: usize) -> Result<Self, JobError> {
        let kernel = *Kernel::ALL.get((words[0] & 0xF) as usize).ok_or(JobError)?;
        let a = (words[0] >> 16 & 0xFFFF) as usize;
        let b = (words[0] >> 32 & 0xFFFF) as usize;
        let pattern = match words[0] >> 4 & 0xF {
            0 if a < size && b < size && a != b => Pattern::OneToOne { requester: a, replier: b },
            1 if size.is_multiple_of(2) => Pattern::Pairs,
            2 if size >= 2 => Pattern::FanOut,
            3 if (1..size).contains(&a) => Pattern::FanIn { requesters: a },
            4 => Pattern::All,
            _ => return Err(JobError),
        };
        Ok(Self {
            kernel,
            pattern,
            messages: words[1] as u32,
            samples: (words[1] >> 32) as u32,
            bytes: (words[2] >> 32) as u32,
            delay: Delay { iterations: words[2] as u32, picoseconds: words[3] },
            probed: words[0] >> 8 & 1 == 1,
        })
    }

    /// Whether the job is one of bulk transfers.
    pub fn moves_bytes(&self) -> bool {
        matches!(self.kernel, Kernel::Store | Kernel::Get)
    }

    /// Whether the job is one of message passing.
    pub fn passes_messages(&self) -> bool {
        matches!(self.kernel, Kernel::Comms1 | Kernel::Comms2 | Kernel::Comms3 | Kernel::Synch1)
    }

    /// The rank whose stamps count, and for a probe the peer at its other end.
    pub fn timed(&self, size: usize) -> (Rank, Rank) {
        match self.pattern {
            Pattern::OneToOne { requester, replier } => (requester, replier),
            Pattern::Pairs => (0, size / 2),
            Pattern::FanOut | Pattern::FanIn { .. } | Pattern::All => (0, 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_job_survives_its_encoding() {
        let patterns = [
            Pattern::OneToOne { requester: 3, replier: 0 },
            Pattern::Pairs,
            Pattern::FanOut,
            Pattern::FanIn { requesters: 3 },
            Pattern::All,
        ];
        for pattern in patterns {
            for kernel in Kernel::ALL {
                for probed in [false, true] {
                    let job = Job {
                        kernel,
                        pattern,
                        messages: u32::MAX,
                        samples: 50,
                        bytes: u32::MAX - 1,
                        delay: Delay { iterations: 77, picoseconds: u64::MAX },
                        probed,
                    };
                    assert_eq!(Job::decode(job.encode(), 4), Ok(job));
                }
            }
        }
    }

    #[test]
    fn words_that_name_no_rank_or_no_kernel_are_refused() {
        let job = Job {
            kernel: Kernel::Burst,
            pattern: Pattern::OneToOne { requester: 0, replier: 5 },
            messages: 1,
            samples: 1,
            bytes: 0,
            delay: Delay::NONE,
            probed: false,
        };
        assert!(Job::decode(job.encode(), 6).is_ok());
        assert_eq!(Job::decode(job.encode(), 5), Err(JobError));
        assert_eq!(Job::decode([0xF, 0, 0, 0], 6), Err(JobError));
        assert_eq!(Job::decode([0xF0, 0, 0, 0], 6), Err(JobError));
    }
}
