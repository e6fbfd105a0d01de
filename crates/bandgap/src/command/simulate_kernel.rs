//! `bandgap simulate KERNEL`: replays a kernel once on a simulated machine, on any number of its ranks.

use bandgap_assemble::{Calibrated, Made, Replayed, SEED, simulation};
use bandgap_campaign::sizes::Sizes;
use bandgap_kernels::{AtSize, DOUBLE, Extent, LIBRARY, Order, Series, WHOLE, in_series};
use bandgap_launch::{Classify, Exit, Once, Result, Signals, Target, once, simulated, usage};
use bandgap_record::Note;
use bandgap_results::Simulation;
use bandgap_sim::Machine;
use serde_json::json;

use super::simulate::{Points, Simulate};
use super::watched::watched;
use crate::output::Sink;
use crate::progress::Progress;
use crate::refused::{refuse, unmade};
use crate::session::interrupted;

/// Default bytes of messages.
const BYTES: u32 = 8;

/// The replays of a kernel: machine and points.
pub struct Planned {
    pub machine: Machine,
    /// The name of the machine.
    pub named: String,
    pub series: Series,
    pub points: Vec<(AtSize, Order)>,
    /// Notes on sizes that are left out.
    pub notes: Vec<Note>,
}

/// Plans the replays of a kernel, on a machine that a run `measured` or on the named one.
///
/// # Errors
/// There is no such kernel or machine, or the kernel does not fit the machine.
pub fn planned(
    of: &Points,
    measured: Option<&Calibrated>,
    command: &str,
    kernel: &str,
) -> Result<Planned> {
    let (named, machine) = match (measured, &of.transport) {
        (Some(of), _) => (of.origin.clone(), of.machine(&mut |of| of.value).map_err(unmade)?),
        (None, Some(Target::Simulated(name))) => (format!("sim:{name}"), simulated(name)?),
        _ => {
            return Err(usage!("{command} {kernel} on no machine")
                .hint("name one, as in -t sim:myrinet; `export RUN --to machine` writes one"));
        }
    };
    let (fact, series) = in_series(kernel).class(Exit::Usage)?;
    if let Some(many) = of.ranks.iter().find(|ranks| **ranks > machine.ranks) {
        return Err(usage!("{command} {many} ranks: {named} has {}", machine.ranks));
    }
    let variants = variants(&series, of.algorithm.as_deref())?;
    if of.sizes.is_some() && series.extent == Extent::None {
        return Err(usage!("{command} {kernel} with --sizes"));
    }
    let sizes = sizes(&series, of.sizes.as_ref());
    if sizes.is_empty() {
        return Err(usage!("{command} {kernel}: no size is a whole number of doubles")
            .hint("give multiples of 8 B"));
    }
    let given = of.sizes.as_ref().map_or(0, |sizes| sizes.all(false).len());
    let mut notes = Vec::new();
    if sizes.len() < given {
        let note = Note::new("sizes_left_out", "").with("count", (given - sizes.len()) as f64);
        notes.push(note.with("of", given as f64));
    }
    let usual = measured.map_or(machine.ranks, |of| of.ranks);
    let all = if of.ranks.is_empty() { vec![usual] } else { of.ranks.clone() };
    let mut points = Vec::new();
    for ranks in all {
        for (&size, variant) in
            sizes.iter().flat_map(|size| variants.iter().map(move |of| (size, of)))
        {
            let mut point =
                AtSize { variant: *variant, ..AtSize::of(size as usize, of.in_a_row, ranks) };
            let order = (fact.at)(point, 1, ranks).class(Exit::Usage)?;
            if variant.is_none() {
                let by = |name| (fact.at)(AtSize { variant: Some(name), ..point }, 1, ranks);
                let is_same = |name: &&&'static str| by(**name).is_ok_and(|of| of == order);
                point.variant = series.variants.iter().find(is_same).copied();
            }
            match (fact.check)(&order, ranks) {
                // Of several algorithms, keep those that fit.
                Err(_) if variants.len() > 1 => {}
                checked => {
                    checked.class(Exit::Usage)?;
                    points.push((point, order));
                }
            }
        }
    }
    Ok(Planned { machine, named, series, points, notes })
}

