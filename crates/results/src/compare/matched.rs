//! What two sides have in common, by id.

use std::collections::BTreeMap;

use bandgap_record::{Number, Quantity, Unit};
use bandgap_stats::comparison::average;
use bandgap_stats::quantile::mean;

use super::ROUNDING;
use super::setups::{Differences, is_of};
use crate::list::Outcome;
use crate::run::Run;

/// The axes that curves run along, by preference.
const ALONG: [&[&str]; 6] =
    [&["bytes"], &["elements"], &["dimension"], &["from", "to"], &["ranks"], &["requesters"]];

/// The launches of a run; `None` for one without the value.
type Launches = Vec<Option<f64>>;
/// The launches of each run of A and of B.
type Point = [Vec<Launches>; 2];

/// A value or a curve.
pub struct Values {
    pub unit: Unit,
    /// Whether it does not vary.
    pub is_exact: bool,
    pub is_curve: bool,
    /// Whether all that is known is above 0: else the logarithms are none.
    pub is_above: bool,
    /// Its points by id, or the only one: logarithms of what both sides have.
    pub points: BTreeMap<String, Point>,
}

/// Values by id; of a curve without the places on it.
pub type ById = BTreeMap<String, Values>;

/// The means of both sides.
fn means(point: &Point) -> [f64; 2] {
    [0, 1].map(|side| average(point[side].iter().flatten()).unwrap_or_default())
}

impl Values {
    /// The change from A to B of the point that changed most, and its id.
    pub fn most(&self) -> Option<(f64, &str)> {
        let change = |(id, point)| {
            let [a, b] = means(point);
            (b - a, String::as_str(id))
        };
        self.points.iter().map(change).max_by(|a, b| a.0.abs().total_cmp(&b.0.abs()))
    }

    /// The value of each launch, or of each run, on both sides.
    ///
    /// Of a curve, the mean of the points that the launch has, each less the mean of the point: a launch that lacks a
    /// slow point is not a fast one.
    pub fn launches(&self, by_run: bool) -> [Launches; 2] {
        let centre = |of| if self.is_curve { mean(&means(of)) } else { 0.0 };
        let points: Vec<(&Point, f64)> = self.points.values().map(|of| (of, centre(of))).collect();
        let of_run = |side: usize, run: usize| {
            let count = points.iter().map(|(of, _)| of[side][run].len()).max().unwrap_or(0);
            let own = |launch| {
                let less =
                    |(of, centre): &(&Point, f64)| Some((*of[side][run].get(launch)?)? - centre);
                average(&points.iter().map(less).collect::<Launches>())
            };
            let all: Launches = (0..count).map(own).collect();
            if by_run { vec![average(&all)] } else { all }
        };
        let runs = |side: usize| points.first().map_or(0, |(of, _)| of[side].len());
        [0, 1].map(|side| (0..runs(side)).flat_map(|run| of_run(side, run)).collect())
    }
}

/// What both sides have of experiments that are alike.
pub struct Matched {
    pub common: ById,
    /// The values of fits to curves.
    fits: ById,
    pub only_in_a: Vec<String>,
    pub only_in_b: Vec<String>,
}

impl Matched {
    /// Matches two sides.
    pub fn of(sides: [&[(String, Run)]; 2], setup: &Differences) -> Matched {
        let mut found = ById::new();
        for (side, runs) in sides.into_iter().enumerate() {
            for (at, (_, run)) in runs.iter().enumerate() {
                each(run, |key, id, unit, is_exact, launches| {
                    let (is_curve, points) = (key != id, BTreeMap::new());
                    let values = Values { unit, is_exact, is_curve, is_above: true, points };
                    let own = found.entry(key).or_insert(values);
                    own.is_exact &= is_exact;
                    let none = || sides.map(|of| vec![Launches::new(); of.len()]);
                    own.points.entry(id).or_insert_with(none)[side][at] = launches;
                });
            }
        }
        let mut only = [Vec::new(), Vec::new()];
        found.retain(|key, values| {
            let has =
                |of: &Point| [0, 1].map(|side| of[side].iter().flatten().any(Option::is_some));
            let all: Vec<[bool; 2]> = values.points.values().map(has).collect();
            values.points.retain(|id, of| has(of) == [true; 2] && setup.is_alike(id));
            let is_common = !values.points.is_empty();
            let lacks = |side: &usize| !is_fit(key) && !is_common && all.iter().any(|of| of[*side]);
            for side in [0, 1].into_iter().filter(lacks) {
                only[side].push(key.clone());
            }
            is_common
        });
        found.values_mut().for_each(Values::be_logarithms);
        let (fits, common) = found.into_iter().partition(|(key, _)| is_fit(key));
        let [only_in_a, only_in_b] = only;
        Matched { common, fits, only_in_a, only_in_b }
    }

