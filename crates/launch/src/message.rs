//! The messages between launcher and ranks: one JSON object a line, over a socket pair or over an agent's streams.

use std::fs::File;
use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Write};
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use bandgap_host::{ClockReport, WorkRate};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{SendFlags, send};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use bandgap_campaign::Task;
use bandgap_campaign::data::Kept;

use crate::cause::Noted;

/// How ranks wait for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Wait {
    /// Spin if every rank has a core of its own, yield otherwise.
    Auto,
    /// Poll without pause.
    Spin,
    /// Yield the core between polls.
    Yield,
    /// Sleep until something arrives (not over shm and libraries).
    Block,
}

impl Wait {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Spin => "spin",
            Self::Yield => "yield",
            Self::Block => "block",
        }
    }
}

/// All that a rank needs to begin.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Assignment {
    /// This rank.
    pub rank: usize,
    /// Number of ranks.
    pub size: usize,
    /// The launch, counted from 0.
    pub launch: u32,
    /// The processor to pin the rank to.
    pub cpu: Option<usize>,
    /// Whether to probe placement. A probe spins, so it is meaningless if ranks share a core or sleep.
    pub probes: bool,
    /// The transports to connect, each with its number of inherited descriptors. The first carries orders.
    pub transports: Vec<(String, usize)>,
    /// The transports whose bare mechanisms may be measured, likewise.
    pub bares: Vec<(String, usize)>,
    /// Whether to connect the first transport once more, with stamps at its border to the system.
    pub stamped: bool,
    /// Bytes that each rank exposes to its peers.
    pub exposed: usize,
    /// How to wait; never [`Wait::Auto`].
    pub wait: Wait,
    /// Calibration of the clock, shared by all ranks.
    pub clock: ClockReport,
    /// Calibration of the delay loop.
    pub work: WorkRate,
    /// The address at which peers reach the rank; `None` if all ranks are on one host.
    pub interface: Option<IpAddr>,
    /// The library that the user named, for a transport that is a library.
    pub library: Option<PathBuf>,
    /// Variables for the rank's process, where its launcher has none of these names.
    pub environment: Vec<(String, String)>,
    /// The secret that lets peers in.
    pub secret: [u8; 16],
    /// Longest wait.
    pub deadline: Duration,
    /// Time for the launch from its begin: usual and longest.
    pub time: [Duration; 2],
    /// What rank 0 leads.
    pub task: Task,
}

/// From the launcher to a rank.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum ToRank {
    /// Begin.
    Begin(Box<Assignment>),
    /// The addresses of all ranks, in order.
    Addresses(Vec<String>),
    /// The launcher noted the last message.
    Noted,
}

/// From a rank to the launcher.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum FromRank {
    /// The rank's address.
    Address(String),
    /// The rank has connected its transports.
    Connected,
    /// Measured batches and progress; the answer is [`ToRank::Noted`].
    Progress {
        /// New batches.
        kept: Vec<Kept>,
        /// Share done.
        done: f64,
        /// The current work.
        doing: String,
    },
    /// The rank is done.
    Done,
    /// The rank has left its peers and may begin again in the same process: its library can be initialised only once.
    Rests,
    /// The rank gives up.
    Failed(Noted),
}

/// Longest message, in bytes: far more than a run's largest batches need. An endless message is refused before it fills
/// the memory.
pub const LONGEST: usize = 256 << 20;

/// Assembles messages, which arrive in pieces.
#[derive(Debug, Default)]
pub struct Messages {
    /// The beginning of an incomplete message.
    partial: Vec<u8>,
}

impl Messages {
    /// Takes new bytes and returns the messages that are now complete.
    ///
    /// # Errors
    /// The bytes are not messages, or one is longer than [`LONGEST`].
    pub fn take<M: DeserializeOwned>(&mut self, bytes: &[u8]) -> std::io::Result<Vec<M>> {
        let lines = self.lines(bytes)?;
        let lines = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let messages: Result<_, serde_json::Error> = lines.map(serde_json::from_slice).collect();
        Ok(messages?)
    }

