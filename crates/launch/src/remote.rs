//! Ranks of another host: an agent there has started them, and passes on what they and the launcher say.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Seek};
use std::net::{IpAddr, ToSocketAddrs, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::net::{Shutdown, shutdown};
use serde_json::Value;

use crate::cause::{Cause, Noted};
use crate::group::{Group, Heard};
use crate::hosts::{Hosts, Place, SSH};
use crate::meet::Kept;
use crate::message::{Channel, ToRank};
use crate::process::ended_until;
use crate::protocol::{
    BEAT, Begin, COMMAND, FromAgent, Hello, MARKER, OWN, ToAgent, build, silence,
};
use crate::signals::Signals;
use crate::{Exit, Failure};

/// Longest wait for a host's greeting.
const GREETING: Duration = Duration::from_secs(30);
/// Longest wait for an agent to have ended its ranks.
const ENDING: Duration = Duration::from_secs(3);

/// The other processes, as the first one has them.
#[derive(Debug, Default)]
pub struct Gathered {
    /// The hosts, and which of them each process is on.
    pub hosts: Option<Hosts>,
    /// The agents' connections and addresses, by host; none of this host.
    pub agents: Vec<Option<(Channel, IpAddr)>>,
    /// The connections of those that wait.
    pub idle: Vec<Channel>,
    /// To be kept until this process ends.
    pub kept: Option<Kept>,
}

/// An agent on another host, as long as a command runs.
#[derive(Debug)]
pub struct Agent {
    /// The host, as it was named.
    pub host: String,
    /// What it said of itself.
    pub hello: Hello,
    /// The interface over which its ranks communicated with other hosts.
    pub network: Option<Value>,
    /// None of a process that somebody else started.
    running: Option<Running>,
    channel: Channel,
    /// What was written to standard error.
    said: Option<File>,
    heard: Instant,
    told: Instant,
    /// Processors on which its ranks were.
    cpus: BTreeSet<usize>,
}

impl Agent {
    /// Starts an agent on each host, all at the same time, and waits for their greetings.
    ///
    /// # Errors
    /// A host cannot be reached, has another build of the program, or none.
    pub fn start_all(hosts: &Hosts, signals: &Signals) -> Result<Vec<Self>, Failure> {
        let own = build()?;
        let copied = match hosts.copy {
            true => Some(std::fs::read(OWN).map_err(|error| {
                Failure::new(Exit::Host, format!("read this program: {error}"))
            })?),
            false => None,
        };
        let begun: Result<Vec<Starting>, Failure> = hosts
            .places
            .iter()
            .map(|place| Starting::begin(&place.host, hosts, copied.as_deref()))
            .collect();
        let until = Instant::now() + GREETING;
        let greeted = begun?.into_iter().map(|starting| starting.greeted(until, own, signals));
        greeted.collect()
    }

    /// The agents that processes have become which somebody else started, by host; the one of this host is started.
    ///
    /// # Errors
    /// One has another build of the program, or is gone.
    pub fn adopt_all(
        hosts: &Hosts,
        channels: Vec<Option<(Channel, IpAddr)>>,
        signals: &Signals,
    ) -> Result<Vec<Self>, Failure> {
        let own = build()?;
        let until = Instant::now() + GREETING;
        // The addresses by which they called are those at which they are reached.
        let addresses: Vec<Option<IpAddr>> =
            channels.iter().map(|of| of.as_ref().map(|(_, address)| *address)).collect();
        let starting = |(place, channel): (&Place, Option<(Channel, IpAddr)>)| match channel {
            None => Starting::begin("localhost", hosts, None),
            Some((channel, _)) => {
                let (host, noise) = (place.host.clone(), String::new());
                Ok(Starting { host, running: None, channel, said: None, noise })
            }
        };
        let begun: Result<Vec<Starting>, Failure> =
            hosts.places.iter().zip(channels).map(starting).collect();
        let greeted = begun?.into_iter().map(|starting| starting.greeted(until, own, signals));
        let mut agents: Vec<Self> = greeted.collect::<Result<_, _>>()?;
        for ((agent, place), address) in agents.iter_mut().zip(&hosts.places).zip(addresses) {
            agent.host.clone_from(&place.host);
            agent.hello.address = address;
        }
        Ok(agents)
    }

    /// Asks for the noise of the processors of its ranks, for so long each.
    pub(crate) fn ask_noise(&mut self, duration: Duration) {
        let cpus = self.cpus.iter().copied().collect();
        // An agent that is gone says nothing.
        let _ = self.channel.queue(&ToAgent::Look(cpus, duration));
    }

    /// Waits for it.
    pub(crate) fn hear_noise(&mut self, duration: Duration) {
        let until = Instant::now() + ENDING + duration * self.cpus.len() as u32;
        while let Some(message) = self.receive_until(until) {
            if let FromAgent::Noise(noise) = message {
                self.hello.machine["noise"] = noise;
                return;
            }
        }
    }

    /// One message; `None` where none comes any more.
    fn receive_until(&mut self, until: Instant) -> Option<FromAgent> {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            // What is left goes out while the answer is awaited.
            self.channel.send_available().ok()?;
            match self.channel.has_arrived(left.min(BEAT / 10)) {
                Ok(true) => return self.channel.receive().ok().flatten(),
                Ok(false) if left.is_zero() => return None,
                Ok(false) => {}
                Err(_) => return None,
            }
        }
    }

    fn name(&self) -> &str {
        &self.host
    }

    /// What its end says: of ssh, or of the agent.
    fn last_words(&mut self) -> String {
        let status = self.running.as_mut().and_then(Running::end);
        match words(&mut self.said) {
            words if words.is_empty() => status.map_or_else(String::new, |of| format!(" ({of})")),
            words => format!(": {words}"),
        }
    }

    /// An address of this host at which those who reach the other hosts can be reached.
    pub fn addresses(agents: &[Self]) -> Vec<Option<IpAddr>> {
        let far = agents.iter().find_map(|agent| agent.hello.address);
        let towards = |address: IpAddr| {
            let any = if address.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
            let socket = UdpSocket::bind(any).ok()?;
            // Nothing is sent: the port does not matter.
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

/// What runs an agent: ssh, or the agent itself. An agent ends when nobody speaks to it any more.
#[derive(Debug)]
struct Running(Child);

impl Running {
    fn end(&mut self) -> Option<ExitStatus> {
        if let Ok(None) = self.0.try_wait() {
            // Fails only where it has just ended.
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

/// Lets all agents end in order, and their ranks, all at the same time.
pub fn leave(agents: &mut Vec<Agent>) {
    for agent in agents.iter() {
        // One that is gone hears nothing.
        let _ = shutdown(agent.channel.input(), Shutdown::Write);
    }
    let until = Instant::now() + ENDING;
    for running in agents.iter_mut().filter_map(|agent| agent.running.as_mut()) {
        ended_until(&mut running.0, until);
    }
    agents.clear();
}

/// Whether this is a name of this host.
fn is_here(host: &str) -> bool {
    let own = rustix::system::uname();
    host == "localhost" || own.nodename().to_str().is_ok_and(|name| name == host)
}

/// What was written.
pub fn written(said: &mut Option<File>) -> String {
    let Some(said) = said else { return String::new() };
    let mut text = Vec::new();
    let read = said.rewind().and_then(|()| said.read_to_end(&mut text));
    read.map(|_| String::from_utf8_lossy(&text).into_owned()).unwrap_or_default()
}

/// The last lines of what was written.
fn words(said: &mut Option<File>) -> String {
    let text = written(said);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(2)..].join("; ")
}

/// An agent that has not greeted yet.
struct Starting {
    host: String,
    running: Option<Running>,
    channel: Channel,
    said: Option<File>,
    noise: String,
}

impl Starting {
    fn begin(host: &str, hosts: &Hosts, copied: Option<&[u8]>) -> Result<Self, Failure> {
        let refused = |what: &str, error: std::io::Error| {
            Failure::new(Exit::Remote, format!("reach {host}: {what}: {error}"))
        };
        let pipes = || -> std::io::Result<(UnixStream, [OwnedFd; 2], File)> {
            let (ours, theirs) = UnixStream::pair()?;
            let said = File::from(memfd_create("bandgap-words", MemfdFlags::CLOEXEC)?);
            Ok((ours, [theirs.try_clone()?.into(), theirs.into()], said))
        };
        let (ours, [input, output], said) =
            pipes().map_err(|error| refused("make a socket pair", error))?;
        let here = is_here(host);
        let mut command = if here { Command::new(OWN) } else { Command::new(&hosts.ssh[0]) };
        if here {
            command.arg0(std::env::args_os().next().unwrap_or_default()).arg(COMMAND);
        } else {
            command.args(&hosts.ssh[1..]);
            if hosts.ssh[0].rsplit('/').next() == Some(SSH) {
                command.args(["-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10"]);
            }
            command.arg(host).arg(remote_command(copied.map(<[u8]>::len)));
        }
        let words = said.try_clone().map_err(|error| refused("keep its words", error))?;
        let child = command
            .stdin(Stdio::from(input))
            .stdout(Stdio::from(output))
            .stderr(Stdio::from(words))
            // What a terminal sends goes to the launcher alone, which ends all in order.
            .process_group(0)
            .spawn()
            .map_err(|error| refused(&format!("start {}", hosts.ssh[0]), error))?;
        let (running, said) = (Some(Running(child)), Some(said));
        let mut channel = Channel::new(ours);
        if let Some(program) = copied.filter(|_| !here) {
            // Who cannot take it is noticed when it does not greet.
            let _ = channel.queue_bytes(&mut program.to_vec());
        }
        Ok(Self { host: host.to_owned(), running, channel, said, noise: String::new() })
    }

    /// The agent, once it has greeted.
    fn greeted(mut self, until: Instant, own: u32, signals: &Signals) -> Result<Agent, Failure> {
        let hello = loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || signals.came() {
                let what = if left.is_zero() { "no greeting" } else { "interrupted" };
                return Err(self.refused(&format!("{what} within {GREETING:?}")));
            }
            let mut awaited = self.channel.awaited();
            let timeout = rustix::event::Timespec::try_from(left.min(BEAT)).ok();
            // A wait that fails is tried again until the time is over.
            let found = rustix::event::poll(&mut awaited, timeout.as_ref());
            let found = found.map_or(PollFlags::empty(), |_| awaited[0].revents());
            drop(awaited);
            if found.contains(PollFlags::OUT) {
                let _ = self.channel.send_available();
            }
            if found.difference(PollFlags::OUT).is_empty() {
                continue;
            }
            let Ok(Some(lines)) = self.channel.lines_available() else {
                return Err(self.refused("it ended without a greeting"));
            };
            let lines = String::from_utf8_lossy(&lines).into_owned();
            // Shells say things before the program does.
            match lines.lines().find_map(|line| line.strip_prefix(MARKER)) {
                Some(greeting) => break greeting.to_owned(),
                None => self.noise.push_str(&lines),
            }
        };
        let hello: Result<Hello, _> = serde_json::from_str(&hello);
        let known = hello.as_ref().is_ok_and(|hello| hello.build == own);
        let (host, here) = (&self.host, env!("CARGO_PKG_VERSION"));
        match hello {
            Ok(hello) if known => {
                let now = Instant::now();
                let Self { host, running, channel, said, .. } = self;
                let (network, cpus) = (None, BTreeSet::new());
                Ok(Agent {
                    host,
                    hello,
                    network,
                    running,
                    channel,
                    said,
                    heard: now,
                    told: now,
                    cpus,
                })
            }
            other => {
                let there = other.map(|hello| format!("{} ({:08x})", hello.version, hello.build));
                let there = there.unwrap_or_else(|_| "another version".to_owned());
                let what =
                    format!("use {host}: it has bandgap {there}, and this is {here} ({own:08x})");
                Err(Failure::new(Exit::Remote, what).hint("install the same there, or use --copy"))
            }
        }
    }

    fn refused(&mut self, what: &str) -> Failure {
        let host = &self.host;
        let status = self.running.as_mut().and_then(Running::end);
        let code = status.and_then(|status| status.code());
        let said = words(&mut self.said);
        let noise = self.noise.trim();
        let failure = |what: String| Failure::new(Exit::Remote, what);
        match code {
            Some(255) if !said.is_empty() => failure(format!("reach {host}: {said}")),
            Some(126 | 127) => failure(format!("start bandgap on {host}: {said}"))
                .hint("install it there, at the same path or on PATH, or use --copy"),
            _ => {
                let more = [said.as_str(), noise].into_iter().find(|text| !text.is_empty());
                let more = more.map_or_else(String::new, |text| format!(": {text}"));
                failure(format!("reach {host}: {what}{more}"))
            }
        }
    }
}

/// What a shell of the other host carries out: this program from its own path, or from PATH; or what comes first over the
/// connection, of so many bytes.
fn remote_command(copied: Option<usize>) -> String {
    let script = match copied {
        None => {
            let path = std::env::current_exe().unwrap_or_default();
            let path = quoted(&path.to_string_lossy());
            format!(
                "p={path}; if [ -x \"$p\" ]; then exec \"$p\" {COMMAND}; fi; exec bandgap {COMMAND}"
            )
        }
        Some(bytes) => format!(
            "d=$(mktemp -d \"${{TMPDIR:-/tmp}}/bandgap.XXXXXX\") && trap 'rm -rf \"$d\"' EXIT HUP TERM && \
             head -c {bytes} >\"$d/bandgap\" && chmod 700 \"$d/bandgap\" && \
             exec \"$d/bandgap\" {COMMAND} --remove \"$d\"; exit 126"
        ),
    };
    format!("exec sh -c {}", quoted(&script))
}

/// As one word of a POSIX shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The ranks of one launch at an agent.
#[derive(Debug)]
pub struct Remote<'a> {
    agent: &'a mut Agent,
    /// Ranks that have not ended.
    open: Vec<usize>,
    ranks: Vec<usize>,
    stopped: Vec<(usize, u32)>,
    silence: Duration,
    over: bool,
}

impl<'a> Remote<'a> {
    /// Lets an agent start ranks.
    pub fn begin(agent: &'a mut Agent, begin: Begin, deadline: Duration) -> Self {
        let ranks: Vec<usize> = begin.ranks.iter().map(|of| of.rank).collect();
        agent.cpus.extend(begin.ranks.iter().filter_map(|of| of.cpu));
        // An agent that is gone is noticed when it is waited for.
        let _ = agent.channel.queue(&ToAgent::Begin(Box::new(begin)));
        (agent.heard, agent.told) = (Instant::now(), Instant::now());
        let open = ranks.clone();
        let (silence, stopped) = (silence(deadline), Vec::new());
        Self { agent, open, ranks, stopped, silence, over: false }
    }

    /// Waits until they are started.
    ///
    /// # Errors
    /// The host refused, or is gone.
    pub fn started(&mut self) -> Result<(), Failure> {
        let until = Instant::now() + self.silence.max(BEAT);
        loop {
            let host = self.agent.name().to_owned();
            match self.agent.receive_until(until) {
                Some(FromAgent::Begun(network)) => {
                    self.agent.network = network;
                    return Ok(());
                }
                Some(FromAgent::Refused { exit, what, hint }) => {
                    self.over = true;
                    let failure = Failure::new(exit, format!("{what}, on {host}"));
                    return Err(Failure { hint, ..failure });
                }
                Some(_) => {}
                None => {
                    self.over = true;
                    let quiet = Instant::now() >= until;
                    let more = self.agent.last_words();
                    let why = if quiet { "nothing was heard" } else { "the connection ended" };
                    let what = format!("start ranks on {host}: {why}{more}");
                    return Err(Failure::new(Exit::Remote, what));
                }
            }
        }
    }

    /// The host is lost, and its ranks with it.
    fn lost(&mut self, what: String, heard: &mut dyn FnMut(usize, Heard)) {
        self.over = true;
        let mut noted = Some(Noted { cause: Cause::Killed, what, exit: Exit::Remote });
        for rank in std::mem::take(&mut self.open) {
            heard(rank, Heard::Ended(0, noted.take()));
        }
    }

    fn take(&mut self, messages: Vec<FromAgent>, heard: &mut dyn FnMut(usize, Heard)) {
        for message in messages {
            match message {
                FromAgent::From(rank, said) if self.ranks.contains(&rank) => {
                    heard(rank, Heard::Said(vec![said]));
                }
                FromAgent::Ended(rank, status, noted) if self.ranks.contains(&rank) => {
                    self.open.retain(|open| *open != rank);
                    let host = self.agent.name();
                    let noted =
                        noted.map(|of| Noted { what: format!("on {host}, {}", of.what), ..of });
                    heard(rank, Heard::Ended(status, noted));
                }
                FromAgent::Beat(stopped) => self.stopped = stopped,
                FromAgent::Over => {
                    self.over = true;
                    self.open.clear();
                }
                _ => {}
            }
        }
    }

    fn queue(&mut self, message: &ToAgent) {
        self.agent.told = Instant::now();
        // An agent that is gone is noticed when it is read from.
        let _ = self.agent.channel.queue(message);
    }
}

impl Group for Remote<'_> {
    fn awaited(&self) -> Vec<PollFd<'_>> {
        if self.over { Vec::new() } else { self.agent.channel.awaited() }
    }

    fn attend(&mut self, found: &[PollFlags], heard: &mut dyn FnMut(usize, Heard)) {
        let Some(&found) = found.first().filter(|_| !self.over) else { return };
        if found.contains(PollFlags::OUT) {
            let _ = self.agent.channel.send_available();
        }
        if !found.difference(PollFlags::OUT).is_empty() {
            match self.agent.channel.receive_available() {
                Ok(Some(messages)) => {
                    self.agent.heard = Instant::now();
                    self.take(messages, heard);
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                _ => {
                    let more = self.agent.last_words();
                    let host = self.agent.name();
                    return self.lost(format!("the connection to {host} ended{more}"), heard);
                }
            }
        }
        let quiet = self.agent.heard.elapsed();
        if quiet > self.silence {
            let host = self.agent.name();
            return self.lost(format!("nothing was heard of {host} for {quiet:.0?}"), heard);
        }
        if self.agent.told.elapsed() > BEAT.min(self.silence / 4) {
            self.queue(&ToAgent::Beat);
        }
    }

    fn tell(&mut self, rank: usize, message: &ToRank) {
        self.queue(&ToAgent::To(rank, message.clone()));
    }

    fn has(&self, rank: usize) -> bool {
        self.ranks.contains(&rank)
    }

    fn poison(&mut self, rank: usize, status: i32) {
        self.queue(&ToAgent::Poison(rank, status));
    }

    fn stop(&mut self) {
        self.queue(&ToAgent::Stop);
    }

    fn stopped(&self) -> Vec<(usize, u32)> {
        self.stopped.clone()
    }

    fn is_open(&self) -> bool {
        !self.over
    }

    fn end(&mut self, heard: &mut dyn FnMut(usize, Heard)) {
        if self.over {
            return;
        }
        self.queue(&ToAgent::End);
        let until = Instant::now() + ENDING;
        while !self.over {
            match self.agent.receive_until(until) {
                Some(message) => self.take(vec![message], heard),
                None => {
                    self.over = true;
                    if let Some(running) = &mut self.agent.running {
                        running.end();
                    }
                }
            }
        }
    }
}

impl Drop for Remote<'_> {
    fn drop(&mut self) {
        self.end(&mut |_, _| ());
    }
}