    /// The points of a curve, and the values of its fit.
    pub fn inside(&self, curve: &str) -> ById {
        let of = &self.common[curve];
        let point = |(id, point): (&String, &Point)| {
            let points = BTreeMap::from([(id.clone(), point.clone())]);
            (id.clone(), Values { is_curve: false, points, ..*of })
        };
        let has = |part: &str| part.starts_with("from=") || curve.split('/').any(|of| of == part);
        let is_its = |id: &str| {
            let place = id.rsplit_once('/').map_or(id, |(place, _)| place);
            place.split('/').skip(1).all(has)
        };
        let fits = self.fits.iter().filter(|(id, _)| is_its(id));
        let fits = fits.map(|(id, of)| (id.clone(), Values { points: of.points.clone(), ..*of }));
        of.points.iter().map(point).chain(fits).collect()
    }
}

impl Values {
    /// Takes logarithms, and leaves out points that have none and are not equal on both sides.
    fn be_logarithms(&mut self) {
        let is_one = |of: &Vec<Launches>| {
            let mut all = of.iter().flatten().flatten();
            let first = all.next().copied().unwrap_or_default();
            let is_it = |of: &f64| (of - first).abs() <= ROUNDING * first.abs();
            of.iter().all(|launches| launches.len() <= 1) && all.all(is_it)
        };
        // Equal ones are exact, too: the same run twice.
        self.is_exact = self.is_exact && self.points.values().flatten().all(is_one)
            || self.points.values().all(|[a, b]| a == b);
        self.points.retain(|_, of| {
            let is_above = of.iter().flatten().flatten().flatten().all(|of| *of > 0.0);
            self.is_above &= is_above;
            let log = |of: &mut f64| *of = if *of > 0.0 { of.ln() } else { 0.0 };
            let is_known = is_above || of[0] == of[1];
            of.iter_mut().flatten().flatten().flatten().for_each(log);
            is_known
        });
        self.is_exact &= !self.points.is_empty();
    }
}

fn is_fit(id: &str) -> bool {
    id.starts_with("hockney/")
}

/// Calls `add` with the values of a run that count, those of its fits, and its floors: the id of the curve and its own, the
/// unit, whether it is exact, and its launches.
fn each(run: &Run, mut add: impl FnMut(String, String, Unit, bool, Launches)) {
    for shown in run.results.iter().map(Outcome::as_shown) {
        let is_derived = shown.is_derived();
        let counts =
            |(id, _, counts): &(String, &Quantity, bool)| *counts && is_derived == is_fit(id);
        for (id, of, _) in shown.quantities().into_iter().filter(counts) {
            let is_exact = is_exact(run, &id, of);
            let launches: Launches = match &of.launches[..] {
                [] if is_exact => vec![Some(of.value.0)],
                launches => launches.iter().map(|of| of.map(|of| of.0)).collect(),
            };
            add(if is_derived { id.clone() } else { key(&id) }, id, of.unit, is_exact, launches);
        }
        for (at, (key, time, ratio)) in shown.floors().into_iter().enumerate() {
            let over = |(time, ratio): (&Option<Number>, &Option<Number>)| {
                Some((*time)?.0 / (*ratio)?.0).filter(|of| of.is_finite())
            };
            let launches = time.launches.iter().zip(&ratio.launches).map(over).collect();
            add(key.clone(), format!("{key}/{at}"), time.unit, false, launches);
        }
    }
}

/// Whether a value is of virtual time on a machine that does not vary, and not from a table of measurements.
fn is_exact(run: &Run, id: &str, of: &Quantity) -> bool {
    let is_narrow = of.half_width().is_none_or(|half| half <= 1e-9 * of.value.0.abs());
    let mut its = run.setup.of.iter().filter(|of| is_of(id, &of.experiment, &of.transport));
    (is_narrow || id.contains("/sim:")) && its.all(|of| of.wait.is_none() && !of.varies)
}

/// The id of the curve that a value is on, or its own.
fn key(id: &str) -> String {
    let axis = |part: &str| part.split_once('=').map_or(String::new(), |(axis, _)| axis.to_owned());
    let axes: Vec<String> = id.split('/').map(axis).collect();
    let has = |along: &&&[&str]| along.iter().all(|of| axes.iter().any(|axis| axis == of));
    let along = ALONG.iter().find(has).copied().unwrap_or_default();
    id.split('/').filter(|part| !along.contains(&&*axis(part))).collect::<Vec<_>>().join("/")
}
