//! Makes text with names from files and peers safe for a terminal.

use std::borrow::Cow;

/// Escapes control characters, which could move the cursor, clear the screen or answer for the user: `\u{1b}`. Line
/// ends stay, and so do the colour codes of this crate: `ESC [`, digits and `;`, and `m`. Text with names that this
/// program did not choose must go through here.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_told) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(at) = rest.find(is_told) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        if let Some(colour) = colour(from) {
            out.push_str(colour);
            rest = &from[colour.len()..];
        } else {
            let mut characters = from.chars();
            out.extend(characters.next().into_iter().flat_map(char::escape_unicode));
            rest = characters.as_str();
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Whether a terminal may interpret the character. Some characters change the direction of the following text, which
/// then reads as something else.
fn is_told(character: char) -> bool {
    let turns = matches!(character, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (character.is_control() && character != '\n') || turns
}

/// The colour code at the beginning of the text.
fn colour(text: &str) -> Option<&str> {
    let parameters = text.strip_prefix("\u{1b}[")?;
    let len = parameters.find(|c: char| !(c.is_ascii_digit() || c == ';'))?;
    parameters[len..].starts_with('m').then(|| &text[..2 + len + 1])
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
            ("\u{1b}[1;35mred\u{1b}[0m", "\u{1b}[1;35mred\u{1b}[0m"),
            ("\u{1b}[1;35", "\\u{1b}[1;35"),
            ("\u{1b}", "\\u{1b}"),
        ];
        for (text, expected) in cases {
            assert_eq!(printable(text), expected, "{text:?}");
        }
    }
}
