//! What the caller knows about the place where the text will appear.

/// How text is laid out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layout {
    /// Columns available; at least 40 are used.
    pub width: u16,
    /// Whether to do with ASCII, apart from the letters of units and symbols.
    pub ascii: bool,
    /// Whether colour codes may be written.
    pub color: bool,
}

impl Default for Layout {
    fn default() -> Layout {
        Layout { width: 80, ascii: false, color: false }
    }
}

impl Layout {
    /// Columns that are used.
    pub fn columns(&self) -> usize {
        usize::from(self.width).max(40)
    }

    /// A paragraph, wrapped.
    pub fn paragraph(&self, text: &str) -> String {
        textwrap::fill(text, self.columns()) + "\n"
    }
}
