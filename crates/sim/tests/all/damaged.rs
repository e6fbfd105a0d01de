//! Texts damaged at random, for whatever reads them; other crates' tests share this file.

use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Numbers at the borders of their types, and what is none.
const BORDERS: [&str; 9] =
    ["-1", "0", "-0.0", "NaN", "1e308", "5e-324", "18446744073709551615", "null", ""];

/// Number of cases of a reader: usually this many, and in a long test as many as it says.
#[allow(dead_code, reason = "not every crate that shares this file has such a reader")]
pub fn cases(usual: u32) -> u32 {
    std::env::var("BANDGAP_READER_CASES").map_or(usual, |cases| cases.parse().unwrap())
}

/// One of these examples, in which up to four words or numbers are exchanged for others, left out or cut short with all
/// that follows.
pub fn damaged(examples: Vec<String>) -> impl Strategy<Value = String> {
    let other = prop_oneof![
        4 => select(&BORDERS[..]).prop_map(str::to_owned),
        2 => "[-+.0-9eE]{1,6}",
        1 => "[\"\\[\\]{}=,:#\n\u{1b}µa-z]{1,4}",
    ];
    let change = (any::<Index>(), other, prop::bool::weighted(0.05));
    (select(examples), prop::collection::vec(change, 0..5)).prop_map(|(mut text, changes)| {
        for (at, other, cut) in changes {
            let part_of_word = |c: char| c.is_alphanumeric() || "._-+".contains(c);
            let words: Vec<&str> =
                text.split(|c| !part_of_word(c)).filter(|word| !word.is_empty()).collect();
            let Some(word) = (!words.is_empty()).then(|| *at.get(&words)) else { break };
            let begin = word.as_ptr() as usize - text.as_ptr() as usize;
            let end = if cut { text.len() } else { begin + word.len() };
            text.replace_range(begin..end, &other);
        }
        text
    })
}
