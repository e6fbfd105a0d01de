//! What every kind of result can do.

use std::any::Any;

use bandgap_record::RecordError;
use bandgap_report::Layout;

/// A result of any kind, for a reader.
pub trait Shown: Any {
    /// What is printed of it. Of results that belong together the first prints all, and the others
    /// nothing.
    fn text(&self, among: &Among<'_>, layout: &Layout) -> String;

    /// The files of it beside the run file, where it has some; of results that share a file the first
    /// writes it.
    ///
    /// # Errors
    /// A table cannot be written.
    fn files(&self, _among: &Among<'_>) -> Result<Vec<File>, RecordError> {
        Ok(Vec::new())
    }

    /// Whether something is missing, or less precise than was asked for.
    fn is_doubtful(&self) -> bool;
}

/// A file of a run beside its run file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its name in the run's directory.
    pub name: String,
    /// What is in it.
    pub contents: Vec<u8>,
}

impl File {
    /// A file of this name.
    pub fn new(name: impl Into<String>, contents: impl Into<Vec<u8>>) -> File {
        File { name: name.into(), contents: contents.into() }
    }
}

/// The results that one of them stands among.
pub struct Among<'a> {
    /// All of them, in their order.
    pub results: Vec<&'a dyn Shown>,
    /// Whether results of further transports are to come: if so, each file is named after its
    /// transport from the first on.
    pub more_to_come: bool,
}

impl<'a> Among<'a> {
    /// Results in their order, and no more to come.
    pub fn new(results: impl IntoIterator<Item = &'a dyn Shown>) -> Among<'a> {
        Among { results: results.into_iter().collect(), more_to_come: false }
    }

    /// Those of one kind.
    pub fn of<K: Shown>(&self) -> impl Iterator<Item = &'a K> {
        let upcast = |shown: &&'a dyn Shown| -> &'a dyn Any { *shown };
        self.results.iter().map(upcast).filter_map(<dyn Any>::downcast_ref)
    }

    /// Those of its kind that belong together, if `one` is the first of them, so that it speaks for
    /// them.
    pub fn led_by<K: Shown>(&self, one: &K, belongs: impl Fn(&K) -> bool) -> Option<Vec<&'a K>> {
        let all: Vec<&'a K> = self.of().filter(|other| belongs(other)).collect();
        all.first().is_some_and(|first| std::ptr::eq(*first, one)).then_some(all)
    }
}
