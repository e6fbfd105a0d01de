//! Signals to the launcher: those that end a run in order, and those that halt it for a while.

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bandgap_host::process::ignores;
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{
    SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ,
};
use signal_hook::low_level::emulate_default_handler;

use crate::Exit;

/// A signal that comes sooner after the first one is taken for the same: some senders send twice, to a process and to
/// its group.
const TWICE: Duration = Duration::from_millis(500);

/// Lets a write beyond the longest file that is allowed (`ulimit -f`) fail, as one to a full disk does: without this the
/// system ends the program.
///
/// # Errors
/// The system refused.
pub fn let_long_files_fail() -> io::Result<()> {
    // A handler suffices, whatever it does.
    signal_hook::flag::register(SIGXFSZ, Arc::default()).map(drop)
}

/// What signals have asked for. A thread that sleeps otherwise takes them.
pub struct Signals {
    readable: UnixStream,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    came: AtomicBool,
    /// The ranks at work.
    ranks: Mutex<Vec<Pid>>,
}

impl Signals {
    /// Takes signals from now on: SIGINT, SIGTERM, SIGQUIT and SIGHUP ask to end, unless SIGHUP was ignored as under
    /// `nohup`, and so do those with which batch systems warn: SIGUSR1, SIGUSR2 and SIGXCPU. A second one, but for
    /// SIGHUP, ends the program at once. SIGTSTP halts the ranks too. `first` is
    /// called once, when a signal asks to end.
    ///
    /// # Errors
    /// The system refused descriptors or a thread.
    pub fn take(first: impl Fn() + Send + 'static) -> io::Result<Self> {
        let (readable, mut writer) = UnixStream::pair()?;
        let shared = Arc::new(Shared::default());
        let mut taken = vec![SIGINT, SIGTERM, SIGQUIT, SIGUSR1, SIGUSR2, SIGXCPU, SIGTSTP];
        if !ignores(Signal::HUP) {
            taken.push(SIGHUP);
        }
        // Who ignores the ends of its processes, as whoever started it did, is not told how they ended.
        if ignores(Signal::CHILD) {
            signal_hook::flag::register(SIGCHLD, Arc::default())?;
        }
        let mut signals = signal_hook::iterator::Signals::new(taken)?;
        let theirs = Arc::clone(&shared);
        std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            let mut since: Option<Instant> = None;
            for signal in signals.forever() {
                match (signal, since) {
                    (SIGTSTP, _) => theirs.halt(),
                    (_, None) => {
                        since = Some(Instant::now());
                        theirs.came.store(true, Ordering::Relaxed);
                        // The socket has room for one byte.
                        let _ = writer.write_all(&[0]);
                        first();
                    }
                    // A terminal that goes away may say so several times.
                    (SIGHUP, _) => {}
                    (_, Some(since)) if since.elapsed() < TWICE => {}
                    _ => theirs.end_at_once(),
                }
            }
        })?;
        Ok(Self { readable, shared })
    }

    /// Whether a signal has asked to end.
    pub fn came(&self) -> bool {
        self.shared.came.load(Ordering::Relaxed)
    }

    /// Readable once a signal has asked to end.
    pub fn readable(&self) -> impl AsFd {
        &self.readable
    }

    /// Lets signals halt and end a rank.
    pub fn covers(&self, rank: Pid) {
        self.shared.ranks().push(rank);
    }

    /// Lets them do so no longer. To be called before the rank is waited for: its number may then be another's.
    pub fn leaves(&self, rank: Pid) {
        self.shared.ranks().retain(|one| *one != rank);
    }
}

impl Shared {
    fn ranks(&self) -> MutexGuard<'_, Vec<Pid>> {
        self.ranks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops all ranks and then this process. Once that goes on, so do they.
    fn halt(&self) {
        let ranks = self.ranks();
        send(&ranks, Signal::STOP);
        // Without it the run just goes on.
        let _ = emulate_default_handler(SIGTSTP);
        send(&ranks, Signal::CONT);
    }

    fn end_at_once(&self) {
        send(&self.ranks(), Signal::KILL);
        std::process::exit(Exit::Interrupted.code().into());
    }
}

fn send(ranks: &[Pid], signal: Signal) {
    for rank in ranks {
        // One that has ended needs no signal.
        let _ = kill_process(*rank, signal);
    }
}
