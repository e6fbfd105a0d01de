//! When a measurement may stop.
//!
//! A measurement that stops as soon as its intervals look narrow enough stops more often where they
//! are too narrow by chance. So it is seldom asked whether enough is known, and not before there are
//! rounds enough to tell how much rounds differ.

/// Rounds before it is asked for the first time.
const FIRST: u32 = 8;

/// Rounds done at one time over those at the time before.
const GROWTH: f64 = 1.4;

/// Whether it is asked when so many rounds are done: after 8, 11, 15, 21, 29, … of them.
pub fn may_stop(rounds: u32) -> bool {
    let mut asked = FIRST;
    while asked < rounds {
        asked = (f64::from(asked) * GROWTH) as u32;
    }
    asked == rounds
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
