//! Reads tables of the components of a message's way, with the models over them.
//!
//! A table is TOML or CSV; which, its first line tells. CSV has the columns `name`, `category`, `layer`,
//! `side` and `time_ns`, in any order, and `spread_ns` and `provenance`, if they are there; blank
//! lines and lines that begin with `#` are ignored, and further columns too, with a warning. It has no models of its own: those of the
//! paper's preset are used, if a component of its is there, and else their sum. A table with nothing but names of
//! what a PCIe trace gives has the models that these are enough for, and a note says what the latency lacks.
//!
//! TOML, for another stack:
//!
//! ```toml
//! name = "sockets"
//! description = "what it stands for"     # may be left out
//!
//! [[component]]
//! name = "receive"
//! label = "successful receive"            # may be left out
//! category = "cpu"                        # cpu, io or network
//! layer = "llp"                           # hlp, llp or hardware
//! side = "target"                         # initiator, target, both or network
//! time_ns = 1290                          # or time = "1.29us", or formula = "other / 64"
//! spread_ns = 12                          # or spread = "12ns"; a standard deviation; may be left out
//! provenance = "measured"                 # measured, derived or assumed; may be left out
//! part_of = "whole"                       # may be left out
//! apart = true                            # only what others are derived from: in no group; may be left out
//!
//! [[model]]
//! name = "latency"
//! label = "half a round trip"             # may be left out
//! formula = "turn + visible + poll + receive"
//! main = true                             # without any, all are
//! observed_ns = 1800                      # or observed = "1.8us"; may be left out
//! observed_spread_ns = 10                 # may be left out
//! ```
//!
//! Beside these it may have `[[figure]]`, `[[insight]]`, `[[curves]]` and `[[case]]`: see the preset.
//! Without a `provenance` a time is assumed, since nobody said how it is known; one that has a formula is derived.
//!
//! A time is 0, or from 10⁻²¹ ns to 10¹⁸ ns, a spread at most 10¹⁸ ns: squares and quotients of others need not be
//! numbers.

mod csv;
mod paper;
mod replaced;
mod shown;
mod toml;
mod traced;
mod written;

use std::io::Read;

use bandgap_model::breakdown::{By, Change, Group, Question, Stack};

use crate::TableError;
use crate::table_lines::Result;

pub use paper::{component_preset, component_presets};
pub use traced::{traced_component, traced_source, traced_table};

/// A table longer than this is refused before it fills the memory.
const LONGEST: u64 = 64 << 20;

/// Components and models, and what is to be shown of them.
#[derive(Clone, Debug)]
pub struct ComponentTable {
    /// Its name.
    pub name: String,
    /// What it stands for; may be empty.
    pub description: String,
    /// Components and models.
    pub stack: Stack,
    /// Figures of stacked bars; empty where none are declared.
    pub figures: Vec<BarsDeclared>,
    /// Questions whose answers are insights; empty where none are declared.
    pub questions: Vec<Question>,
    /// Figures of speed-ups; empty where none are declared.
    pub curves: Vec<CurvesDeclared>,
    /// Changes that have a name.
    pub cases: Vec<Case>,
    /// What a reader should know of how it was read, as sentences.
    pub notes: Vec<String>,
    /// What was not read.
    pub warnings: Vec<String>,
}

impl ComponentTable {
    /// A table of which only components and models are declared.
    pub fn plain(name: impl Into<String>, description: impl Into<String>, stack: Stack) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            stack,
            figures: Vec::new(),
            questions: Vec::new(),
            curves: Vec::new(),
            cases: Vec::new(),
            notes: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

/// A figure of stacked bars.
#[derive(Clone, Debug, PartialEq)]
pub struct BarsDeclared {
    /// What it shows.
    pub title: String,
    /// The bars.
    pub bars: Vec<BarDeclared>,
}

/// A stacked bar.
#[derive(Clone, Debug, PartialEq)]
pub struct BarDeclared {
    /// The model.
    pub model: String,
    /// How it is divided.
    pub by: By,
    /// Of which components.
    pub only: Option<Group>,
    /// Its name.
    pub label: Option<String>,
}

/// A figure of speed-ups over reductions.
#[derive(Clone, Debug, PartialEq)]
pub struct CurvesDeclared {
    /// What it shows.
    pub title: String,
    /// The model that becomes faster.
    pub model: String,
    /// What is reduced.
    pub of: Vec<String>,
}

/// Changes that have a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The name.
    pub name: String,
    /// What it stands for.
    pub about: String,
    /// What changes.
    pub changes: Vec<Change>,
}

/// Reads a table of components.
///
/// # Errors
/// Every defect is one, with its line where it has one: the file is taken whole or not at all.
pub fn read_component_table(source: impl Read) -> Result<ComponentTable> {
    let mut bytes = Vec::new();
    let io = |source| TableError::Io { line: 0, source };
    source.take(LONGEST + 1).read_to_end(&mut bytes).map_err(io)?;
    if bytes.len() as u64 > LONGEST {
        return Err(TableError::Whole { why: "it is longer than 64 MiB".to_owned() });
    }
    let text = match str::from_utf8(&bytes) {
        Ok(text) => text.strip_prefix('\u{feff}').unwrap_or(text),
        Err(error) => {
            let line = line_of(&bytes, error.valid_up_to());
            return Err(TableError::Line { line, why: "it is not text in UTF-8".to_owned() });
        }
    };
    let first = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
    match first {
        None => Err(TableError::Empty { expected: csv::EXPECTED }),
        Some(first) if first.starts_with('[') || first.contains('=') => toml::read(text),
        Some(_) => csv::read(text),
    }
}

/// The line of a place in a text, from 1.
fn line_of(text: &[u8], at: usize) -> u64 {
    1 + text[..at.min(text.len())].iter().filter(|byte| **byte == b'\n').count() as u64
}

#[cfg(test)]
mod tests;
