//! The launcher watches the ranks of a launch.

use std::time::{Duration, Instant};

use bandgap_campaign::Measurements;
use bandgap_campaign::data::Kept;
use rustix::event::{PollFd, PollFlags};
use serde::{Deserialize, Serialize};

use crate::cause::{Cause, Noted, named, stopped};
use crate::group::{Group, Heard};
use crate::message::{FromRank, ToRank, polled};
use crate::signals::{Signals, signalled};
use crate::vigil::Vigil;
use crate::{Exit, Failure, Result};

/// Time for ranks to end by themselves after one of them has failed.
const GRACE: Duration = Duration::from_millis(800);

/// Takes the share done and a description of the current work.
pub type Progress<'a> = &'a mut dyn FnMut(f64, &str);

/// Where batches go: into the table, and before it to a journal.
type Keeping<'a> = (&'a mut Measurements, &'a dyn Fn(&[Kept]));

/// How a launch ended. All measured batches have been collected in any case.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Ended {
    /// All ranks are done.
    #[default]
    Done,
    /// A signal stopped the run.
    Interrupted,
    /// Something failed.
    Failed {
        /// What happened, and to which rank if one was the cause.
        what: String,
        /// The class of failure.
        exit: Exit,
    },
}

impl Ended {
    /// The end of a run, or of one of its launches, by a failure.
    pub(crate) fn failed(launch: Option<u32>, Failure { exit, what, hint }: Failure) -> Self {
        let whom = launch.map(|launch| format!("launch {} of the ranks ", launch + 1));
        let whom = whom.unwrap_or_default();
        let hint = hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
        Self::Failed { what: format!("{whom}failed to {what}{hint}"), exit }
    }
}

/// What the launcher knows of a rank.
#[derive(Clone, Debug, Default)]
struct Known {
    address: Option<String>,
    connected: bool,
    done: bool,
    /// The raw exit status of its process; 0 until it ends.
    status: i32,
}

/// One set of rank processes, on one host or on several.
pub(crate) struct Launch<'a> {
    groups: Vec<Box<dyn Group + 'a>>,
    ranks: Vec<Known>,
    signals: &'a Signals,
    deadline: Duration,
    released: bool,
    /// Failures in the order of arrival.
    noted: Vec<(usize, Noted)>,
}

impl<'a> Launch<'a> {
    /// A launch of the ranks of these groups, `size` in all.
    pub fn of(
        groups: Vec<Box<dyn Group + 'a>>,
        size: usize,
        deadline: Duration,
        signals: &'a Signals,
    ) -> Self {
        let ranks = vec![Known::default(); size];
        Self { groups, ranks, signals, deadline, released: false, noted: Vec::new() }
    }

    /// Watches until all ranks have ended; batches go to `journal` and into `table`, progress to `progress`.
    ///
    /// # Errors
    /// Waiting itself failed.
    pub fn watch(mut self, (table, journal): Keeping<'_>, progress: Progress<'_>) -> Result<Ended> {
        // Failures of ranks that were told to end do not count.
        let mut interrupted = false;
        let begun = Instant::now();
        let mut give_up: Option<Instant> = None;
        let mut vigil = Vigil::new(self.ranks.len(), self.deadline);
        while self.groups.iter().any(|group| group.is_open()) {
            let timeout = match give_up {
                Some(at) => at.saturating_duration_since(Instant::now()).min(vigil.left()),
                None => vigil.left(),
            };
            let heard = self.wait(timeout, give_up.is_none())?;
            if signalled().is_some() && self.noted.is_empty() && !interrupted {
                interrupted = true;
                self.groups.iter_mut().for_each(|group| group.stop());
                give_up.get_or_insert_with(|| Instant::now() + GRACE);
            }
            if !heard.is_empty() {
                vigil.heard();
            }
            for (rank, heard) in heard {
                self.hear(rank, heard, (table, journal), progress);
            }
            if give_up.is_none() && begun.elapsed() > self.deadline {
                self.note_unconnected();
            }
            if give_up.is_none() && vigil.look(|| self.stopped()) {
                let deadline = self.deadline;
                let nothing =
                    format!("no message came for {deadline:?} (--deadline says how long to wait)");
                self.look_for_stopped(&nothing);
            }
            if let Some(&(rank, _)) = self.noted.first() {
                let status = self.ranks[rank].status;
                self.groups.iter_mut().for_each(|group| group.poison(rank, status));
                give_up.get_or_insert_with(|| Instant::now() + GRACE);
            }
            self.hand_out_addresses();
            self.release_when_done();
            if give_up.is_some_and(|at| Instant::now() >= at) {
                break;
            }
        }
        for (rank, heard) in self.groups.iter_mut().flat_map(|group| group.end()) {
            if let Heard::Ended(_, Some(noted)) = heard {
                self.noted.push((rank, noted));
            }
        }
        Ok(match named(&self.noted) {
            _ if interrupted => Ended::Interrupted,
            Some((rank, noted)) => {
                let begun = table.executed().next().is_some();
                self.failure(*rank, noted.clone(), begun)
            }
            None => Ended::Done,
        })
    }

