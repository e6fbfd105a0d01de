//! `bandgap comet`: CoMet's kernels, as series and as experiments of their own.

use std::time::Duration;

use bandgap_assemble::{self as assemble, MESSAGE_COSTS};
use bandgap_campaign::contention::{CONTENTION, ContentionPlan, EchoAndLoad};
use bandgap_campaign::overlap::OverlapPlan;
use bandgap_campaign::plan::BATCH;
use bandgap_kernels::{Extent, Kernel, Over, Overlap, facts, in_series};
use bandgap_launch::{Exit, Result, contended};
use clap::Args;
use clap::builder::PossibleValuesParser;

use super::series::{Planned, Series, Ways, left_out};
use crate::args::{Measure, nothing_asked};
use crate::refused::{applicable, no_steps};
use crate::session::{ALONE, Session};

/// Time for one kernel, and for all.
const ONE: Duration = Duration::from_secs(15);
const ALL: Duration = Duration::from_secs(75);

/// CoMet's kernels that are separate experiments.
pub const APART: [&str; 2] = [CONTENTION, Overlap::NAME];
/// The weight of a separate experiment, which times several things at each size, in kernels.
const SEVERAL: f64 = 3.0;
/// Message lengths of an echo under contention.
const CONTENDED: [u32; 13] =
    [0, 1, 4, 16, 64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20];
/// Lengths of messages and vectors for overlap.
const SIZES: [u32; 4] = [0, 1 << 10, 16 << 10, 256 << 10];
const ELEMENTS: [u32; 4] = [0, 1 << 10, 8 << 10, 64 << 10];

/// CoMet's kernels, in the order of CoMet (sections 3.3.1 to 3.3.11), and the message costs that their models need.
const COMET: [&str; 12] = [
    "echo",
    "exchange",
    "broadcast",
    "global_sum",
    "barrier",
    "update_guard",
    "shift_north",
    "shift_east",
    "transpose",
    "row_broadcast",
    "column_broadcast",
    MESSAGE_COSTS,
];

/// The kernels to measure, and how.
#[derive(Clone, Debug, Default, Args)]
#[group(skip)]
pub struct Comet {
    /// Which; none named = CoMet's
    #[arg(value_name = "KERNEL", value_parser = PossibleValuesParser::new(passing().chain(APART)))]
    pub names: Vec<String>,
    #[command(flatten)]
    pub series: Series,
    #[command(flatten)]
    pub ways: Ways,
    /// Lengths of the vectors of overlap's computation, in elements [default: 0, 1024, 8192 and 65536]
    #[arg(long, value_name = "V,…", value_delimiter = ',', help_heading = "Messages")]
    pub vectors: Vec<u32>,
}

/// The names of the series over message passing.
pub fn passing() -> impl Iterator<Item = &'static str> {
    let passing = facts().into_iter().filter(|fact| fact.over == Over::Comm);
    let series = passing.flat_map(|fact| fact.series.iter().map(|series| series.name));
    series.filter(|name| !APART.contains(name))
}

/// Measures, prints and keeps the named kernels, or all.
///
/// # Errors
/// The measurement or the output failed.
pub fn run(comet: &Comet, measure: &Measure) -> Result<Exit> {
    let parts = measure.each().map(|of| Parts::of(comet, &of)).collect::<Result<Vec<_>>>()?;
    let usual = if comet.names.is_empty() { ALL } else { ONE };
    let (stages, whole) = (parts[0].stages(), 1.0 / parts.len() as f64);
    let mut parts = parts.into_iter();
    Session::each("comet", measure, usual, stages, |session| {
        parts.next().map_or(Ok(()), |parts| parts.measure(session, comet, whole))
    })
}

/// The parts of the measurement, checked before anything runs.
pub struct Parts {
    series: Option<Planned>,
    overlap: Option<OverlapPlan>,
    contention: Option<ContentionPlan>,
    ranks: usize,
}

impl Parts {
    /// The parts that the options ask for.
    ///
    /// # Errors
    /// The options ask for something impossible.
    pub fn of(comet: &Comet, measure: &Measure) -> Result<Self> {
        let named: Vec<&str> = comet.names.iter().map(String::as_str).collect();
        let all = named.is_empty();
        used(comet, &named)?;
        let wanted = |name: &str| all || named.contains(&name);
        let series: Vec<&str> = match all {
            true => COMET.to_vec(),
            false => named.iter().copied().filter(|name| !APART.contains(name)).collect(),
        };
        let how = (&comet.series, &comet.ways);
        let planned = || Planned::of(&series, all, how, measure);
        let mut planned = (!series.is_empty()).then(planned).transpose()?;
        let pair = comet.series.between.unwrap_or([0, 1]);
        let most = measure.ranks.ranks.iter().copied().max();
        let ranks = most.unwrap_or(pair[0].max(pair[1]) + 1);
        let overlap = wanted(Overlap::NAME).then(|| overlap(comet, pair, ranks)).transpose()?;
        let contention = wanted(CONTENTION).then(|| contention(comet, measure, most));
        let contention = match contention {
            Some(Err(refused)) if all => {
                if let Some(planned) = &mut planned {
                    let about = format!("series/{CONTENTION}");
                    planned.notes.push(left_out(&about, CONTENTION, &refused.what));
                }
                None
            }
            plan => plan.transpose()?,
        };
        Ok(Self { series: planned, overlap, contention, ranks })
    }

