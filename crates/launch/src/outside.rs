//! Runs an MPI's own launcher, whose processes become agents that start ranks.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use bandgap_mpi::find;
use bandgap_socket::star::Centre;
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::agents::{Channels, written};
use crate::divide::divide;
use crate::failure::lost;
use crate::hosts::Hosts;
use crate::meet::publish_for;
use crate::process::ended_until;
use crate::protocol::COMMAND;
use crate::{Classify, Exit, Failure, Result, elsewhere, usage};

/// Longest wait for a launcher to end after its processes.
const ENDING: Duration = Duration::from_secs(3);
/// The placeholder for the number of ranks in a launcher's command line.
const RANKS: &str = "{ranks}";

/// The command that starts `ranks` ranks: the user's, with `{ranks}` for their number, or the launcher of the installed
/// MPI.
///
/// # Errors
/// There is no MPI, or it has no launcher.
pub fn command(with: Option<&str>, library: Option<&Path>, ranks: usize) -> Result<Vec<String>> {
    if let Some(with) = with {
        let words = with.replace(RANKS, &ranks.to_string());
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        return match words.is_empty() {
            true => Err(usage!("start ranks with an empty --launch-with")),
            false => Ok(words),
        };
    }
    let loaded = find(library).class(Exit::Remote)?;
    let program = loaded.launcher().ok_or_else(|| {
        elsewhere!("find the launcher of {}", loaded.name())
            .hint("name it with --launch-with 'mpirun -n {ranks}'")
    })?;
    Ok(vec![program.display().to_string(), "-n".to_owned(), ranks.to_string()])
}

/// A running launcher.
#[derive(Debug)]
pub struct Outside {
    child: Child,
    said: File,
}

impl Outside {
    /// Runs the command and waits until its `ranks` processes have joined this one; returns their hosts, and the
    /// connections to them as agents. `local`: all of them are on this host.
    ///
    /// # Errors
    /// The command could not run, it ended, or not all processes joined before the deadline.
    pub fn start(
        command: &[String],
        ranks: usize,
        local: bool,
        deadline: Duration,
    ) -> Result<(Self, (Hosts, Channels))> {
        let (program, options) = command
            .split_first()
            .ok_or_else(|| usage!("start ranks with an empty --launch-with"))?;
        let failed = |what: &str, error: std::io::Error| elsewhere!("{what} {program}: {error}");
        let until = Instant::now() + deadline;
        let centre = Centre::listen(0, local).map_err(lost)?;
        let published = publish_for(centre.port().map_err(lost)?)?;
        let own =
            std::env::current_exe().map_err(|error| failed("find this program for", error))?;
        let words = memfd_create("bandgap-words", MemfdFlags::CLOEXEC).map(File::from);
        let words = words.map_err(|error| failed("keep the words of", error.into()))?;
        let copy = || words.try_clone().map_err(|error| failed("keep the words of", error));
        let mut run = Command::new(program);
        run.args(options).arg(own).arg(COMMAND).arg("--join").args(&published.file);
        let child = run
            .stdin(Stdio::null())
            .stdout(Stdio::from(copy()?))
            .stderr(Stdio::from(copy()?))
            // Signals from the terminal go only to this process, which ends all in order.
            .process_group(0)
            .spawn()
            .map_err(|error| failed("run", error))?;
        let secret = published.secret;
        let mut outside = Self { child, said: words };
        let streams = {
            let child = std::cell::RefCell::new(&mut outside.child);
            let gone = || child.borrow_mut().try_wait().is_ok_and(|ended| ended.is_some());
            centre.wait(secret, ranks + 1, until, &gone)
        };
        let streams = streams.map_err(|error| outside.refused(program, &lost(error)))?;
        drop(published);
        let (hosts, channels, _) = divide(None, ranks, true, streams, until)?;
        Ok((outside, (hosts, channels)))
    }

    /// Why it started no ranks, in its own words if it has any.
    fn refused(&mut self, program: &str, error: &Failure) -> Failure {
        let gone = self.child.try_wait().ok().flatten();
        self.end();
        let said = written(&mut self.said);
        let root = said.contains("root");
        let said = first(&said);
        let why = match gone {
            Some(_) if !said.is_empty() => said.clone(),
            Some(status) => status.to_string(),
            None => error.what.clone(),
        };
        let failure = elsewhere!("start ranks with {program}: {why}");
        match root {
            _ if said.contains("recursive") => {
                failure.hint("start a process for each rank with it, or bandgap without it")
            }
            _ if said.contains("slots") => {
                failure.hint("--launch-with 'mpirun --oversubscribe -n {ranks}', or fewer --ranks")
            }
            true => failure.hint(
                "for Open MPI as root: OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
            ),
            false => failure,
        }
    }

    /// Ends it, and returns the first paragraph of its output and that of its processes.
    pub fn ended(mut self) -> String {
        self.end();
        first(&written(&mut self.said))
    }

    fn end(&mut self) {
        ended_until(&mut self.child, Instant::now() + ENDING);
        if let Ok(None) = self.child.try_wait() {
            // The launcher ends its processes before itself.
            let group = Pid::from_child(&self.child);
            let _ = kill_process_group(group, Signal::TERM);
            ended_until(&mut self.child, Instant::now() + ENDING);
            let _ = kill_process_group(group, Signal::KILL);
            let _ = self.child.wait();
        }
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        self.end();
    }
}

/// The first paragraph of a launcher's output, which tells the reason between lines of dashes.
fn first(said: &str) -> String {
    let says = |line: &&str| line.contains(char::is_alphanumeric);
    let lines = said.lines().map(str::trim).skip_while(|line| !says(line)).take_while(says);
    lines.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_command_has_the_number_of_ranks() {
        let of = |with| command(Some(with), None, 4);
        assert_eq!(of("srun -n {ranks} --mpi=pmi2").unwrap(), ["srun", "-n", "4", "--mpi=pmi2"]);
        assert_eq!(of("  ").unwrap_err().exit, Exit::Usage);
    }

    #[test]
    fn a_launcher_that_ends_is_told_with_its_words() {
        let words = ["sh", "-c", "echo no such host >&2; exit 3"].map(str::to_owned);
        let refused = Outside::start(&words, 2, true, Duration::from_secs(60)).unwrap_err();
        assert_eq!(refused.exit, Exit::Remote);
        assert!(refused.what.contains("no such host"), "{}", refused.what);
        let missing = ["/nonexistent".to_owned()];
        let refused = Outside::start(&missing, 2, true, Duration::from_secs(60)).unwrap_err();
        assert_eq!(refused.exit, Exit::Remote);
    }
}
