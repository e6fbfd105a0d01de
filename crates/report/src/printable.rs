//! Makes text with names from files and peers safe for a terminal.

use std::borrow::Cow;

/// Escapes control characters, which could move the cursor, clear the screen or answer for the user: `\u{1b}`. Line
/// ends stay. Text with names that this program did not choose must go through here, before it is coloured.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_told) {
        return Cow::Borrowed(text);
    }
    let escaped = |of: char| if is_told(of) { of.escape_unicode().to_string() } else { of.into() };
    Cow::Owned(text.chars().map(escaped).collect())
}

/// The most letters of a name that is shown.
pub(crate) const NAME: usize = 200;

/// Text with names from files and peers, [`printable`] and not longer than `most` letters.
pub(crate) fn told(text: &str, most: usize) -> String {
    let cut: String = text.chars().take(most).collect();
    let more = if cut.len() < text.len() { "…" } else { "" };
    printable(&cut).into_owned() + more
}

/// Whether a terminal may interpret the character. Some characters change the direction of the following text, which
/// then reads as something else.
fn is_told(character: char) -> bool {
    let turns = matches!(character, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (character.is_control() && character != '\n') || turns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_the_cursor_is_written_as_its_code() {
        let cases = [
            ("plain, with µ and ∞\n", "plain, with µ and ∞\n"),
            ("\u{1b}[2J\u{1b}[H", "\\u{1b}[2J\\u{1b}[H"),
            ("a\rb\tc\u{8}", "a\\u{d}b\\u{9}c\\u{8}"),
            // The same in one character, and a title.
            ("\u{9b}2J", "\\u{9b}2J"),
            ("\u{1b}]0;owned\u{7}", "\\u{1b}]0;owned\\u{7}"),
            ("\u{7f}\u{0}", "\\u{7f}\\u{0}"),
            ("\u{202e}txt.exe", "\\u{202e}txt.exe"),
            ("\u{1b}[1;35mred\u{1b}[0m", "\\u{1b}[1;35mred\\u{1b}[0m"),
            ("\u{1b}[1;35", "\\u{1b}[1;35"),
            ("\u{1b}", "\\u{1b}"),
        ];
        for (text, expected) in cases {
            assert_eq!(printable(text), expected, "{text:?}");
        }
    }
}
