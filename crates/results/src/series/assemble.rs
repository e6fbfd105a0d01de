//! The record of a series: one operation over many sizes.

use std::collections::BTreeMap;

use bandgap_campaign::Setting;
use bandgap_campaign::judge::Judged;
use bandgap_campaign::series::{Part, SeriesPlan, Step, key};
use bandgap_comm::passing::Way;
use bandgap_comm::topology::ProcessorMesh;
use bandgap_kernels::{Extent, Over, Series as Measure};
use bandgap_model::hockney::SizedTimes;
use bandgap_record::{Convergence, Evidence, Quantity, RecordError, Unit};
use bandgap_stats::launches::over_launches;
use bandgap_stats::{Interval, Point, Rule, rounds};
use bandgap_units::{Bytes, Ns};

use super::fits::{CurveTimes, fits};
use super::schema::{Series, SeriesPoint};
use super::{fastest, growth, modelled};
use crate::Outcome;
use crate::batches::assemble::unfitted;
use crate::error::AssembleError;
use crate::measured::{
    Checked, FloorRatio, Launches, State, Timed, Which, bandwidth, estimated, half_width, missing,
    size_in_words, slowed, turned,
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
        let (mut found, mut unseen) = (Vec::new(), Vec::new());
        for kind in self.kinds()? {
            let series = self.series(&kind)?;
            if series.points.is_empty() {
                let table = self.judged.table().part(|key| key.what() == series.name);
                let reason = AssembleError::NoPoint(series.name);
                unseen.push(unfitted(self.setting, &table, &reason).into());
            } else {
                let fits = fits(&series, self.times(&series, &kind), self.wanted())?;
                found.push((series, fits));
            }
        }
        // What a collective costs follows from what single messages cost, whichever came first.
        let of = |name: &str| found.iter().find(|(series, _)| series.name == name);
        let messages = modelled::MESSAGES.iter().find_map(|name| of(name));
        let costs = messages.map(|(series, fits)| {
            let costs = of(modelled::MESSAGE_COSTS).map(|(series, _)| series);
            modelled::Costs::of(series, fits.nearest.as_ref(), costs)
        });
        let mut outcomes = Vec::new();
        for (mut series, fits) in found {
            if let Some(costs) = &costs {
                modelled::compare(&mut series, costs, self.wanted())?;
                series.findings.extend(modelled::sentence(&series));
            }
            series.findings.extend(fits.unfitted);
            outcomes.push(series.into());
            outcomes.extend(fits.outcomes);
        }
        if outcomes.is_empty() {
            return Err(AssembleError::Empty);
        }
        outcomes.extend(unseen);
        Ok(outcomes)
    }

    /// Confidence, and how narrow intervals are to be.
    fn wanted(&self) -> (f64, Rule) {
        (self.judged.confidence(), self.judged.rule())
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

    /// The steps of a kind, as planned; with private memory where there was no other.
    fn planned(&self, kind: &Kind) -> Vec<Step> {
        let of_kind = self.plan.steps.iter().filter(|step| step.series == kind.measure.name);
        let mut steps: Vec<Step> = of_kind.cloned().collect();
        if self.judged.table().unregistered().is_some() {
            steps = Step::in_private_memory(&steps);
        }
        steps
    }

    /// The steps whose time is that of one operation, as planned.
    fn singles(&self, kind: &Kind) -> Vec<Step> {
        let mut planned = self.planned(kind);
        planned.retain(|step| step.messages == 1 || !kind.is_transfer);
        planned
    }

    /// What is fitted: batch values of each size, by curve and launch.
    fn times(&self, series: &Series, kind: &Kind) -> BTreeMap<Which, CurveTimes> {
        let mut times: BTreeMap<Which, CurveTimes> = BTreeMap::new();
        for single in self.singles(kind).iter().flat_map(Step::done) {
            let way = single.way.map(Way::name);
            let place =
                (single.size.into(), kind.taking_part(&single), single.variant.as_deref(), way);
            let pair = Some(single.pair.map(|rank| rank as u32));
            let memory = single.memory.name();
            let point = series.points.iter().find(|point| {
                (point.size(), point.ranks, point.variant.as_deref(), point.way.as_deref()) == place
                    && (point.pair.is_none() || point.pair == pair)
                    && point.memory.as_ref().is_none_or(|of| of == memory)
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

    /// What was measured, as it is seen for a step: from the commonest state, or where pairs of ranks
    /// are at several distances, from that of the step's own.
    fn view(&self, step: &Step) -> Judged<'_> {
        match self.plan.steps.iter().all(|other| other.pair == step.pair) {
            true => self.judged.clone(),
            false => self.judged.seen_by(&key(step, Part::Whole)),
        }
    }

    fn series(&self, kind: &Kind) -> Result<Series, AssembleError> {
        let singles = self.singles(kind);
        let first = singles.first().map_or([0, 1], |single| single.pair);
        let is_one = singles.iter().all(|single| single.pair == first);
        let pair = Some(first).filter(|_| is_one);
        let cores = pair.and_then(|pair| self.setting.cores(pair));
        let state = State::seen(self.judged);
        let checked = self.checked(kind);
        let (mut points, mut places) = (Vec::new(), Vec::new());
        for single in &singles {
            let before = points.len();
            // In each way that it may have been done.
            for done in single.done() {
                points.extend(self.point(kind, &done, is_one)?);
            }
            if points.len() == before {
                places.push(self.place(kind, single, is_one));
            }
        }
        let (floor_ratios, without) = self.floor_ratios(kind, &singles)?;
        let findings: Vec<String> = slowed(self.judged)
            .into_iter()
            .chain(missing(&places, singles.len()))
            .chain(self.unlooked(kind, &singles))
            .chain(self.unregistered(kind))
            .chain(without)
            .collect();
        let memory = one_memory(&mut points);
        let mut series = Series {
            name: kind.measure.name.to_owned(),
            transport: self.setting.transport.clone(),
            ranks: points.iter().map(|point| point.ranks).max().unwrap_or(0),
            pair: pair.filter(|_| !kind.measure.of_all).map(|pair| pair.map(|rank| rank as u32)),
            cores: cores.map(|cores| cores.map(|core| core as u32)),
            launches: self.setting.launches,
            lost_launches: Vec::new(),
            verified: checked.is_some_and(|checked| checked.is_complete()),
            checked,
            buffers: self.buffers(kind, &singles),
            memory,
            state,
            points,
            floor_ratios,
            looks: fastest::looks(self.judged, &self.planned(kind), kind.measure.of_all),
            fastest: Vec::new(),
            growth: Vec::new(),
            doublings: Vec::new(),
            findings,
        };
        series.sort();
        if series.points.is_empty() {
            return Ok(series);
        }
        series.fastest = fastest::fastest(&series, &self.singles(kind), kind.measure.of_all);
        series.growth = growth::over_sizes(&series, self.wanted())?;
        series.doublings = growth::over_ranks(&series, self.wanted())?;
        let launches = self.launches(&series);
        series.lost_launches = launches.lost;
        let said = [
            launches.findings,
            fastest::sentences(&series),
            growth::sentences(&series),
            growth::lost(&series),
        ];
        series.findings.extend(said.into_iter().flatten());
        Ok(series)
    }

    /// Messages over floors of as many bytes, between the two ranks that floors are measured between; and why there is
    /// none.
    fn floor_ratios(
        &self,
        kind: &Kind,
        singles: &[Step],
    ) -> Result<(Vec<FloorRatio>, Vec<String>), AssembleError> {
        let (mut ratios, mut without) = (Vec::new(), Vec::new());
        let name = kind.measure.name;
        for floor in
            self.setting.beside.iter().filter(|beside| beside.results.iter().any(|of| of == name))
        {
            let mut alike: Option<(Step, u64)> = None;
            for done in singles.iter().flat_map(Step::done) {
                let bytes = done.bytes()?;
                let between = kind.taking_part(&done) == 2 && done.pair == [0, 1];
                let measured = !self.judged.table().batches(&key(&done, Part::Whole)).is_empty();
                // The longest of those that are no longer than a word.
                let longer = alike.as_ref().is_none_or(|(_, known)| *known < bytes);
                if between && measured && longer && floor.is_of(name, bytes) {
                    alike = Some((done, bytes));
                }
            }
            let Some((done, bytes)) = alike else {
                let floor = &floor.floor.name;
                without.push(format!(
                    "Nothing is compared with the floor {floor}: no message of as many bytes went between ranks 0 \
                     and 1."
                ));
                continue;
            };
            let judged = self.view(&done);
            match FloorRatio::of(&key(&done, Part::Whole), 1.0, Some(bytes), floor, &judged)? {
                Ok(ratio) => ratios.push(ratio),
                Err(reason) => without.push(format!("A message of {} is {reason}.", Bytes(bytes))),
            }
        }
        Ok((ratios, without))
    }

    /// Which launches gave it nothing, and which points not all of the others have.
    fn launches(&self, series: &Series) -> Launches {
        let of_kind =
            self.judged.table().iter().filter(|(key, _)| key.what() == series.name.as_str());
        let measured = of_kind.flat_map(|(_, batches)| batches).map(|batch| batch.launch);
        let points: Vec<_> = series.points.iter().map(SeriesPoint::launches).collect();
        Launches::of_points(self.setting.launches, measured, &points)
    }

    /// Where its messages lie, if that is a choice; in virtual time they lie nowhere.
    fn buffers(&self, kind: &Kind, singles: &[Step]) -> Option<String> {
        let is_choice = kind.measure.buffers.is_some() && !self.setting.is_virtual();
        singles.first().filter(|_| is_choice).map(|single| single.buffers.to_string())
    }

    /// Where a step is among those of its kind, in words.
    fn place(&self, kind: &Kind, step: &Step, is_one_pair: bool) -> String {
        let measure = &kind.measure;
        let planned = self.planned(kind);
        let several = planned.iter().any(|other| other.ranks != step.ranks);
        let several_memories = planned.iter().any(|other| other.memory != step.memory);
        let which = Which {
            ranks: (several && measure.of_all).then_some(step.ranks as u32),
            pair: (!is_one_pair && !measure.of_all).then(|| step.pair.map(|rank| rank as u32)),
            variant: step.variant.clone(),
            memory: several_memories.then(|| step.memory.name().to_owned()),
        };
        let size = || size_in_words(measure.extent, step.size.into());
        let size = (measure.extent != Extent::None).then(size);
        let which = Some(which.words()).filter(|words| !words.is_empty());
        let words: Vec<String> = [size, which].into_iter().flatten().collect();
        if words.is_empty() { measure.name.to_owned() } else { words.join(", ") }
    }

    /// How many points were done by the usual algorithm, since there was no time for looks.
    fn unlooked(&self, kind: &Kind, singles: &[Step]) -> Option<String> {
        let is_usual = |step: &&Step| {
            let key = key(step, Part::Whole);
            step.variant.is_none() && !self.judged.table().batches(&key).is_empty()
        };
        let count = singles.iter().filter(is_usual).count();
        (kind.measure.by_algorithm() && count > 0).then(|| {
            format!(
                "At {count} of {} points the usual algorithm was taken: the looks for the fastest had used \
                 up their share of the time budget.",
                singles.len()
            )
        })
    }

    /// What there is to say where messages were to lie in registered memory, and lay elsewhere.
    fn unregistered(&self, kind: &Kind) -> Option<String> {
        let mut steps = self.plan.steps.iter().filter(|step| step.series == kind.measure.name);
        let asked = steps.any(|step| !step.memory.is_private());
        let why = self.judged.table().unregistered().filter(|_| asked)?;
        Some(format!(
            "Messages lay in private memory, since there is no registered memory here: {why}."
        ))
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
        is_one_pair: bool,
    ) -> Result<Option<SeriesPoint>, AssembleError> {
        let (judged, virtual_time) = (&self.view(single), self.setting.is_virtual());
        let whole = key(single, Part::Whole);
        let timed = Timed::of(judged, &whole, virtual_time)?;
        let Some(Timed { time, convergence, summary, batches }) = timed else { return Ok(None) };
        let time = time.recorded(Unit::Second)?;
        let send_overhead = estimated(judged, &key(single, Part::Issue), virtual_time);
        let overlap =
            send_overhead.as_ref().map(|o| beside(&time, o, &judged.rule())).transpose()?;
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
            memory: (kind.measure.buffers.is_some() && !virtual_time)
                .then(|| single.memory.name().to_owned()),
            way: single.way.map(|way| way.name().to_owned()),
            distance: self.setting.distance(single.pair),
            bandwidth: bandwidth(single.moved()?, &time)?,
            rate,
            gap: self.gap(kind, single)?,
            overlap,
            modelled_hockney: None,
            modelled_loggp: None,
            send_overhead,
            state: State::seen(judged).label,
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
}

/// The memory that messages of all points lie in, if it is one: then it is told of the series, and not
/// of its points.
fn one_memory(points: &mut [SeriesPoint]) -> Option<String> {
    let memory = points.first()?.memory.clone();
    let is_one = points.iter().all(|point| point.memory == memory);
    if is_one {
        points.iter_mut().for_each(|point| point.memory = None);
    }
    memory.filter(|_| is_one)
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

#[cfg(test)]
mod tests;
