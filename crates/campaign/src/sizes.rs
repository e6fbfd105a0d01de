//! The message sizes of a series.

use std::collections::BTreeSet;
use std::str::FromStr;

use bandgap_kernels::DOUBLE;
use bandgap_units::{Bytes, UnitError};

/// Bytes of the region from which blocks are sent, and of the one in which they arrive, unless a
/// block is longer.
pub const SIZES_REGION: usize = 8 << 20;
/// Longest message.
pub const LONGEST: u32 = 1 << 30;
/// Distance of the further sizes below and above a power of two: buffers that begin or end at a
/// round number cost less than others.
const PERTURBED: u32 = 3;
/// Smallest power of two with such neighbours.
const FROM: u32 = 16;

/// Sizes as typed: `8,64KiB,1MiB`, `0:4MiB` (powers of two), `1:4MiB:x4`, `1000:8000:+1000`, and lists of these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    from: u32,
    to: u32,
    step: Step,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Powers of two, and the ends.
    Powers,
    Times(u32),
    Plus(u32),
}

/// Largest number of sizes in a range.
const MOST: u32 = 10_000;

impl Default for Sizes {
    fn default() -> Self {
        Self::powers(0, 4 << 20)
    }
}

impl Sizes {
    /// Powers of two within a range, and its ends.
    pub fn powers(from: u32, to: u32) -> Self {
        Self { parts: vec![Part { from, to, step: Step::Powers }] }
    }

    /// All sizes, ascending, each once. With `perturb` they include neighbours of powers of two.
    pub fn all(&self, perturb: bool) -> Vec<u32> {
        let mut all = BTreeSet::new();
        for &Part { from, to, step } in &self.parts {
            let next = |size: &u32| match step {
                Step::Powers => (size + 1).checked_next_power_of_two(),
                Step::Plus(by) => size.checked_add(by),
                Step::Times(by) => size.checked_mul(by),
            };
            let steps = std::iter::successors(Some(from), next);
            all.extend(steps.take_while(|size| *size <= to));
            all.extend((step == Step::Powers).then_some(to));
        }
        if perturb {
            let powers: Vec<u32> = all
                .iter()
                .copied()
                .filter(|size| *size >= FROM && size.is_power_of_two())
                .collect();
            let most = all.last().copied().unwrap_or(0);
            let near = powers.iter().flat_map(|size| [size - PERTURBED, size + PERTURBED]);
            all.extend(near.filter(|size| *size <= most));
        }
        all.into_iter().collect()
    }

    /// The smallest and the largest size.
    pub fn ends(&self) -> (u32, u32) {
        let all = self.all(false);
        (all.first().copied().unwrap_or(0), all.last().copied().unwrap_or(0))
    }

    /// The sizes of vectors among them: 0 and those that are no multiple of a double are left out.
    pub fn vectors(&self) -> Vec<u32> {
        let is_whole = |size: &u32| *size > 0 && size.is_multiple_of(DOUBLE as u32);
        self.all(false).into_iter().filter(is_whole).collect()
    }

    /// The sizes that were typed; for a range, its ends and the `usual` sizes within it.
    pub fn among(&self, usual: &[u32]) -> Vec<u32> {
        let [Part { from, to, step: Step::Powers }] = self.parts[..] else {
            return self.all(false);
        };
        let within = usual.iter().copied().filter(|size| (from..=to).contains(size));
        ascending(within.chain([from, to]))
    }
}

impl FromStr for Sizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split(',').map(part).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { parts })
    }
}

fn size(text: &str) -> Result<u32, String> {
    let bytes: Bytes = text.trim().parse().map_err(|e: UnitError| e.to_string())?;
    match u32::try_from(bytes.0) {
        Ok(size) if size <= LONGEST => Ok(size),
        _ => Err(format!("{bytes} is too long: at most {}", Bytes(LONGEST.into()))),
    }
}

fn part(text: &str) -> Result<Part, String> {
    let words: Vec<&str> = text.split(':').collect();
    let (from, to, step) = match words[..] {
        [one] => (size(one)?, size(one)?, Step::Powers),
        [from, to] => (size(from)?, size(to)?, Step::Powers),
        [from, to, step] => (size(from)?, size(to)?, self::step(step)?),
        _ => return Err(format!("write FROM:TO or FROM:TO:STEP, not {text}")),
    };
    let count = match step {
        Step::Plus(by) => to.saturating_sub(from) / by,
        Step::Powers | Step::Times(_) => 0,
    };
    match (from, step) {
        _ if from > to => Err(format!("{text} ends before it begins")),
        (0, Step::Times(_)) => Err(format!("{text} stays at 0: begin at 1")),
        _ if count > MOST => Err(format!("{text} has more than {MOST} sizes")),
        _ => Ok(Part { from, to, step }),
    }
}

