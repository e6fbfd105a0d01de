//! The record of a series: one operation over many sizes.

mod departures;
mod over_floors;
mod point;
mod task;
mod times;

use bandgap_campaign::series::Step;

use super::fits::fits;
use super::schema::{Series, SeriesPoint};
use super::{fastest, growth, modelled, sawtooth};
use crate::Outcome;
use crate::batches::assemble::unfitted_alone;
use crate::error::AssembleError;
use crate::measured::{Checked, Launches, State, missing, slowed};
use task::Kind;
pub(crate) use task::Measured;

impl Measured<'_> {
    /// One series for each kernel that was measured, each before its fits.
    pub(crate) fn outcomes(&self) -> Result<Vec<Outcome>, AssembleError> {
        let (mut found, mut unseen) = (Vec::new(), Vec::new());
        for kind in self.kinds()? {
            let series = self.series(&kind)?;
            if series.points.is_empty() {
                let table = self.judged.table().part(|key| key.what() == series.name);
                let reason = AssembleError::NoPoint(series.name);
                unseen.push(unfitted_alone(self.setting, &table, &reason).into());
            } else {
                let fits = fits(&series, self.times(&series, &kind), self.wanted(&series.name))?;
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
                let wanted = self.wanted(&series.name);
                modelled::compare(&mut series, costs, wanted)?;
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

    fn series(&self, kind: &Kind) -> Result<Series, AssembleError> {
        let singles = self.singles(kind);
        let first = singles.first().map_or([0, 1], |single| single.pair);
        let is_one = singles.iter().all(|single| single.pair == first);
        let pair = Some(first).filter(|_| is_one);
        let cores = pair.and_then(|pair| self.setting.cores(pair));
        let state = State::seen(self.judged, self.judged.table().of(kind.measure.name));
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
        let findings: Vec<String> = slowed(self.judged, self.setting.interrupted)
            .into_iter()
            .chain(missing(&places, singles.len(), self.setting))
            .chain(self.unlooked(kind, &singles))
            .chain(without)
            .collect();
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
        series.growth = growth::over_sizes(&series, self.wanted(&series.name))?;
        series.doublings = growth::over_ranks(&series, self.wanted(&series.name))?;
        let launches = self.launches(&series);
        series.lost_launches = launches.lost;
        let said = [
            launches.findings,
            fastest::sentences(&series),
            growth::sentences(&series),
            growth::lost(&series),
            sawtooth::sentence(&series).into_iter().collect(),
        ];
        series.findings.extend(said.into_iter().flatten());
        Ok(series)
    }

    /// Which launches gave it nothing, and which points not all of the others have.
    fn launches(&self, series: &Series) -> Launches {
        let measured = self
            .judged
            .table()
            .of(&series.name)
            .flat_map(|(_, batches)| batches)
            .map(|batch| batch.launch);
        let points: Vec<_> = series.points.iter().map(SeriesPoint::launches).collect();
        Launches::of_points(self.setting.launches, measured, &points)
    }

    /// Where its messages lie, if that is a choice; in virtual time they lie nowhere.
    fn buffers(&self, kind: &Kind, singles: &[Step]) -> Option<String> {
        let is_choice = kind.measure.buffers.is_some() && !self.setting.is_virtual();
        singles.first().filter(|_| is_choice).map(|single| single.buffers.to_string())
    }

    /// How much was checked of all points of a kernel; nothing is in virtual time.
    fn checked(&self, kind: &Kind) -> Option<Checked> {
        let verified = self.judged.table().verified();
        let of_kind = verified.filter(|(key, _)| key.what() == kind.measure.name);
        (!self.setting.is_virtual()).then(|| Checked::of(of_kind.map(|(_, verified)| verified)))
    }
}

#[cfg(test)]
mod tests;
