//! The whole of a file as lines, without colours.

use std::io::Read;

use crate::TableError;
use crate::table_lines::{Line, bounded};

/// A file may not be longer.
const LONGEST: usize = 64 << 20;

/// Reads `source` to its end.
pub(super) fn read(source: impl Read) -> Result<Vec<Line>, TableError> {
    let lines = bounded(source, LONGEST);
    lines.map(|line| line.map(|line| Line { text: plain(&line.text), ..line })).collect()
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

/// The value of an option that has one of these names: `--size 64` or `--size=64`.
pub(super) fn option<'a>(words: &[&'a str], names: &[&str]) -> Option<&'a str> {
    words.iter().enumerate().find_map(|(index, word)| match word.split_once('=') {
        Some((name, value)) => names.contains(&name).then_some(value),
        None => words.get(index + 1).copied().filter(|_| names.contains(word)),
    })
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
