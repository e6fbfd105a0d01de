//! What the times of an overlap say in words.

use bandgap_campaign::judge::Judged;
use bandgap_record::Quantity;
use bandgap_report::table::{interval, value};

use super::schema::OverlapPoint;
use crate::measured::slowed;

/// How the non-blocking way stands to the blocking one.
#[derive(Clone, Copy, PartialEq)]
enum Stands {
    Faster,
    Slower,
    /// To the last digit, as in virtual time.
    Equal,
    Undecided,
}

fn stands(point: &OverlapPoint) -> Stands {
    match point.gain.interval() {
        Some((low, _)) if low > 0.0 => Stands::Faster,
        Some((_, high)) if high < 0.0 => Stands::Slower,
        Some((low, high)) if low == 0.0 && high == 0.0 => Stands::Equal,
        _ => Stands::Undecided,
    }
}

/// The gain over the time of the blocking way.
fn relative(point: &OverlapPoint) -> f64 {
    point.gain.value.0 / point.blocking.value.0
}

/// Sentences on where it pays, where it costs, and where neither can be said.
pub(super) fn findings(points: &[OverlapPoint], judged: &Judged<'_>) -> Vec<String> {
    let mut sentences: Vec<String> = slowed(judged).into_iter().collect();
    let of = |wanted: Stands| -> Vec<&OverlapPoint> {
        let mut found: Vec<&OverlapPoint> =
            points.iter().filter(|point| stands(point) == wanted).collect();
        found.sort_by(|a, b| relative(b).abs().total_cmp(&relative(a).abs()));
        found
    };
    let [faster, slower, equal, neither] =
        [Stands::Faster, Stands::Slower, Stands::Equal, Stands::Undecided].map(of);
    let all = points.len();
    let by = |point: &OverlapPoint| {
        format!(
            "{} ({}): {:.0} % of {}",
            point.place(),
            amount(&point.gain),
            100.0 * relative(point).abs(),
            value(&point.blocking)
        )
    };
    if let Some(most) = faster.first() {
        sentences.push(format!(
            "Non-blocking is faster at {} of {all} points, most at {}.",
            faster.len(),
            by(most)
        ));
    }
    if let Some(most) = slower.first() {
        sentences.push(format!(
            "Non-blocking is slower at {} of {all} points, most at {}.",
            slower.len(),
            by(most)
        ));
    }
    if !equal.is_empty() {
        sentences.push(format!("Both take the same time at {} of {all} points.", equal.len()));
    }
    if !neither.is_empty() {
        sentences.push(format!(
            "At {} of {all} points it cannot be told which is faster: the interval of the gain \
             contains 0.",
            neither.len()
        ));
    }
    let undecided =
        points.iter().filter(|point| point.hideable.is_some() && point.share.is_none()).count();
    if undecided > 0 {
        sentences.push(format!(
            "At {undecided} of {all} points the hidden share is undecided: nothing of the exchange \
             that is no overhead, or nothing of the computation, can be told from 0."
        ));
    }
    sentences
}

/// `1.20 to 1.40 µs`, whichever way.
fn amount(gain: &Quantity) -> String {
    let turned = |gain: &Quantity| {
        let ends = gain.interval().map(|(low, high)| (-high, -low));
        let evidence =
            bandgap_record::Evidence::new(gain.estimator.clone(), gain.samples, gain.convergence());
        Quantity::new(-gain.value.0, ends, gain.unit, evidence)
    };
    if gain.value.0 >= 0.0 {
        return interval(gain);
    }
    turned(gain).map_or_else(|_| interval(gain), |turned| interval(&turned))
}
