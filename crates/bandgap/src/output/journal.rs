//! The journal of a run: what it has measured so far, on disk, so that a killed run loses no more than its last moments.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::time::Instant;

use bandgap_campaign::data::Kept;
use bandgap_launch::{Collected, Ended, Exit, Failure, Result};
use bandgap_record::{JOURNAL, MachineSetup};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Largest journal that is read.
const MOST: u64 = 1 << 30;

/// What the results of a run depend on, besides its batches.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Head {
    /// The command line.
    pub command: Vec<String>,
    /// When the run began.
    pub started: String,
    pub machine: MachineSetup,
    pub host: Value,
    pub hosts: Vec<Value>,
    /// The cost of a time stamp.
    pub stamp: f64,
    /// Who had started the processes, and how many, if bandgap did not.
    pub adopted: Option<(String, usize)>,
    /// The transport of their launcher, if the options name none.
    pub native: Option<String>,
}

/// A line of a journal.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line<H, C, K> {
    /// A measurement begins, or its ranks start.
    Begun(H, C),
    /// What was measured until then, in seconds since the run began.
    Kept(f64, K),
    /// A measurement ended.
    Ended(Ended),
}

pub type Written<'a> = Line<&'a Head, &'a Collected, &'a [Kept]>;
type Found = Line<Head, Collected, Vec<Kept>>;

/// A journal being written.
pub struct Journal {
    file: File,
    begun: Instant,
    failed: RefCell<Option<io::Error>>,
}

impl Journal {
    /// Writes to this file.
    pub fn to(file: File) -> Self {
        Self { file, begun: Instant::now(), failed: RefCell::default() }
    }

    /// Records batches.
    pub fn kept(&self, kept: &[Kept]) {
        if !kept.is_empty() {
            self.write(&Line::Kept(self.begun.elapsed().as_secs_f64(), kept));
        }
    }

    /// Why there is no journal, if it could not be written.
    pub fn failed(&self) -> Option<String> {
        self.failed.borrow().as_ref().map(io::Error::to_string)
    }

    /// Gives its place on the disk back.
    pub fn clear(&self) {
        // It is removed at the end in any case.
        let _ = self.file.set_len(0);
    }

    /// Records a line.
    pub fn write(&self, line: &Written<'_>) {
        if self.failed.borrow().is_some() {
            return;
        }
        let written = serde_json::to_vec(line).map_err(io::Error::from).and_then(|mut text| {
            text.push(b'\n');
            (&self.file).write_all(&text)
        });
        if let Err(error) = written {
            self.clear();
            self.failed.replace(Some(error));
        }
    }
}

/// A killed run, from its journal.
pub struct Earlier {
    /// What its results depend on.
    pub head: Head,
    /// Its measurements, in order; the last may be interrupted.
    pub parts: VecDeque<Collected>,
    /// How long it ran, in seconds.
    pub elapsed: f64,
}

impl Earlier {
    /// Reads the journal in this directory, up to the first line that is not whole.
    ///
    /// # Errors
    /// It cannot be read, or nothing in it is whole.
    pub fn read(directory: &Path) -> Result<Self> {
        let path = directory.join(JOURNAL);
        let failed = |why: &dyn std::fmt::Display| {
            Failure::new(Exit::Input, format!("read {}: {why}", path.display()))
        };
        let file = File::open(&path).map_err(|error| failed(&error))?;
        let mut lines = BufReader::new(file.take(MOST));
        let (mut head, mut parts, mut is_open) = (None, VecDeque::<Collected>::new(), false);
        let mut elapsed = 0.0;
        while let Some(line) = whole::<Found>(&mut lines).map_err(|error| failed(&error))? {
            match (line, parts.back_mut().filter(|_| is_open)) {
                (Line::Begun(_, of), Some(part)) => {
                    *part = Collected { table: std::mem::take(&mut part.table), ..of };
                    part.ended = Ended::Interrupted;
                }
                (Line::Begun(found, of), None) => {
                    head.get_or_insert(found);
                    parts.push_back(Collected { ended: Ended::Interrupted, ..of });
                    is_open = true;
                }
                (Line::Kept(at, kept), Some(part)) => {
                    elapsed = at;
                    kept.into_iter().for_each(|kept| part.table.push(kept));
                }
                (Line::Ended(how), Some(part)) => {
                    part.ended = how;
                    is_open = false;
                }
                (Line::Kept(..) | Line::Ended(_), None) => break,
            }
        }
        for part in &mut parts {
            let last = part.table.executed().map(|(_, batch)| batch.launch.saturating_add(1)).max();
            part.launches = last.unwrap_or_default();
        }
        let head = head.ok_or_else(|| failed(&"nothing in it is whole"))?;
        Ok(Self { head, parts, elapsed })
    }
}

/// The next line; `None` at the end, or if it is not whole.
fn whole<T: DeserializeOwned>(lines: &mut impl BufRead) -> io::Result<Option<T>> {
    let mut line = Vec::new();
    lines.read_until(b'\n', &mut line)?;
    let text = line.strip_suffix(b"\n");
    Ok(text.and_then(|text| serde_json::from_slice(text).ok()))
}

#[cfg(test)]
mod tests;
