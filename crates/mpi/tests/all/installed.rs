//! MPIs that may be installed, and ranks of the example `check` under their launchers.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bandgap_mpi::Family;

/// An MPI, as Debian has it.
pub struct Installed {
    pub launcher: &'static str,
    pub arguments: &'static [&'static str],
    pub environment: &'static [(&'static str, &'static str)],
    pub compiler: &'static str,
    pub library: &'static str,
    /// What its name begins with.
    pub name: &'static str,
    pub family: Family,
}

pub const MPICH: Installed = Installed {
    launcher: "mpiexec.mpich",
    arguments: &[],
    environment: &[],
    compiler: "mpicc.mpich",
    library: "libmpich.so.12",
    name: "MPICH ",
    family: Family::Mpich,
};

pub const OPEN_MPI: Installed = Installed {
    launcher: "mpirun.openmpi",
    arguments: &["--allow-run-as-root", "--oversubscribe", "--bind-to", "none"],
    environment: &[],
    compiler: "mpicc.openmpi",
    library: "libmpi.so.40",
    name: "Open MPI ",
    family: Family::OpenMpi,
};

/// Over sockets: a payload takes longer than the frames behind it.
pub const MPICH_OVER_TCP: Installed =
    Installed { environment: &[("UCX_TLS", "tcp,self")], ..MPICH };

/// Over sockets.
pub const OPEN_MPI_OVER_TCP: Installed =
    Installed { environment: &[("OMPI_MCA_btl", "tcp,self")], ..OPEN_MPI };

pub const ALL: [&Installed; 2] = [&MPICH, &OPEN_MPI];

static SKIPPED: AtomicUsize = AtomicUsize::new(0);

/// Whether a program is on PATH. If not, what needs it is said to be skipped, where it is seen.
pub fn is_here(program: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let here = std::env::split_paths(&folders).any(|folder| folder.join(program).exists());
    here || skipped(program)
}

/// False, and said.
pub fn skipped(what: &str) -> bool {
    let count = SKIPPED.fetch_add(1, Ordering::Relaxed) + 1;
    let _ = writeln!(std::io::stderr(), "SKIPPED: {what} is not installed ({count})");
    false
}

/// The example that ranks run, beside this test. `cargo test` builds it where no target is chosen.
fn check() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().and_then(Path::parent).unwrap().join("examples").join("check")
}

/// A launcher and its ranks. They end with it.
pub struct Run(Child);

impl Installed {
    /// Starts ranks of `check` with these arguments.
    pub fn start(&self, ranks: usize, arguments: &[&str]) -> Run {
        let mut command = Command::new(self.launcher);
        command.args(self.arguments).args(["-n", &ranks.to_string()]).arg(check());
        command.args(arguments).envs(self.environment.iter().copied()).process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Run(command.spawn().unwrap())
    }
}

impl Run {
    /// What was written to standard output, and whether all ranks ended well. One that lasts longer than `limit` is ended.
    pub fn end(mut self, limit: Duration) -> (bool, Vec<String>) {
        let (mut out, mut errors) = (self.0.stdout.take().unwrap(), self.0.stderr.take().unwrap());
        let read = std::thread::spawn(move || {
            let mut text = String::new();
            errors.read_to_string(&mut text).map(|_| text)
        });
        let ended = self.wait(limit);
        let mut text = String::new();
        out.read_to_string(&mut text).unwrap();
        println!("{text}{}", read.join().unwrap().unwrap_or_default());
        (ended, text.lines().map(str::to_owned).collect())
    }

    /// Whether it ended well within `limit`.
    fn wait(&mut self, limit: Duration) -> bool {
        let since = Instant::now();
        loop {
            match self.0.try_wait().unwrap() {
                Some(status) => return status.success(),
                None if since.elapsed() > limit => {
                    self.kill();
                    return false;
                }
                None => std::thread::sleep(Duration::from_millis(10)),
            }
        }
    }

    fn kill(&mut self) {
        let group = -(self.0.id() as libc::pid_t);
        // SAFETY: the group of a child that has not been waited for.
        unsafe { libc::kill(group, libc::SIGKILL) };
        let _ = self.0.wait();
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.wait(Duration::from_secs(10));
    }
}
