//! The command that would decide what cannot be told.

use bandgap_record::Number;
use bandgap_stats::comparison::FEWEST_PAIRS;
use serde::{Deserialize, Serialize};

use crate::run::Run;

/// What would decide what cannot be told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decide {
    /// As many launches, runs or pairs a side.
    pub count: u64,
    /// The command.
    pub command: String,
    /// Whether it is to be run for each side, rather than once.
    pub each_side: bool,
    /// How long it takes, once.
    pub minutes: Number,
}

/// The commands that measure both sides.
const AGAINST: [&str; 6] = ["run", "signature", "comms1", "comms2", "bulk", "comet"];
/// Options that say nothing of what is measured: with a value, and without.
const WITH_VALUE: &str = "-o --out --json --limit --launches --time-budget --against --a-binary --a-env --margin --fail-on";
const ALONE: &str = "-q --quiet --no-save -v --verbose --plot --strict -qv -vq";

/// A command without its program, which is `run` if it has no name, and without the options that say where results go, how they are judged, and how long to
/// measure.
pub fn plan(command: &[String]) -> Vec<&str> {
    let left = without(command.get(1..).unwrap_or_default(), WITH_VALUE, ALONE);
    let is_bare = left.first().is_none_or(|word| word.starts_with('-'));
    is_bare.then_some("run").into_iter().chain(left).collect()
}

/// The words without some options: those with a value, perhaps in the same word, and those without.
fn without<'a>(words: &'a [String], with_value: &str, alone: &str) -> Vec<&'a str> {
    let is_of = |all: &str, word: &str| all.split(' ').any(|of| of == word);
    let mut left = words.iter();
    let mut found = Vec::new();
    while let Some(word) = left.next() {
        let option = word.split('=').next().unwrap_or_default();
        let is_joined = option != word || word.starts_with("-o") && word.len() > 2;
        match () {
            () if is_of(with_value, option) && !is_joined => drop(left.next()),
            () if is_of(with_value, option) || is_of(alone, word) => {}
            () if is_joined && is_of(with_value, &word[..2]) => {}
            () => found.push(word.as_str()),
        }
    }
    found
}

impl Decide {
    /// For so many `unit`s a side. Pairs were measured by a command.
    pub(super) fn of(
        sides: [&[(String, Run)]; 2],
        count: u64,
        (unit, by): (&str, &[String]),
    ) -> Decide {
        let [(name, a), (_, b)] = sides.map(|of| &of[0]);
        let launches = b.conditions.iter().map(|of| of.launches).max().unwrap_or(1).max(1);
        let seconds = b.elapsed.0 / if unit == "launch" { launches as f64 } else { 1.0 };
        let all = seconds * count as f64;
        let [program, other] = [b, a].map(|of| of.command.first().map_or("", String::as_str));
        let measured = plan(&b.command);
        let own = measured.first().filter(|own| AGAINST.contains(own));
        let launches = ["--launches", &count.to_string()];
        let pairs = 2.0 * seconds * (count + FEWEST_PAIRS) as f64;
        let time = format!("{:.0}s", if unit == "pair" { pairs } else { all.max(1.0) });
        let budget = ["--time-budget", &time];
        let (words, each_side) = match (unit, own) {
            ("pair", _) => {
                let words = without(by, "-o --out --launches --time-budget", "");
                ([&words[..], &launches, &budget].concat(), false)
            }
            ("launch", Some(own)) if program != other => {
                let sides = [program, own, "--against", name, "--a-binary", other];
                ([&sides[..], &launches].concat(), false)
            }
            ("launch", _) => ([&[program], &measured[..], &launches, &budget].concat(), true),
            _ => ([&[program], &measured[..]].concat(), true),
        };
        let command = words.into_iter().map(quoted).collect::<Vec<_>>().join(" ");
        let minutes = Number(if each_side { all } else { 2.0 * all } / 60.0);
        Decide { count, command, each_side, minutes }
    }
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    let is_plain = |of: char| of.is_ascii_alphanumeric() || "-_./:,=+@%".contains(of);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}
