//! Collects batches: from ranks, or from the journal of a killed run.

use std::collections::BTreeSet;
use std::path::Path;

use bandgap_campaign::Task;
use bandgap_launch::{
    Collected, Ended, Entry, Options, Result, Target, Wait, Wanted, collect, launcher_of,
};
use bandgap_record::Note;

use super::Session;
use crate::output::journal::{Head, Line};
use crate::output::tell;

impl Session<'_> {
    /// Collects the batches of a task on a target; without one, on all transports with their floors.
    ///
    /// # Errors
    /// Ranks could not be started.
    pub fn collect_with(
        &mut self,
        task: &Task,
        target: Option<&Target>,
        ranks: usize,
        options: &Options,
    ) -> Result<Collected> {
        let is_real = !matches!(target, Some(Target::Simulated(_)));
        if let Some(earlier) = self.sink.earlier.as_mut().filter(|_| is_real) {
            let interrupted = Collected { ended: Ended::Interrupted, ..Collected::default() };
            let collected = earlier.parts.pop_front().unwrap_or(interrupted);
            self.placed(&collected, ranks);
            return Ok(collected);
        }
        let library = match target {
            Some(Target::Real(transport)) => self.measure.ranks.of_library.library(transport),
            _ => None,
        };
        if let Some(Target::Real(transport)) = target
            && transport.can.launcher
            && self.measure.adopted.is_none()
            && !std::mem::replace(&mut self.told, true)
            && !self.measure.output.quiet
        {
            let with = options.launch_with.as_deref();
            let command = launcher_of(with, library, ranks)?.join(" ");
            tell(format_args!("bandgap: starts ranks with {command}"));
        }
        let options = &Options { library: library.map(Path::to_owned), ..options.clone() };
        let by = self.measure.adopted.as_ref().map(|adopted| adopted.by.to_owned());
        if is_real {
            self.sink.host(self.host.get_or_insert_with(|| self.stage.machine(2)));
            self.sink.hosts(&self.stage.agents());
        }
        let head = self.head();
        let progress = &mut self.progress;
        let mut show = |done: f64, doing: &str| progress.show(done, doing);
        let journal = self.sink.journal.as_ref();
        let enter = |entry: Entry<'_>| match (journal, entry) {
            (Some(journal), Entry::Begun(of)) => journal.write(&Line::Begun(&head, of)),
            (Some(journal), Entry::Kept(kept)) => journal.kept(kept),
            (None, _) => {}
        };
        // A measurement whose ranks never start is one, too.
        if let Some(journal) = journal.filter(|_| is_real) {
            journal.write(&Line::Begun(&head, &Collected::default()));
        }
        let (stage, time) = (&self.stage, self.part);
        let wanted = Wanted { stage, target, ranks, task, options, time, journal: &enter };
        let collected = collect(wanted, &mut show);
        if let Some(journal) = journal.filter(|_| is_real) {
            journal.write(&Line::Ended(match &collected {
                Ok(collected) => collected.ended.clone(),
                Err(failure) => Collected::nothing(failure.clone()).ended,
            }));
        }
        let mut collected = match collected {
            Ok(collected) => collected,
            // The results of earlier parts are complete.
            Err(failure) if !self.sink.run.results.is_empty() => Collected::nothing(failure),
            Err(failure) => {
                self.progress.clear();
                return Err(failure);
            }
        };
        collected.launcher = collected.launcher.or(by);
        self.placed(&collected, ranks);
        Ok(collected)
    }

    /// What a journal tells of this run.
    fn head(&self) -> Head {
        let (run, measure) = (&self.sink.run, self.measure);
        Head {
            command: run.command.clone(),
            started: run.started.clone(),
            machine: run.setup.machine.clone(),
            host: run.host.clone(),
            hosts: run.hosts.clone(),
            stamp: self.stamp(),
            adopted: measure.adopted.as_ref().map(|of| (of.by.to_owned(), of.size)),
            native: measure.native.map(|of| of.name.to_owned()),
        }
    }

    /// The cost of a time stamp.
    pub(super) fn stamp(&self) -> f64 {
        self.sink.earlier.as_ref().map_or(self.stage.clock.report().cost.0, |of| of.head.stamp)
    }

    /// Notes where ranks were placed.
    fn placed(&mut self, collected: &Collected, ranks: usize) {
        if let Some(placement) = &collected.placement {
            if collected.hosts.is_empty() {
                self.cpus.extend(&placement.cpus);
            }
            if placement.oversubscribed {
                let cpus: BTreeSet<usize> = placement.cpus.iter().copied().collect();
                let note = Note::new("oversubscribed", "").with("ranks", ranks as f64);
                self.sink.note(note.with("processors", cpus.len() as f64));
            }
            match (collected.wait, self.measure.ranks.at.wait) {
                (Some(Wait::Block), Wait::Auto) => {
                    let note = Note::new("has_threads", "");
                    self.sink.note(note.with("transport", self.target.name()));
                }
                (Some(Wait::Block), _) if !placement.oversubscribed => {
                    self.sink.note(Note::new("not_probed", ""));
                }
                _ => {}
            }
        }
    }
}
