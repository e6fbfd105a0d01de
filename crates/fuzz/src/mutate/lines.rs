//! Changes of lines, and of words in them.

use std::ops::Range;

use rand::RngExt;

use super::{Mutator, Random, piece};

/// What stands between words.
const BETWEEN: [&str; 14] =
    [",", "\t", " ", "\n", "\r\n", "=", ":", "\"", "'", "#", ";", "|", "\u{1b}[31m", "\u{feff}"];

/// Changes one line as a whole.
pub(super) fn line(input: &mut Vec<u8>, with: &Mutator<'_>, random: &mut Random) {
    let lines = lines(input);
    let Some(line) = choose(&lines, random) else { return };
    match random.random_range(0..6_u32) {
        0 => {
            input.drain(line);
        }
        1 | 2 => {
            let times = 1 << random.random_range(0..6_u32);
            let repeated = input[line.clone()].repeat(random.random_range(1..=times));
            input.splice(line.end..line.end, repeated);
        }
        3 => {
            let text = input[line.clone()].to_vec();
            let Some(other) = choose(&lines, random) else { return };
            input.splice(other.start..other.start, text);
        }
        4 => {
            let other = with.example(random);
            let theirs = self::lines(other);
            let Some(theirs) = choose(&theirs, random) else { return };
            input.splice(line.start..line.start, other[theirs].to_vec());
        }
        _ => {
            // The first lines of one, and the last of another.
            let other = with.example(random);
            let theirs = self::lines(other);
            let Some(theirs) = choose(&theirs, random) else { return };
            input.truncate(line.end);
            input.extend_from_slice(&other[theirs.start..]);
        }
    }
}

/// Changes one word, or what stands between words.
pub(super) fn word(input: &mut Vec<u8>, with: &Mutator<'_>, random: &mut Random) {
    let Some(word) = near(input, random) else { return };
    match random.random_range(0..9_u32) {
        0..=3 => {
            input.splice(word, with.replacement(random));
        }
        4 => {
            input.drain(word);
        }
        5 => {
            let text = input[word.clone()].repeat(1 << random.random_range(0..8_u32));
            input.splice(word.end..word.end, text);
        }
        6 => {
            let Some(other) = near(input, random) else { return };
            let text = input[other].to_vec();
            input.splice(word, text);
        }
        7 => {
            let between = BETWEEN[random.random_range(0..BETWEEN.len())].as_bytes().to_vec();
            input.splice(word.end..word.end, between);
        }
        _ => {
            // Brackets in one another.
            let deep = 1 << random.random_range(0..10_u32);
            let open = [b'(', b'[', b'{', b'"'][random.random_range(0..4_usize)];
            let part = piece(&input[word.clone()], random);
            let nested = [vec![open; deep], part].concat();
            input.splice(word, nested);
        }
    }
}

/// The lines of a text, each with its end.
fn lines(text: &[u8]) -> Vec<Range<usize>> {
    let mut from = 0;
    let ended = text.split_inclusive(|byte| *byte == b'\n').map(|line| {
        let range = from..from + line.len();
        from = range.end;
        range
    });
    ended.collect()
}

fn choose(from: &[Range<usize>], random: &mut Random) -> Option<Range<usize>> {
    (!from.is_empty()).then(|| from[random.random_range(0..from.len())].clone())
}

/// The word at some place, or the next one.
fn near(text: &[u8], random: &mut Random) -> Option<Range<usize>> {
    if text.is_empty() {
        return None;
    }
    let is_word =
        |byte: u8| byte.is_ascii_alphanumeric() || b"_-.+@%".contains(&byte) || byte >= 0x80;
    let at = random.random_range(0..text.len());
    let first = at + text[at..].iter().position(|byte| is_word(*byte))?;
    let from =
        text[..first].iter().rposition(|byte| !is_word(*byte)).map_or(0, |before| before + 1);
    let len = text[first..].iter().position(|byte| !is_word(*byte)).unwrap_or(text.len() - first);
    Some(from..first + len)
}
