//! The time that the launches of a measurement share.

use std::time::{Duration, Instant};

/// Least time for the first launch, which is always tried.
const TRIED: Duration = Duration::from_secs(1);
/// Launches to keep when time is short.
const FEWEST: u32 = 2;
/// The share of the average time of a launch that must be left for another one.
const ENOUGH: f64 = 0.8;

/// The time that the launches of a measurement share, including the start of their ranks.
#[derive(Clone, Copy, Debug)]
pub struct Allotted {
    /// When the first launch began.
    pub begun: Instant,
    /// When the last launch must be over.
    pub end: Instant,
    /// If several measurements take turns, launch by launch: the index of this one, and their number.
    pub turn: (u32, u32),
}

impl Allotted {
    /// Whether there is time for this launch, counted from 0.
    pub fn has_time_for(&self, launch: u32, now: Instant) -> bool {
        let taken = now.saturating_duration_since(self.begun).as_secs_f64();
        launch == 0 || self.left(now) >= ENOUGH * taken / f64::from(launch)
    }

    /// The usual time of this launch of `launches`, and the most it may take if slow ranks leave time for fewer launches.
    /// Launches for which there will be no time get none.
    pub(crate) fn of_launch(&self, launch: u32, launches: u32, now: Instant) -> [Duration; 2] {
        let (at, of) = self.turn;
        let share = |launches: u32| {
            let turns = launches.saturating_sub(launch).max(1) * of - at;
            Duration::from_secs_f64(self.left(now) / f64::from(turns))
        };
        let most = share(launches.min(FEWEST));
        if launch == 0 {
            return [share(launches), most.max(TRIED)];
        }
        let taken = now.saturating_duration_since(self.begun).as_secs_f64();
        let part = f64::from(at) / f64::from(of);
        let fit = self.left(now) * (f64::from(launch) + part) / (ENOUGH * taken) + part;
        [share(launches.min(launch.saturating_add(fit as u32))), most]
    }

    fn left(&self, now: Instant) -> f64 {
        self.end.saturating_duration_since(now).as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launches_share_the_time_that_is_left_and_are_fewer_where_each_takes_long() {
        let begun = Instant::now();
        let at = |seconds: f64| begun + Duration::from_secs_f64(seconds);
        let of = |seconds, turn| Allotted { begun, end: at(seconds), turn };
        let ten = of(10.0, (0, 1));
        let times = |launch, launches, now| {
            ten.of_launch(launch, launches, at(now)).map(|time| time.as_secs_f64())
        };
        // A fifth each, or half of all if ranks are slow. Later launches share the rest.
        assert_eq!(times(0, 5, 0.0), [2.0, 5.0]);
        assert_eq!(times(1, 5, 2.0), [2.0, 8.0]);
        // If a launch takes 3 s, there is time for two more, and after 6 s for one more.
        assert_eq!(times(1, 5, 3.0), [3.5, 7.0]);
        assert_eq!(times(2, 5, 6.0), [4.0, 4.0]);
        assert_eq!(times(0, 1, 0.0), [10.0, 10.0]);
        // Each took 3 s: no fourth one begins in the last second, but one is always tried.
        let fits = [(0, 11.0), (1, 3.0), (2, 6.0), (3, 9.0)];
        let fits = fits.map(|(launch, now)| ten.has_time_for(launch, at(now)));
        assert_eq!(fits, [true, true, true, false]);
        assert_eq!(times(0, 5, 11.0), [0.0, 1.0]);
        // The second of two in turns: nine of ten turns are left, or three of the least four.
        let second = of(9.0, (1, 2)).of_launch(0, 5, begun);
        assert_eq!(second, [1, 3].map(Duration::from_secs));
        // Each turn took 2 s, and the third of four launches has begun with one: no fourth will.
        let late = of(14.0, (1, 2)).of_launch(2, 4, at(10.0));
        assert_eq!(late, [4; 2].map(Duration::from_secs));
    }
}
