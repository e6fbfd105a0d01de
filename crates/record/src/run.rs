//! The run file itself: its envelope, its version, and reading it.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use serde_json::Value;

use crate::layout::Layout;
use crate::{
    Contention, Floor, Hockney, Logp, Noise, RUN_FILE, Ratio, RecordError, RttPairs, Series,
};

/// The `format` of a run file.
pub const FORMAT: &str = "bandgap-run";

/// The newest format version this program reads, and the one it writes.
pub const VERSION: u32 = 1;

/// One run: what, where, when, and the results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The program that wrote it.
    pub bandgap: Bandgap,
    /// The command line.
    pub command: Vec<String>,
    /// When it started, in RFC 3339 (see [`timestamp`]).
    pub started: String,
    /// Seed of everything random in it.
    pub seed: u64,
    /// Whether it was stopped before its end.
    #[serde(default)]
    pub interrupted: bool,
    /// The machine, as its description serialises.
    #[serde(default)]
    pub host: Value,
    /// What was to be measured and how precisely.
    #[serde(default)]
    pub plan: Value,
    /// What was measured.
    #[serde(default)]
    pub results: Vec<Outcome>,
    /// What may have disturbed it.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// The program that wrote a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bandgap {
    /// Its version.
    pub version: String,
    /// The revision of its source, where the build knew it.
    pub revision: Option<String>,
}

/// One result. The `kind` field tells which.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// `logp`
    Logp(Box<Logp>),
    /// `rtt_pairs`
    RttPairs(RttPairs),
    /// `series`
    Series(Box<Series>),
    /// `hockney`
    Hockney(Box<Hockney>),
    /// `contention`
    Contention(Contention),
    /// `floor`
    Floor(Floor),
    /// A layer beside its floor: kind `ratio`.
    Ratio(Ratio),
    /// `noise`
    Noise(Noise),
    /// A kind that this version does not know, as it was read.
    Other(Value),
}

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(tag = "kind", rename_all = "snake_case")]
        enum Tagged<'a> {
            Logp(&'a Logp),
            RttPairs(&'a RttPairs),
            Series(&'a Series),
            Hockney(&'a Hockney),
            Contention(&'a Contention),
            Floor(&'a Floor),
            Ratio(&'a Ratio),
            Noise(&'a Noise),
        }
        let tagged = match self {
            Outcome::Logp(result) => Tagged::Logp(result),
            Outcome::RttPairs(result) => Tagged::RttPairs(result),
            Outcome::Series(result) => Tagged::Series(result),
            Outcome::Hockney(result) => Tagged::Hockney(result),
            Outcome::Contention(result) => Tagged::Contention(result),
            Outcome::Floor(result) => Tagged::Floor(result),
            Outcome::Ratio(result) => Tagged::Ratio(result),
            Outcome::Noise(result) => Tagged::Noise(result),
            Outcome::Other(value) => return value.serialize(serializer),
        };
        tagged.serialize(serializer).map_err(ser::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Outcome {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Outcome, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let kind = value.get("kind").and_then(Value::as_str).map(str::to_owned);
        let kind = kind.ok_or_else(|| de::Error::custom("a result without a \"kind\""))?;
        let outcome = match kind.as_str() {
            "logp" => serde_json::from_value(value).map(|logp| Outcome::Logp(Box::new(logp))),
            "rtt_pairs" => serde_json::from_value(value).map(Outcome::RttPairs),
            "series" => serde_json::from_value(value).map(|it| Outcome::Series(Box::new(it))),
            "hockney" => serde_json::from_value(value).map(|it| Outcome::Hockney(Box::new(it))),
            "contention" => serde_json::from_value(value).map(Outcome::Contention),
            "floor" => serde_json::from_value(value).map(Outcome::Floor),
            "ratio" => serde_json::from_value(value).map(Outcome::Ratio),
            "noise" => serde_json::from_value(value).map(Outcome::Noise),
            _ => Ok(Outcome::Other(value)),
        };
        outcome.map_err(|error| de::Error::custom(format_args!("result of kind {kind}: {error}")))
    }
}

impl Run {
    /// The run as indented JSON, `format` and `version` first.
    ///
    /// # Errors
    /// A number that is not finite.
    pub fn to_json(&self) -> Result<String, RecordError> {
        #[derive(Serialize)]
        struct File<'a> {
            format: &'static str,
            version: u32,
            #[serde(flatten)]
            run: &'a Run,
        }
        let file = File { format: FORMAT, version: VERSION, run: self };
        let mut text = Vec::new();
        let mut serializer = serde_json::Serializer::with_formatter(&mut text, Layout::default());
        file.serialize(&mut serializer).map_err(RecordError::Encode)?;
        text.push(b'\n');
        Ok(String::from_utf8(text).expect("JSON is text in UTF-8"))
    }

    /// Reads a run from the bytes of a run file.
    ///
    /// # Errors
    /// Bytes that are no JSON, another format, a newer version, and fields of the wrong type; in
    /// this order, so that a newer file is called newer and not broken.
    pub fn from_json(bytes: &[u8]) -> Result<Run, RecordError> {
        #[derive(Deserialize)]
        struct Head {
            #[serde(default)]
            format: Value,
            #[serde(default)]
            version: Value,
        }
        let decode = |error| RecordError::Decode { error };
        let head: Head = serde_json::from_slice(bytes).map_err(decode)?;
        if head.format != FORMAT {
            let found =
                if head.format.is_null() { "missing".into() } else { head.format.to_string() };
            return Err(RecordError::WrongFormat { found });
        }
        match head.version.as_u64() {
            Some(found) if found > u64::from(VERSION) => {
                return Err(RecordError::NewerVersion { found, known: VERSION });
            }
            Some(1) => {}
            _ => {
                return Err(RecordError::WrongVersion { found: head.version.to_string() });
            }
        }
        serde_json::from_slice(bytes).map_err(decode)
    }
}

/// Reads a run from a run file, or from a directory that holds `run.json`.
///
/// # Errors
/// Those of [`Run::from_json`] and of the file system, each with the path.
pub fn read(path: &Path) -> Result<Run, RecordError> {
    let file = if path.is_dir() { path.join(RUN_FILE) } else { path.to_owned() };
    let bytes = fs::read(&file).map_err(|source| RecordError::Io {
        action: "read",
        path: file.clone(),
        source,
    })?;
    Run::from_json(&bytes)
        .map_err(|error| RecordError::InFile { path: file, error: Box::new(error) })
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
pub(crate) mod tests;
