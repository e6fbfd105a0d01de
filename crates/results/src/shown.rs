//! The interface of all kinds of result, and the context in which they are shown.

use std::any::Any;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use bandgap_record::{Note, Quantity};
use bandgap_report::{Block, Cell, Precision, Shown as Drawn};

/// A result of any kind, for a reader.
pub trait Shown: Any {
    /// All quantities by id, `None` if not known, and whether each counts for `--strict`. A quantity has the same id in
    /// every run, whatever else was measured.
    fn all(&self) -> Vec<(String, Option<&Quantity>, bool)>;

    /// The known quantities.
    fn quantities(&self) -> Vec<(String, &Quantity, bool)> {
        self.all().into_iter().filter_map(|(id, of, counts)| Some((id, of?, counts))).collect()
    }

    /// The ids of quantities that count and are not known.
    fn missing(&self) -> Vec<String> {
        let lacks = |(id, of, counts): (String, Option<&Quantity>, bool)| {
            (counts && of.is_none()).then_some(id)
        };
        self.all().into_iter().filter_map(lacks).collect()
    }

    /// The result in full: tables with all rows, and figures.
    fn detail(&self, context: &Context<'_>) -> Vec<Block>;

    /// The result in brief, for a screen; by default all but figures.
    fn short(&self, context: &Context<'_>) -> Vec<Block> {
        let mut blocks = self.detail(context);
        blocks.retain(|block| !matches!(block, Block::Figure(_)));
        blocks
    }

    /// Whether its values follow from others, so that a comparison of runs leaves them out.
    fn is_derived(&self) -> bool {
        false
    }

    /// The floors measured beside it: the id of each, a time, and the ratio of that time to the floor.
    fn floors(&self) -> Vec<(String, &Quantity, &Quantity)> {
        Vec::new()
    }

    /// What it says in a word: the id of that, the word, and the id of what must have changed for the word to count.
    fn words(&self) -> Vec<[String; 3]> {
        Vec::new()
    }

    /// What is negative: a model that does not hold, or a value beyond its limit.
    fn negative(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The context in which a result is shown.
pub struct Context<'a> {
    /// All results of the run.
    pub results: Vec<&'a dyn Shown>,
    /// The notes of the run.
    pub notes: &'a [Note],
    limited: BTreeSet<&'a str>,
    /// The ids of the quantities that were drawn, each with its precision.
    pub(crate) drawn: RefCell<BTreeMap<String, Precision>>,
}

/// The code of the note that the clock allows no narrower interval.
pub const CLOCK_LIMIT: &str = "clock_limit";

impl<'a> Context<'a> {
    /// A context from the results and notes of a run.
    pub fn of_results(results: Vec<&'a dyn Shown>, notes: &'a [Note]) -> Context<'a> {
        let limited = notes.iter().filter(|note| note.code == CLOCK_LIMIT);
        let limited = limited.map(|note| note.about.as_str()).collect();
        Context { results, notes, limited, drawn: RefCell::default() }
    }

    /// The results of one type.
    pub fn of<T: Shown>(&self) -> impl Iterator<Item = &'a T> + use<'a, '_, T> {
        let any = |shown: &&'a dyn Shown| -> &'a dyn Any { *shown };
        self.results.iter().map(any).filter_map(<dyn Any>::downcast_ref)
    }

    /// The precision of the quantity of this id.
    pub fn precision(&self, id: &str, quantity: &Quantity) -> Precision {
        let precision = match quantity.converged {
            _ if self.limited.contains(id) => Precision::ClockLimited,
            true => Precision::Converged,
            false => Precision::No,
        };
        self.drawn.borrow_mut().insert(id.to_owned(), precision);
        precision
    }

    /// A quantity as a cell, with its mark.
    pub fn cell(&self, id: &str, quantity: &Quantity) -> Cell {
        Drawn::new(quantity, self.precision(id, quantity)).into()
    }

    /// Words in place of a quantity that is not known.
    pub(crate) fn unknown(&self, id: String, words: &str) -> Cell {
        self.drawn.borrow_mut().insert(id, Precision::No);
        words.into()
    }

    /// The notes about a quantity or a result.
    pub fn about(&self, id: &str) -> impl Iterator<Item = &'a Note> {
        self.notes.iter().filter(move |note| !note.about.is_empty() && note.is_about(id))
    }
}

/// Items by key, in the order of the first of each.
pub fn by_key<K: PartialEq, V>(all: impl IntoIterator<Item = (K, V)>) -> Vec<(K, Vec<V>)> {
    let mut found: Vec<(K, Vec<V>)> = Vec::new();
    for (key, of) in all {
        match found.iter_mut().find(|(known, _)| *known == key) {
            Some((_, own)) => own.push(of),
            None => found.push((key, vec![of])),
        }
    }
    found
}

/// A share with its interval, each in these words: `-2.4 % (-4.1 to -0.6 %)`.
pub(crate) fn ranged(of: &Quantity, words: fn(f64) -> String) -> String {
    let value = words(of.value.0);
    match of.interval().map(|(low, high)| (words(low), words(high))) {
        Some((low, high)) if low != high => {
            format!("{value} ({} to {high})", low.trim_end_matches(" %"))
        }
        _ => value,
    }
}

/// `1 value`, `2 values`.
pub fn counted(count: usize, what: &str) -> String {
    format!("{} {what}{}", grouped(count as f64), if count == 1 { "" } else { "s" })
}

/// A count with its thousands apart, by spaces at which no line breaks: `8 483`.
pub fn grouped(number: f64) -> String {
    let digits = format!("{number:.0}");
    let groups = digits.as_bytes().rchunks(3).rev();
    groups.map(String::from_utf8_lossy).collect::<Vec<_>>().join("\u{a0}")
}
