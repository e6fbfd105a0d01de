//! Message sizes as users type them.

use std::collections::BTreeSet;
use std::str::FromStr;

use bandgap_campaign::sizes::LONGEST;
use bandgap_units::Bytes;

/// Sizes as typed: `8,64KiB,1MiB`, `0:4MiB` (powers of two), `1:4MiB:x4`, `1000:8000:+1000`, and lists of these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    One(u32),
    Range { from: u32, to: u32, step: Step },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Powers of two, and the ends.
    Powers,
    Times(u32),
    Plus(u32),
}

/// Sizes that a range has at most.
const MOST: u32 = 10_000;
/// How far neighbours are from a power of two.
const PERTURBED: u32 = 3;
/// Powers of two from here on have such neighbours.
const FROM: u32 = 16;

impl Sizes {
    /// From 0 or 1 to the greatest, by powers of two.
    pub fn powers(from: u32, to: u32) -> Self {
        Self { parts: vec![Part::Range { from, to, step: Step::Powers }] }
    }

    /// All of them, ascending, each once; with `perturb` the neighbours of powers of two too.
    pub fn all(&self, perturb: bool) -> Vec<u32> {
        let mut all = BTreeSet::new();
        for part in &self.parts {
            match *part {
                Part::One(size) => {
                    all.insert(size);
                }
                Part::Range { from, to, step: Step::Powers } => {
                    let powers = (0..=LONGEST.ilog2()).map(|exponent| 1 << exponent);
                    let within = powers.filter(|size| (from..=to).contains(size));
                    all.extend(within.chain([from, to]));
                }
                Part::Range { from, to, step } => {
                    let next = |size: &u32| match step {
                        Step::Plus(by) => size.checked_add(by),
                        Step::Times(by) => size.checked_mul(by),
                        Step::Powers => None,
                    };
                    let steps = std::iter::successors(Some(from), next);
                    all.extend(steps.take_while(|size| *size <= to));
                }
            }
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

    /// The least and the greatest.
    pub fn ends(&self) -> (u32, u32) {
        let all = self.all(false);
        (all.first().copied().unwrap_or(0), all.last().copied().unwrap_or(0))
    }

    /// Whether a single range of powers of two was typed, so that kernels may choose among its sizes.
    pub fn is_range(&self) -> bool {
        matches!(self.parts[..], [Part::Range { step: Step::Powers, .. }])
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
    let bytes: Bytes = text.trim().parse().map_err(|e: bandgap_units::UnitError| e.to_string())?;
    match u32::try_from(bytes.0) {
        Ok(size) if size <= LONGEST => Ok(size),
        _ => Err(format!("{bytes} is too long: at most {}", Bytes(LONGEST.into()))),
    }
}

fn part(text: &str) -> Result<Part, String> {
    let words: Vec<&str> = text.split(':').collect();
    let (from, to, step) = match words[..] {
        [one] => return size(one).map(Part::One),
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
        _ => Ok(Part::Range { from, to, step }),
    }
}

fn step(text: &str) -> Result<Step, String> {
    let wrong = || format!("write the step as x4 or +1000, not {text}");
    match text.strip_prefix('+') {
        Some(by) => size(by).map(Step::Plus),
        None => {
            let by = text.strip_prefix(['x', '×']).ok_or_else(wrong)?;
            by.parse().map(Step::Times).map_err(|_| wrong())
        }
    }
    .and_then(|step| match step {
        Step::Plus(0) | Step::Times(0 | 1) => Err(wrong()),
        step => Ok(step),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
