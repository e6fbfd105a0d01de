//! The run file: its fields, its version, and how to read it.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::SystemTime;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Conditions, Note, Number, RecordError, Setup};

/// The name of the run file in its directory.
pub const RUN_FILE: &str = "run.json";

/// The `format` of a run file.
pub(crate) const FORMAT: &str = "bandgap-run";

/// Version of the format.
pub(crate) const VERSION: u32 = 2;

/// A run: command, machine, time, and results of type `R`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run<R> {
    /// The program that wrote it.
    pub bandgap: Bandgap,
    /// The command line.
    pub command: Vec<String>,
    /// Start time, in RFC 3339 (see [`timestamp`]).
    pub started: String,
    /// Duration, in seconds.
    #[serde(default)]
    pub elapsed: Number,
    /// Seed of all random choices.
    pub seed: u64,
    /// Whether the run was stopped early.
    #[serde(default)]
    pub interrupted: bool,
    /// The set-up, for comparison with another run.
    #[serde(default)]
    pub setup: Setup,
    /// Description of the machine.
    #[serde(default)]
    pub host: Value,
    /// Description, clock and network of each host of the ranks, if the command or a launcher named hosts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<Value>,
    /// What to measure, and how precisely.
    #[serde(default)]
    pub plan: Value,
    /// Conditions by transport.
    #[serde(default)]
    pub conditions: Vec<Conditions>,
    /// The results.
    #[serde(default = "Vec::new")]
    pub results: Vec<R>,
    /// Notes for the reader.
    #[serde(default)]
    pub notes: Vec<Note>,
}

/// The program that wrote a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bandgap {
    /// Its version.
    pub version: String,
    /// The revision of its source, if the build knew it.
    pub revision: Option<String>,
}

impl<R> Run<R> {
    /// The confidence level of the intervals, if the plan has one.
    pub fn confidence(&self) -> Option<f64> {
        self.planned("confidence").filter(|level| (f64::EPSILON..1.0).contains(level))
    }

    /// The first number with this name in the plan, at any depth.
    pub fn planned(&self, name: &str) -> Option<f64> {
        named(&self.plan, name)?.as_f64()
    }
}

/// The first value with this name, at any depth.
fn named<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    match value {
        Value::Object(fields) => {
            fields.get(name).or_else(|| fields.values().find_map(|field| named(field, name)))
        }
        Value::Array(all) => all.iter().find_map(|one| named(one, name)),
        _ => None,
    }
}

impl<R: Serialize> Run<R> {
    /// The run as indented JSON, `format` and `version` first.
    ///
    /// # Errors
    /// A number is not finite.
    pub fn to_json(&self) -> Result<String, RecordError> {
        #[derive(Serialize)]
        struct File<'a, R> {
            format: &'static str,
            version: u32,
            #[serde(flatten)]
            run: &'a Run<R>,
        }
        let file = File { format: FORMAT, version: VERSION, run: self };
        let text = serde_json::to_string_pretty(&file).map_err(RecordError::Encode)?;
        Ok(text + "\n")
    }
}

impl<R: DeserializeOwned> Run<R> {
    /// Reads a run from the bytes of a run file.
    ///
    /// # Errors
    /// In this order: the bytes are not JSON, have another format or version, or a field has the wrong type. So a
    /// file of another version is not called broken.
    pub fn from_json(bytes: &[u8]) -> Result<Run<R>, RecordError> {
        #[derive(Deserialize)]
        struct Head {
            #[serde(default)]
            format: Value,
            #[serde(default)]
            version: Value,
        }
        let head: Head = serde_json::from_slice(bytes).map_err(RecordError::Decode)?;
        if head.format != FORMAT {
            let found =
                if head.format.is_null() { "missing".into() } else { head.format.to_string() };
            return Err(RecordError::WrongFormat(found));
        }
        if head.version != VERSION {
            return Err(RecordError::Version { found: head.version.to_string(), own: VERSION });
        }
        serde_json::from_slice(bytes).map_err(RecordError::Decode)
    }
}

/// Reads a run file, or `run.json` in a directory.
///
/// # Errors
/// Errors of [`Run::from_json`] and of the file system, with the path.
pub fn read<R: DeserializeOwned>(path: &Path) -> Result<Run<R>, RecordError> {
    let file = if path.is_dir() { path.join(RUN_FILE) } else { path.to_owned() };
    let bytes = File::open(&file).and_then(|source| whole(source, LONGEST));
    let bytes =
        bytes.map_err(|source| RecordError::Io { action: "read", path: file.clone(), source })?;
    Run::from_json(&bytes).map_err(|error| RecordError::InFile(file, Box::new(error)))
}

/// Longest run file, in bytes, so that an endless source does not fill the memory.
const LONGEST: u64 = 1 << 30;

/// The bytes of a source; an error if there are more than `longest`.
fn whole(source: impl Read, longest: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(longest + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > longest {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is longer than 1 GiB"));
    }
    Ok(bytes)
}

/// A moment in RFC 3339, in UTC and to the second: `2026-11-21T01:23:31Z`.
pub fn timestamp(moment: SystemTime) -> String {
    utc(moment, "%Y-%m-%dT%H:%M:%SZ")
}

/// A moment in UTC; times outside the years −9999 to 9999 are written as the epoch.
pub(crate) fn utc(moment: SystemTime, format: &str) -> String {
    let moment = jiff::Timestamp::try_from(moment).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    moment.strftime(format).to_string()
}

#[cfg(test)]
mod tests;