fn step(text: &str) -> Result<Step, String> {
    let wrong = || format!("write the step as x4 or +1000, not {text}");
    let times = || text.strip_prefix(['x', '×'])?.parse().ok().map(Step::Times);
    match text.strip_prefix('+').map(size).transpose()?.map(Step::Plus).or_else(times) {
        None | Some(Step::Plus(0) | Step::Times(0 | 1)) => Err(wrong()),
        Some(step) => Ok(step),
    }
}

/// The sizes in ascending order, each once.
fn ascending(all: impl Iterator<Item = u32>) -> Vec<u32> {
    all.collect::<BTreeSet<u32>>().into_iter().collect()
}

/// Dimensions of matrices within `range`: its ends and the powers of two between them, each rounded
/// up to a multiple of `of`, if that is still in the range. A range of one dimension gives that
/// one.
pub fn matrices(range: std::ops::RangeInclusive<u32>, of: u32) -> Vec<u32> {
    if range.start() == range.end() {
        return vec![*range.start()];
    }
    let powers = (0..u32::BITS).map(|exponent| 1_u32 << exponent);
    let raised = powers.chain([*range.start(), *range.end()]).filter(|rows| range.contains(rows));
    let raised = raised.filter_map(|rows| rows.checked_next_multiple_of(of));
    ascending(raised.filter(|rows| range.contains(rows)))
}

/// Largest number of rounds per sample, so that the clock is read seldom; fewer if they exceed
/// [`ROUNDS_BYTES`].
const ROUNDS: u32 = 16;
/// Largest number of bytes that the rounds of one sample send one way.
const ROUNDS_BYTES: u64 = 64 << 10;

/// Rounds per sample of messages of this length.
pub fn rounds(bytes: u64) -> u32 {
    (ROUNDS_BYTES / bytes.max(1)).clamp(1, ROUNDS.into()) as u32
}

/// Largest number of bytes that a batch moves or computes with; longer messages have fewer samples.
pub(crate) const BATCH_BYTES: u64 = 2 << 20;

/// Number of samples of `messages` messages of `bytes` bytes with which a batch moves `room` bytes,
/// but at least `least` and at most `most`.
pub fn samples_within(room: u64, bytes: u32, messages: u32, least: u32, most: u32) -> u32 {
    let moved = u64::from(bytes.max(1)) * u64::from(messages);
    let fit = (room / moved).min(u64::from(u32::MAX)) as u32;
    fit.clamp(least.min(most), most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_messages_go_several_rounds_and_long_ones_one() {
        let rounds = [0, 1, 4 << 10, 8 << 10, 40 << 10, 64 << 10, u64::MAX].map(rounds);
        assert_eq!(rounds, [16, 16, 16, 8, 1, 1, 1]);
    }

    #[test]
    fn matrices_have_both_ends() {
        assert_eq!(matrices(6..=16, 1), [6, 8, 16]);
        assert_eq!(matrices(6..=17, 3), [6, 9]);
        assert_eq!(matrices(50..=50, 3), [50]);
    }

    fn all(text: &str) -> Vec<u32> {
        text.parse::<Sizes>().unwrap().all(false)
    }

    #[test]
    fn lists_and_ranges_mix_and_a_size_stands_once() {
        assert_eq!(all("8,64KiB,1MiB,8"), [8, 64 << 10, 1 << 20]);
        assert_eq!(all("0:20"), [0, 1, 2, 4, 8, 16, 20]);
        assert_eq!(all("1:4MiB:x4").len(), 12);
        assert_eq!(all("1000:8000:+1000").len(), 8);
        assert_eq!(all("0,8:32"), [0, 8, 16, 32]);
        assert_eq!(all("5000"), [5000]);
    }

    #[test]
    fn neighbours_are_beside_powers_of_two_within_the_range() {
        let sizes = "8:64".parse::<Sizes>().unwrap().all(true);
        assert_eq!(sizes, [8, 13, 16, 19, 29, 32, 35, 61, 64]);
    }

    #[test]
    fn what_makes_no_sizes_is_refused() {
        for wrong in [
            "",
            "8:",
            "64:8",
            "0:8:x4",
            "1:8:x1",
            "1:8:+0",
            "1:8:4",
            "1:2:3:4",
            "2GiB",
            "1:1GiB:+1",
            "a",
        ] {
            assert!(wrong.parse::<Sizes>().is_err(), "{wrong}");
        }
    }
}