    /// Takes new bytes and returns the lines that are now complete, with their line ends.
    ///
    /// # Errors
    /// A line is longer than [`LONGEST`].
    fn lines(&mut self, bytes: &[u8]) -> std::io::Result<Vec<u8>> {
        let before = self.partial.len();
        self.partial.extend_from_slice(bytes);
        // Only the new bytes are searched: a long message comes in many pieces.
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| before + end + 1);
        let lines: Vec<u8> = self.partial.drain(..whole).collect();
        if self.partial.len() > LONGEST {
            return Err(too_long());
        }
        Ok(lines)
    }
}

fn too_long() -> Error {
    Error::new(ErrorKind::InvalidData, format!("a message of more than {LONGEST} bytes"))
}

/// One end of the connection between launcher and rank, or launcher and agent.
#[derive(Debug)]
pub struct Channel {
    /// Reads, and also writes if it is a socket.
    reader: BufReader<File>,
    /// A separate, nonblocking descriptor to write to, if any.
    writer: Option<File>,
    arrived: Messages,
    /// Bytes to send once the other end takes more.
    unsent: Vec<u8>,
}

impl Channel {
    /// A channel over one end of a socket pair.
    pub fn new(socket: impl Into<OwnedFd>) -> Self {
        let reader = BufReader::new(File::from(socket.into()));
        Self { reader, writer: None, arrived: Messages::default(), unsent: Vec::new() }
    }

    /// A channel that reads from one descriptor and writes to another, nonblocking one.
    pub fn of(input: OwnedFd, output: OwnedFd) -> Self {
        Self { writer: Some(File::from(output)), ..Self::new(input) }
    }

    /// The descriptor that it reads from.
    pub fn input(&self) -> BorrowedFd<'_> {
        self.reader.get_ref().as_fd()
    }

    /// The events to wait for: input, and room for unsent bytes.
    pub fn awaited(&self) -> Vec<PollFd<'_>> {
        let unsent = if self.is_sent() { PollFlags::empty() } else { PollFlags::OUT };
        match &self.writer {
            None => vec![PollFd::from_borrowed_fd(self.input(), PollFlags::IN | unsent)],
            Some(writer) => vec![
                PollFd::from_borrowed_fd(self.input(), PollFlags::IN),
                PollFd::new(writer, unsent),
            ],
        }
    }

    /// Reads once and returns the messages that are now complete; `None` if the other end closed. If input
    /// is available this does not wait, so a process that stops in the middle of a message blocks nobody.
    ///
    /// # Errors
    /// The other end sent something other than messages.
    pub fn receive_available<M: DeserializeOwned>(&mut self) -> std::io::Result<Option<Vec<M>>> {
        self.available(Messages::take)
    }

    /// As [`Channel::receive_available`], for lines that may not be messages.
    ///
    /// # Errors
    /// A line is longer than [`LONGEST`], or reading failed.
    pub fn lines_available(&mut self) -> std::io::Result<Option<Vec<u8>>> {
        self.available(Messages::lines)
    }

    fn available<T>(
        &mut self,
        take: impl FnOnce(&mut Messages, &[u8]) -> std::io::Result<T>,
    ) -> std::io::Result<Option<T>> {
        let bytes = self.reader.fill_buf()?;
        if bytes.is_empty() {
            return Ok(None);
        }
        let (read, taken) = (bytes.len(), take(&mut self.arrived, bytes));
        self.reader.consume(read);
        taken.map(Some)
    }

    /// Sends one message.
    ///
    /// # Errors
    /// The other end is gone.
    pub fn send<M: Serialize>(&mut self, message: &M) -> std::io::Result<()> {
        self.reader.get_mut().write_all(&line(message)?)
    }

    /// Sends as much of a message as the other end takes now, and leaves the rest to [`Channel::send_available`]. A process
    /// that does not read thus blocks nobody.
    ///
    /// # Errors
    /// The other end is gone.
    pub fn queue<M: Serialize>(&mut self, message: &M) -> std::io::Result<()> {
        self.queue_bytes(&mut line(message)?)
    }

    /// As [`Channel::queue`], for bytes.
    ///
    /// # Errors
    /// The other end is gone.
    pub fn queue_bytes(&mut self, bytes: &mut Vec<u8>) -> std::io::Result<()> {
        self.unsent.append(bytes);
        self.send_available()
    }

    /// Sends more of the unsent bytes.
    ///
    /// # Errors
    /// The other end is gone; the unsent bytes are then dropped.
    pub fn send_available(&mut self) -> std::io::Result<()> {
        while !self.unsent.is_empty() {
            let sent = match &self.writer {
                Some(writer) => rustix::io::write(writer, &self.unsent),
                None => {
                    let at_once = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
                    send(self.reader.get_ref(), &self.unsent, at_once)
                }
            };
            match sent {
                Ok(sent) => drop(self.unsent.drain(..sent)),
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => {}
                Err(error) => {
                    self.unsent.clear();
                    return Err(error.into());
                }
            }
        }
        Ok(())
    }

    /// Whether all bytes are sent.
    pub fn is_sent(&self) -> bool {
        self.unsent.is_empty()
    }

    /// Sends more if `found` tells of room, and returns whether there is input.
    pub fn goes_on(&mut self, found: PollFlags) -> bool {
        if found.contains(PollFlags::OUT) {
            // Reading notices an end that is gone.
            let _ = self.send_available();
        }
        !found.difference(PollFlags::OUT).is_empty()
    }

    /// Waits up to `within` for input or the close of the other end, and returns whether it came.
    ///
    /// # Errors
    /// The system refused to wait.
    pub fn has_arrived(&self, within: Duration) -> std::io::Result<bool> {
        if !self.reader.buffer().is_empty() {
            return Ok(true);
        }
        Ok(polled(&mut [PollFd::from_borrowed_fd(self.input(), PollFlags::IN)], within)? > 0)
    }

    /// Waits for input.
    ///
    /// # Errors
    /// None came before `until`.
    pub fn await_until(&self, until: Instant) -> std::io::Result<()> {
        let left = until.saturating_duration_since(Instant::now());
        if self.has_arrived(left)? { Ok(()) } else { Err(ErrorKind::TimedOut.into()) }
    }

    /// Waits for one message; `None` if the other end closed.
    ///
    /// # Errors
    /// The other end sent something other than a message, or closed in the middle of one.
    pub fn receive<M: DeserializeOwned>(&mut self) -> std::io::Result<Option<M>> {
        let mut line = Vec::new();
        if self.reader.by_ref().take(LONGEST as u64 + 1).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        if line.len() > LONGEST {
            return Err(too_long());
        }
        Ok(Some(serde_json::from_slice(&line)?))
    }
}

