//! The agent of a run on one host. It starts ranks there and relays messages between them and the launcher. The agent and
//! its ranks end when the launcher is gone or has been silent for too long.

use std::fs;
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use crate::group::{Group, Heard};
use crate::interface::Interface;
use crate::local::Local;
use crate::memory::{self, Need};
use crate::message::{Assignment, Channel, FromRank, polled};
use crate::protocol::{BEAT, Begin, FromAgent, Hello, MARKER, ToAgent, Who, build, silence};
use crate::signals::signalled;
use crate::stage::Stage;
use crate::{Failure, Result, descriptors, elsewhere};

/// Longest silence of a launcher without ranks here: it may be fitting, or measuring elsewhere.
const IDLE: Duration = Duration::from_secs(60);

/// Runs the agent of this host over standard input and output. `remove` is a folder that holds only this program.
///
/// # Errors
/// As [`over`], and a signal.
pub fn main(remove: Option<&Path>) -> Result<()> {
    if let Some(folder) = remove {
        // The shell that copied the program also removes the folder.
        let _ = fs::remove_file(folder.join("bandgap")).and_then(|()| fs::remove_dir(folder));
    }
    let streams = || -> std::io::Result<Channel> {
        let output = std::io::stdout().as_fd().try_clone_to_owned()?;
        fcntl_setfl(&output, fcntl_getfl(&output)? | OFlags::NONBLOCK)?;
        Ok(Channel::of(std::io::stdin().as_fd().try_clone_to_owned()?, output))
    };
    over(streams().map_err(lost)?)?;
    let ended = |signal| Err(elsewhere!("continue: {signal} has ended this agent"));
    signalled().map_or(Ok(()), ended)
}

fn lost(error: std::io::Error) -> Failure {
    elsewhere!("speak with the launcher: {error}")
}

/// Runs the agent of this host over a connection to its launcher.
///
/// # Errors
/// The system refused something, or the connection broke.
pub fn over(mut channel: Channel) -> Result<()> {
    let stage = Stage::new(|| ())?;
    let hello = Hello {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        build: build()?,
        host: Who::here().host,
        machine: serde_json::to_value(stage.machine(1)).unwrap_or_default(),
        clock: stage.clock.report(),
        work: stage.work,
        topology: stage.topology.clone(),
        address: reached_at(),
    };
    let greeting = serde_json::to_string(&hello).unwrap_or_default();
    // A shell may have printed an unfinished line.
    channel.queue_bytes(&mut format!("\n{MARKER}{greeting}\n").into_bytes()).map_err(lost)?;
    let mut launcher = Launcher { channel, heard: Instant::now(), told: Instant::now() };
    let mut resting = None;
    let mut idle = IDLE;
    loop {
        let (found, _) = launcher.wait(&[], &stage, BEAT).map_err(lost)?;
        if signalled().is_some() || launcher.heard.elapsed() > idle {
            return Ok(());
        }
        let Some(messages) = launcher.hear(found).map_err(lost)? else { return Ok(()) };
        for message in messages {
            match message {
                ToAgent::Begin(begin) => {
                    let over = launch(&stage, *begin, resting.take(), &mut launcher);
                    match over.map_err(lost)? {
                        None => return Ok(()),
                        Some(over) => (resting, idle) = over,
                    }
                }
                ToAgent::Look(placement, duration) => {
                    let machine = serde_json::to_value(stage.examine(&placement, duration));
                    launcher.tell(&FromAgent::Looked(machine.unwrap_or_default())).map_err(lost)?;
                }
                _ => {}
            }
        }
    }
}

/// The address of this host at which it was reached (ssh(1), SSH_CONNECTION).
fn reached_at() -> Option<IpAddr> {
    std::env::var("SSH_CONNECTION").ok()?.split_whitespace().nth(2)?.parse().ok()
}

/// The other end of the agent's connection.
struct Launcher {
    channel: Channel,
    heard: Instant,
    told: Instant,
}

