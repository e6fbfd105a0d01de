//! What a launcher and the agents of hosts say to each other, and what processes say that become agents: lines of JSON.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::net::{IpAddr, TcpStream};
use std::time::{Duration, Instant};

use bandgap_host::{ClockReport, Topology, WorkRate, allowed_cpus};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cause::Noted;
use crate::failure::lost;
use crate::message::{Assignment, Channel, FromRank, ToRank};
use crate::{Exit, Failure, Result};

/// The hidden command under which the binary is an agent.
pub const COMMAND: &str = "agent";
/// What a greeting begins with.
pub const MARKER: &str = "bandgap-agent ";
/// This program itself, whatever lies at its path by now.
pub const OWN: &str = "/proc/self/exe";
/// Between two signs of life, at most.
pub const BEAT: Duration = Duration::from_secs(1);
/// Longest silence of a host, where waits may be longer.
const SILENCE: Duration = Duration::from_secs(10);
/// A checksum of this program: hosts with another one are told apart by it.
///
/// # Errors
/// It cannot be read.
pub fn build() -> Result<u32> {
    let read = || -> std::io::Result<u32> {
        let (mut file, mut crc) = (File::open(OWN)?, flate2::Crc::new());
        let mut bytes = vec![0; 1 << 20];
        loop {
            match file.read(&mut bytes)? {
                0 => return Ok(crc.sum()),
                read => crc.update(&bytes[..read]),
            }
        }
    };
    read().map_err(unread)
}

/// This program could not be read.
pub fn unread(error: std::io::Error) -> Failure {
    Failure::new(Exit::Host, format_args!("read this program: {error}"))
}

/// How long a host may be silent before it is given up, where waits end after `deadline`.
pub fn silence(deadline: Duration) -> Duration {
    deadline.min(SILENCE)
}

/// Ranks that an agent is to start.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Begin {
    /// The ranks, without what only their host knows.
    pub ranks: Vec<Assignment>,
    /// Whether ranks communicate with other hosts.
    pub network: bool,
    /// The interface that the user named.
    pub interface: Option<String>,
    /// The host's address, where nothing there tells it.
    pub address: Option<IpAddr>,
    /// Bytes of memory of each rank.
    pub memory: usize,
}

/// From the launcher to an agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum ToAgent {
    /// Start ranks.
    Begin(Box<Begin>),
    /// A message to one of its ranks.
    To(usize, ToRank),
    /// A rank failed with this status.
    Poison(usize, i32),
    /// Ask the ranks to end.
    Stop,
    /// End them.
    End,
    /// The launcher is there.
    Beat,
    /// Look at the noise of these processors, for so long each.
    Look(Vec<usize>, Duration),
}

/// From an agent to the launcher.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum FromAgent {
    /// Ranks were started; they communicate with other hosts over this interface.
    Begun(Option<Value>),
    /// Ranks were not started.
    Refused(Failure),
    /// A message of one of its ranks.
    From(usize, FromRank),
    /// One of its ranks has ended.
    Ended(usize, i32, Option<Noted>),
    /// The agent is there, and these of its ranks are stopped, with their processes.
    Beat(Vec<(usize, u32)>),
    /// All of its ranks have ended.
    Over,
    /// The noise of processors.
    Noise(Value),
}

/// What an agent says of itself and its host.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Hello {
    /// The program's version.
    pub version: String,
    /// A checksum of the program.
    pub build: u32,
    /// What tells hosts apart, whatever they are called.
    pub host: String,
    /// The machine, as it is recorded.
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

/// What a process says of itself to the first one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Who {
    /// The host's name, for people.
    pub name: String,
    /// What tells hosts apart: containers of a machine, say, may have its name.
    pub host: String,
    /// Processors on which it may run.
    pub allowed: Vec<usize>,
}

/// What the first process lets another one be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ProcessRole {
    /// The agent of its host, whose processes may run on these processors.
    Agent(Vec<usize>),
    /// Nothing: it waits until the connection ends.
    Idle,
}

/// Names of processes' hosts by which they are told apart: hosts of one name get a number.
pub fn names<'a>(all: impl IntoIterator<Item = &'a Who>) -> Vec<String> {
    let mut known: Vec<(String, String)> = Vec::new();
    let mut names = Vec::new();
    for Who { name, host, .. } in all {
        let found = known.iter().find(|(key, _)| key == host).map(|(_, name)| name.clone());
        names.push(found.unwrap_or_else(|| {
            let same = known.iter().filter(|(_, of)| of.split('#').next() == Some(name)).count();
            let of = if same == 0 { name.clone() } else { format!("{name}#{}", same + 1) };
            known.push((host.clone(), of.clone()));
            of
        }));
    }
    names
}

/// The processors that the processes of a host may use together.
pub fn allowed<'a>(all: impl Iterator<Item = &'a Who>, host: &str) -> Vec<usize> {
    let here = all.filter(|who| who.host == host);
    let cpus: BTreeSet<usize> = here.flat_map(|who| who.allowed.iter().copied()).collect();
    cpus.into_iter().collect()
}

impl Who {
    /// Who calls over a stream, the connection to it, and the address from which it calls.
    ///
    /// # Errors
    /// It does not say so in time.
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
