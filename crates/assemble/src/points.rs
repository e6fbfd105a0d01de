//! The points of a campaign: by series, by curve and by round.

use std::collections::BTreeMap;

use bandgap_campaign::data::Rejected;
use bandgap_campaign::{Described, Key};
use bandgap_model::hockney::SizedTimes;
use bandgap_record::Labels;
use bandgap_results::by_key;
use bandgap_stats::quantile::mean;
use bandgap_stats::{Rule, batch_value, estimate};

use crate::estimate::{Estimated, Measured};

/// The axes of sizes.
pub(crate) const SIZES: [&str; 3] = ["bytes", "elements", "dimension"];

/// A described point with the key of its time.
pub(crate) type At<'a> = (&'a Key, &'a Described);

/// The points of one name.
pub(crate) struct Points<'a> {
    /// The name.
    pub(crate) name: &'a str,
    /// The points, in the order of the plan.
    pub(crate) all: Vec<At<'a>>,
}

/// Points of a series that differ in size alone.
pub(crate) struct Curve<'a> {
    /// What they have in common.
    pub(crate) which: Labels,
    /// The points, by ascending size.
    pub(crate) points: Vec<(u64, At<'a>)>,
}

/// The size of a point: its place on an axis of sizes.
pub(crate) fn size(of: &Described) -> Option<u64> {
    SIZES.iter().find_map(|axis| number(of, axis))
}

/// The place of a point on an axis of numbers.
pub(crate) fn number(of: &Described, axis: &str) -> Option<u64> {
    of.place(axis)?.number()
}

impl<'a> Points<'a> {
    /// The axes of its points.
    pub(crate) fn axes(&self) -> Vec<&'a str> {
        let first = self.all.first();
        first.map_or_else(Vec::new, |(_, of)| of.at.iter().map(|(axis, _)| &**axis).collect())
    }

    /// The points with a place on `axis`, and those without.
    pub(crate) fn parted(self, axis: &str) -> [Points<'a>; 2] {
        let Points { name, all } = self;
        let (on, off) = all.into_iter().partition(|(_, of)| of.place(axis).is_some());
        [on, off].map(|all| Points { name, all })
    }

    /// Curves along the axes `along`: points that agree on all other axes, by ascending place.
    pub(crate) fn along(&self, along: &[&str]) -> Vec<Curve<'a>> {
        let all = by_key(self.all.iter().filter_map(|&(key, of)| {
            let at = along.iter().find_map(|axis| number(of, axis))?;
            let others = of.at.iter().filter(|(axis, _)| !along.contains(&&**axis));
            let which: Labels = others.map(|(axis, at)| (axis.clone(), at.clone())).collect();
            Some((which, (at, (key, of))))
        }));
        let curve = |(which, mut points): (_, Vec<(u64, At<'a>)>)| {
            points.sort_by_key(|(at, _)| *at);
            Curve { which, points }
        };
        all.into_iter().map(curve).collect()
    }
}

impl<'a> Measured<'a> {
    /// Why what has this key cannot be measured here, if a batch of it told.
    pub(crate) fn refused(&self, key: &Key) -> Option<String> {
        self.judged.table.batches(key).iter().find_map(|batch| match &batch.rejected {
            Some(Rejected::Unavailable(reason)) => Some(reason.clone()),
            _ => None,
        })
    }

    /// All points that were described, by name.
    pub(crate) fn points(&self) -> Vec<Points<'a>> {
        let all = self.judged.table.points().into_iter();
        let all = by_key(all.map(|(key, of)| (key.what(), (key, of)))).into_iter();
        let mut found: Vec<_> = all.map(|(name, all)| Points { name, all }).collect();
        for points in &mut found {
            // If time was too short for all sizes, the plan's order is not ascending.
            let in_order = |of: &Described| [number(of, "ranks"), number(of, "hops"), size(of)];
            if points.all.iter().all(|(_, of)| of.place("distance").is_none()) {
                points.all.sort_by_key(|(_, of)| in_order(of));
            }
        }
        found
    }

    /// The values of several keys in the rounds that have all of them, by launch and round.
    pub(crate) fn rounds<const N: usize>(&self, keys: [&Key; N]) -> Vec<(u32, u64, [f64; N])> {
        let mut rounds = BTreeMap::<(u32, u64), [Vec<f64>; N]>::new();
        for (at, key) in keys.into_iter().enumerate() {
            for (launch, round, value) in self.values(key) {
                let of =
                    rounds.entry((launch, round)).or_insert_with(|| [(); N].map(|()| Vec::new()));
                of[at].push(value);
            }
        }
        let whole = rounds.into_iter().filter(|(_, of)| of.iter().all(|of| !of.is_empty()));
        whole.map(|((launch, round), of)| (launch, round, of.map(|of| mean(&of)))).collect()
    }

    /// The mean over rounds of a function of their values. Its half-width is judged relative to `beside`, or else to the mean
    /// itself.
    pub(crate) fn over_rounds<const N: usize>(
        &self,
        rounds: &[(u32, u64, [f64; N])],
        beside: Option<f64>,
        rule: Rule,
        estimator: &'static str,
        of: impl Fn(&[f64; N]) -> f64,
    ) -> Option<Estimated> {
        let values: Vec<(u32, u64, f64)> =
            rounds.iter().map(|(launch, round, values)| (*launch, *round, of(values))).collect();
        let point = estimate(&values, self.judged.confidence)?;
        let judged = match beside {
            None => rule.judge_point(&point),
            Some(beside) => rule.judge(point.interval.half_width(), beside),
        };
        Some(self.of_point(&point, estimator, judged))
    }

    /// Applies `make` to the place and the times of each point of a curve, by launch.
    fn of_launches<T>(
        &self,
        curve: &Curve<'_>,
        make: impl Fn(u64, &Described, Vec<f64>) -> T,
    ) -> BTreeMap<u32, Vec<T>> {
        let mut launches = BTreeMap::<u32, Vec<T>>::new();
        for (at, (key, of)) in &curve.points {
            for (launch, values) in self.judged.by_launch(key) {
                let times = values.into_iter().map(|(_, ns)| ns).collect();
                launches.entry(launch).or_default().push(make(*at, of, times));
            }
        }
        launches
    }

    /// The times of a curve over the bytes of its messages, by launch.
    pub(crate) fn sized(&self, curve: &Curve<'_>) -> BTreeMap<u32, Vec<SizedTimes>> {
        self.of_launches(curve, |_, of, times_ns| SizedTimes { bytes: of.bytes, times_ns })
    }

    /// The place and mean time of each point of a curve, by launch; empty for a single launch.
    pub(crate) fn launches(&self, curve: &Curve<'_>) -> Vec<Vec<(u64, f64)>> {
        let launches = self.of_launches(curve, |at, _, times| (at, batch_value(&times)));
        if launches.len() < 2 { Vec::new() } else { launches.into_values().collect() }
    }
}
