//! The tool as a program's `main` function.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use bandgap_kernels::{Added, AmEntry, CommEntry, TransferEntry, add};
use bandgap_launch::{Adopted, Classify as _, Exit, Result, compiled, let_long_files_fail};
use rustix::net::AddressFamily;
use rustix::net::sockopt::socket_domain;

use crate::command::{Cli, Command, dispatch, measured, parse};
use crate::kernel::{OverAm, OverComm, OverTransfer};
use crate::layout::be_plain;
use crate::output::tell_failure;

/// The whole tool: its commands, its own kernels, and added ones. An added kernel goes by its name
/// wherever one of the tool's own does.
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
}

impl Tool {
    /// The tool with only its own kernels.
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

    /// Reads the command line and carries it out. It must be all that `main` does, and be called only
    /// once: each rank starts the program again.
    pub fn main(self) -> ExitCode {
        let adopted = Adopted::found();
        let added = add(self.added).class(Exit::Defect);
        let parsed = added.and_then(|()| parse(adopted.as_ref()));
        let exit = parsed.and_then(|mut cli| match cli.command {
            Some(Command::Rank { parent }) if has_launcher() => {
                Ok(bandgap_launch::rank::main(parent))
            }
            Some(Command::Agent { join: Some(place), .. }) => {
                Adopted::join_outside(&place).map(|()| ExitCode::SUCCESS)
            }
            Some(Command::Agent { remove, .. }) => {
                bandgap_launch::agent::main(remove.as_deref()).map(|()| ExitCode::SUCCESS)
            }
            _ => match adopted {
                Some(adopted) => among(&adopted, &mut cli),
                None => carry_out(&cli),
            },
        });
        exit.unwrap_or_else(|failure| {
            tell_failure(&failure);
            failure.exit.into()
        })
    }
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
            adopted.abandon(failure.exit);
            Ok(failure.exit.into())
        }),
        // The first process tells why.
        Some(measure) if adopted.check(measure.most(adopted.size)).is_err() => {
            Ok(Exit::Remote.into())
        }
        Some(measure) => Ok(adopted.join(measure.is_apart(), measure.deadline())),
        None => Ok(ExitCode::SUCCESS),
    }
}

fn carry_out(cli: &Cli) -> Result<ExitCode> {
    let_long_files_fail().class(Exit::Host)?;
    // The panic is already reported, and the program ends here, so nobody sees a broken state.
    let done = catch_unwind(AssertUnwindSafe(|| dispatch(cli)));
    done.unwrap_or(Ok(Exit::Defect)).map(ExitCode::from)
}
