//! The launcher's side of the agents on the hosts, which last as long as the command.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::net::{IpAddr, ToSocketAddrs, UdpSocket};
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use bandgap_host::Placement;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use rustix::net::{Shutdown, shutdown};
use serde_json::Value;

use crate::hosts::Hosts;
use crate::meet::Kept;
use crate::message::Channel;
use crate::process::ended_until;
use crate::protocol::{BEAT, FromAgent, Hello, ToAgent};

/// Longest wait for an agent to have ended its ranks.
pub const ENDING: Duration = Duration::from_secs(3);

/// Connections and addresses of agents, by host; `None` for this host.
pub(crate) type Channels = Vec<Option<(Channel, IpAddr)>>;

/// The other processes, as the first one gathered them.
#[derive(Debug, Default)]
pub struct Gathered {
    /// The hosts, and the host of each process; `None` if there is only one.
    pub hosts: Option<Hosts>,
    /// Connections and addresses of the agents, by host; `None` for this host.
    pub agents: Vec<Option<(Channel, IpAddr)>>,
    /// Connections of the processes that wait.
    pub idle: Vec<Channel>,
    /// Must be kept until this process ends.
    pub kept: Option<Kept>,
}

/// An agent on a host.
pub struct Agent {
    /// The host, as the user named it.
    pub host: String,
    /// The agent's greeting.
    pub hello: Hello,
    /// The interface through which its ranks communicate with other hosts.
    pub network: Option<Value>,
    /// The process that runs it; `None` if somebody else started it.
    pub(crate) running: Option<Running>,
    pub(crate) channel: Channel,
    /// Its standard error.
    pub(crate) said: Option<File>,
    pub(crate) heard: Instant,
    pub(crate) told: Instant,
    /// Processors of its latest ranks.
    pub(crate) cpus: Vec<usize>,
}

impl Agent {
    /// Asks it to examine its host, with the noise of its ranks' processors, measured for `duration` each.
    pub(crate) fn ask_to_look(&mut self, duration: Duration) {
        // An agent that is gone does not answer.
        let _ = self.channel.queue(&ToAgent::Look(Placement::of(self.cpus.clone()), duration));
    }

    /// Waits for what [`Self::ask_to_look`] asked for.
    pub(crate) fn hear_of_look(&mut self, duration: Duration) {
        let until = Instant::now() + ENDING + duration * self.cpus.len() as u32;
        while let Some(message) = self.receive_until(until, || false) {
            if let FromAgent::Looked(machine) = message {
                self.hello.machine = machine;
                return;
            }
        }
    }

    /// Waits for one message; `None` if the agent is gone, the time is over, or `stopped`.
    pub(crate) fn receive_until(
        &mut self,
        until: Instant,
        stopped: impl Fn() -> bool,
    ) -> Option<FromAgent> {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            // Unsent bytes go out while we wait for the answer.
            self.channel.send_available().ok()?;
            match self.channel.has_arrived(left.min(BEAT / 10)) {
                Ok(true) => return self.channel.receive().ok().flatten(),
                Ok(false) if left.is_zero() || stopped() => return None,
                Ok(false) => {}
                Err(_) => return None,
            }
        }
    }

    /// Ends it and returns the last lines on its standard error, or its exit status.
    pub(crate) fn last_words(&mut self) -> String {
        let status = self.running.as_mut().and_then(Running::end);
        match words(&mut self.said) {
            words if words.is_empty() => status.map_or_else(String::new, |of| format!(" ({of})")),
            words => format!(": {words}"),
        }
    }

    /// The address of each host at which the ranks of other hosts reach it.
    pub fn addresses(agents: &[Self]) -> Vec<Option<IpAddr>> {
        let far = agents.iter().find_map(|agent| agent.hello.address);
        let towards = |address: IpAddr| {
            let any = if address.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
            let socket = UdpSocket::bind(any).ok()?;
            // Nothing is sent, so the port does not matter.
            socket.connect((address, 9)).ok()?;
            socket.local_addr().ok().map(|address| address.ip())
        };
        let of = |agent: &Self| {
            let named = || {
                let name = agent.host.rsplit('@').next().unwrap_or_default();
                (name, 9).to_socket_addrs().ok()?.next().map(|address| address.ip())
            };
            let here = is_here(&agent.host).then(|| far.and_then(towards)).flatten();
            agent.hello.address.or(here).or_else(named)
        };
        agents.iter().map(of).collect()
    }
}

/// The process that runs an agent: ssh, or the agent itself. An agent ends when its connection closes.
pub(crate) struct Running(pub Child);

impl Running {
    pub fn end(&mut self) -> Option<ExitStatus> {
        if let Ok(None) = self.0.try_wait() {
            // Fails only if it has just ended.
            let _ = self.0.kill();
        }
        self.0.wait().ok()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

/// Lets all agents and their ranks end cleanly, in parallel.
pub fn leave(agents: &mut Vec<Agent>) {
    for agent in agents.iter() {
        // An agent that is gone need not be told.
        let _ = shutdown(agent.channel.input(), Shutdown::Write);
    }
    let until = Instant::now() + ENDING;
    for running in agents.iter_mut().filter_map(|agent| agent.running.as_mut()) {
        ended_until(&mut running.0, until);
    }
    agents.clear();
}

/// Whether `host` is a name of this host.
pub(crate) fn is_here(host: &str) -> bool {
    let own = rustix::system::uname();
    host == "localhost" || own.nodename().to_str().is_ok_and(|name| name == host)
}

/// Most bytes of a host's words that are kept.
const WORDS: u64 = 64 << 10;

/// A file in memory for a host's words; it does not grow beyond [`WORDS`].
pub(crate) fn listening() -> io::Result<File> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let said = File::from(memfd_create("bandgap-words", flags)?);
    said.set_len(WORDS)?;
    fcntl_add_seals(&said, SealFlags::GROW | SealFlags::SHRINK)?;
    Ok(said)
}

/// All that was written to a file.
pub fn written(said: &mut File) -> String {
    let mut text = Vec::new();
    let read = said.rewind().and_then(|()| said.read_to_end(&mut text));
    let text = text.split(|byte| *byte == 0).next().filter(|_| read.is_ok()).unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}

/// The last two lines of a file.
pub(crate) fn words(said: &mut Option<File>) -> String {
    let text = said.as_mut().map_or_else(String::new, written);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(2)..].join("; ")
}
