//! `bandgap simulate KERNEL`: a kernel replayed once on a simulated machine, on any number of its ranks.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use bandgap_assemble::Made;
use bandgap_kernels::{AtSize, Extent, LIBRARY, Order, Series, WHOLE, in_series};
use bandgap_launch::{Classify, Exit, Failure, Once, Signals, Target, once, simulated};
use bandgap_record::{Evidence, Number, Quantity, Seconds, Unit};
use bandgap_results::Simulation;
use bandgap_sim::Machine;
use serde_json::json;

use super::series::elements;
use super::simulate::{MOST, Simulate};
use crate::output::Sink;
use crate::progress::Progress;
use crate::session::interrupted;
use crate::sizes::Sizes;

/// Bytes of messages, where no sizes are named.
const BYTES: u32 = 8;
/// Time between two looks at signals.
const LOOK: Duration = Duration::from_millis(100);
/// Picoseconds of a second.
const PICO: f64 = 1e12;

/// Replays the kernel once for each number of ranks, size and algorithm, and keeps when it ends.
///
/// # Errors
/// There is no such kernel or machine, the machine cannot carry it out, or the result cannot be written.
pub fn run(of: &Simulate, kernel: &str) -> Result<Exit, Failure> {
    let machine = match &of.transport {
        Some(Target::Simulated(machine)) => machine,
        _ => {
            let what = format!("simulate {kernel} on no machine");
            return Err(Failure::new(Exit::Usage, what).hint("name one, as in -t sim:myrinet"));
        }
    };
    let (fact, series) = in_series(kernel).class(Exit::Usage)?;
    let on = simulated(machine)?;
    if let Some(many) = of.ranks.iter().find(|ranks| **ranks > on.ranks) {
        let what = format!("simulate {many} ranks: {machine} has {}", on.ranks);
        return Err(Failure::new(Exit::Usage, what));
    }
    let variants = variants(&series, of.algorithm.as_deref())?;
    for (given, option) in [
        (of.loggops.is_some(), "--loggops"),
        (of.sensitivity, "--sensitivity"),
        (of.sizes.is_some() && series.extent == Extent::None, "--sizes"),
    ] {
        if given {
            return Err(Failure::new(Exit::Usage, format!("simulate {kernel} with {option}")));
        }
    }
    let sizes = sizes(&series, of.sizes.as_ref());
    if sizes.is_empty() {
        let what = format!("simulate {kernel}: no size is a whole number of doubles");
        return Err(Failure::new(Exit::Usage, what).hint("give multiples of 8 B"));
    }
    let mut sink = Sink::open(&of.output, "simulate", 0)?;
    sink.plan(&json!({"name": "simulate", "kernel": kernel, "machine": machine}));
    let ranks = if of.ranks.is_empty() { vec![on.ranks] } else { of.ranks.clone() };
    let mut points = Vec::new();
    for ranks in ranks {
        for (&size, variant) in
            sizes.iter().flat_map(|size| variants.iter().map(move |of| (size, of)))
        {
            let point = AtSize { variant: *variant, ..AtSize::of(size as usize, 1, ranks) };
            let order = (fact.at)(point, 1, ranks).class(Exit::Usage)?;
            match (fact.check)(&order, ranks) {
                // Of all, those that fit.
                Err(_) if variants.len() > 1 => {}
                checked => {
                    checked.class(Exit::Usage)?;
                    points.push((point, order));
                }
            }
        }
    }
    let signals = Signals::take(interrupted(of.output.quiet)).class(Exit::Host)?;
    let all: usize = points.iter().map(|(point, _)| point.ranks).sum();
    let mut before = 0;
    let mut progress = Progress::new(vec![(kernel.to_owned(), 1.0)], of.output.quiet);
    for (point, order) in points {
        let doing = format!("{} ranks", point.ranks);
        let show = || progress.show(before as f64 / all as f64, &doing);
        let Some(done) = watched(&on, order, &signals, show)? else {
            progress.clear();
            sink.run.interrupted = true;
            return sink.close(Exit::Interrupted);
        };
        before += point.ranks;
        progress.clear();
        sink.add(
            Made {
                results: vec![made(kernel, machine, &series, &point, done)?.into()],
                notes: Vec::new(),
            },
            None,
            None,
        )?;
    }
    sink.close(Exit::Fine)
}

/// Replays an order on a thread of its own, and calls `show` now and then; `None` where a signal came before the end.
fn watched(
    machine: &Machine,
    order: Order,
    signals: &Signals,
    mut show: impl FnMut(),
) -> Result<Option<Once>, Failure> {
    let (sender, receiver) = mpsc::channel();
    let machine = machine.clone();
    thread::spawn(move || sender.send(once(&machine, &order)));
    loop {
        match receiver.recv_timeout(LOOK) {
            Ok(done) => return done.map(Some),
            Err(RecvTimeoutError::Timeout) if signals.came() => return Ok(None),
            Err(RecvTimeoutError::Timeout) => show(),
            Err(gone) => return Err(gone).class(Exit::Defect),
        }
    }
}

/// The result of a point.
fn made(
    kernel: &str,
    machine: &str,
    series: &Series,
    point: &AtSize,
    done: Once,
) -> Result<Simulation, Failure> {
    let whole = done.samples.column(WHOLE).first().copied().unwrap_or(done.end);
    let time = whole as f64 / f64::from(series.parts) / PICO;
    let evidence = Evidence::new("replay", 1, true);
    let seconds = |ps: u64| Seconds(Number(ps as f64 / PICO));
    let ends = done.finish.iter().filter(|_| done.finish.len() <= MOST);
    Ok(Simulation {
        name: kernel.to_owned(),
        bytes: Some((series.message)(point)),
        variant: point.variant.unwrap_or("usual").to_owned(),
        machine: format!("sim:{machine}"),
        ranks: point.ranks as u64,
        operations: done.operations,
        messages: done.messages,
        end: seconds(done.end),
        finish: ends.map(|ps| seconds(*ps)).collect(),
        time: Quantity::new(time, Some((time, time)), Unit::Second, evidence)
            .class(Exit::Defect)?,
        critical_path: None,
        sensitivity: None,
    })
}

fn sizes(series: &Series, named: Option<&Sizes>) -> Vec<u32> {
    match (series.extent, named) {
        (Extent::None, _) => vec![0],
        (Extent::Doubles, Some(sizes)) => elements(sizes),
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
