//! The tool as a program's `main` function.

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use bandgap_comm::{Bare, Stamped, Transport};
use bandgap_kernels::{Added, AmEntry, CommEntry, TransferEntry, add};
use bandgap_launch::{
    Adopted, Classify as _, Exit, Failure, Own, Result, compiled, let_long_files_fail, survey,
};
use rustix::net::AddressFamily;
use rustix::net::sockopt::socket_domain;
use rustix::process::{Resource, getrlimit};

use crate::command::{Cli, dispatch, measured, parse};
use crate::kernel::{OverAm, OverComm, OverTransfer};
use crate::layout::be_plain;
use crate::output::tell_failure;

/// Time for what a process says to arrive at its launcher.
const TELLING: Duration = Duration::from_secs(1);

/// The whole tool: its commands, its own kernels and transports, and added ones. An added one goes by
/// its name wherever one of the tool's own does.
///
/// ```no_run
/// # use bandgap::kernel::OverComm;
/// # fn with<Ring: OverComm>() -> std::process::ExitCode {
/// bandgap::Tool::new().comm::<Ring>().main()
/// # }
/// ```
#[derive(Debug, Default)]
pub struct Tool {
    added: Vec<Added>,
    own: Own,
}

impl Tool {
    /// The tool with nothing added.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a kernel over Active Messages.
    pub fn am<K: OverAm>(self) -> Self {
        self.with(compiled::<AmEntry<K>>())
    }

    /// Adds a kernel of stores and gets.
    pub fn transfer<K: OverTransfer>(self) -> Self {
        self.with(compiled::<TransferEntry<K>>())
    }

    /// Adds a kernel over message passing. `bandgap comet` measures its series by name.
    pub fn comm<K: OverComm>(self) -> Self {
        self.with(compiled::<CommEntry<K>>())
    }

    fn with(mut self, kernel: Added) -> Self {
        self.added.push(kernel);
        self
    }

    /// Adds a transport: `-t` names it.
    pub fn transport<T: Transport<Endpoint: Send>>(mut self) -> Self {
        self.own = self.own.transport::<T>();
        self
    }

    /// Adds a transport that takes stamps: `bandgap breakdown` divides the time of its messages.
    pub fn stamped<T: Stamped<Endpoint: Send>>(mut self) -> Self {
        self.own = self.own.stamped::<T>();
        self
    }

    /// Adds floors. Those of a mechanism with a transport's name are measured beside the transport.
    pub fn floors<B: Bare>(mut self) -> Self {
        self.own = self.own.floors::<B>();
        self
    }

    /// Reads the command line and carries it out. It must be all that `main` does, and be called only
    /// once: each rank starts the program again.
    pub fn main(self) -> ExitCode {
        has_stack().and_then(|()| self.begin()).unwrap_or_else(|failure| {
            tell_failure(&failure);
            failure.exit.into()
        })
    }

    /// Its frame is larger than a small stack: the limit is looked at before.
    #[inline(never)]
    fn begin(self) -> Result<ExitCode> {
        let adopted = Adopted::found();
        add(self.added).class(Exit::Defect)?;
        self.own.add()?;
        match own() {
            Some(done) => done,
            None => match (parse(adopted.as_ref())?, adopted) {
                (mut cli, Some(adopted)) => among(&adopted, &mut cli),
                (cli, None) => carry_out(&cli),
            },
        }
    }
}

/// Fails where the stack does not hold the description of all commands.
fn has_stack() -> Result<()> {
    let small = getrlimit(Resource::Stack).current.filter(|most| *most < 128 << 10);
    small.map_or(Ok(()), |most| {
        let what = format!("run with a stack of {} KiB, the limit", most >> 10);
        Err(Failure::new(Exit::Host, what).hint("raise `ulimit -s` to 1024 or more"))
    })
}

/// Does what this program starts itself for, as a rank or as a host's agent: no command that its users see.
fn own() -> Option<Result<ExitCode>> {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let place = words.last().map(Path::new)?;
    let said: Vec<&str> = words.iter().map(|word| word.to_str().unwrap_or_default()).collect();
    let done = match said[..] {
        ["rank", parent] if has_launcher() => {
            return Some(Ok(bandgap_launch::rank::main(parent.parse().ok()?)));
        }
        ["survey", parent, transport, path] => survey::look([parent, transport, path]),
        ["agent"] => bandgap_launch::agent::main(None),
        ["agent", "--remove", _] => bandgap_launch::agent::main(Some(place)),
        ["agent", "--join", _] => Adopted::join_outside(place),
        _ => return None,
    };
    Some(done.map(|()| ExitCode::SUCCESS))
}

/// Whether a launcher started this process as a rank, whose standard input is a socket.
fn has_launcher() -> bool {
    socket_domain(std::io::stdin()).is_ok_and(|domain| domain == AddressFamily::UNIX)
}

/// Runs the command in one of several processes that somebody else started. All of them take part in a measurement; the
/// first alone does everything else.
fn among(adopted: &Adopted, cli: &mut Cli) -> Result<ExitCode> {
    let measure = measured(cli).and_then(|(measure, all)| {
        measure.adopt(adopted.clone(), all);
        measure.adopted.is_some().then_some(measure)
    });
    be_plain();
    match measure {
        _ if adopted.rank == 0 => carry_out(cli).or_else(|failure| {
            // Only then abandon the others: their launcher may end this process with them.
            tell_failure(&failure);
            thread::sleep(TELLING / 5);
            adopted.abandon(failure.exit);
            Ok(failure.exit.into())
        }),
        Some(measure) => match adopted.check(measure.most(adopted.size)) {
            Ok(()) => {
                let joined = adopted.join(measure.is_apart(), measure.deadline());
                joined.map(|()| ExitCode::SUCCESS)
            }
            // The user started each by hand, and may see only this one.
            Err(failure) if adopted.by == "BANDGAP_RANK" => Err(failure),
            // The first process tells why, for which their launcher must not end it.
            Err(failure) => {
                thread::sleep(TELLING);
                Ok(failure.exit.into())
            }
        },
        None => Ok(ExitCode::SUCCESS),
    }
}

fn carry_out(cli: &Cli) -> Result<ExitCode> {
    let_long_files_fail()?;
    // The panic is already reported, and the program ends here, so nobody sees a broken state.
    let done = catch_unwind(AssertUnwindSafe(|| dispatch(cli)));
    done.unwrap_or(Ok(Exit::Defect)).map(ExitCode::from)
}
