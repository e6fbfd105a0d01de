//! The kernel's static tracepoints, for processes that ask to be traced, in a buffer of their own.
//!
//! Nothing stays behind: [`KernelTrace`] makes an instance of its own in tracefs and removes it, and where tracefs is
//! mounted nowhere, it is mounted without a place in the file system, for as long as the process holds it. An instance
//! of a process that was killed is removed by the next one.
//!
//! *Source*: the kernel's `Documentation/trace/ftrace.rst` and `events.rst`.

mod tracefs;

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::{ClockReport, ClockSource, HostError};
use tracefs::Tracefs;

/// Instances begin with this, and a process's number.
const OURS: &str = "bandgap-";
/// What a batch begins with in the trace.
pub const BATCH: &str = "bandgap batch";
/// Memory for the events of each processor, in KiB: many times what a batch takes.
const BUFFER_KIB: u32 = 16 << 10;
/// The same for processors without a rank.
const LEAST_KIB: u32 = 4;

/// An instance of the kernel's tracing.
#[derive(Debug)]
pub struct KernelTrace {
    switch: Switch,
    ns_per_tick: Option<f64>,
    /// While it is open, nobody can remove the instance.
    held: Option<File>,
    /// While it is there, so are the files.
    _tracefs: Tracefs,
}

/// What turns a trace on and off: from any process that may.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Switch {
    folder: PathBuf,
    events: Vec<String>,
}

impl KernelTrace {
    /// An instance for those of `events` (`system:name`) that this kernel has, with memory for the processors `cpus`. Where the
    /// processor's counter can be trusted it is the trace's clock too.
    ///
    /// # Errors
    /// [`HostError::Untraceable`] where the kernel's tracing cannot be used; [`HostError::File`] where it refuses.
    pub fn open(events: &[&str], cpus: &[usize], clock: &ClockReport) -> Result<Self, HostError> {
        let tracefs = Tracefs::find()?;
        let root = tracefs.root();
        let known = read(&root.join("available_events"))?;
        let known: Vec<&str> = known.lines().collect();
        let events = events.iter().filter(|event| known.contains(event));
        let events = events.map(|event| (*event).to_owned()).collect();
        let folder = instance(&root.join("instances"))?;
        // From here on the instance is removed whatever happens.
        let switch = Switch { folder, events };
        let mut trace = Self { switch, ns_per_tick: None, held: None, _tracefs: tracefs };
        trace.prepare(cpus, clock)?;
        Ok(trace)
    }

    fn prepare(&mut self, cpus: &[usize], clock: &ClockReport) -> Result<(), HostError> {
        let at = |name: &str| self.switch.folder.join(name);
        let held = at("tracing_on");
        self.held = Some(File::open(&held).map_err(refused("open", &held))?);
        write(&held, "0")?;
        let clocks = read(&at("trace_clock"))?;
        let counter = clocks.split_whitespace().any(|name| name == COUNTER);
        let counter = counter && clock.source == ClockSource::CycleCounter;
        write(&at("trace_clock"), if counter { COUNTER } else { "mono" })?;
        self.ns_per_tick = counter.then_some(clock.ns_per_tick);
        write(&at("buffer_size_kb"), &LEAST_KIB.to_string())?;
        for cpu in cpus {
            let size = at(&format!("per_cpu/cpu{cpu}/buffer_size_kb"));
            write(&size, &BUFFER_KIB.to_string())?;
        }
        Ok(())
    }

    /// What turns it on and off.
    pub fn switch(&self) -> &Switch {
        &self.switch
    }

    /// The events that are switched on, as `system:name`.
    pub fn events(&self) -> &[String] {
        &self.switch.events
    }

    /// Nanoseconds for each tick of the trace's times; `None` where they are in seconds, to the microsecond.
    pub fn ns_per_tick(&self) -> Option<f64> {
        self.ns_per_tick
    }

    /// The threads that asked to be traced, by their numbers; the only thread of a process has that of the process.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn threads(&self) -> Result<Vec<u32>, HostError> {
        let text = read(&self.switch.folder.join("set_event_pid"))?;
        Ok(text.lines().filter_map(|line| line.trim().parse().ok()).collect())
    }

    /// What was traced, as the kernel's text, in the order of time.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn text(&self) -> Result<File, HostError> {
        let path = self.switch.folder.join("trace");
        File::open(&path).map_err(refused("open", &path))
    }
}

impl Drop for KernelTrace {
    fn drop(&mut self) {
        self.held = None;
        // An instance that cannot be removed is removed by the next run.
        let _ = fs::remove_dir(&self.switch.folder);
    }
}

impl Switch {
    /// Has the events of the calling thread traced, from then on whenever the trace is on. A rank has no other.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn join(&self) -> Result<(), HostError> {
        let path = self.folder.join("set_event_pid");
        // Opened otherwise, the processes before it would be forgotten.
        let file = OpenOptions::new().append(true).open(&path);
        let thread = rustix::thread::gettid().as_raw_nonzero().to_string();
        let written = file.and_then(|mut file| file.write_all(thread.as_bytes()));
        written.map_err(refused("write", &path))
    }

    /// Begins a batch in the trace. First the events, which takes milliseconds, and then the record of them.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn on(&self) -> Result<(), HostError> {
        let path = self.folder.join("set_event");
        for event in &self.events {
            // The kernel takes one at a time.
            let file = OpenOptions::new().append(true).open(&path);
            let written = file.and_then(|mut file| file.write_all(event.as_bytes()));
            written.map_err(refused("write", &path))?;
        }
        write(&self.folder.join("tracing_on"), "1")?;
        write(&self.folder.join("trace_marker"), BATCH)
    }

    /// Ends it: afterwards no event costs time.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn off(&self) -> Result<(), HostError> {
        write(&self.folder.join("tracing_on"), "0")?;
        // Without a word all events end.
        let path = self.folder.join("set_event");
        OpenOptions::new()
            .write(true)
            .truncate(true)
            .open(&path)
            .map(drop)
            .map_err(refused("write", &path))
    }
}

/// The processor's counter, as the kernel calls it.
const COUNTER: &str = "x86-tsc";

/// Makes an instance, after those that nobody holds any more were removed.
fn instance(folder: &Path) -> Result<PathBuf, HostError> {
    let entries = fs::read_dir(folder).map_err(refused("read", folder))?;
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with(OURS) {
            // One that is held is not removed this way.
            let _ = fs::remove_dir(entry.path());
        }
    }
    // Another process may have this number in a name space of its own.
    let names = (0..8).map(|more| format!("{OURS}{}-{more}", std::process::id()));
    let mut last = None;
    for name in names {
        let path = folder.join(name);
        match fs::create_dir(&path) {
            Ok(()) => return Ok(path),
            Err(error) => last = Some(refused("make", &path)(error)),
        }
    }
    Err(last.unwrap_or_else(|| tracefs::unusable(folder)))
}

/// An error of the system on a file.
fn refused(operation: &'static str, path: &Path) -> impl Fn(std::io::Error) -> HostError {
    move |source| HostError::File { operation, path: path.to_owned(), source }
}

fn read(path: &Path) -> Result<String, HostError> {
    fs::read_to_string(path).map_err(refused("read", path))
}

/// Writes to a file of the kernel, which is there.
fn write(path: &Path, text: &str) -> Result<(), HostError> {
    let file = OpenOptions::new().write(true).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(refused("write", path))
}

#[cfg(test)]
mod tests;
