//! What every kind of result can do.

use std::any::Any;

use bandgap_record::{Quantity, RecordError};
use bandgap_report::{Figure, Layout};

/// A result of any kind, for a reader. There are no defaults: a kind that has nothing to say in
/// some respect says so itself.
pub trait Shown: Any {
    /// The estimates by which runs are compared. Each has a name that no other one of the run has,
    /// and that the same estimate has in another run.
    fn quantities(&self) -> Vec<(String, &Quantity)>;

    /// What is printed of it. Of results that belong together the first prints all, and the others
    /// nothing.
    fn text(&self, among: &Among<'_>, layout: &Layout) -> String;

    /// What is drawn of it; of results that share a figure the first draws it.
    fn figures(&self, among: &Among<'_>) -> Vec<Figure>;

    /// The files of it beside the run file; of results that share a file the first writes it.
    ///
    /// # Errors
    /// A table cannot be written.
    fn files(&self, among: &Among<'_>) -> Result<Vec<File>, RecordError>;

    /// What a reader should know besides the numbers, as sentences.
    fn findings(&self) -> &[String];

    /// Whether it is what was asked for.
    fn verdict(&self) -> Verdict;
}

/// Says in the `impl` of [`Shown`] of a kind what its results do not have.
macro_rules! nothing {
    ($($what:ident),+) => { $(nothing! { @$what })+ };
    (@quantities) => {
        fn quantities(&self) -> Vec<(String, &bandgap_record::Quantity)> {
            Vec::new()
        }
    };
    (@figures) => {
        fn figures(&self, _: &$crate::kind::Among<'_>) -> Vec<bandgap_report::Figure> {
            Vec::new()
        }
    };
    (@files) => {
        fn files(
            &self,
            _: &$crate::kind::Among<'_>,
        ) -> Result<Vec<$crate::kind::File>, bandgap_record::RecordError> {
            Ok(Vec::new())
        }
    };
    (@findings) => {
        fn findings(&self) -> &[String] {
            &[]
        }
    };
}
pub(crate) use nothing;

/// Whether a result is what was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All is there, and as precise as was asked for.
    Good,
    /// The values of these names count, and are less precise than was asked for, or not there.
    Doubtful(Vec<String>),
    /// Too little was measured for it.
    Missing,
}

impl Verdict {
    /// Doubtful if there are such values.
    pub fn doubtful(names: impl IntoIterator<Item = String>) -> Verdict {
        let names: Vec<String> = names.into_iter().collect();
        if names.is_empty() { Verdict::Good } else { Verdict::Doubtful(names) }
    }

    /// Doubtful if some of these estimates are less precise than was asked for.
    pub(crate) fn on<'a>(found: impl IntoIterator<Item = (String, &'a Quantity)>) -> Verdict {
        let scatters = |(_, found): &(String, &Quantity)| !found.convergence().is_enough();
        Verdict::doubtful(found.into_iter().filter(scatters).map(|(name, _)| name))
    }
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
    /// Whether results of further transports or kernels are to come: if so, each file is named after
    /// its own from the first on.
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
