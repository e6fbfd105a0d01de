//! One point of a series: a time, and what follows from it.

use bandgap_campaign::series::{Part, Step, key};
use bandgap_kernels::Extent;
use bandgap_kernels::ProcessorMesh;
use bandgap_record::{Convergence, Evidence, Quantity, RecordError, Unit};
use bandgap_stats::launches::over_launches;
use bandgap_stats::{Interval, Point, Rule};
use bandgap_units::Ns;

use super::task::{Kind, Measured};
use crate::error::AssembleError;
use crate::measured::{State, Timed, bandwidth, estimated, half_width, turned};
use crate::series::schema::SeriesPoint;

impl Measured<'_> {
    pub(super) fn point(
        &self,
        kind: &Kind,
        single: &Step,
        is_one_pair: bool,
    ) -> Result<Option<SeriesPoint>, AssembleError> {
        let (judged, virtual_time) = (&self.view(single), self.setting.is_virtual());
        let whole = key(single, Part::Whole);
        let timed = Timed::of(judged, &whole, virtual_time)?;
        let Some(Timed { time, convergence, summary, batches }) = timed else { return Ok(None) };
        let time = time.recorded(Unit::Second)?;
        let send_overhead = estimated(judged, &key(single, Part::Issue), virtual_time);
        let overlap = send_overhead
            .as_ref()
            .map(|o| beside(&time, o, &judged.rule_of(&whole)))
            .transpose()?;
        // 1/t: operations per second.
        let by = || format!("1 / ({})", time.estimator);
        let rate = || turned(1.0, &time, Unit::PerSecond, by());
        let extent = kind.measure.extent;
        let rate = (extent == Extent::None).then(rate).transpose()?;
        let on = |axis: Extent| (extent == axis).then_some(u64::from(single.size));
        let pair = single.pair.map(|rank| rank as u32);
        Ok(Some(SeriesPoint {
            bytes: single.bytes()?,
            elements: on(Extent::Doubles),
            dimension: on(Extent::Dimension),
            mesh: mesh_of(extent, single),
            ranks: kind.taking_part(single),
            pair: (!is_one_pair && !kind.measure.of_all).then_some(pair),
            hops: single.hops,
            variant: single.variant.clone(),
            way: single.way.map(|way| way.name().to_owned()),
            distance: self.setting.distance(single.pair),
            bandwidth: bandwidth(single.moved()?, &time)?,
            rate,
            gap: self.gap(kind, single)?,
            overlap,
            modelled_hockney: None,
            modelled_loggp: None,
            send_overhead,
            state: State::name_seen(judged),
            converged: convergence == Convergence::Converged,
            clock_limited: convergence == Convergence::ClockLimited,
            summary,
            batches,
            time,
        }))
    }

    /// g(n): what each further transfer of a burst adds, (T_M − T_1)/(M − 1). Messages are not sent
    /// in bursts: their M is the number of rounds.
    fn gap(&self, kind: &Kind, single: &Step) -> Result<Option<Quantity>, AssembleError> {
        if !kind.is_transfer {
            return Ok(None);
        }
        let many = self.plan.steps.iter().find(|step| {
            (&step.series, step.size) == (&single.series, single.size) && step.messages > 1
        });
        let Some(many) = many else { return Ok(None) };
        let keys = [single, many].map(|step| key(step, Part::Whole));
        let confidence = self.judged.confidence();
        let pooled = keys.each_ref().map(|key| {
            let values: Vec<_> = self.judged.in_rounds(key).collect();
            Point::in_rounds(&values, confidence)
        });
        let [Some(one), Some(burst)] = pooled else { return Ok(None) };
        let further = f64::from(many.messages - 1);
        let value = (burst.value - one.value) / further;
        let half = burst.interval.half_width().hypot(one.interval.half_width()) / further;
        // What a launch adds to both alike is in neither's difference.
        let own = self.judged.launches_of_both(&keys);
        let own: Vec<f64> = own.into_iter().map(|[one, burst]| (burst - one) / further).collect();
        let interval = Interval { low: value - half, high: value + half };
        let (value, interval) = over_launches((value, interval), &own, confidence);
        let half = interval.half_width();
        let batches = one.batches.min(burst.batches) as u64;
        let mut convergence = self.judged.rule().without_clock().judge(half, value);
        if !self.setting.is_virtual() {
            let [one, burst] = keys.each_ref().map(|key| self.judged.convergence(key));
            convergence = convergence.min(one).min(burst);
        }
        let evidence = Evidence::new("(T_M − T_1)/(M − 1)", batches, convergence);
        let interval = Some((Ns(interval.low), Ns(interval.high)));
        Ok(Some(Quantity::time(Ns(value), interval, evidence)?))
    }
}

/// The mesh that a matrix is divided over: as planned, or the usual one of so many ranks.
fn mesh_of(extent: Extent, step: &Step) -> Option<[u32; 2]> {
    let usual = || ProcessorMesh::for_ranks(step.ranks).ok().map(|mesh| [mesh.rows, mesh.columns]);
    let mesh = if extent == Extent::Dimension { step.mesh.or_else(usual) } else { None };
    mesh.map(|sides| sides.map(|side| side as u32))
}

/// t(n) − o(n): how much computation fits beside a transfer. Both come from the same batches, so
/// the wider of the two intervals is taken rather than their sum.
fn beside(time: &Quantity, overhead: &Quantity, rule: &Rule) -> Result<Quantity, RecordError> {
    let seconds = time.value.0 - overhead.value.0;
    let half = half_width(time).max(half_width(overhead));
    let ns = |seconds: f64| Ns(seconds * 1e9);
    // A small difference of large times has a wide interval beside it.
    let own = rule.judge(Ns::from_secs(half).0, Ns::from_secs(seconds).0);
    let convergence = own.min(time.convergence()).min(overhead.convergence());
    let evidence = Evidence::new("T(n) − o(n)", time.samples, convergence);
    Quantity::time(ns(seconds), Some((ns(seconds - half), ns(seconds + half))), evidence)
}
