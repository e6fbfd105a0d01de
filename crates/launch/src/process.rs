//! A rank's process, as its launcher sees it.

use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::net::{Shutdown, shutdown};
use rustix::process::Pid;
use signal_hook::low_level::signal_name;

use crate::cause::{Cause, Noted};
use crate::message::{Channel, FromRank};
use crate::protocol::OWN;
use crate::signals::{cover, uncover};
use crate::{Exit, rank};

/// Time between two checks whether a process has ended.
const LOOK: Duration = Duration::from_millis(5);

/// Starts a rank: a child of this process that runs this program, with these variables where this process has none of
/// their names. Returns the child, and the other end of the socket
/// that is its standard input.
///
/// # Errors
/// The system refused.
pub fn child(environment: &[(String, String)]) -> io::Result<(Child, UnixStream)> {
    let (ours, theirs) = UnixStream::pair()?;
    let unset = environment.iter().filter(|(name, _)| std::env::var_os(name).is_none());
    let child = Command::new(OWN)
        .arg0(std::env::args_os().next().unwrap_or_default())
        .arg(rank::COMMAND)
        .arg(std::process::id().to_string())
        .envs(unset.map(|(name, value)| (name, value)))
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::null())
        // Signals from the terminal go only to the launcher, which halts and ends the ranks in order.
        .process_group(0)
        .spawn()?;
    Ok((child, ours))
}

/// Waits until a process has ended, or `until`.
pub fn ended_until(child: &mut Child, until: Instant) {
    while child.try_wait().is_ok_and(|ended| ended.is_none()) && Instant::now() < until {
        std::thread::sleep(LOOK);
    }
}

pub struct RankProcess {
    pub child: Child,
    pub channel: Channel,
    /// Whether it may still send messages.
    pub open: bool,
    status: Option<ExitStatus>,
    /// Whether its failure is already reported.
    explained: bool,
    pub done: bool,
    /// Whether it waits to begin again.
    pub resting: bool,
}

impl RankProcess {
    /// A started rank. Signals to the launcher now halt and end the rank too.
    pub fn of((child, ours): (Child, UnixStream)) -> Self {
        cover(Pid::from_child(&child));
        let (channel, status) = (Channel::new(ours), None);
        let (explained, done, resting) = (false, false, false);
        Self { child, channel, open: true, status, explained, done, resting }
    }

    /// The raw exit status of its process; 0 until it ends.
    pub fn status(&self) -> i32 {
        self.status.map_or(0, ExitStatusExt::into_raw)
    }

    /// Its new messages; and its failure, if it is gone.
    pub fn hear(&mut self) -> (Vec<FromRank>, Option<Noted>) {
        match self.channel.receive_available() {
            Ok(Some(messages)) => {
                for message in &messages {
                    self.done |= matches!(message, FromRank::Done);
                    self.resting |= matches!(message, FromRank::Rests);
                    self.explained |= matches!(message, FromRank::Failed(_));
                }
                (messages, None)
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => (Vec::new(), None),
            closed => {
                self.open = false;
                if closed.is_err() {
                    // It may still run, and we wait for it below. Fails only if it has already ended.
                    let _ = self.child.kill();
                }
                // An incomplete line is garbage too; a broken connection means that the process ended.
                let wrong = [ErrorKind::InvalidData, ErrorKind::UnexpectedEof];
                let garbage = closed.err().filter(|error| wrong.contains(&error.kind()));
                let garbage = garbage.map(|error| {
                    self.explained = true;
                    let what = format!("what it sent cannot be understood: {error}");
                    Noted { cause: Cause::Wrong, what, exit: Exit::Communication }
                });
                uncover(Pid::from_child(&self.child));
                self.status = self.child.wait().ok();
                (Vec::new(), garbage.or_else(|| self.ended()))
            }
        }
    }

    /// How its process ended, if it ended early and has not reported a failure.
    fn ended(&self) -> Option<Noted> {
        let status = self.status?;
        if self.explained || (self.done && status.success()) {
            return None;
        }
        let (cause, how) = match (status.signal(), status.code()) {
            (Some(signal), _) => {
                let name = signal_name(signal).map(|name| format!(" ({name})")).unwrap_or_default();
                (Cause::Killed, format!("was killed by signal {signal}{name}"))
            }
            (None, Some(code)) => (Cause::Ended, format!("ended early with exit status {code}")),
            (None, None) => (Cause::Ended, "ended early".to_owned()),
        };
        let what = format!("its process {} {how}", self.child.id());
        Some(Noted { cause, what, exit: Exit::Rank })
    }

    /// If it rests, tells it to end by itself.
    pub fn dismiss(&self) {
        if self.resting {
            // A rank that is gone need not be told.
            let _ = shutdown(self.channel.input(), Shutdown::Write);
        }
    }

    /// If it was dismissed, waits until it has ended.
    pub fn leave(&mut self, until: Instant) {
        if self.resting && self.status.is_none() {
            ended_until(&mut self.child, until);
        }
    }

    /// Ends it. If it had already ended by itself, returns its failure.
    pub fn end(&mut self) -> Option<Noted> {
        if self.status.is_some() {
            return None;
        }
        uncover(Pid::from_child(&self.child));
        if let Ok(Some(status)) = self.child.try_wait() {
            self.status = Some(status);
            return self.ended();
        }
        // Fails only if the process has already ended.
        let _ = self.child.kill();
        self.status = self.child.wait().ok();
        None
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn who_sends_garbage_or_half_a_message_is_ended_and_named() {
        for said in ["garbage\n", "{\"Progress\":\n", "{\"Progress\":{\"kept\":[]}}\n"] {
            let (ours, mut theirs) = UnixStream::pair().unwrap();
            let sleeper = Command::new("sleep").arg("1000000").spawn().unwrap();
            let mut rank = RankProcess::of((sleeper, ours));
            theirs.write_all(said.as_bytes()).unwrap();
            let (messages, noted) = rank.hear();
            let noted = noted.unwrap_or_else(|| panic!("{said:?}: {messages:?}"));
            assert_eq!((noted.cause, noted.exit), (Cause::Wrong, Exit::Communication));
            assert_eq!(rank.status.and_then(|status| status.signal()), Some(9), "{said:?}");
        }
    }
}
