//! The record of a series: one operation over many sizes.

use std::collections::BTreeMap;

use bandgap_campaign::Setting;
use bandgap_campaign::judge::Judged;
use bandgap_campaign::series::{Part, SeriesPlan, Step, key};
use bandgap_kernels::{Over, Series as Measure};
use bandgap_model::ModelError;
use bandgap_model::hockney::{HockneyOptions, SizedTimes};
use bandgap_record::{Evidence, Quantity, RecordError, Unit};
use bandgap_units::Ns;

use super::schema::{Series, SeriesPoint};
use crate::Outcome;
use crate::error::AssembleError;
use crate::hockney::assemble::Fitting;
use crate::measured::{
    Checked, ESTIMATOR, State, Timed, bandwidth, estimated, half_width, slowed, turned,
};

/// What a series task brought, and what it was measured on.
pub(crate) struct Measured<'a> {
    pub(crate) setting: &'a Setting,
    pub(crate) plan: &'a SeriesPlan,
    pub(crate) judged: &'a Judged<'a>,
}

impl Measured<'_> {
    /// One series for each kernel that was measured, each before its fits.
    pub(crate) fn outcomes(&self) -> Result<Vec<Outcome>, AssembleError> {
        let mut outcomes = Vec::new();
        for kind in self.kinds()? {
            let series = self.series(&kind)?;
            if !series.points.is_empty() {
                let fits = self.fits(&series, &kind)?;
                outcomes.push(series.into());
                outcomes.extend(fits);
            }
        }
        if outcomes.is_empty() { Err(AssembleError::Empty) } else { Ok(outcomes) }
    }

    /// What was measured, in the order of the plan.
    fn kinds(&self) -> Result<Vec<Kind>, AssembleError> {
        let mut kinds: Vec<Kind> = Vec::new();
        for step in &self.plan.steps {
            let (fact, measure) = step.kernel()?;
            if !kinds.iter().any(|kind| kind.measure.name == measure.name) {
                kinds.push(Kind { measure, is_transfer: fact.over == Over::Transfer });
            }
        }
        Ok(kinds)
    }

    /// The fits of a series: for each number of ranks, where it has several; none of too few sizes.
    fn fits(&self, series: &Series, kind: &Kind) -> Result<Vec<Outcome>, AssembleError> {
        let confidence = self.judged.confidence();
        let options = HockneyOptions { confidence, ..HockneyOptions::default() };
        let mut fits = Vec::new();
        for (ranks, times) in self.times(kind) {
            let fitting = Fitting {
                name: &series.name,
                transport: &series.transport,
                ranks: series.has_several_ranks().then_some(ranks),
                precision: self.judged.precision(),
                notes: Vec::new(),
            };
            match fitting.fit(&times, &options) {
                Ok((both, _)) => fits.extend(both.map(Outcome::from)),
                Err(AssembleError::Model(ModelError::TooFewSizes { .. })) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(fits)
    }

    /// The steps whose time is that of one operation.
    fn singles(&self, kind: &Kind) -> impl Iterator<Item = &Step> {
        let (name, transfer) = (kind.measure.name, kind.is_transfer);
        let single = move |step: &&Step| step.series == name && (step.messages == 1 || !transfer);
        self.plan.steps.iter().filter(single)
    }

    /// What is fitted: batch values of each size, by the number of ranks.
    fn times(&self, kind: &Kind) -> BTreeMap<u32, Vec<SizedTimes>> {
        let mut times: BTreeMap<u32, Vec<SizedTimes>> = BTreeMap::new();
        for single in self.singles(kind) {
            let times_ns = self.judged.values(&key(single, Part::Whole));
            if !times_ns.is_empty() {
                let sized = SizedTimes { bytes: u64::from(single.bytes), times_ns };
                times.entry(kind.taking_part(single)).or_default().push(sized);
            }
        }
        times
    }

    fn series(&self, kind: &Kind) -> Result<Series, AssembleError> {
        let pair = self.plan.pair.map(|rank| rank as u32);
        let cores = self.setting.cores(self.plan.pair);
        let distance = self.setting.distance(self.plan.pair);
        let state = State::seen(self.judged);
        let checked = self.checked(kind);
        let mut points = Vec::new();
        for single in self.singles(kind) {
            if let Some(point) = self.point(kind, single, distance.clone(), &state.label)? {
                points.push(point);
            }
        }
        points.sort_by_key(|point| (point.ranks, point.bytes));
        Ok(Series {
            name: kind.measure.name.to_owned(),
            transport: self.setting.transport.clone(),
            ranks: points.iter().map(|point| point.ranks).max().unwrap_or(0),
            pair: (!kind.measure.of_all).then_some(pair),
            cores: cores.map(|cores| cores.map(|core| core as u32)),
            launches: self.setting.launches,
            verified: checked.is_some_and(|checked| checked.is_complete()),
            checked,
            state,
            points,
            findings: slowed(self.judged).into_iter().collect(),
        })
    }

    /// How much was checked of all points of a kernel; nothing is in virtual time.
    fn checked(&self, kind: &Kind) -> Option<Checked> {
        let verified = self.judged.table().verified();
        let of_kind = verified.filter(|(key, _)| key.what() == kind.measure.name);
        (!self.setting.is_virtual()).then(|| Checked::of(of_kind.map(|(_, verified)| verified)))
    }

    fn point(
        &self,
        kind: &Kind,
        single: &Step,
        distance: Option<String>,
        state: &str,
    ) -> Result<Option<SeriesPoint>, AssembleError> {
        let (judged, virtual_time) = (self.judged, self.setting.is_virtual());
        let whole = key(single, Part::Whole);
        let timed = Timed::of(judged, &whole, virtual_time)?;
        let Some(Timed { time, converged, summary, batches }) = timed else { return Ok(None) };
        let time = time.recorded(Unit::Second)?;
        let send_overhead = estimated(judged, &key(single, Part::Issue), virtual_time);
        let overlap =
            send_overhead.as_ref().map(|o| beside(&time, o, judged.precision())).transpose()?;
        // 1/t: operations per second.
        let rate = || turned(1.0, &time, Unit::PerSecond, format!("1 / ({ESTIMATOR})"));
        let rate = (!kind.measure.sized).then(rate).transpose()?;
        Ok(Some(SeriesPoint {
            bytes: u64::from(single.bytes),
            ranks: kind.taking_part(single),
            distance,
            bandwidth: bandwidth(kind.moved(single), &time)?,
            rate,
            gap: self.gap(kind, single)?,
            overlap,
            send_overhead,
            state: state.to_owned(),
            converged,
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
            (&step.series, step.bytes) == (&single.series, single.bytes) && step.messages > 1
        });
        let Some(many) = many else { return Ok(None) };
        let one = self.judged.point(&key(single, Part::Whole));
        let burst = self.judged.point(&key(many, Part::Whole));
        let (Some(one), Some(burst)) = (one, burst) else { return Ok(None) };
        let further = f64::from(many.messages - 1);
        let value = (burst.value - one.value) / further;
        let half = burst.interval.half_width().hypot(one.interval.half_width()) / further;
        let batches = one.batches.min(burst.batches) as u64;
        let both = [single, many].map(|step| self.judged.converged(&key(step, Part::Whole)));
        let is_narrow = half <= self.judged.precision() * value.abs();
        let converged = is_narrow && (self.setting.is_virtual() || both == [true; 2]);
        let evidence = Evidence::new("(T_M − T_1)/(M − 1)", batches, converged);
        let interval = Some((Ns(value - half), Ns(value + half)));
        Ok(Some(Quantity::time(Ns(value), interval, evidence)?))
    }
}

/// A kernel that was measured over sizes.
struct Kind {
    measure: Measure,
    /// Whether bytes are moved from memory to memory.
    is_transfer: bool,
}

impl Kind {
    /// Number of ranks that take part.
    fn taking_part(&self, step: &Step) -> u32 {
        if self.measure.of_all { step.ranks as u32 } else { 2 }
    }

    /// Bytes that one operation moves, between all that take part.
    fn moved(&self, step: &Step) -> u64 {
        u64::from(step.bytes) * (self.measure.moves)(step.ranks)
    }
}

/// t(n) − o(n): how much computation fits beside a transfer. Both come from the same batches, so
/// the wider of the two intervals is taken rather than their sum.
fn beside(time: &Quantity, overhead: &Quantity, precision: f64) -> Result<Quantity, RecordError> {
    let seconds = time.value.0 - overhead.value.0;
    let half = half_width(time).max(half_width(overhead));
    let ns = |seconds: f64| Ns(seconds * 1e9);
    // A small difference of large times has a wide interval beside it.
    let is_narrow = half <= precision * seconds.abs();
    let converged = time.converged && overhead.converged && is_narrow;
    let evidence = Evidence::new("T(n) − o(n)", time.samples, converged);
    Quantity::time(ns(seconds), Some((ns(seconds - half), ns(seconds + half))), evidence)
}

#[cfg(test)]
mod tests {
    use bandgap_campaign::data::{Batch, Kept, Table, Verified};
    use bandgap_campaign::plan::Asked;
    use bandgap_kernels as kernels;

    use super::*;

    fn single(bytes: u32) -> Step {
        Step { series: "comms1".to_owned(), bytes, messages: 1, ranks: 2 }
    }

    fn series(cpus: Option<Vec<usize>>, verified: &[(u32, Verified)]) -> Series {
        let (precision, confidence, budget, seed) = (0.05, 0.95, 1.0, 1);
        let plan = SeriesPlan {
            asked: Asked { precision, confidence, budget, seed, stamp: 0.0, check: false },
            steps: vec![single(8), single(64)],
            samples: 1,
            pair: [0, 1],
        };
        let mut table = Table::default();
        for (bytes, time) in [(64, 130.0), (8, 100.0), (64, 132.0), (8, 101.0)] {
            let batch = Batch { samples: vec![time], ..Batch::default() };
            table.push(Kept::Batch { key: key(&single(bytes), Part::Whole), batch });
        }
        for (bytes, verified) in verified.iter().cloned() {
            let key = key(&single(bytes), Part::Whole);
            table.push(Kept::Verified { key, verified });
        }
        let setting = Setting { transport: "shm".into(), ranks: 2, cpus, ..Setting::default() };
        let measured =
            Measured { setting: &setting, plan: &plan, judged: &plan.asked.judge(&table) };
        // Two sizes are too few for a line.
        let [Outcome::Series(series)] = &measured.outcomes().unwrap()[..] else {
            panic!("one series")
        };
        Series::clone(series)
    }

    #[test]
    fn what_was_checked_of_all_points_is_recorded() {
        let of = |received, compared| kernels::Checked { received, compared, summed: 0 };
        let both = [
            (8, Verified::of_checked(of(40, 40))),
            (8, Verified::of_timed(of(100, 4))),
            (64, Verified::of_checked(of(20, 20))),
        ];
        let sum = Checked {
            batches: 2,
            messages: 60,
            compared: 60,
            points_left_out: 0,
            timed_batches: 1,
            timed_messages: 100,
            timed_compared: 4,
        };
        let real = series(Some(vec![0, 1]), &both);
        assert_eq!((real.checked, real.verified), (Some(sum), true));
        // Nothing was compared: so it is said.
        let none = series(Some(vec![0, 1]), &[]);
        assert_eq!((none.checked, none.verified), (Some(Checked::default()), false));
        let simulated = series(None, &both);
        assert_eq!((simulated.checked, simulated.verified), (None, false));
        assert_eq!(real.points.iter().map(|point| point.bytes).collect::<Vec<_>>(), [8, 64]);
    }
}
