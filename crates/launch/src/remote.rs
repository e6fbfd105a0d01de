//! Ranks of another host, through the agent there.

use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};

use crate::agents::{Agent, ENDING, Running};
use crate::cause::{Cause, Noted};
use crate::group::{Group, Heard};
use crate::message::ToRank;
use crate::protocol::{BEAT, Begin, FromAgent, ToAgent, silence};
use crate::signals::signalled;
use crate::{Exit, Failure, Result, elsewhere};

/// An agent's ranks of one launch.
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
    /// Tells an agent to start ranks.
    pub fn begin(agent: &'a mut Agent, begin: Begin, deadline: Duration) -> Self {
        let ranks: Vec<usize> = begin.ranks.iter().map(|of| of.rank).collect();
        agent.cpus = begin.ranks.iter().filter_map(|of| of.cpu).collect();
        // `started` notices an agent that is gone.
        let _ = agent.channel.queue(&ToAgent::Begin(Box::new(begin)));
        (agent.heard, agent.told) = (Instant::now(), Instant::now());
        let open = ranks.clone();
        let (silence, stopped) = (silence(deadline), Vec::new());
        Self { agent, open, ranks, stopped, silence, over: false }
    }

    /// Waits until the ranks are started.
    ///
    /// # Errors
    /// The host refused, or is gone.
    pub fn started(&mut self) -> Result<()> {
        let until = Instant::now() + self.silence.max(BEAT);
        loop {
            let host = self.agent.host.clone();
            match self.agent.receive_until(until, || signalled().is_some()) {
                Some(FromAgent::Begun(network)) => {
                    self.agent.network = network;
                    return Ok(());
                }
                Some(FromAgent::Refused(failure)) => {
                    self.over = true;
                    return Err(failure.on(&host));
                }
                Some(_) => {}
                None if signalled().is_some() => {
                    let what = format!("start ranks on {host}: interrupted");
                    return Err(Failure::new(Exit::Interrupted, what));
                }
                None => {
                    self.over = true;
                    let quiet = Instant::now() >= until;
                    let more = self.agent.last_words();
                    let why = if quiet { "nothing was heard" } else { "the connection ended" };
                    return Err(elsewhere!("start ranks on {host}: {why}{more}"));
                }
            }
        }
    }

    /// Gives up the host and its ranks.
    fn lost(&mut self, what: String) -> Vec<(usize, Heard)> {
        self.over = true;
        // At the end nobody waits for what it does not say.
        self.agent.running.as_mut().map(Running::end);
        let mut noted = Some(Noted { cause: Cause::Killed, what, exit: Exit::Remote });
        let lost = std::mem::take(&mut self.open).into_iter();
        lost.map(|rank| (rank, Heard::Ended(0, noted.take()))).collect()
    }

    fn take(&mut self, messages: Vec<FromAgent>) -> Vec<(usize, Heard)> {
        let mut heard = Vec::new();
        for message in messages {
            match message {
                FromAgent::From(rank, said) if self.ranks.contains(&rank) => {
                    heard.push((rank, Heard::Said(vec![said])));
                }
                FromAgent::Ended(rank, status, noted) if self.ranks.contains(&rank) => {
                    self.open.retain(|open| *open != rank);
                    let host = &self.agent.host;
                    let noted =
                        noted.map(|of| Noted { what: format!("on {host}, {}", of.what), ..of });
                    heard.push((rank, Heard::Ended(status, noted)));
                }
                FromAgent::Beat(stopped) => self.stopped = stopped,
                FromAgent::Over | FromAgent::Refused(_) => {
                    self.over = true;
                    self.open.clear();
                }
                _ => {}
            }
        }
        heard
    }

    fn queue(&mut self, message: &ToAgent) {
        self.agent.told = Instant::now();
        // Reading notices an agent that is gone.
        let _ = self.agent.channel.queue(message);
    }
}

impl Group for Remote<'_> {
    fn awaited(&self) -> Vec<PollFd<'_>> {
        if self.over { Vec::new() } else { self.agent.channel.awaited() }
    }

    fn attend(&mut self, found: &[PollFlags]) -> Vec<(usize, Heard)> {
        let Some(&found) = found.first().filter(|_| !self.over) else { return Vec::new() };
        let mut heard = Vec::new();
        if self.agent.channel.goes_on(found) {
            match self.agent.channel.receive_available() {
                Ok(Some(messages)) => {
                    self.agent.heard = Instant::now();
                    heard = self.take(messages);
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                _ => {
                    let more = self.agent.last_words();
                    let host = &self.agent.host;
                    return self.lost(format!("the connection to {host} ended{more}"));
                }
            }
        }
        let quiet = self.agent.heard.elapsed();
        if quiet > self.silence {
            let host = &self.agent.host;
            heard.extend(self.lost(format!("nothing was heard of {host} for {quiet:.0?}")));
            return heard;
        }
        if self.agent.told.elapsed() > BEAT.min(self.silence / 4) {
            self.queue(&ToAgent::Beat);
        }
        heard
    }

    fn tell(&mut self, rank: usize, message: &ToRank) {
        self.queue(&ToAgent::To(rank, message.clone()));
    }

    fn has(&self, rank: usize) -> bool {
        self.ranks.contains(&rank)
    }

    fn host(&self) -> Option<&str> {
        Some(&self.agent.host)
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

    fn end(&mut self) -> Vec<(usize, Heard)> {
        let mut heard = Vec::new();
        if self.over {
            return heard;
        }
        self.queue(&ToAgent::End);
        let until = Instant::now() + ENDING;
        while !self.over {
            match self.agent.receive_until(until, || false) {
                Some(message) => heard.extend(self.take(vec![message])),
                None => drop(self.lost(String::new())),
            }
        }
        heard
    }
}

impl Drop for Remote<'_> {
    fn drop(&mut self) {
        self.end();
    }
}
