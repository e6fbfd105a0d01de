//! The binary in a working directory of its own, and what came of running it.

use std::ffi::OsStr;
use std::fmt::Arguments;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use bandgap_results::Run;
use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::Value;
use tempfile::TempDir;

/// The program under test.
pub const BINARY: &str = env!("CARGO_BIN_EXE_bandgap");
/// Longest time any run may take: far more than it needs on a slow and busy machine.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// Says what is not tried here: past the test's own output, which nobody sees.
pub fn skipped(what: Arguments<'_>) {
    let _ = writeln!(std::io::stderr(), "SKIPPED: {what}");
}

// Exit codes.
pub const DOUBTFUL: i32 = 1;
pub const USAGE: i32 = 2;
pub const INPUT: i32 = 3;
pub const OUTPUT: i32 = 4;
pub const RANK: i32 = 5;
pub const COMMUNICATION: i32 = 6;
pub const HOST: i32 = 7;
pub const MISSING: i32 = 8;
pub const REMOTE: i32 = 10;
pub const ENDLESS: i32 = 11;
pub const INTERRUPTED: i32 = 130;

/// An empty working directory, beside an empty directory for temporary files.
pub struct Workdir {
    root: TempDir,
}

impl Workdir {
    pub fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for folder in ["work", "temporary"] {
            std::fs::create_dir(root.path().join(folder)).unwrap();
        }
        Self { root }
    }

    /// The working directory.
    pub fn work(&self) -> PathBuf {
        self.root.path().join("work")
    }

    /// A path in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.work().join(name)
    }

    /// A file in it, by its path.
    pub fn file(&self, name: &str, contents: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::write(&path, contents).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Names in it, sorted.
    pub fn names(&self) -> Vec<String> {
        names(&self.work())
    }

    /// Names of temporary files that are there now.
    pub fn temporary(&self) -> Vec<String> {
        names(&self.root.path().join("temporary"))
    }

    /// `program`, to be run here, in an environment that prints the same everywhere.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.work())
            .env("TMPDIR", self.root.path().join("temporary"))
            .env("LC_ALL", "C.UTF-8")
            .env_remove("NO_COLOR")
            .env_remove("RUST_BACKTRACE");
        command
    }

    /// Runs bandgap here.
    pub fn run<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Finished {
        self.run_with_input(args, b"")
    }

    /// Runs bandgap here with this on standard input.
    pub fn run_with_input<A: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = A>,
        input: &[u8],
    ) -> Finished {
        let mut command = self.command(BINARY);
        command.args(args);
        Finished::of(command, input)
    }

    /// Runs a command line that keeps nothing, and returns its run.
    #[track_caller]
    pub fn json(&self, line: &str) -> Value {
        let line = format!("{line} --no-save --json - -q");
        self.run(line.split_whitespace()).ends(0).json()
    }

    /// Asserts that a command line is refused with this code, and leaves nothing.
    #[track_caller]
    pub fn refuses(&self, code: i32, line: &str) {
        let before = self.names();
        let finished = self.run(line.split(' ')).ends(code);
        assert_eq!((&*finished.stdout, finished.stderr.is_empty()), ("", false), "{line}");
        // Nothing is kept of what never began.
        assert_eq!((self.names(), self.temporary()), (before, vec![]), "{line}");
    }

    /// Changes a kept run.
    pub fn change(&self, name: &str, change: impl FnOnce(&mut Value)) {
        let path = self.path(name).join("run.json");
        let mut run: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        change(&mut run);
        std::fs::write(&path, run.to_string()).unwrap();
    }

    /// Runs a shell's command line here, `bandgap` in it being the program under test.
    pub fn shell(&self, line: &str) -> Finished {
        let folder = Path::new(BINARY).parent().unwrap().to_str().unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = self.command("sh");
        command.args(["-c", line]).env("PATH", format!("{folder}:{path}"));
        Finished::of(command, b"")
    }
}

impl Drop for Workdir {
    /// Every run that a test has written, and that can be read, is as the schema says.
    fn drop(&mut self) {
        if !std::thread::panicking() {
            each_run(&self.work());
        }
    }
}