impl Launcher {
    /// Waits for the launcher, a signal, or any of `more`.
    fn wait(
        &self,
        more: &[PollFd<'_>],
        stage: &Stage,
        timeout: Duration,
    ) -> std::io::Result<(bool, Vec<PollFlags>)> {
        let mut fds = self.channel.awaited();
        let own = fds.len();
        fds.push(PollFd::new(&stage.signals.readable, PollFlags::IN));
        fds.extend(more.iter().cloned());
        polled(&mut fds, timeout)?;
        let found = !fds[0].revents().difference(PollFlags::OUT).is_empty();
        Ok((found, fds[own + 1..].iter().map(PollFd::revents).collect()))
    }

    /// What the launcher said; `None` if it is gone.
    fn hear(&mut self, found: bool) -> std::io::Result<Option<Vec<ToAgent>>> {
        self.channel.send_available()?;
        if !found {
            return Ok(Some(Vec::new()));
        }
        let messages = self.channel.receive_available()?;
        self.heard = Instant::now();
        Ok(messages)
    }

    fn tell(&mut self, message: &FromAgent) -> std::io::Result<()> {
        self.told = Instant::now();
        self.channel.queue(message)
    }
}

/// Runs one launch, of new ranks or of resting ones, until all of them have ended or rest again. Returns the resting
/// ranks, if any, and the longest silence of the launcher from then on; `None` if the launcher is gone.
fn launch(
    stage: &Stage,
    begin: Begin,
    resting: Option<Local>,
    launcher: &mut Launcher,
) -> std::io::Result<Option<(Option<Local>, Duration)>> {
    let deadline = begin.ranks.first().map_or(BEAT, |of| of.deadline);
    let silence = silence(deadline);
    let mut group = match started(begin, resting) {
        Ok((group, begun)) => {
            launcher.tell(&begun)?;
            group
        }
        Err(failure) => {
            launcher.tell(&FromAgent::Refused(failure))?;
            return Ok(Some((None, IDLE)));
        }
    };
    let (mut going, mut failed) = (true, false);
    while group.is_open() && going {
        let (found, of_ranks) = launcher.wait(&group.awaited(), stage, BEAT.min(silence / 4))?;
        let heard = group.attend(&of_ranks);
        failed |= heard.iter().any(|(_, heard)| match heard {
            Heard::Said(all) => all.iter().any(|said| matches!(said, FromRank::Failed(_))),
            Heard::Ended(_, noted) => noted.is_some(),
        });
        pass_on(heard, &mut group, launcher)?;
        let Some(messages) = launcher.hear(found)? else { return Ok(None) };
        for message in messages {
            match message {
                ToAgent::To(rank, message) => group.tell(rank, &message),
                ToAgent::Poison(rank, status) => group.poison(rank, status),
                ToAgent::Stop => group.stop(),
                ToAgent::End => going = false,
                ToAgent::Begin(_) | ToAgent::Beat | ToAgent::Look(..) => {}
            }
        }
        // The launcher gives up first and says so.
        if signalled().is_some() || launcher.heard.elapsed() > 2 * silence {
            return Ok(None);
        }
        if launcher.told.elapsed() > BEAT.min(silence / 4) {
            launcher.tell(&FromAgent::Beat(group.stopped()))?;
        }
    }
    if group.rests() {
        launcher.tell(&FromAgent::Over)?;
        return Ok(Some((Some(group), IDLE)));
    }
    pass_on(group.end(), &mut group, launcher)?;
    launcher.tell(&FromAgent::Over)?;
    // A live launcher speaks soon after a failed launch.
    Ok(Some((None, if failed { 2 * silence } else { IDLE })))
}

fn pass_on(
    heard: Vec<(usize, Heard)>,
    group: &mut Local,
    launcher: &mut Launcher,
) -> std::io::Result<()> {
    for (rank, heard) in heard {
        match heard {
            Heard::Said(messages) => {
                for message in messages {
                    launcher.tell(&FromAgent::From(rank, message))?;
                }
            }
            Heard::Ended(status, noted) => {
                if noted.is_some() {
                    // Its neighbours learn of it without waiting for the launcher.
                    group.poison(rank, status);
                }
                launcher.tell(&FromAgent::Ended(rank, status, noted))?;
            }
        }
    }
    Ok(())
}

fn started(begin: Begin, resting: Option<Local>) -> Result<(Local, FromAgent)> {
    let Begin { ranks, network, interface, address, memory } = begin;
    let connections = |of: &Assignment| of.transports.len() + 1;
    if let Some(first) = ranks.first() {
        descriptors::check(first.size, connections(first))?;
    }
    memory::check(Need { ranks: ranks.len(), each: memory, shared: 0, mapped: 0 })?;
    let interface = match network || interface.is_some() {
        true => Some(Interface::find(interface.as_deref(), address)?),
        false => None,
    };
    let at = interface.as_ref().map(|interface| interface.address);
    let ranks: Vec<Assignment> =
        ranks.into_iter().map(|of| Assignment { interface: at, ..of }).collect();
    let group = match resting {
        Some(mut group) => {
            group.again(&ranks);
            group
        }
        None => Local::start(&ranks, &[])?,
    };
    let network = interface.map(|of| serde_json::to_value(of).unwrap_or_default());
    Ok((group, FromAgent::Begun(network)))
}
