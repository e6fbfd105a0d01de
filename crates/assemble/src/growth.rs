//! How times grow: with the dimension of a matrix, and with the number of ranks.

use bandgap_campaign::signature::judge;
use bandgap_model::doublings::{RankTime, doublings, doublings_over_launches};
use bandgap_model::growth::{self as sizes, ESTIMATOR, Law, growth_over_launches};
use bandgap_record::{Column, Labels, Place, Unit};

use crate::AssembleError;
use crate::estimate::{Estimated, Measured};
use crate::made::{Builder, Made};
use crate::points::{Curve, Points};
use crate::series::places;

/// The kind of rows that say how times grow.
pub const GROWTH: &str = "growth";

/// Sizes at which the growth with the ranks is told, at most.
const FEW: usize = 6;

/// The exponents of a series over dimensions; else the time of a doubling of a series over several numbers of ranks.
///
/// # Errors
/// A number cannot be recorded.
pub(crate) fn growth(of: &Measured<'_>, points: &Points<'_>) -> Result<Made, AssembleError> {
    let axes = points.axes();
    if axes.contains(&"dimension") {
        return over(of, points, "dimension", exponent);
    }
    if axes.contains(&"ranks") {
        return over(of, points, "ranks", doubling);
    }
    Ok(Made::default())
}

/// What a curve says: its law, and the column with what it grows by.
type Grows = Option<(&'static str, [u64; 2], Estimated)>;

fn over(
    of: &Measured<'_>,
    points: &Points<'_>,
    along: &str,
    grows: impl Fn(&Measured<'_>, &Curve<'_>) -> Grows,
) -> Result<Made, AssembleError> {
    let column = match along {
        "dimension" => Column::new("exponent", Unit::One, "e of t = a + b·Nᵉ"),
        _ => Column::new("doubling", Unit::Second, "b of t = a + b·log₂ P"),
    };
    let axes: Vec<&str> = points.axes().into_iter().filter(|axis| *axis != along).collect();
    let mut sorted = axes.clone();
    sorted.sort_unstable();
    let transport = of.setting.transport.as_str();
    let mut rows = Builder::new(GROWTH, points.name, transport, &sorted, vec![column]);
    let mut curves = points.along(&[along]);
    if along == "ranks" {
        curves = few(curves);
    }
    for curve in curves {
        let Some((law, [from, to], found)) = grows(of, &curve) else { continue };
        let mut labels = Labels::from([("law".to_owned(), Place::from(law))]);
        labels.insert("from".to_owned(), from.into());
        labels.insert("to".to_owned(), to.into());
        rows.push(places(&curve.which), labels, &[Some(found)], None)?;
    }
    Ok(rows.made())
}

/// The curves of a few sizes: the least, the greatest, and some between.
fn few(curves: Vec<Curve<'_>>) -> Vec<Curve<'_>> {
    let size = |curve: &Curve<'_>| {
        let of = &curve.which;
        of.get("bytes").or_else(|| of.get("elements")).and_then(Place::number)
    };
    let mut all: Vec<u64> = curves.iter().filter_map(size).collect();
    all.sort_unstable();
    all.dedup();
    let ends = [all.first().copied(), all.last().copied()];
    all.retain(|of| of.is_power_of_two() || ends.contains(&Some(*of)));
    if all.len() > FEW {
        let last = all.len() - 1;
        all = (0..FEW).map(|at| all[at * last / (FEW - 1)]).collect();
    }
    curves.into_iter().filter(|curve| size(curve).is_none_or(|of| all.contains(&of))).collect()
}

/// The times of a curve in nanoseconds.
fn times(of: &Measured<'_>, curve: &Curve<'_>) -> Vec<(u64, Estimated)> {
    let timed = curve.points.iter().filter_map(|(at, (key, _))| Some((*at, of.time(key)?)));
    timed.collect()
}

fn ends(times: &[(u64, Estimated)]) -> [u64; 2] {
    let at = |of: Option<&(u64, Estimated)>| of.map_or(0, |(at, _)| *at);
    [at(times.first()), at(times.last())]
}

fn exponent(of: &Measured<'_>, curve: &Curve<'_>) -> Grows {
    let confidence = of.judged.confidence();
    let timed = times(of, curve);
    let (at, ns): (Vec<f64>, Vec<f64>) =
        timed.iter().map(|(at, time)| (*at as f64, time.value)).unzip();
    let own = of.launches(curve).into_iter().filter_map(|launch| {
        let (at, ns): (Vec<f64>, Vec<f64>) =
            launch.into_iter().map(|(at, ns)| (at as f64, ns)).unzip();
        sizes::growth(&at, &ns, confidence).map(|own| own.exponent)
    });
    let own: Vec<f64> = own.collect();
    let found = growth_over_launches(&at, &ns, &own, confidence)?;
    let law = match found.law {
        Law::Linear => "linear",
        Law::Quadratic => "quadratic",
        Law::Power => "power",
        Law::Undecided => "undecided",
    };
    let rule = of.judged.rule().without_clock();
    let judged = found.interval.map(|known| rule.judge(known.half_width(), found.exponent));
    let grows = Estimated {
        value: found.exponent,
        interval: found.interval,
        convergence: judged.unwrap_or(false.into()),
        samples: at.len() as u64,
        estimator: ESTIMATOR,
    };
    Some((law, ends(&timed), grows))
}

fn doubling(of: &Measured<'_>, curve: &Curve<'_>) -> Grows {
    let confidence = of.judged.confidence();
    let timed = times(of, curve);
    let one = |(at, time): &(u64, Estimated)| RankTime {
        ranks: *at as u32,
        ns: time.value,
        half_width: time.interval.map(|interval| interval.half_width()),
    };
    let own = of.launches(curve).into_iter().filter_map(|launch| {
        let one = |(at, ns)| RankTime { ranks: at as u32, ns, half_width: None };
        let times: Vec<RankTime> =
            launch.into_iter().map(|(at, ns): (u64, f64)| one((at, ns))).collect();
        doublings(&times, confidence).map(|own| own.per_doubling.value)
    });
    let own: Vec<f64> = own.collect();
    let times: Vec<RankTime> = timed.iter().map(one).collect();
    let found = doublings_over_launches(&times, &own, confidence)?;
    let law = match found.is_linear {
        Some(true) => "log",
        Some(false) => "not_log",
        None => "undecided",
    };
    let judged = judge(&found.per_doubling, &of.judged.rule().without_clock());
    let grows = Estimated::of_model(&found.per_doubling, of.virtual_or(judged));
    Some((law, ends(&timed), grows))
}

#[cfg(test)]
mod tests;
