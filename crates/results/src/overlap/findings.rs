//! What the times of an overlap say in words.

use bandgap_campaign::judge::Judged;
use bandgap_record::Quantity;
use bandgap_report::table::{interval, value};
use bandgap_stats::Interval;
use bandgap_units::significant;

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

/// What the interval of a gain says.
fn stands(&Interval { low, high }: &Interval) -> Stands {
    if low > 0.0 {
        Stands::Faster
    } else if high < 0.0 {
        Stands::Slower
    } else if low == 0.0 && high == 0.0 {
        Stands::Equal
    } else {
        Stands::Undecided
    }
}

/// The gain over the time of the blocking way.
fn relative(point: &OverlapPoint) -> f64 {
    point.gain.value.0 / point.blocking.value.0
}

/// Sentences on where it pays, where it costs, and where neither can be said. `joint` are the intervals of the
/// points' gains where those of all `planned` points hold together.
pub(super) fn findings(
    points: &[OverlapPoint],
    (joint, planned): (&[Interval], usize),
    judged: &Judged<'_>,
    interrupted: bool,
) -> Vec<String> {
    let mut sentences: Vec<String> = slowed(judged, interrupted).into_iter().collect();
    let of = |wanted: Stands| -> Vec<&OverlapPoint> {
        let stand = points.iter().zip(joint.iter().map(stands));
        let found = stand.filter_map(|(point, stands)| (stands == wanted).then_some(point));
        let mut found: Vec<&OverlapPoint> = found.collect();
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
            "At {} of {all} points it cannot be told which is faster: the interval of the gain{} contains 0.",
            neither.len(),
            match planned {
                1 => String::new(),
                planned => format!(", widened to hold at all {planned} points together,"),
            }
        ));
    }
    let without_share = || points.iter().filter(|of| of.hideable.is_some() && of.share.is_none());
    let (nothing, vague): (Vec<_>, Vec<_>) = without_share().partition(|of| may_be_nothing(of));
    if !nothing.is_empty() {
        sentences.push(format!(
            "At {} of {all} points the hidden share is undecided: nothing of the exchange that is no \
             overhead, or nothing of the computation, can be told from 0.",
            nothing.len()
        ));
    }
    let (more, vague): (Vec<_>, Vec<_>) = vague.into_iter().partition(|of| gains_more(of));
    if !more.is_empty() {
        sentences.push(format!(
            "At {} of {all} points the hidden share is undecided: non-blocking gains more than all that can be \
             hidden, so not by hiding alone.",
            more.len()
        ));
    }
    if !vague.is_empty() {
        sentences.push(format!(
            "At {} of {all} points the hidden share is undecided: its interval is wider than 100 \
             percentage points, or lies above 100 %. {}",
            vague.len(),
            why_vague(&vague, interrupted)
        ));
    }
    sentences
}

/// Whether what can be hidden cannot be told from 0.
fn may_be_nothing(point: &OverlapPoint) -> bool {
    let interval = point.hideable.as_ref().and_then(Quantity::interval);
    interval.is_none_or(|(low, _)| low <= 0.0)
}

/// Whether the whole interval of the gain is above all that can be hidden.
fn gains_more(point: &OverlapPoint) -> bool {
    let most = point.hideable.as_ref().and_then(Quantity::interval);
    point.gain.interval().zip(most).is_some_and(|((least, _), (_, most))| least > most)
}

/// What makes the share of these points so uncertain.
fn why_vague(points: &[&OverlapPoint], interrupted: bool) -> String {
    let times = |of: &&OverlapPoint| of.computation.value.0 / of.exchange.value.0;
    let least = points.iter().map(times).fold(f64::INFINITY, f64::min);
    if least > 1.0 {
        return format!(
            "The computation takes {} times as long as the exchange or longer: of two such times the \
             difference is as uncertain as what can be hidden. Shorter vectors (--vectors) tell more.",
            significant(least, 2)
        );
    }
    let advice = if interrupted { "" } else { " More time (--time-budget) may decide it." };
    format!("The times scatter by as much as what can be hidden.{advice}")
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
