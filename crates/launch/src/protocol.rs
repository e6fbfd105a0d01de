//! The messages between a launcher and its agents, and those of processes that join a run: lines of JSON.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::net::{IpAddr, TcpStream};
use std::time::{Duration, Instant};

use bandgap_host::{ClockReport, Placement, Topology, WorkRate, allowed_cpus};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cause::Noted;
use crate::failure::lost;
use crate::message::{Assignment, Channel, FromRank, ToRank};
use crate::{Exit, Failure, Result};

/// The hidden command that runs the program as an agent.
pub const COMMAND: &str = "agent";
/// The prefix of a greeting.
pub const MARKER: &str = "bandgap-agent ";
/// This program itself, even if another file now lies at its path.
pub const OWN: &str = "/proc/self/exe";
/// Longest time between two signs of life.
pub const BEAT: Duration = Duration::from_secs(1);
/// Longest silence of a host, even if other waits may be longer.
const SILENCE: Duration = Duration::from_secs(10);
/// A checksum of this program, by which a host with another build is recognised.
///
/// # Errors
/// The program cannot be read.
pub fn build() -> Result<u32> {
    let read = || -> std::io::Result<u32> {
        let mut program = flate2::CrcReader::new(File::open(OWN)?);
        std::io::copy(&mut program, &mut std::io::sink())?;
        Ok(program.crc().sum())
    };
    read().map_err(unread)
}

/// Failure to read this program.
pub fn unread(error: std::io::Error) -> Failure {
    Failure::new(Exit::Host, format_args!("read this program: {error}"))
}

/// How long a host may be silent before it counts as lost; never more than `deadline`.
pub fn silence(deadline: Duration) -> Duration {
    deadline.min(SILENCE)
}

/// The order to an agent to start ranks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Begin {
    /// The ranks; their host fills in what only it knows.
    pub ranks: Vec<Assignment>,
    /// Whether ranks communicate with other hosts.
    pub network: bool,
    /// The interface that the user named, if any.
    pub interface: Option<String>,
    /// The host's address, if no interface was named.
    pub address: Option<IpAddr>,
    /// Bytes of memory of each rank.
    pub memory: usize,
}

/// From the launcher to an agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum ToAgent {
    /// Start ranks.
    Begin(Box<Begin>),
    /// Pass a message to a rank.
    To(usize, ToRank),
    /// A rank failed with this status.
    Poison(usize, i32),
    /// Ask all ranks to end.
    Stop,
    /// End all ranks.
    End,
    /// A sign of life.
    Beat,
    /// Examine the host, with the noise of these processors, each for this long.
    Look(Placement, Duration),
}

/// From an agent to the launcher.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum FromAgent {
    /// The ranks were started; they communicate with other hosts through this interface.
    Begun(Option<Value>),
    /// The ranks were not started.
    Refused(Failure),
    /// A message of one of its ranks.
    From(usize, FromRank),
    /// One of its ranks has ended.
    Ended(usize, i32, Option<Noted>),
    /// A sign of life, with the stopped ranks and their processes.
    Beat(Vec<(usize, u32)>),
    /// All of its ranks have ended.
    Over,
    /// The host, examined.
    Looked(Value),
}

/// The greeting of an agent: itself and its host.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Hello {
    /// The program's version.
    pub version: String,
    /// The checksum of the program.
    pub build: u32,
    /// An identity of the host that does not depend on its name.
    pub host: String,
    /// The machine, as the run file records it.
    pub machine: Value,
    /// The clock's calibration.
    pub clock: ClockReport,
    /// The delay loop's calibration.
    pub work: WorkRate,
    /// Its processors.
    pub topology: Topology,
    /// The address at which the host was reached.
    pub address: Option<IpAddr>,
}

/// The greeting of a process to the first one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Who {
    /// The host's name.
    pub name: String,
    /// An identity of the host: containers, for example, may share their machine's name.
    pub host: String,
    /// Processors that the process may use.
    pub allowed: Vec<usize>,
}

/// The role that the first process gives another one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ProcessRole {
    /// Agent of its host, where ranks may use these processors.
    Agent(Vec<usize>),
    /// None: the process waits until the connection closes.
    Idle,
}

impl Who {
    /// Waits for the greeting of a caller; returns it with the connection and the address of the caller.
    ///
    /// # Errors
    /// The caller does not greet in time.
    pub fn calls(stream: TcpStream, until: Instant) -> Result<(Self, Channel, IpAddr)> {
        let hear = || -> std::io::Result<_> {
            let address = stream.peer_addr()?.ip().to_canonical();
            let mut channel = Channel::new(stream);
            channel.await_until(until)?;
            let who = channel.receive()?.ok_or(ErrorKind::UnexpectedEof)?;
            Ok((who, channel, address))
        };
        hear().map_err(lost)
    }

    /// This process.
    pub fn here() -> Self {
        let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let network = fs::read_link("/proc/self/ns/net").unwrap_or_default();
        let host = format!("{name} {} {}", boot.trim(), network.display());
        Self { name, host, allowed: allowed_cpus().unwrap_or_default() }
    }
}
