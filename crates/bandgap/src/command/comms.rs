//! `bandgap comms1`, `comms2`, `comms3`, `synch1` and `comet`: series of message passing.

use std::ops::RangeInclusive;

use bandgap_campaign::series::{SeriesPlan, Step};
use bandgap_campaign::sizes::sizes;
use bandgap_kernels::{Over, Series, facts, in_series};
use bandgap_launch::{Classify, Exit, Failure, MAX_RANKS};
use bandgap_results::assemble;
use clap::Args;

use super::measure::{BATCH, Session};
use crate::args::{Measure, Output, SizeRange};

/// Rounds of one sample of short messages, so that the clock is read seldom beside them, as far as
/// they stay within [`ROUNDS_BYTES`].
const ROUNDS: u32 = 16;
/// Bytes that the rounds of one sample send one way.
const ROUNDS_BYTES: u32 = 64 << 10;

/// What messages are sent, and between whom.
#[derive(Clone, Debug, Default, Args)]
pub struct Comms {
    /// Message sizes, from the least to the greatest, of 1GiB at most
    #[arg(long, value_name = "FROM:TO", default_value = "0:4MiB")]
    pub sizes: SizeRange,
    /// The two ranks [default: 0,1]
    #[arg(long, value_name = "A,B", value_parser = pair)]
    pub between: Option<[usize; 2]>,
}

/// Two ranks as typed: `0,1`.
fn pair(text: &str) -> Result<[usize; 2], String> {
    let rank = |text: &str| text.trim().parse().ok().filter(|rank| *rank < MAX_RANKS);
    let pair = text.split_once(',').and_then(|(a, b)| Some([rank(a)?, rank(b)?]));
    pair.ok_or_else(|| format!("it must be two ranks, as in 0,1: {text}"))
}

/// The series of message passing.
pub fn passing() -> Vec<&'static str> {
    let passing = facts().into_iter().filter(|fact| fact.over == Over::Comm);
    passing.filter_map(|fact| Some(fact.series?.name)).collect()
}

/// `bandgap comet`: the series of message passing of these names, or all of them.
///
/// # Errors
/// As [`run`].
pub fn comet(
    names: &[String],
    comms: &Comms,
    measure: &Measure,
    output: &Output,
) -> Result<Exit, Failure> {
    let asked: Vec<&str> = names.iter().map(String::as_str).collect();
    let all = passing();
    run("comet", if asked.is_empty() { &all } else { &asked }, comms, measure, output)
}

/// Measures, prints and keeps the series of these names.
///
/// # Errors
/// They could not be measured, or not be written.
pub fn run(
    command: &str,
    names: &[&str],
    comms: &Comms,
    measure: &Measure,
    output: &Output,
) -> Result<Exit, Failure> {
    let pair = comms.between.unwrap_or([0, 1]);
    let [a, b] = pair;
    if a == b {
        let what = format!("measure between rank {a} and itself");
        return Err(Failure::new(Exit::Usage, what).hint("name two different ranks"));
    }
    let (from, to) = comms.sizes.bounds()?;
    let least = a.max(b) + 1;
    // What is named twice is measured once: the same batches twice are no more data.
    let ranks =
        once(if measure.ranks.is_empty() { std::slice::from_ref(&least) } else { &measure.ranks });
    let names = &once(names);
    let most = ranks.iter().copied().max().unwrap_or(least);
    let mut steps = Vec::new();
    for name in names {
        let (_, series) = in_series(name).class(Exit::Usage)?;
        check_ranks(&series, &ranks, least, names.len() > 1)?;
        let one = steps_of(&series, from..=to, most);
        // Between two ranks the number of the others is none of its axes.
        let ranks = if series.of_all { &ranks[..] } else { &[most] };
        steps.extend(Step::sweep(&one, ranks));
    }
    let mut session = Session::open(command, measure, output)?;
    let plan = SeriesPlan { asked: session.asked(), steps, samples: BATCH, pair };
    session.measure(&plan, most, |setting, table| assemble::series(setting, &plan, table))?;
    session.close()
}

/// Each of them once, in their order.
fn once<T: PartialEq + Copy>(all: &[T]) -> Vec<T> {
    let mut kept = Vec::new();
    for one in all {
        if !kept.contains(one) {
            kept.push(*one);
        }
    }
    kept
}

/// Checks the numbers of ranks. Beside series of all ranks, one of two takes the most ranks.
fn check_ranks(
    series: &Series,
    ranks: &[usize],
    least: usize,
    beside_others: bool,
) -> Result<(), Failure> {
    let usage = |what, hint: String| Err(Failure::new(Exit::Usage, what).hint(hint));
    if let Some(few) = ranks.iter().find(|few| **few < least) {
        let what = format!("measure {} on {few} of at least {least} ranks", series.name);
        return usage(what, format!("give it --ranks {least} or more"));
    }
    if ranks.len() > 1 && !series.of_all && !beside_others {
        let what = format!("measure {} with several numbers of ranks", series.name);
        return usage(what, "two ranks take part in it: give one number".to_owned());
    }
    Ok(())
}

/// The steps of a series over these sizes on so many ranks.
fn steps_of(series: &Series, range: RangeInclusive<u32>, ranks: usize) -> Vec<Step> {
    let sizes = if series.sized { sizes(range) } else { vec![0] };
    let name = series.name.to_owned();
    let step = |bytes| Step { series: name.clone(), bytes, messages: rounds(bytes), ranks };
    sizes.into_iter().map(step).collect()
}

/// Rounds of one sample of messages of this size.
fn rounds(bytes: u32) -> u32 {
    (ROUNDS_BYTES / bytes.max(1)).clamp(1, ROUNDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_messages_go_several_rounds_and_long_ones_one() {
        let rounds = [0, 1, 4 << 10, 8 << 10, 40 << 10, 64 << 10, u32::MAX].map(rounds);
        assert_eq!(rounds, [16, 16, 16, 8, 1, 1, 1]);
    }
}
