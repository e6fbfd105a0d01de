//! Signals to the launcher that end a run in order or halt it for a while.

use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bandgap_host::process::ignores;
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{
    SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ,
};
use signal_hook::low_level::{emulate_default_handler, signal_name};

use crate::failure::unstarted;
use crate::{Exit, Failure, Result};

/// A signal within this time after the first one counts as the same: some senders signal both a process and its group.
const TWICE: Duration = Duration::from_millis(500);

/// Makes a write beyond the limit of file size (`ulimit -f`) fail, like a write to a full disk: by default the system
/// kills the program.
///
/// # Errors
/// The system refused.
pub fn let_long_files_fail() -> Result<()> {
    // Any handler suffices.
    let taken = signal_hook::flag::register(SIGXFSZ, Arc::default()).map(drop);
    taken.map_err(|error| Failure::new(Exit::Host, format_args!("take a signal: {error}")))
}

/// The first signal that asked this process to end; 0 before.
static CAME: AtomicI32 = AtomicI32::new(0);
/// The running ranks, which signals halt and end too.
static RANKS: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

/// The name of the signal that has asked this process to end, if one has.
pub fn signalled() -> Option<&'static str> {
    let came = CAME.load(Ordering::Relaxed);
    (came != 0).then(|| signal_name(came).unwrap_or("a signal"))
}

/// The requests of signals, which a sleeping thread takes.
pub struct Signals {
    /// Readable once a signal has asked to end.
    pub(crate) readable: UnixStream,
}

impl Signals {
    /// Takes signals from now on. SIGINT, SIGTERM, SIGQUIT, SIGHUP (unless ignored, as under `nohup`) and the warnings
    /// of batch systems (SIGUSR1, SIGUSR2, SIGXCPU) ask to end; a second one other than SIGHUP ends the program at once.
    /// SIGTSTP also halts the ranks. The first request to end calls `first`.
    ///
    /// # Errors
    /// The system refused descriptors or a thread.
    pub fn take(first: impl Fn() + Send + 'static) -> Result<Self> {
        Self::taken(first).map_err(|error| unstarted("take signals", 2, &error))
    }

    fn taken(first: impl Fn() + Send + 'static) -> io::Result<Self> {
        let (readable, mut writer) = UnixStream::pair()?;
        let mut taken = vec![SIGINT, SIGTERM, SIGQUIT, SIGUSR1, SIGUSR2, SIGXCPU, SIGTSTP];
        if !ignores(Signal::HUP) {
            taken.push(SIGHUP);
        }
        // A process that inherited an ignored SIGCHLD does not learn how its children ended.
        if ignores(Signal::CHILD) {
            signal_hook::flag::register(SIGCHLD, Arc::default())?;
        }
        let mut signals = signal_hook::iterator::Signals::new(taken)?;
        std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            let mut since: Option<Instant> = None;
            for signal in signals.forever() {
                match (signal, since) {
                    (SIGTSTP, _) => with_ranks(|ranks| halt(ranks)),
                    (_, None) => {
                        since = Some(Instant::now());
                        CAME.store(signal, Ordering::Relaxed);
                        // The socket has room for one byte.
                        let _ = writer.write_all(&[0]);
                        first();
                    }
                    // A closing terminal may send it several times.
                    (SIGHUP, _) => {}
                    (_, Some(since)) if since.elapsed() < TWICE => {}
                    _ => with_ranks(|ranks| end_at_once(ranks)),
                }
            }
        })?;
        Ok(Self { readable })
    }
}

fn with_ranks(act: impl FnOnce(&mut Vec<Pid>)) {
    act(&mut RANKS.lock().unwrap_or_else(PoisonError::into_inner));
}

/// Lets signals halt and end a rank too.
pub fn cover(rank: Pid) {
    with_ranks(|ranks| ranks.push(rank));
}

/// Undoes [`cover`]. Call it before waiting for the rank, whose process number may then be reused.
pub fn uncover(rank: Pid) {
    with_ranks(|ranks| ranks.retain(|one| *one != rank));
}

/// Stops all ranks and then this process; continues the ranks when this process continues.
fn halt(ranks: &[Pid]) {
    send(ranks, Signal::STOP);
    // If it fails the run goes on.
    let _ = emulate_default_handler(SIGTSTP);
    send(ranks, Signal::CONT);
}

fn end_at_once(ranks: &[Pid]) {
    send(ranks, Signal::KILL);
    std::process::exit(Exit::Interrupted.code().into());
}

fn send(ranks: &[Pid], signal: Signal) {
    for rank in ranks {
        // A rank that has ended needs no signal.
        let _ = kill_process(*rank, signal);
    }
}
