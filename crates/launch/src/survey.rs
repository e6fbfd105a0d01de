//! The libraries that are installed. A process of its own looks at each: one that crashes or never returns takes no other
//! with it, and none finds another's symbols.

use std::io::{Read, Write, stdout};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use bandgap_fabric::{Ofi, Ucx};
use bandgap_host::machine::Mpi;
use bandgap_host::process::die_with_parent;
use bandgap_mpi::{Loaded, MpiError, everywhere};
use bandgap_tagged::Fabric;
use bandgap_units::Library;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::fabrics::survey;
use crate::process::ended_until;
use crate::protocol::OWN;
use crate::{Classify, Exit, Failure, Result, mpi};

/// The hidden command that looks at a library.
const COMMAND: &str = "survey";
/// Longest time that a look takes.
const PATIENCE: Duration = Duration::from_secs(10);

/// Looks at the library of a transport at `path`, or at the one that the loader finds if that is empty, and tells process
/// `parent`, its own, on standard output.
///
/// # Errors
/// The parent is gone.
pub fn look([parent, transport, path]: [&str; 3]) -> Result<()> {
    die_with_parent(parent.parse().unwrap_or_default()).class(Exit::Host)?;
    let told = match transport {
        mpi::NAME => json!(installed(path).map_err(|error| error.to_string())),
        Ucx::NAME => json!(survey::<Ucx>(path).map_err(|error| error.to_string())),
        _ => json!(survey::<Ofi>(path).map_err(|error| error.to_string())),
    };
    writeln!(stdout(), "\n{told}").map_err(|error| Failure::new(Exit::Output, error))
}

/// What such a process tells of a library, or why that cannot be used.
fn ask<T: DeserializeOwned>(transport: &str, path: &str) -> Result<T, String> {
    let mut command = Command::new(OWN);
    command.args([COMMAND, &std::process::id().to_string(), transport, path]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    // Libraries write there too, and may write more than a pipe holds.
    let mut out = child.stdout.take();
    let read = std::thread::spawn(move || {
        let mut said = Vec::new();
        out.as_mut().map(|out| out.read_to_end(&mut said));
        said
    });
    ended_until(&mut child, Instant::now() + PATIENCE);
    // It may have ended.
    let _ = child.kill();
    let status = child.wait().map_err(|error| error.to_string())?;
    let said = read.join().unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let told = said.lines().find_map(|line| serde_json::from_str(line).ok());
    told.unwrap_or_else(|| Err(format!("what opens it ends with {status}")))
}

/// The MPI at `path`.
fn installed(path: &str) -> Result<Mpi, MpiError> {
    let loaded = Loaded::open(Path::new(path))?;
    loaded.open_fabrics();
    Ok(Mpi {
        name: loaded.name(),
        abi: format!("{:?}", loaded.family).to_lowercase(),
        launcher: loaded.launcher().map(|program| program.display().to_string()),
        used: false,
        library: loaded.path.display().to_string(),
        fabrics: loaded.fabrics(),
    })
}

/// The installed MPIs. bandgap uses the first.
pub fn mpis() -> Vec<Mpi> {
    let mut all: Vec<Mpi> = Vec::new();
    for place in everywhere() {
        // What cannot be opened is none.
        let Ok(found) = ask::<Mpi>(mpi::NAME, &place.to_string_lossy()) else { continue };
        if all.iter().all(|other| other.library != found.library) {
            all.push(Mpi { used: all.is_empty(), ..found });
        }
    }
    all
}

/// The installed libraries of fabrics: those that the loader finds, which bandgap uses, and those of these MPIs.
pub fn fabrics(mpis: &[Mpi]) -> Vec<Library> {
    let of = |path: &str| if path.contains("/libucp") { Ucx::NAME } else { Ofi::NAME };
    let of_mpis = mpis.iter().flat_map(|mpi| &mpi.fabrics).map(|path| (of(path), &**path));
    let mut all: Vec<Library> = Vec::new();
    for (transport, path) in [(Ucx::NAME, ""), (Ofi::NAME, "")].into_iter().chain(of_mpis) {
        if path.is_empty() || all.iter().all(|other| other.path != path) {
            all.push(ask(transport, path).unwrap_or_else(|error| Library {
                name: transport.to_owned(),
                path: path.to_owned(),
                facts: [("error".to_owned(), error)].into(),
                ..Library::default()
            }));
        }
    }
    all
}
