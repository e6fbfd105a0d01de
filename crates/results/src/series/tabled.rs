//! The record of a series that somebody else measured.

use bandgap_model::hockney::SizedTimes;
use bandgap_record::Unit;
use bandgap_stats::Point;

use super::schema::{Series, SeriesPoint};
use crate::error::AssembleError;
use crate::measured::{Batch, Estimated, State, Summary, TABLE, bandwidth};

/// How such a series is recorded.
pub struct Tabled<'a> {
    /// The tool.
    pub name: &'a str,
    /// What there is to say about the table.
    pub findings: Vec<String>,
    /// Half-width of an interval over its estimate that counts as converged.
    pub precision: f64,
    /// Confidence of all intervals.
    pub confidence: f64,
}

impl Tabled<'_> {
    /// One point for each size, with all of its times as one batch.
    ///
    /// # Errors
    /// A number cannot be recorded.
    pub fn series(self, times: &[SizedTimes]) -> Result<Series, AssembleError> {
        let points: Result<Vec<SeriesPoint>, AssembleError> =
            times.iter().map(|sized| self.point(sized)).collect();
        Ok(Series {
            name: self.name.to_owned(),
            transport: TABLE.to_owned(),
            ranks: RANKS,
            pair: None,
            cores: None,
            launches: 1,
            verified: false,
            checked: None,
            state: State::only(),
            points: points?,
            findings: self.findings,
        })
    }

    fn point(&self, sized: &SizedTimes) -> Result<SeriesPoint, AssembleError> {
        let time = self.time(&sized.times_ns)?.recorded(Unit::Second)?;
        Ok(SeriesPoint {
            bytes: sized.bytes,
            ranks: RANKS,
            distance: None,
            bandwidth: bandwidth(sized.bytes, &time)?,
            rate: None,
            send_overhead: None,
            gap: None,
            overlap: None,
            state: State::only().label,
            converged: time.converged,
            summary: Summary::of(&sized.times_ns, self.confidence)?,
            batches: vec![Batch::tabled(&sized.times_ns)],
            time,
        })
    }

    /// The mean of the repetitions; of a single time, which has no interval that could be too wide,
    /// that time.
    fn time(&self, times: &[f64]) -> Result<Estimated, AssembleError> {
        match (Point::of(times, self.confidence), times) {
            (Some(point), _) => {
                Ok(Estimated::new(&point, REPEATED, point.converged(self.precision)))
            }
            (None, [single, ..]) => Ok(Estimated::single(*single, GIVEN, true)),
            (None, []) => Err(AssembleError::Empty),
        }
    }
}

/// All of the tools send between two.
const RANKS: u32 = 2;

const REPEATED: &str = "mean of repetitions inside the MAD fence, t interval";
const GIVEN: &str = "as given";

#[cfg(test)]
mod tests {
    use super::*;

    fn series(times: &[SizedTimes]) -> Series {
        let tabled =
            Tabled { name: "CSV", findings: Vec::new(), precision: 0.05, confidence: 0.95 };
        tabled.series(times).unwrap()
    }

    #[test]
    fn a_single_time_has_no_interval_and_repetitions_have_one() {
        let once = SizedTimes { bytes: 0, times_ns: vec![150.0] };
        let often = SizedTimes { bytes: 1000, times_ns: vec![499.0, 500.0, 501.0] };
        let series = series(&[once, often]);
        let [empty, long] = series.points.as_slice() else { panic!("two points") };
        assert_eq!((empty.time.interval(), empty.bandwidth.as_ref()), (None, None));
        assert_eq!((empty.time.estimator.as_str(), empty.converged), ("as given", true));
        // s = 1, t(2, 95 %) = 4.3027, 4.3027/√3 = 2.4841.
        let (low, high) = long.time.interval().unwrap();
        assert!((low * 1e9 - 497.5159).abs() < 1e-3 && (high * 1e9 - 502.4841).abs() < 1e-3);
        // 1000 bytes in 500 ns, and in 497.5159 ns at best.
        let rate = long.bandwidth.as_ref().unwrap();
        assert!((rate.value.0 / 2e9 - 1.0).abs() < 1e-9);
        assert!((rate.high.unwrap().0 * 497.5159e-9 - 1000.0).abs() < 1e-2);
        assert_eq!(long.batches[0].samples.len(), 3);
    }

    #[test]
    fn repetitions_that_scatter_have_not_converged() {
        let series = series(&[SizedTimes { bytes: 1, times_ns: vec![100.0, 300.0] }]);
        let [point] = series.points.as_slice() else { panic!("one point") };
        assert!(!point.converged);
        // The interval reaches below zero, so the rate has none.
        assert_eq!(point.bandwidth.as_ref().unwrap().interval(), None);
    }
}
