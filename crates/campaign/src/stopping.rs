//! When a measurement may stop.
//!
//! A measurement that stops as soon as its intervals look narrow enough would often stop when they
//! are too narrow by chance. So the campaign seldom asks whether enough is known, and only once
//! there are enough rounds to show how much rounds differ.

/// Number of rounds before it asks for the first time.
const FIRST: u32 = 8;

/// Ratio of successive numbers of rounds at which it asks.
const GROWTH: f64 = 1.4;

/// Whether the campaign asks after this number of rounds: 8, 11, 15, 21, 29, ….
pub fn may_stop(rounds: u32) -> bool {
    let mut asked = FIRST;
    while asked < rounds {
        asked = (f64::from(asked) * GROWTH) as u32;
    }
    asked == rounds
}

/// Whether the campaign asks after this number of rounds how to share out the batches of those that follow. It goes on
/// in any case.
pub fn may_plan(rounds: u32) -> bool {
    [3, 5].contains(&rounds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_ever_farther_apart() {
        let asked: Vec<u32> = (0..60).filter(|rounds| may_stop(*rounds)).collect();
        assert_eq!(asked, [8, 11, 15, 21, 29, 40, 56]);
    }
}
