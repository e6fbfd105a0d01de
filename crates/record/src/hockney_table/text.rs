//! The whole of a file as lines, without colours.

use std::io::Read;

use crate::TableError;
use crate::table_lines::Lines;

/// A file may not be longer: what a tool prints is never near it, and a source without end is
/// refused before it fills the memory.
const LONGEST: usize = 64 << 20;
const MOST_LINES: u64 = 4_000_000;

/// One line.
#[derive(Debug)]
pub(super) struct Line {
    /// Counted from 1.
    pub number: u64,
    /// Its text, without colours and the line end.
    pub text: String,
}

impl Line {
    /// Its words.
    pub fn words(&self) -> Vec<&str> {
        self.text.split_whitespace().collect()
    }

    /// The error that says why it cannot be used.
    pub fn wrong(&self, why: impl Into<String>) -> TableError {
        TableError::Line { line: self.number, why: why.into() }
    }

    /// Whether it begins with a number.
    pub fn is_row(&self) -> bool {
        let mut start = self.text.trim_start().chars();
        match start.next() {
            Some('-' | '+') => start.next().is_some_and(|next| next.is_ascii_digit()),
            first => first.is_some_and(|first| first.is_ascii_digit()),
        }
    }
}

/// All lines of a file.
#[derive(Debug)]
pub(super) struct Text {
    /// In their order.
    pub lines: Vec<Line>,
}

impl Text {
    /// Reads `source` to its end.
    pub fn read(source: impl Read) -> Result<Text, TableError> {
        let mut source = Lines::new(source);
        let mut lines = Vec::new();
        let mut length = 0;
        while let Some(text) = source.next_line()? {
            let number = source.number();
            length += text.len();
            let why = match () {
                () if length > LONGEST => Some("the table is longer than 64 MiB"),
                () if number > MOST_LINES => Some("the table has more than 4 million lines"),
                () => None,
            };
            if let Some(why) = why {
                return Err(TableError::Line { line: number, why: why.to_owned() });
            }
            lines.push(Line { number, text: plain(&text) });
        }
        Ok(Text { lines })
    }
}

/// `text` without colour codes (ESC, `[`, parameters, a letter) and its line end.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.trim_end_matches(['\r', '\n']);
    while let Some((before, code)) = rest.split_once("\u{1b}[") {
        out.push_str(before);
        let parameters = code.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
        rest = parameters.strip_prefix(|c: char| c.is_ascii_alphabetic()).unwrap_or(parameters);
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_taken_away() {
        assert_eq!(plain("a\u{1b}[1;35mb\u{1b}[0m c\r\n"), "ab c");
        // Codes cut short leave nothing that could be taken for one.
        assert_eq!(plain("a\u{1b}["), "a");
        assert_eq!(plain("\u{1b}[31"), "");
    }
}
