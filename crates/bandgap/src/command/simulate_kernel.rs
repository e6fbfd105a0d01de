//! `bandgap simulate KERNEL`: a kernel replayed once on a simulated machine, on any number of its ranks.

use bandgap_assemble::Made;
use bandgap_kernels::{AtSize, Extent, LIBRARY, Series, WHOLE, in_series};
use bandgap_launch::{Classify, Exit, Failure, Once, Target, once, simulated};
use bandgap_record::{Number, Seconds};
use bandgap_results::Simulation;
use serde_json::json;

use super::simulate::{MOST, Simulate, replayed};
use crate::calibrated::SEED;
use crate::output::Sink;
use crate::sizes::Sizes;

/// Bytes of messages, where no sizes are named.
const BYTES: u32 = 8;
/// Picoseconds of a second.
const PICO: f64 = 1e12;

/// Replays the kernel once for each number of ranks, size and algorithm, and keeps when it ends.
///
/// # Errors
/// There is no such kernel or machine, the machine cannot carry it out, or the result cannot be written.
pub fn run(of: &Simulate, kernel: &str) -> Result<Exit, Failure> {
    let measured = of.measured()?;
    let (machine, on, ends) = match (&measured, &of.transport) {
        (Some(of), _) => (of.origin.clone(), of.machine(&mut |of| of.value)?, of.ends()?.to_vec()),
        (None, Some(Target::Simulated(name))) => {
            (format!("sim:{name}"), simulated(name)?, Vec::new())
        }
        _ => {
            let what = format!("simulate {kernel} on no machine");
            let hint = "name one, as in -t sim:myrinet, or a run that measured one: --from LAST";
            return Err(Failure::new(Exit::Usage, what).hint(hint));
        }
    };
    let (fact, series) = in_series(kernel).class(Exit::Usage)?;
    if let Some(many) = of.ranks.iter().find(|ranks| **ranks > on.ranks) {
        let what = format!("simulate {many} ranks: {machine} has {}", on.ranks);
        return Err(Failure::new(Exit::Usage, what));
    }
    let variants = variants(&series, of.algorithm.as_deref())?;
    for (given, option) in [
        (of.loggops.is_some(), "--loggops"),
        (of.sensitivity, "--sensitivity"),
        (of.how.one_latency && of.from.is_none(), "--one-latency"),
        (of.sizes.is_some() && series.extent == Extent::None, "--sizes"),
    ] {
        if given {
            return Err(Failure::new(Exit::Usage, format!("simulate {kernel} with {option}")));
        }
    }
    let mut sink = Sink::open(&of.output, "simulate", SEED)?;
    sink.plan(&json!({"name": "simulate", "kernel": kernel, "machine": machine}));
    let ranks = if of.ranks.is_empty() { vec![on.ranks] } else { of.ranks.clone() };
    for ranks in ranks {
        for size in sizes(&series, of.sizes.as_ref()) {
            for variant in &variants {
                let point = AtSize { variant: *variant, ..AtSize::of(size as usize, 1, ranks) };
                let order = (fact.at)(point, 1, ranks).class(Exit::Usage)?;
                match (fact.check)(&order, ranks) {
                    // Of all, those that fit.
                    Err(_) if variants.len() > 1 => continue,
                    checked => checked.class(Exit::Usage)?,
                }
                let bytes = (series.message)(&point);
                if let (Some(of), true) = (&measured, bytes > 0) {
                    of.moves_bytes()?;
                }
                let done = once(&on, &order)?;
                let time = |done: &Once| {
                    let whole = done.samples.column(WHOLE).first().copied().unwrap_or(done.end);
                    whole as f64 / f64::from(series.parts) / PICO
                };
                let mut times = vec![time(&done)];
                for end in &ends {
                    times.push(time(&once(end, &order)?));
                }
                let seconds = |ps: u64| Seconds(Number(ps as f64 / PICO));
                let ends = done.finish.iter().filter(|_| done.finish.len() <= MOST);
                let made = Simulation {
                    name: kernel.to_owned(),
                    bytes: Some(bytes),
                    variant: variant.unwrap_or("usual").to_owned(),
                    machine: machine.clone(),
                    ranks: ranks as u64,
                    operations: done.operations,
                    messages: done.messages,
                    end: seconds(done.end),
                    finish: ends.map(|ps| seconds(*ps)).collect(),
                    time: replayed(&times)?,
                    critical_path: None,
                    sensitivity: None,
                };
                let notes = measured.as_ref().map_or(Vec::new(), |of| of.notes.clone());
                sink.add(Made { results: vec![made.into()], notes }, None, None)?;
            }
        }
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
