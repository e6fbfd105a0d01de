//! Reaches hosts: starts an agent on each by ssh, or turns processes into agents, and waits for their greetings.

use std::fs::File;
use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};

use crate::agents::{Agent, Channels, Running, is_here, listening, words};
use crate::hosts::{HostSlots, Hosts, SSH};
use crate::message::{Channel, polled};
use crate::protocol::{BEAT, COMMAND, Hello, MARKER, OWN, build, unread};
use crate::signals::{Signals, signalled};
use crate::{Exit, Failure, Result, elsewhere};

/// Longest wait for a host's greeting.
const GREETING: Duration = Duration::from_secs(30);
/// Most bytes that a host's shell may print before it, and characters of them that are told.
const NOISE: usize = 1 << 20;
const TOLD: usize = 200;

/// Starts an agent on each host, all at the same time, and waits for their greetings.
///
/// # Errors
/// A host cannot be reached, or has no bandgap or another build of it.
pub fn start_all(hosts: &Hosts, signals: &Signals) -> Result<Vec<Agent>> {
    let copied = hosts.copy.then(|| std::fs::read(OWN).map_err(unread)).transpose()?;
    let places = hosts.places.iter();
    let begun = places.map(|place| Starting::begin(&place.host, hosts, copied.as_deref()));
    let agents = greeted(begun, signals)?;
    for (at, agent) in agents.iter().enumerate() {
        if let Some(same) = agents[..at].iter().find(|other| other.hello.host == agent.hello.host) {
            return Err(elsewhere!("use {} and {}: they are one host", same.host, agent.host)
                .hint(format_args!("name it once, as in --hosts {}:2", same.host)));
        }
    }
    Ok(agents)
}

/// The agents of adopted processes, by host. The agent of this host is started.
///
/// # Errors
/// A process has another build of the program, or is gone.
pub fn adopt_all(hosts: &Hosts, channels: Channels, signals: &Signals) -> Result<Vec<Agent>> {
    // Processes are reached at the addresses from which they called.
    let addresses: Vec<Option<IpAddr>> =
        channels.iter().map(|of| of.as_ref().map(|(_, address)| *address)).collect();
    let starting = |(place, channel): (&HostSlots, Option<(Channel, IpAddr)>)| match channel {
        None => Starting::begin("localhost", hosts, None),
        Some((channel, _)) => {
            let (host, noise) = (place.host.clone(), String::new());
            Ok(Starting { host, ssh: String::new(), running: None, channel, said: None, noise })
        }
    };
    let mut agents = greeted(hosts.places.iter().zip(channels).map(starting), signals)?;
    for ((agent, place), address) in agents.iter_mut().zip(&hosts.places).zip(addresses) {
        agent.host.clone_from(&place.host);
        agent.hello.address = address;
    }
    Ok(agents)
}

/// Begins all agents, and then waits for each greeting.
fn greeted(all: impl Iterator<Item = Result<Starting>>, signals: &Signals) -> Result<Vec<Agent>> {
    let (own, begun) = (build()?, all.collect::<Result<Vec<_>>>()?);
    let until = Instant::now() + GREETING;
    begun.into_iter().map(|starting| starting.greeted(until, own, signals)).collect()
}

/// An agent before its greeting.
struct Starting {
    host: String,
    /// The command that reaches it.
    ssh: String,
    running: Option<Running>,
    channel: Channel,
    said: Option<File>,
    noise: String,
}

