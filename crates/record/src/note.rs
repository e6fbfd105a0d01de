//! Notes for the reader of a run: a code, a subject, and values.

use std::collections::BTreeMap;

use derive_more::From;
use serde::{Deserialize, Serialize};

use crate::Number;

/// A fact with a code. Only the table of notes has its words; nothing stores or compares them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// The code, a row of the table of notes.
    pub code: String,
    /// The id of the quantity or result that the note is about; empty for the whole run.
    pub about: String,
    /// Values to insert into the words, in SI base units.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, Value>,
}

/// A value of a note.
#[derive(Clone, Debug, From, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A number.
    #[from(f64)]
    Number(Number),
    /// A name.
    #[from(&str, String)]
    Text(String),
}

impl Note {
    /// A note about a quantity, a result, or the run (`""`).
    pub fn new(code: &str, about: impl Into<String>) -> Note {
        Note { code: code.to_owned(), about: about.into(), values: BTreeMap::new() }
    }

    /// Adds a value.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Note {
        self.values.insert(name.to_owned(), value.into());
        self
    }

    /// Whether the note is about the quantity or result `id`, or about something that contains it.
    pub fn is_about(&self, id: &str) -> bool {
        id.strip_prefix(self.about.as_str())
            .is_some_and(|rest| self.about.is_empty() || rest.is_empty() || rest.starts_with('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_about_a_quantity_a_result_or_the_run() {
        let about = |of: &str| Note::new("code", of).is_about("logp/shm/gap");
        assert!(about("") && about("logp/shm") && about("logp/shm/gap"));
        assert!(!about("logp/shm/ga") && !about("logp/tcp") && !about("logp/shm/gap/more"));
    }

    #[test]
    fn values_come_back_as_written() {
        let note = Note::new("slowed", "").with("share", 0.25).with("by", "pace");
        let text = serde_json::to_string(&note).unwrap();
        assert_eq!(text, r#"{"code":"slowed","about":"","values":{"by":"pace","share":0.25}}"#);
        let read: Note = serde_json::from_str(&text).unwrap();
        assert_eq!(read, note);
    }
}