/// Polls for up to `within` and returns the number of ready descriptors; 0 if a signal came first.
///
/// # Errors
/// The system refused to wait.
pub fn polled(awaited: &mut [PollFd<'_>], within: Duration) -> std::io::Result<usize> {
    match poll(awaited, Timespec::try_from(within).ok().as_ref()) {
        Err(Errno::INTR) => Ok(0),
        found => Ok(found?),
    }
}

/// A message as a line of JSON.
fn line(message: &impl Serialize) -> std::io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn a_message_without_an_end_is_refused_before_it_fills_the_memory() {
        let mut arrived = Messages::default();
        let piece = vec![b'1'; 64 << 20];
        let taken = [(); 5].map(|()| arrived.take::<u32>(&piece).err().map(|of| of.kind()));
        assert_eq!(taken, [None, None, None, None, Some(ErrorKind::InvalidData)]);
    }

    #[test]
    fn who_does_not_read_holds_nobody_up() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let (mut channel, mut other) = (Channel::new(ours), Channel::new(theirs));
        // Far more than a socket holds.
        let long = "long".repeat(1 << 20);
        channel.queue(&long).unwrap();
        channel.queue(&"last").unwrap();
        assert!(!channel.is_sent());
        let mut heard: Vec<String> = Vec::new();
        while heard.len() < 2 {
            channel.send_available().unwrap();
            heard.extend(other.receive_available::<String>().unwrap().unwrap());
        }
        assert!(channel.is_sent());
        assert_eq!(heard, [long, "last".to_owned()]);
        channel.queue(&"never read".repeat(1 << 20)).unwrap();
        drop(other);
        assert!(channel.send_available().is_err() && channel.is_sent());
    }

    #[test]
    fn half_a_message_holds_nobody_up() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let mut channel = Channel::new(ours);
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