/// Replays the kernel once for each number of ranks, size and algorithm, and keeps when it ends. On a machine that a run
/// measured, it also replays the kernel at both ends of the parameters' intervals.
///
/// # Errors
/// As [`planned`], or the machine cannot carry out the kernel, or the result cannot be written.
pub fn run(of: &Simulate, kernel: &str) -> Result<Exit> {
    let one_latency = of.how.one_latency && of.from.is_none();
    let all = [
        (of.loggops.is_some(), "--loggops", "it has the parameters of a machine"),
        (one_latency, "--one-latency", "it needs --from"),
        (of.noise.is_some(), "--noise", "export it --to goal, and simulate that"),
    ];
    refuse(&format!("simulate {kernel}"), &all)?;
    let measured = of.measured()?;
    let Planned { machine, named, series, points, notes } =
        planned(&of.points, measured.as_ref(), "simulate", kernel)?;
    let ends = measured.as_ref().map_or(Ok(Vec::new()), |of| of.ends().map(Vec::from));
    let ends = ends.map_err(unmade)?;
    let machines: Vec<Machine> = [machine].into_iter().chain(ends).collect();
    let mut sink = Sink::open(&of.output.only_asked(), "simulate", SEED)?;
    sink.plan(&json!({"name": "simulate", "kernel": kernel, "machine": named}));
    notes.into_iter().for_each(|note| sink.note(note));
    Signals::take(interrupted(of.output.quiet))?;
    let all: usize = points.iter().map(|(point, _)| point.ranks).sum();
    let mut before = 0;
    let mut progress = Progress::new(vec![(kernel.to_owned(), 1.0)], of.output.quiet);
    for (point, order) in points {
        let bytes = (series.message)(&point);
        if let (Some(of), true) = (&measured, bytes > 0) {
            of.moves_bytes().map_err(unmade)?;
        }
        let doing = format!("{} ranks", point.ranks);
        let show = || progress.show(before as f64 / all as f64, &doing);
        let (machines, sensitivity) = (machines.clone(), of.sensitivity);
        // Only the first replay computes the sensitivity.
        let all_once = move || {
            let all = machines.iter().enumerate();
            let all = all.map(|(at, machine)| once(machine, &order, sensitivity && at == 0));
            all.collect::<Result<Vec<Once>>>()
        };
        let Some(done) = watched(all_once, show)? else {
            progress.clear();
            sink.run.interrupted = true;
            return sink.close(Exit::Interrupted);
        };
        before += point.ranks;
        progress.clear();
        let of_point = (kernel, &*named, bytes);
        let notes = measured.as_ref().map_or(Vec::new(), |of| of.notes.clone());
        let made = Made { results: vec![made(of_point, &series, &point, &done)?.into()], notes };
        sink.add(made, None)?;
    }
    sink.close(Exit::Fine)
}

/// The result of a point: its first replay, with the interval of all replays.
fn made(
    (name, machine, bytes): (&str, &str, u64),
    series: &Series,
    point: &AtSize,
    all: &[Once],
) -> Result<Simulation> {
    let (first, parts, in_a_row) = (&all[0], series.parts, point.messages);
    let time = |done: &Once| *done.samples.column(WHOLE).first().unwrap_or(&done.end) as i64;
    let times: Vec<i64> = all.iter().map(time).collect();
    let counts = [point.ranks as u64, first.operations, first.messages];
    let (bytes, variant) = (Some(bytes), point.variant.unwrap_or("only"));
    let of = Replayed { name, bytes, variant, machine, counts, parts, in_a_row };
    let finish = first.finish.iter().map(|ps| *ps as i64);
    simulation(&of, (first.end as i64, finish), &times, first.sensitivity.as_ref()).map_err(unmade)
}

fn sizes(series: &Series, named: Option<&Sizes>) -> Vec<u32> {
    match (series.extent, named) {
        (Extent::None, _) => vec![0],
        (Extent::Doubles, Some(sizes)) => sizes.vectors(),
        (_, Some(sizes)) => sizes.all(false),
        (Extent::Bytes, None) => vec![BYTES],
        (Extent::Doubles, None) => vec![DOUBLE as u32],
        (Extent::Dimension, None) => vec![1024],
    }
}

fn variants(series: &Series, named: Option<&str>) -> Result<Vec<Option<&'static str>>> {
    match named {
        Some("all") if series.by_algorithm() => {
            Ok(series.variants.iter().copied().map(Some).collect())
        }
        Some("all") if series.variants.is_empty() => Ok(vec![None]),
        Some(LIBRARY) => Err(usage!("simulate a library: its algorithms are unknown")),
        Some(name) => Ok(vec![Some(series.variant(name).class(Exit::Usage)?)]),
        None => Ok(vec![None]),
    }
}
