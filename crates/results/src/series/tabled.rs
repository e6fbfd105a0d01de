//! The record of a series that somebody else measured.

use bandgap_model::hockney::SizedTimes;
use bandgap_record::{Convergence, Unit};
use bandgap_stats::{Point, Rule};

use super::schema::{Series, SeriesPoint};
use crate::error::AssembleError;
use crate::measured::{Batch, Estimated, State, Summary, TABLE, bandwidth};

/// The series that the tool of this name measured: one point for each size, with all of its times as
/// one batch. Repetitions are judged by the width of their interval, however few they are.
///
/// # Errors
/// A number cannot be recorded.
pub fn tabled(
    name: &str,
    times: &[SizedTimes],
    rule: Rule,
    confidence: f64,
    findings: Vec<String>,
) -> Result<Series, AssembleError> {
    let points: Result<Vec<SeriesPoint>, AssembleError> =
        times.iter().map(|sized| point(sized, rule, confidence)).collect();
    Ok(Series {
        name: name.to_owned(),
        transport: TABLE.to_owned(),
        ranks: RANKS,
        pair: None,
        cores: None,
        launches: 1,
        lost_launches: Vec::new(),
        verified: false,
        checked: None,
        buffers: None,
        state: State::only(),
        points: points?,
        floor_ratios: Vec::new(),
        looks: Vec::new(),
        fastest: Vec::new(),
        growth: Vec::new(),
        doublings: Vec::new(),
        findings,
    })
}

fn point(sized: &SizedTimes, rule: Rule, confidence: f64) -> Result<SeriesPoint, AssembleError> {
    let times = &sized.times_ns;
    // The mean of the repetitions; of a single time, which has no interval that could be too wide,
    // that time.
    let time = match (Point::of(times, confidence), times.as_slice()) {
        (Some(point), _) => Estimated::new(&point, REPEATED, rule.judge_given(&point)),
        (None, [single, ..]) => Estimated::single(*single, GIVEN, Convergence::Converged),
        (None, []) => return Err(AssembleError::Empty),
    };
    let time = time.recorded(Unit::Second)?;
    Ok(SeriesPoint {
        bytes: sized.bytes,
        elements: None,
        dimension: None,
        mesh: None,
        ranks: RANKS,
        pair: None,
        hops: None,
        variant: None,
        way: None,
        distance: None,
        bandwidth: bandwidth(sized.bytes, &time)?,
        rate: None,
        send_overhead: None,
        gap: None,
        overlap: None,
        modelled_hockney: None,
        modelled_loggp: None,
        state: State::only().label,
        converged: time.converged,
        clock_limited: time.clock_limited,
        summary: Summary::of(times, confidence, rule)?,
        batches: vec![Batch::tabled(times)],
        time,
    })
}

/// All of the tools send between two.
const RANKS: u32 = 2;

const REPEATED: &str = "mean of repetitions inside the MAD fence, t interval";
const GIVEN: &str = "as given";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measured::examples::RULE;

    fn series(times: &[SizedTimes]) -> Series {
        tabled("CSV", times, RULE, 0.95, Vec::new()).unwrap()
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
