//! What the caller knows about the place where the text will appear.

use bandgap_units::Fraction;

/// How text is laid out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layout {
    /// Columns available; at least 40 are used.
    pub width: u16,
    /// Whether to do with ASCII, apart from the letters of units and symbols.
    pub ascii: bool,
    /// Whether colour codes may be written.
    pub color: bool,
    /// The confidence of the intervals, for the headings.
    pub confidence: Fraction,
}

impl Default for Layout {
    fn default() -> Layout {
        Layout { width: 80, ascii: false, color: false, confidence: Fraction(0.95) }
    }
}

impl Layout {
    /// Columns that are used.
    pub fn columns(&self) -> usize {
        usize::from(self.width).max(40)
    }

    /// Sentences as a list, wrapped.
    pub fn bullets<'a>(&self, sentences: impl IntoIterator<Item = &'a str>) -> String {
        let options =
            textwrap::Options::new(self.columns()).initial_indent("- ").subsequent_indent("  ");
        let lines = sentences.into_iter().map(|sentence| textwrap::fill(sentence, &options));
        lines.map(|line| line + "\n").collect()
    }

    /// A paragraph, wrapped.
    pub fn paragraph(&self, text: &str) -> String {
        textwrap::fill(text, self.columns()) + "\n"
    }
}