fn each_run(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if kind.is_dir() {
            each_run(&path);
        } else if kind.is_file() && path.extension() == Some(OsStr::new("json")) {
            let bytes = std::fs::read(&path).unwrap_or_default();
            if Run::from_json(&bytes).is_ok() {
                assert_described(&serde_json::from_slice(&bytes).unwrap());
            }
        }
    }
}

/// Asserts that a run is as docs/run-format.schema.json says.
#[track_caller]
pub fn assert_described(run: &Value) {
    described(run).unwrap();
}

/// What docs/run-format.schema.json says against a run.
pub fn described(run: &Value) -> Result<(), String> {
    thread_local! {
        static SCHEMA: (Schemas, SchemaIndex) = {
            let text = include_str!("../../../../../docs/run-format.schema.json");
            let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
            let name = "run-format.schema.json";
            compiler.add_resource(name, serde_json::from_str(text).unwrap()).unwrap();
            let index = compiler.compile(name, &mut schemas).unwrap();
            (schemas, index)
        };
    }
    SCHEMA.with(|(schemas, index)| {
        schemas.validate(run, *index).map_err(|why| format!("{why:#}: {run}"))
    })
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// What came of a run.
#[derive(Debug)]
pub struct Finished {
    /// The exit code; none when a signal ended it.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Finished {
    fn of(command: Command, input: &[u8]) -> Self {
        let output = assert_cmd::Command::from_std(command)
            .write_stdin(input)
            .timeout(PATIENCE)
            .output()
            .unwrap();
        let finished = Self::from(output);
        assert!(!finished.stderr.contains("panicked"), "{finished:?}");
        finished
    }

    /// Asserts that it ended with `code`.
    #[track_caller]
    pub fn ends(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// Asserts that it measured, if perhaps too little for a result.
    #[track_caller]
    pub fn measured(self) -> Self {
        assert!(matches!(self.code, Some(0 | 8)), "{self:#?}");
        self
    }

    /// Standard output as a run, which bandgap's own reader must accept as well, and which is as its schema says.
    #[track_caller]
    pub fn json(&self) -> Value {
        Run::from_json(self.stdout.as_bytes()).unwrap();
        let run = serde_json::from_str(&self.stdout).unwrap();
        assert_described(&run);
        run
    }
}

impl From<Output> for Finished {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// The results of one kind in a run.
pub fn of_kind<'a>(run: &'a Value, kind: &str) -> Vec<&'a Value> {
    run["results"].as_array().unwrap().iter().filter(|result| result["kind"] == kind).collect()
}

/// The value of a quantity, after checking that its interval holds it. One that comes from a single
/// batch, or from a time that may be zero, has none, and has not converged.
#[track_caller]
pub fn value(quantity: &Value) -> f64 {
    let number = |name: &str| quantity[name].as_f64();
    let value = number("value").unwrap_or_else(|| panic!("{quantity}"));
    match number("low").zip(number("high")) {
        Some((low, high)) => assert!(low <= value && value <= high, "{quantity}"),
        None => assert_eq!(quantity["high"], Value::Null, "{quantity}"),
    }
    assert!(quantity["samples"].as_u64().is_some_and(|samples| samples > 0), "{quantity}");
    assert!(quantity["estimator"].as_str().is_some_and(|text| !text.is_empty()), "{quantity}");
    assert!(quantity["converged"].is_boolean(), "{quantity}");
    value
}

/// Asserts that `found` is within a share of `expected`.
#[track_caller]
pub fn near(what: &str, found: f64, expected: f64, share: f64) {
    assert!((found - expected).abs() <= share * expected, "{what}: {found:e}, not {expected:e}");
}

/// What has this name.
pub fn named<'a>(all: &'a Value, name: &str) -> &'a Value {
    let found = all.as_array().unwrap().iter().find(|one| one["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {all}"))
}

/// Asks until there is an answer.
#[track_caller]
pub fn wait<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(begun.elapsed() < PATIENCE, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}