    /// The names of the parts, with their weights in time.
    pub fn stages(&self) -> Vec<(String, f64)> {
        let series = self.series.as_ref().map(|of| ("series".to_owned(), of.names().len() as f64));
        let overlap = self.overlap.as_ref().map(|_| (Overlap::NAME.to_owned(), SEVERAL));
        let contention = self.contention.as_ref().map(|_| (CONTENTION.to_owned(), SEVERAL));
        [series, overlap, contention].into_iter().flatten().collect()
    }

    /// Measures and keeps the parts in the share `whole` of the command's time.
    ///
    /// # Errors
    /// The measurement or the output failed.
    pub fn measure(self, session: &mut Session<'_>, comet: &Comet, whole: f64) -> Result<()> {
        let mut weights = self.stages().into_iter().map(|(_, weight)| weight);
        let all: f64 = self.stages().iter().map(|(_, weight)| weight).sum();
        let mut share = || whole * weights.next().unwrap_or(1.0) / all;
        if let Some(series) = &self.series {
            series.check(session)?;
        }
        if let Some(plan) = &self.overlap {
            session.check(plan, self.ranks)?;
        }
        if let Some(plan) = &self.contention {
            session.check(plan, plan.ranks)?;
        }
        if let Some(series) = self.series {
            session.share(share());
            series.measure(session, &comet.series)?;
        }
        if let Some(plan) = self.overlap.filter(|_| !session.failed()) {
            session.share(share());
            let plan = OverlapPlan { asked: session.asked(), ..plan };
            session.measure(&plan, self.ranks, ALONE, assemble::overlap)?;
        }
        if let Some(plan) = self.contention.filter(|_| !session.failed()) {
            session.share(share());
            let plan = ContentionPlan { asked: session.asked(), ..plan };
            session.measure(&plan, plan.ranks, ALONE, assemble::series)?;
        }
        Ok(())
    }
}

/// Refuses options that none of the named kernels takes.
///
/// # Errors
/// Such an option is given.
pub fn used(comet: &Comet, named: &[&str]) -> Result<()> {
    let (series, ways) = (&comet.series, &comet.ways);
    let any = |takes: &dyn Fn(&bandgap_kernels::Series) -> bool| {
        named.iter().any(|name| in_series(name).is_ok_and(|(_, series)| takes(&series)))
    };
    let bytes = |of: &bandgap_kernels::Series| matches!(of.extent, Extent::Bytes | Extent::Doubles);
    let fitted = |of: &bandgap_kernels::Series| bytes(of) && of.name != MESSAGE_COSTS;
    let apart = named.iter().any(|name| APART.contains(name));
    let sized = any(&bytes) || apart;
    let mesh = any(&|of| of.extent == Extent::Dimension);
    let rules = [
        ("--sizes", series.lengths.sizes.is_some(), sized),
        ("--perturb", series.lengths.perturb, any(&|of| of.extent == Extent::Bytes)),
        ("--breaks", !series.lengths.breaks.is_empty(), any(&fitted)),
        ("--between", series.between.is_some(), any(&|of| !of.of_all) || apart),
        ("--buffers", series.buffers.is_some(), any(&|of| of.buffers.is_some())),
        ("--algorithm", ways.algorithm.is_some(), any(&|of| of.by_algorithm())),
        ("--mesh", ways.mesh.is_some(), mesh),
        ("--window", ways.window.is_some(), any(&|of| of.windows)),
        ("--dimension", ways.dimension.is_some(), mesh),
        ("--vectors", !comet.vectors.is_empty(), named.contains(&Overlap::NAME)),
    ];
    if named.is_empty() {
        return Ok(());
    }
    applicable(&rules, &named.join(", "), "leave it out, or name other kernels")
}

/// The plan of an echo between two ranks while two others load the machine.
fn contention(comet: &Comet, measure: &Measure, most: Option<usize>) -> Result<ContentionPlan> {
    let (ranks, pairs) = contended(&measure.target(), most, comet.series.between)?;
    let refused = |beside: &EchoAndLoad| beside.check(ranks);
    pairs.iter().try_for_each(refused).map_err(no_steps)?;
    let sizes = lengths(comet, &CONTENDED);
    Ok(ContentionPlan { asked: nothing_asked(), pairs, ranks, sizes })
}

/// The named sizes; of a named range, the usual sizes within it; by default all usual sizes.
fn lengths(comet: &Comet, usual: &[u32]) -> Vec<u32> {
    let named = comet.series.lengths.sizes.as_ref();
    named.map_or(usual.to_vec(), |sizes| sizes.among(usual))
}

/// The plan of an exchange that overlaps with a computation.
fn overlap(comet: &Comet, pair: [usize; 2], ranks: usize) -> Result<OverlapPlan> {
    let sizes = lengths(comet, &SIZES);
    let mut elements =
        if comet.vectors.is_empty() { ELEMENTS.to_vec() } else { comet.vectors.clone() };
    elements.sort_unstable();
    elements.dedup();
    let plan = OverlapPlan { asked: nothing_asked(), pair, sizes, elements, samples: BATCH };
    plan.check(ranks).map_err(no_steps)?;
    Ok(plan)
}
