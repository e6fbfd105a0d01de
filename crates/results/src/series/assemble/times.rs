//! The times that are fitted.

use std::collections::BTreeMap;

use bandgap_campaign::series::{Part, Step, key};
use bandgap_comm::passing::Way;
use bandgap_model::hockney::SizedTimes;
use bandgap_stats::rounds;

use super::task::{Kind, Measured};
use crate::measured::Which;
use crate::series::fits::CurveTimes;
use crate::series::schema::Series;

impl Measured<'_> {
    /// What is fitted: batch values of each size, by curve and launch.
    pub(super) fn times(&self, series: &Series, kind: &Kind) -> BTreeMap<Which, CurveTimes> {
        let mut times: BTreeMap<Which, CurveTimes> = BTreeMap::new();
        for single in self.singles(kind).iter().flat_map(Step::done) {
            let way = single.way.map(Way::name);
            let place =
                (single.size.into(), kind.taking_part(&single), single.variant.as_deref(), way);
            let pair = Some(single.pair.map(|rank| rank as u32));
            let point = series.points.iter().find(|point| {
                (point.size(), point.ranks, point.variant.as_deref(), point.way.as_deref()) == place
                    && (point.pair.is_none() || point.pair == pair)
            });
            let Some(point) = point else { continue };
            let launches = self.view(&single).by_launch(&key(&single, Part::Whole));
            for (launch, times_ns) in launches {
                let sized = SizedTimes { bytes: point.bytes, times_ns: rounds::of(&times_ns) };
                let curve = times.entry(series.which(point)).or_default();
                curve.entry(launch).or_default().push(sized);
            }
        }
        times
    }
}
