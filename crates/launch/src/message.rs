//! What the launcher and its ranks say to each other: one JSON object a line over a socket pair.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;

use bandgap_host::kernel_trace::Switch;
use bandgap_host::{ClockReport, WorkRate};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use bandgap_campaign::Task;
use bandgap_campaign::data::Kept;

use crate::Exit;

/// How ranks wait for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Wait {
    /// Spin where every rank has a core of its own, yield where they share.
    Auto,
    /// Poll without pause.
    Spin,
    /// Give the core away between polls.
    Yield,
    /// Sleep until something arrives (sockets only).
    Block,
}

/// Everything that a rank needs to know to begin.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Assignment {
    /// This rank.
    pub rank: usize,
    /// Number of ranks.
    pub size: usize,
    /// The launch, from 0.
    pub launch: u32,
    /// The processor to stay on.
    pub cpu: Option<usize>,
    /// Whether placement is probed. A probe spins: where ranks share a core or sleep, it would see
    /// another machine.
    pub probes: bool,
    /// The transports to connect, the first of which carries orders, and how many descriptors each
    /// inherits.
    pub transports: Vec<(String, usize)>,
    /// The transports whose bare mechanisms are measured too, likewise.
    pub bares: Vec<(String, usize)>,
    /// Whether the first transport is connected once more, with stamps at its border with the system.
    pub stamped: bool,
    /// Bytes that each rank exposes to its peers.
    pub exposed: usize,
    /// Bytes of registered memory of each rank.
    pub registered: usize,
    /// How to wait; never [`Wait::Auto`].
    pub wait: Wait,
    /// Calibration of the clock, made once for all.
    pub clock: ClockReport,
    /// Calibration of the delay loop.
    pub work: WorkRate,
    /// What peers must know to be let in.
    pub secret: [u8; 16],
    /// Longest wait for anything, in seconds.
    pub deadline: f64,
    /// What rank 0 leads.
    pub task: Task,
    /// What switches the kernel's tracing of the ranks, where the launcher has prepared that.
    pub trace: Option<Switch>,
}

/// From the launcher to a rank.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum ToRank {
    /// Begin.
    Begin(Box<Assignment>),
    /// The addresses of all ranks, in order.
    Addresses(Vec<String>),
    /// What was sent has been taken note of.
    Noted,
}

/// From a rank to the launcher.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum FromRank {
    /// Where this rank can be reached.
    Address(String),
    /// Measured batches and the state of progress; answered by [`ToRank::Noted`].
    Progress {
        /// New batches.
        kept: Vec<Kept>,
        /// Share done.
        done: f64,
        /// What is being done.
        doing: String,
    },
    /// The rank is done.
    Done,
    /// The rank gives up.
    Failed {
        /// The error, in words.
        message: String,
        /// The class of the failure.
        exit: Exit,
        /// Whether it received something wrong.
        wrong: bool,
    },
}

/// One end of the connection between launcher and rank.
#[derive(Debug)]
pub struct Channel {
    reader: BufReader<UnixStream>,
    writer: UnixStream,
    /// The beginning of a message that is not whole yet.
    partial: Vec<u8>,
}

impl Channel {
    /// A channel over one end of a socket pair.
    ///
    /// # Errors
    /// The descriptor cannot be duplicated.
    pub fn new(stream: UnixStream) -> std::io::Result<Self> {
        let reader = BufReader::new(stream.try_clone()?);
        Ok(Self { reader, writer: stream, partial: Vec::new() })
    }

    /// The socket.
    pub fn stream(&self) -> &UnixStream {
        &self.writer
    }

    /// Reads once, and gives the messages that are whole by now; `None` when the other end closed.
    /// Where something is there to read this does not wait, so a process that stops in the middle
    /// of a message holds nobody up.
    ///
    /// # Errors
    /// The other end sent something else.
    pub fn receive_available<M: DeserializeOwned>(&mut self) -> std::io::Result<Option<Vec<M>>> {
        let bytes = self.reader.fill_buf()?;
        if bytes.is_empty() {
            return Ok(None);
        }
        let read = bytes.len();
        self.partial.extend_from_slice(bytes);
        self.reader.consume(read);
        let whole = self.partial.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let lines: Vec<u8> = self.partial.drain(..whole).collect();
        let lines = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let messages: Result<_, serde_json::Error> = lines.map(serde_json::from_slice).collect();
        Ok(Some(messages?))
    }

    /// Sends one message.
    ///
    /// # Errors
    /// The other end is gone.
    pub fn send<M: Serialize>(&mut self, message: &M) -> std::io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        self.writer.write_all(&line)
    }

    /// Waits for one message; `None` when the other end closed.
    ///
    /// # Errors
    /// The other end sent something else, or closed midway.
    pub fn receive<M: DeserializeOwned>(&mut self) -> std::io::Result<Option<M>> {
        let mut line = String::new();
        if self.reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        Ok(Some(serde_json::from_str(&line)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_message_holds_nobody_up() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let mut channel = Channel::new(ours).unwrap();
        let mut hear = |sent: &[u8]| {
            theirs.write_all(sent).unwrap();
            channel.receive_available::<u32>().unwrap()
        };
        assert_eq!(hear(b"1"), Some(vec![]));
        assert_eq!(hear(b"2\n3\n4"), Some(vec![12, 3]));
        assert_eq!(hear(b"\n"), Some(vec![4]));
        drop(theirs);
        assert_eq!(channel.receive_available::<u32>().unwrap(), None);
    }
}
