//! `bandgap report`: a kept run as a page.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use bandgap_launch::{Exit, Failure, Result};
use bandgap_results::{REPORT, page};
use clap::Args;

use super::show::{LAST, kept};
use crate::output::{print, unwritten};

/// The run, and where its page goes.
#[derive(Clone, Debug, Args)]
pub struct Report {
    /// A run's directory, its run.json, the beginning of a name below ./bandgap-runs, or LAST
    #[arg(value_name = "RUN", default_value = LAST)]
    pub run: PathBuf,
    /// The file [default: report.html in the run's directory]
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Overwrite FILE
    #[arg(long, requires = "out")]
    pub force: bool,
    /// Open it in the browser
    #[arg(long)]
    pub open: bool,
}

/// Writes the page of a run, and prints its path.
///
/// # Errors
/// There is no such run, or the page cannot be written.
pub fn run(report: &Report) -> Result<Exit> {
    let (path, run) = kept(&report.run)?;
    let directory = if path.is_dir() { &*path } else { path.parent().unwrap_or(Path::new("")) };
    let (out, new) = match &report.out {
        Some(out) => (out.clone(), !report.force),
        None => (directory.join(REPORT), false),
    };
    let file = if new { File::create_new(&out) } else { File::create(&out) };
    let written = file.and_then(|mut file| file.write_all(page(&run).as_bytes()));
    written.map_err(|error| {
        let is_there = error.kind() == io::ErrorKind::AlreadyExists;
        let hint = is_there.then_some("--force overwrites it");
        hint.into_iter().fold(unwritten(&out, &error), Failure::hint)
    })?;
    print(format!("{}\n", out.display()).as_bytes())?;
    if report.open {
        open(&out);
    }
    Ok(Exit::Fine)
}

/// Shows a file in the user's browser, where there is a desktop; its path is printed already.
fn open(path: &Path) {
    let has_desktop =
        ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|of| std::env::var_os(of).is_some());
    if has_desktop {
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let mut opener = Command::new("xdg-open");
        let quiet = opener.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // Whoever has no such program still has the path.
        let _ = quiet.arg(path).spawn();
    }
}