    /// The failure of a rank. If the rank heard nothing from another host before the first batch, the message names the
    /// network between them.
    fn failure(&self, rank: usize, Noted { cause, what, exit }: Noted, begun: bool) -> Ended {
        let of = |has: bool| {
            let hosts = self.groups.iter().filter(move |group| group.has(rank) == has);
            hosts.filter_map(|group| group.host()).collect::<Vec<_>>()
        };
        let own = of(true).join("");
        let mut others = of(false);
        others.retain(|other| *other != own);
        others.dedup();
        let others = others.join(", ");
        if begun || others.is_empty() || cause < Cause::Waited {
            return Ended::Failed { what: format!("rank {rank}: {what}"), exit };
        }
        let mut what = format!("rank {rank}: on {own}, {what}");
        if self.ranks.iter().any(|known| !known.connected) {
            what += &format!(
                ": is a firewall between it and {others}? (bandgap uses any free port; --interface names another way)"
            );
        }
        Ended::Failed { what, exit: Exit::Remote }
    }

    /// Waits for news of the ranks, and returns it.
    fn wait(&mut self, timeout: Duration, signals: bool) -> Result<Vec<(usize, Heard)>> {
        let awaited: Vec<Vec<PollFd<'_>>> =
            self.groups.iter().map(|group| group.awaited()).collect();
        let counts: Vec<usize> = awaited.iter().map(Vec::len).collect();
        let mut fds: Vec<PollFd<'_>> = awaited.into_iter().flatten().collect();
        if signals {
            fds.push(PollFd::new(&self.signals.readable, PollFlags::IN));
        }
        let refused = |error| Failure::new(Exit::Host, format_args!("wait for the ranks: {error}"));
        polled(&mut fds, timeout).map_err(refused)?;
        let found: Vec<PollFlags> = fds.iter().map(PollFd::revents).collect();
        drop(fds);
        let mut heard = Vec::new();
        let mut found = &found[..];
        for (group, count) in self.groups.iter_mut().zip(counts) {
            let (own, others) = found.split_at(count);
            heard.extend(group.attend(own));
            found = others;
        }
        Ok(heard)
    }

    /// Handles the news of a rank.
    fn hear(
        &mut self,
        rank: usize,
        heard: Heard,
        (table, journal): Keeping<'_>,
        progress: Progress<'_>,
    ) {
        let messages = match heard {
            Heard::Said(messages) => messages,
            Heard::Ended(status, noted) => {
                self.ranks[rank].status = status;
                self.noted.extend(noted.map(|noted| (rank, noted)));
                return;
            }
        };
        for message in messages {
            match message {
                FromRank::Address(address) => self.ranks[rank].address = Some(address),
                FromRank::Progress { kept, done, doing } => {
                    journal(&kept);
                    kept.into_iter().for_each(|kept| table.push(kept));
                    let batches = table.executed().count();
                    progress(done, &format!("{doing}, {batches} batches"));
                    self.tell(rank, &ToRank::Noted);
                }
                FromRank::Connected => self.ranks[rank].connected = true,
                FromRank::Done => self.ranks[rank].done = true,
                FromRank::Rests => {}
                FromRank::Failed(noted) => {
                    if noted.cause >= Cause::Waited {
                        self.look_for_stopped(&format!("rank {rank}: {}", noted.what));
                    }
                    self.noted.push((rank, noted));
                }
            }
        }
    }

    /// Notes the ranks that have not connected: a library's initialisation may never end.
    fn note_unconnected(&mut self) {
        let waits = self.ranks.iter().enumerate().filter(|(_, known)| !known.connected);
        let what = format!(
            "it has not connected within {:.1?} (--deadline says how long to wait)",
            self.deadline
        );
        let noted = Noted { cause: Cause::Waited, what, exit: Exit::Communication };
        self.noted.extend(waits.map(|(rank, _)| (rank, noted.clone())));
    }

    /// The stopped ranks, with their processes.
    fn stopped(&self) -> Vec<(usize, u32)> {
        self.groups.iter().flat_map(|group| group.stopped()).collect()
    }

    /// Notes the stopped ranks, if any, as the cause of what `followed`.
    fn look_for_stopped(&mut self, followed: &str) {
        self.noted.extend(stopped(&self.stopped(), followed));
    }

    /// Sends all addresses to all ranks once all are known.
    fn hand_out_addresses(&mut self) {
        if self.ranks.is_empty() || self.ranks.iter().any(|rank| rank.address.is_none()) {
            return;
        }
        let addresses: Vec<String> =
            self.ranks.iter_mut().filter_map(|rank| rank.address.take()).collect();
        self.tell_all(&ToRank::Addresses(addresses));
    }

    /// Lets the ranks end once all are done.
    fn release_when_done(&mut self) {
        if self.released || self.ranks.iter().any(|rank| !rank.done) {
            return;
        }
        self.released = true;
        self.tell_all(&ToRank::Noted);
    }

    fn tell(&mut self, rank: usize, message: &ToRank) {
        if let Some(group) = self.groups.iter_mut().find(|group| group.has(rank)) {
            group.tell(rank, message);
        }
    }

    fn tell_all(&mut self, message: &ToRank) {
        for rank in 0..self.ranks.len() {
            self.tell(rank, message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launches_are_counted_from_one_and_a_hint_is_kept() {
        let failure = || crate::usage!("start").hint("wait");
        let Ended::Failed { what, .. } = Ended::failed(Some(1), failure()) else { panic!() };
        assert!(what.contains(" 2 ") && what.contains("wait"), "{what}");
        let Ended::Failed { what, .. } = Ended::failed(None, failure()) else { panic!() };
        assert!(!what.contains(char::is_numeric), "{what}");
    }
}
