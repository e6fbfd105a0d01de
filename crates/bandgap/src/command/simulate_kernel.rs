//! `bandgap simulate KERNEL`: a kernel replayed once on a simulated machine, on any number of its ranks.

use bandgap_assemble::Made;
use bandgap_kernels::{AtSize, Extent, LIBRARY, Order, Series, WHOLE, in_series};
use bandgap_launch::{Classify, Exit, Failure, Target, once, simulated};
use bandgap_record::{Evidence, Number, Quantity, Seconds, Unit};
use bandgap_results::Simulation;
use bandgap_sim::Machine;
use serde_json::json;

use super::simulate::{MOST, Points, Simulate, critical_path, dependence};
use crate::output::Sink;
use crate::sizes::Sizes;

/// Bytes of messages, where no sizes are named.
const BYTES: u32 = 8;
/// Picoseconds of a second.
const PICO: f64 = 1e12;

/// A kernel with the machine that it is replayed on, and the points.
pub struct Planned {
    pub machine: Machine,
    /// The machine, as it was named.
    pub named: String,
    pub series: Series,
    pub points: Vec<(AtSize, Order)>,
}

/// The points at which a kernel is replayed.
///
/// # Errors
/// There is no such kernel or machine, or one does not fit the other.
pub fn planned(of: &Points, command: &str, kernel: &str) -> Result<Planned, Failure> {
    let named = match &of.transport {
        Some(Target::Simulated(machine)) => machine,
        _ => {
            let what = format!("{command} {kernel} on no machine");
            return Err(Failure::new(Exit::Usage, what).hint("name one, as in -t sim:myrinet"));
        }
    };
    let (fact, series) = in_series(kernel).class(Exit::Usage)?;
    let machine = simulated(named)?;
    if let Some(many) = of.ranks.iter().find(|ranks| **ranks > machine.ranks) {
        let what = format!("{command} {many} ranks: {named} has {}", machine.ranks);
        return Err(Failure::new(Exit::Usage, what));
    }
    let variants = variants(&series, of.algorithm.as_deref())?;
    if of.sizes.is_some() && series.extent == Extent::None {
        return Err(Failure::new(Exit::Usage, format!("{command} {kernel} with --sizes")));
    }
    let all = if of.ranks.is_empty() { vec![machine.ranks] } else { of.ranks.clone() };
    let mut points = Vec::new();
    for ranks in all {
        for size in sizes(&series, of.sizes.as_ref()) {
            for variant in &variants {
                let point = AtSize { variant: *variant, ..AtSize::of(size as usize, 1, ranks) };
                let order = (fact.at)(point, 1, ranks).class(Exit::Usage)?;
                match (fact.check)(&order, ranks) {
                    // Of all, those that fit.
                    Err(_) if variants.len() > 1 => continue,
                    checked => checked.class(Exit::Usage)?,
                }
                points.push((point, order));
            }
        }
    }
    Ok(Planned { machine, named: named.clone(), series, points })
}

/// Replays the kernel once for each number of ranks, size and algorithm, and keeps when it ends.
///
/// # Errors
/// As [`planned`]; or the machine cannot carry it out, or the result cannot be written.
pub fn run(of: &Simulate, kernel: &str) -> Result<Exit, Failure> {
    let Planned { machine, named, series, points } = planned(&of.points, "simulate", kernel)?;
    if of.loggops.is_some() {
        return Err(Failure::new(Exit::Usage, format!("simulate {kernel} with --loggops")));
    }
    let mut sink = Sink::open(&of.output, "simulate", 0)?;
    sink.plan(&json!({"name": "simulate", "kernel": kernel, "machine": named}));
    for (point, order) in points {
        let done = once(&machine, &order, of.sensitivity)?;
        let whole = done.samples.column(WHOLE).first().copied().unwrap_or(done.end);
        let time = whole as f64 / f64::from(series.parts) / PICO;
        let evidence = Evidence::new("replay", 1, true);
        let seconds = |ps: u64| Seconds(Number(ps as f64 / PICO));
        let ends = done.finish.iter().filter(|_| done.finish.len() <= MOST);
        let made = Simulation {
            name: kernel.to_owned(),
            bytes: Some((series.message)(&point)),
            variant: point.variant.unwrap_or("usual").to_owned(),
            machine: format!("sim:{named}"),
            ranks: point.ranks as u64,
            operations: done.operations,
            messages: done.messages,
            end: seconds(done.end),
            finish: ends.map(|ps| seconds(*ps)).collect(),
            time: Quantity::new(time, Some((time, time)), Unit::Second, evidence)
                .class(Exit::Defect)?,
            critical_path: done.sensitivity.as_ref().map(|of| critical_path(&of.path)),
            sensitivity: done.sensitivity.as_ref().map(dependence),
        };
        sink.add(Made { results: vec![made.into()], notes: Vec::new() }, None, None)?;
    }
    sink.close(Exit::Fine)
}

fn sizes(series: &Series, named: Option<&Sizes>) -> Vec<u32> {
    match (series.extent, named) {
        (Extent::None, _) => vec![0],
        (_, Some(sizes)) => sizes.all(false),
        (Extent::Bytes, None) => vec![BYTES],
        (Extent::Doubles, None) => vec![1],
        (Extent::Dimension, None) => vec![1024],
    }
}

fn variants(series: &Series, named: Option<&str>) -> Result<Vec<Option<&'static str>>, Failure> {
    match named {
        Some("all") if series.by_algorithm() => {
            Ok(series.variants.iter().copied().map(Some).collect())
        }
        Some(LIBRARY) => {
            Err(Failure::new(Exit::Usage, "simulate a library: nobody knows its algorithms"))
        }
        Some(name) => Ok(vec![Some(series.variant(name).class(Exit::Usage)?)]),
        None => Ok(vec![None]),
    }
}
