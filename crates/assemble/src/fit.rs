//! Parameters from tables measured by other tools.

use std::collections::BTreeMap;

use bandgap_campaign::load::Load;
use bandgap_campaign::signature::QUICK_RESAMPLES;
use bandgap_import::{Remark, SizeRow, SizeTable};
use bandgap_model::hockney::{Breaks, HockneyOptions, sized_times_from_pairs};
use bandgap_model::{Observation, Options, Phase, Row, Signature, extract, observations_from_rows};
use bandgap_record::{Column, Labels, Note, Unit};
use bandgap_results::{Logp, SIGNATURE};
use bandgap_stats::{Rule, estimate};

use crate::Result;
use crate::estimate::{Estimated, MEAN};
use crate::hockney::fit;
use crate::logp::{BurstTime, RESAMPLES, curve, recorded};
use crate::made::{Builder, Made, SERIES};
use crate::series::CurveTimes;

/// The transport name of results fitted to a table.
pub const TABLE: &str = "table";
/// A note is written if the table rounds a time by more than this share.
const COARSE: f64 = 0.01;

/// How a table is fitted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fitting {
    /// Half-width over value at which a parameter counts as known.
    pub precision: f64,
    /// The confidence of the intervals.
    pub confidence: f64,
    /// The seed of resampling.
    pub seed: u64,
}

impl Fitting {
    fn rule(&self) -> Rule {
        Rule { precision: self.precision, stamp: 0.0 }
    }

    /// The estimate of repetitions, each with its launch and round; those of one launch and round are neighbours in time.
    fn time(&self, values: &[(u32, u64, f64)]) -> Option<Estimated> {
        let point = estimate(values, self.confidence)?;
        Some(Estimated::of(&point, MEAN, self.rule().judge_given(&point)))
    }

    /// The signature of a table of issue phases and round trips, with its curve. Points with one batch are left out.
    ///
    /// # Errors
    /// The table lacks what a signature needs.
    pub fn logp(&self, rows: &[Row]) -> Result<Made> {
        let (observations, single): (Vec<_>, Vec<_>) =
            observations_from_rows(rows).into_iter().partition(|point| point.batches.len() >= 2);
        let Fitting { confidence, seed, .. } = *self;
        let options = |resamples| Options { confidence, resamples, seed };
        let whole = extract(&observations, &options(RESAMPLES), None)?;
        let mut launches = BTreeMap::<u64, Vec<Row>>::new();
        for row in rows {
            launches.entry(row.launch.unwrap_or(0)).or_default().push(*row);
        }
        let own = launches.values().map(|rows| (observations_from_rows(rows), None));
        let each = whole.each(&own.collect::<Vec<_>>(), &options(QUICK_RESAMPLES));
        let known: Vec<Signature> = each.iter().flatten().cloned().collect();
        let signature = whole.over_launches(&known, confidence);
        let logp = Logp::new(SIGNATURE, TABLE, None);
        let (logp, mut notes) = recorded(logp, (&signature, &each), &self.rule(), Load::Words)?;
        if !single.is_empty() {
            let note = Note::new("points_left_out", logp.id()).with("count", single.len() as f64);
            notes.push(note.with("points", (single.len() + observations.len()) as f64));
        }
        let points = observations.iter().filter(|point| point.kind == Phase::Issue);
        let curve = curve(&logp, points.filter_map(|point| self.point(point)).collect())?;
        Ok(Made { results: vec![logp.into()], notes }.and(curve))
    }

    fn point(&self, point: &Observation) -> Option<BurstTime> {
        let Observation { messages, delay, ref batches, ref rounds, .. } = *point;
        let round = |at: usize| rounds.get(at).copied().unwrap_or(at as u64);
        let values = batches.iter().enumerate().map(|(at, value)| (0, round(at), *value));
        let elapsed = self.time(&values.collect::<Vec<_>>())?;
        Some(BurstTime { messages, delay, elapsed })
    }

    /// The lines through a table of sizes and times, with the times themselves.
    ///
    /// # Errors
    /// The times cannot be fitted, or the breakpoints that were given do not fit.
    pub fn hockney(&self, table: &SizeTable, breaks: Breaks) -> Result<Made> {
        let mut sizes = BTreeMap::<u64, Vec<(u32, u64, f64)>>::new();
        let mut rounding = BTreeMap::<u64, [f64; 2]>::new();
        for row in &table.rows {
            let times = sizes.entry(row.bytes).or_default();
            times.push((0, times.len() as u64, row.time_ns));
            let (most, [below, above]) = (rounding.entry(row.bytes).or_default(), row.rounding());
            *most = [most[0].max(below), most[1].max(above)];
        }
        let options = HockneyOptions { breaks, confidence: self.confidence, rounding };
        let pairs = table.rows.iter().map(|row| (row.bytes, row.time_ns));
        let launches = vec![sized_times_from_pairs(pairs)];
        let name = table.tool.to_owned();
        let curve = CurveTimes { name, which: Labels::new(), messages: 1, launches };
        let mut fits = fit(&curve, TABLE, &options, self.rule())?;
        let column = Column::new("time", Unit::Second, "as given");
        let mut rows = Builder::new(SERIES, table.tool, TABLE, &["bytes"], vec![column]);
        rows.label("timing", table.timing.to_string());
        for (bytes, times) in sizes {
            // A single repetition has no interval.
            let single = || Estimated::new(times[0].2, None, true.into(), ("as given", 1));
            let time = self.time(&times).unwrap_or_else(single);
            rows.push(vec![bytes.into()], Labels::new(), &[Some(time)], None)?;
        }
        let rounded = |row: &SizeRow| row.rounding()[1] / row.time_ns;
        let worst = table.rows.iter().max_by(|a, b| rounded(a).total_cmp(&rounded(b)));
        if let Some(worst) = worst.filter(|row| rounded(row) > COARSE) {
            let note = Note::new("times_rounded", rows.rows.id()).with("share", rounded(worst));
            fits.notes.push(note.with("bytes", worst.bytes as f64));
        }
        fits.notes.extend(read_as(table, &rows.rows.id()));
        Ok(fits.and(rows.made()))
    }
}

/// How the table was read, as notes.
fn read_as(table: &SizeTable, about: &str) -> impl Iterator<Item = Note> {
    let note = move |code| Note::new(code, about);
    let read = note("read_as")
        .with("tool", table.tool)
        .with("timing", table.timing.to_string())
        .with("rows", table.rows.len() as f64);
    let remarks = table.remarks.iter().map(move |remark| match remark {
        Remark::Assumed(test) => note("test_assumed").with("test", *test),
        Remark::Caveat(caveat) => note("times_are").with("condition", caveat.as_str()),
        Remark::Run(run, of) => {
            note("one_run_read").with("run", *run as f64).with("of", *of as f64)
        }
        Remark::Repetitions(runs) => note("runs_repeated").with("runs", *runs as f64),
        Remark::LeftOut(tests) => note("tests_left_out").with("tests", tests.join(", ")),
        Remark::Others(tests) => note("tests_to_choose").with("tests", tests.join(", ")),
        Remark::DefaultSize(bytes) => note("default_size").with("bytes", *bytes as f64),
    });
    std::iter::once(read).chain(remarks)
}

#[cfg(test)]
mod tests;
