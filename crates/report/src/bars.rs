//! Stacked bars as data.

use bandgap_units::Fraction;

/// Bars with a title. Parts of the same name look the same in all of them, those of a kind alike.
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    /// What is shown.
    pub title: String,
    /// The bars, from top to bottom.
    pub bars: Vec<Bar>,
}

/// A bar, which is as long as all others, whatever its whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// What is divided.
    pub name: String,
    /// The whole, with its unit, as it is written beside the bar.
    pub whole: String,
    /// Its parts, in their order.
    pub parts: Vec<Part>,
}

/// A part of a bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// What it is.
    pub name: String,
    /// Its share of the whole. One that is not above 0 is named, and not drawn.
    pub share: f64,
    /// The kind that it is of, if it is of one: kinds have a colour each, in which its parts differ by shade.
    pub kind: Option<usize>,
}

impl Bars {
    /// The names of all parts, each once.
    pub(crate) fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for part in self.bars.iter().flat_map(|bar| &bar.parts) {
            if !names.contains(&part.name.as_str()) {
                names.push(&part.name);
            }
        }
        names
    }
}

impl Bar {
    /// How many parts of the same kind stand before this one.
    pub(crate) fn shade(&self, at: usize) -> usize {
        self.parts[..at].iter().filter(|part| part.kind == self.parts[at].kind).count()
    }
}

impl Part {
    /// Its name and its share.
    pub(crate) fn legend(&self) -> String {
        format!("{} {}", self.name, Fraction(self.share))
    }
}
