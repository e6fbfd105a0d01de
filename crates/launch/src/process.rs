//! One rank's process as its launcher sees it.

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
use crate::signals::Signals;
use crate::{Exit, rank};

/// Between two looks whether a process has ended.
const LOOK: Duration = Duration::from_millis(5);

/// Starts a rank: a child of this process that runs this program. Returns it, and this side of the socket that is its
/// standard input.
///
/// # Errors
/// The system refused.
pub fn child() -> io::Result<(Child, UnixStream)> {
    let (ours, theirs) = UnixStream::pair()?;
    let child = Command::new(OWN)
        .arg0(std::env::args_os().next().unwrap_or_default())
        .arg(rank::COMMAND)
        .arg(std::process::id().to_string())
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::null())
        // What a terminal sends goes to the launcher alone, which stops and halts the ranks in order.
        .process_group(0)
        .spawn()?;
    Ok((child, ours))
}

/// Waits until a process has ended, or until then.
pub fn ended_until(child: &mut Child, until: Instant) {
    while child.try_wait().is_ok_and(|ended| ended.is_none()) && Instant::now() < until {
        std::thread::sleep(LOOK);
    }
}

pub struct RankProcess {
    child: Child,
    pub channel: Channel,
    /// Whether more may come from it.
    pub open: bool,
    status: Option<ExitStatus>,
    /// Whether it has said why it failed, or is known to be no cause.
    explained: bool,
    done: bool,
    /// Whether it waits to begin again.
    pub resting: bool,
}

impl RankProcess {
    /// A rank that was started, which signals to the launcher then halt and end too.
    pub fn of((child, ours): (Child, UnixStream), signals: &Signals) -> Self {
        signals.covers(Pid::from_child(&child));
        let (channel, status) = (Channel::new(ours), None);
        let (explained, done, resting) = (false, false, false);
        Self { child, channel, open: true, status, explained, done, resting }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What its process returned, as the system has it; 0 while it has not ended.
    pub fn status(&self) -> i32 {
        self.status.map_or(0, ExitStatusExt::into_raw)
    }

    /// What has come from it; and how it failed, if it can no longer be heard.
    pub fn hear(&mut self, signals: &Signals) -> (Vec<FromRank>, Option<Noted>) {
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
                    // It may live on, and is waited for. Fails only when it has already ended.
                    let _ = self.child.kill();
                }
                // A line that ends too early is garbage too; a connection that breaks is the end of a process.
                let wrong = [ErrorKind::InvalidData, ErrorKind::UnexpectedEof];
                let garbage = closed.err().filter(|error| wrong.contains(&error.kind()));
                let garbage = garbage.map(|error| {
                    self.explained = true;
                    let what = format!("what it sent cannot be understood: {error}");
                    Noted { cause: Cause::Wrong, what, exit: Exit::Communication }
                });
                signals.leaves(Pid::from_child(&self.child));
                self.status = self.child.wait().ok();
                (Vec::new(), garbage.or_else(|| self.ended()))
            }
        }
    }

    /// How its process ended, if that was too early and is no news.
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

    /// Lets it begin again.
    pub fn again(&mut self) {
        (self.resting, self.done) = (false, false);
    }

    /// Tells it that this is the end, if it waits to begin again: it takes leave by itself.
    pub fn dismiss(&self) {
        if self.resting {
            // One that is gone hears nothing.
            let _ = shutdown(self.channel.input(), Shutdown::Write);
        }
    }

    /// Waits until it has ended by itself, if it was dismissed.
    pub fn leave(&mut self, until: Instant) {
        if self.resting && self.status.is_none() {
            ended_until(&mut self.child, until);
        }
    }

    /// Ends it, unless it has ended by itself: then it may be a cause.
    pub fn end(&mut self, signals: &Signals) -> Option<Noted> {
        if self.status.is_some() {
            return None;
        }
        signals.leaves(Pid::from_child(&self.child));
        if let Ok(Some(status)) = self.child.try_wait() {
            self.status = Some(status);
            return self.ended();
        }
        // Fails only when the process has already ended.
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
            let signals = Signals::take(|| ()).unwrap();
            let mut rank = RankProcess::of((sleeper, ours), &signals);
            theirs.write_all(said.as_bytes()).unwrap();
            let (messages, noted) = rank.hear(&signals);
            let noted = noted.unwrap_or_else(|| panic!("{said:?}: {messages:?}"));
            assert_eq!((noted.cause, noted.exit), (Cause::Wrong, Exit::Communication));
            assert_eq!(rank.status.and_then(|status| status.signal()), Some(9), "{said:?}");
        }
    }
}