impl Starting {
    fn begin(host: &str, hosts: &Hosts, copied: Option<&[u8]>) -> Result<Self> {
        let refused =
            |what: &str, error: std::io::Error| elsewhere!("reach {host}: {what}: {error}");
        let pipes = || -> std::io::Result<(UnixStream, [OwnedFd; 2], [File; 2])> {
            let (ours, theirs) = UnixStream::pair()?;
            let said = listening()?;
            Ok((ours, [theirs.try_clone()?.into(), theirs.into()], [said.try_clone()?, said]))
        };
        let (ours, [input, output], [words, said]) =
            pipes().map_err(|error| refused("make a socket pair", error))?;
        let here = is_here(host);
        let mut command = if here { Command::new(OWN) } else { Command::new(&hosts.ssh[0]) };
        if here {
            command.arg0(std::env::args_os().next().unwrap_or_default()).arg(COMMAND);
        } else {
            command.args(&hosts.ssh[1..]);
            if hosts.ssh[0].rsplit('/').next() == Some(SSH) {
                command.args(["-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "--"]);
            }
            command.arg(host).arg(remote_command(copied.map(<[u8]>::len)));
        }
        let child = command
            .stdin(Stdio::from(input))
            .stdout(Stdio::from(output))
            .stderr(Stdio::from(words))
            // Signals from the terminal go only to the launcher, which ends all in order.
            .process_group(0)
            .spawn()
            .map_err(|error| refused(&format!("start {}", hosts.ssh[0]), error))?;
        let (running, said) = (Some(Running(child)), Some(said));
        let mut channel = Channel::new(ours);
        if let Some(program) = copied.filter(|_| !here) {
            // A host that cannot take it does not greet.
            let _ = channel.queue_bytes(&mut program.to_vec());
        }
        let (host, ssh) = (host.to_owned(), hosts.ssh.join(" "));
        Ok(Self { host, ssh, running, channel, said, noise: String::new() })
    }

    /// Waits for the greeting.
    fn greeted(mut self, until: Instant, own: u32, signals: &Signals) -> Result<Agent> {
        let hello = loop {
            let left = until.saturating_duration_since(Instant::now());
            if signalled().is_some() {
                let what = format!("reach {}: interrupted", self.host);
                return Err(Failure::new(Exit::Interrupted, what));
            }
            if left.is_zero() {
                return Err(self.refused(&format!("no greeting within {GREETING:.0?}")));
            }
            let mut awaited = self.channel.awaited();
            awaited.push(PollFd::new(&signals.readable, PollFlags::IN));
            // A failed wait is repeated until the time is over.
            let found = polled(&mut awaited, left.min(BEAT));
            let found = found.map_or(PollFlags::empty(), |_| awaited[0].revents());
            drop(awaited);
            if !self.channel.goes_on(found) {
                continue;
            }
            let Ok(Some(lines)) = self.channel.lines_available() else {
                return Err(self.refused("it ended without a greeting"));
            };
            let lines = String::from_utf8_lossy(&lines).into_owned();
            // Shells may print something before the program starts.
            match lines.lines().find_map(|line| line.strip_prefix(MARKER)) {
                Some(greeting) => break greeting.to_owned(),
                None => self.noise.push_str(&lines),
            }
            if self.noise.len() > NOISE {
                self.noise = self.noise.chars().take(TOLD).collect();
                return Err(self.refused(&format!("{NOISE} bytes came, and no greeting")));
            }
        };
        let hello: Result<Hello, _> = serde_json::from_str(&hello);
        let known = hello.as_ref().is_ok_and(|hello| hello.build == own);
        let (host, here) = (&self.host, env!("CARGO_PKG_VERSION"));
        match hello {
            Ok(hello) if known => {
                let Self { host, running, channel, said, .. } = self;
                let (network, cpus) = (None, Vec::new());
                let (heard, told) = (Instant::now(), Instant::now());
                Ok(Agent { host, hello, network, running, channel, said, heard, told, cpus })
            }
            other => {
                let there = other.map(|hello| format!("{} ({:08x})", hello.version, hello.build));
                let there = there.unwrap_or_else(|_| "of another version".to_owned());
                Err(elsewhere!(
                    "use {host}: it has bandgap {there}, and this is {here} ({own:08x})"
                )
                .hint("install the same there, or use --copy"))
            }
        }
    }

    fn refused(&mut self, what: &str) -> Failure {
        let (host, ssh) = (&self.host, &self.ssh);
        let status = self.running.as_mut().and_then(Running::end);
        let code = status.and_then(|status| status.code());
        let said = words(&mut self.said);
        let noise = self.noise.trim();
        match code {
            Some(255) if !said.is_empty() => elsewhere!("reach {host}: {said}")
                .hint(format_args!("`{ssh} {host} true` must work, and ask nothing")),
            Some(126 | 127) => elsewhere!("start bandgap on {host}: {said}")
                .hint("install it there, at the same path or on PATH, or use --copy, if $TMPDIR, /tmp, $XDG_RUNTIME_DIR or $HOME runs it"),
            _ => {
                let more = [said.as_str(), noise].into_iter().find(|text| !text.is_empty());
                let more = more.map_or_else(String::new, |text| format!(": {text}"));
                elsewhere!("reach {host}: {what}{more}")
                    .hint(format_args!("what does `{ssh} {host} bandgap --version` say?"))
            }
        }
    }
}

/// The shell command for the other host: it runs this program from its own path, or from PATH; or a program of `copied`
/// bytes that the connection sends first.
fn remote_command(copied: Option<usize>) -> String {
    let script = match copied {
        None => {
            let path = std::env::current_exe().unwrap_or_default();
            let path = quoted(&path.to_string_lossy());
            format!(
                "p={path}; if [ -x \"$p\" ]; then exec \"$p\" {COMMAND}; fi; exec bandgap {COMMAND}"
            )
        }
        // The program can be read only once, so room and the right to run are tried before.
        Some(bytes) => format!(
            "d= w=; trap 'rm -rf \"$d\"' EXIT; trap 'exit 126' HUP TERM
             for t in \"${{TMPDIR:-/tmp}}\" \"$XDG_RUNTIME_DIR\" \"$HOME\"; do
               [ -n \"$t\" ] || continue
               d=$(mktemp -d \"$t/bandgap.XXXXXX\" 2>/dev/null) || {{ w=\"$w$t takes no files, \"; continue; }}
               p=$d/bandgap
               if ! head -c {bytes} /dev/zero >\"$p\" 2>/dev/null; then w=\"$w$t is full, \"
               elif ! {{ echo '#!/bin/sh' >\"$p\" && chmod 700 \"$p\" && \"$p\"; }} 2>/dev/null; then w=\"$w$t is noexec, \"
               else
                 head -c {bytes} >\"$p\" && [ \"$(wc -c <\"$p\")\" -eq {bytes} ] && exec \"$p\" {COMMAND} --remove \"$d\"
                 exit 126
               fi
               rm -rf \"$d\"
             done
             echo \"${{w%, }}\" >&2; exit 126"
        ),
    };
    format!("exec sh -c {}", quoted(&script))
}

/// Quotes text as one word of a POSIX shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
