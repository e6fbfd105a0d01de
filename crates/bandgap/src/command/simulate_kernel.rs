//! `bandgap simulate KERNEL`: replays a kernel once on a simulated machine, on any number of its ranks.

use std::cmp::Ordering::Equal;

use bandgap_assemble::{Calibrated, Made, Replayed, SEED, simulation, simulation_beyond, spans};
use bandgap_campaign::sizes::Sizes;
use bandgap_kernels::{AtSize, DOUBLE, Extent, LIBRARY, Order, Series, in_series};
use bandgap_launch::{
    Classify, Exit, Once, Result, Signals, Target, at_least, once, once_until, recorded, simulated,
    usage,
};
use bandgap_record::Note;
use bandgap_results::Simulation;
use bandgap_sim::{Machine, Window, observe};
use serde_json::json;

use super::simulate::{Points, Simulate, newest};
use super::watched::watched;
use crate::output::Sink;
use crate::progress::Progress;
use crate::refused::{refuse, unmade};
use crate::session::interrupted;

/// What a kernel without algorithms is done by.
const ONLY: &str = "only";
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
            let words = std::env::args_os().skip(1);
            let own = words.map(|word| format!(" {}", word.to_string_lossy())).collect::<String>();
            let file = format!("bandgap{own} -t sim:FILE.toml");
            let hint = match (&of.transport, command) {
                (Some(over), _) => format!("bandgap run -t {over} measures one; then bandgap{own}"),
                (None, "simulate") => {
                    format!("bandgap run measures one; then bandgap{own}; or {file}")
                }
                _ => file,
            };
            return Err(usage!("{command} {kernel} on no machine").hint(hint));
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
/// measured, it also replays the kernel at both ends of the parameters' intervals. Unless the options name an algorithm,
/// that whose last rank ends first comes first, and what is certain to be later than its interval is not replayed further.
///
/// # Errors
/// As [`planned`], or the machine cannot carry out the kernel, or the result cannot be written.
pub fn run(of: &Simulate, kernel: &str) -> Result<Exit> {
    let is_simulated = matches!(of.points.transport, Some(Target::Simulated(_)));
    let one_latency = of.how.one_latency && of.from.is_none() && is_simulated;
    let all = [
        (of.loggops.is_some(), "--loggops", "it has the parameters of a machine"),
        (one_latency, "--one-latency", "it needs --from"),
        (of.noise.is_some(), "--noise", "export it --to goal, and simulate that"),
    ];
    refuse(&format!("simulate {kernel}"), &all)?;
    let (_, series) = in_series(kernel).class(Exit::Usage)?;
    let measured = match of.from.is_some() || is_simulated {
        true => of.measured()?,
        false => newest(&of.points, of.how, series.extent != Extent::None),
    };
    let compares = of.points.algorithm.is_none() && series.by_algorithm();
    let algorithm = if compares { Some("all".to_owned()) } else { of.points.algorithm.clone() };
    let points = Points { algorithm, ..of.points.clone() };
    let Planned { machine, named, series, mut points, notes } =
        planned(&points, measured.as_ref(), "simulate", kernel)?;
    let ends = measured.as_ref().map_or(Ok(Vec::new()), |of| of.ends().map(Vec::from));
    let ends = ends.map_err(unmade)?;
    let machines: Vec<Machine> = [machine].into_iter().chain(ends).collect();
    let mut sink = Sink::open(&of.output.only_asked(), "simulate", SEED)?;
    sink.plan(&json!({"name": "simulate", "kernel": kernel, "machine": named}));
    notes.into_iter().for_each(|note| sink.note(note));
    let left_out = match machines[0].network.is_shared() {
        true => "noise_left_out",
        false => "contention_left_out",
    };
    sink.note(Note::new(left_out, ""));
    Signals::take(interrupted(of.output.quiet))?;
    let all: usize = points.iter().map(|(point, _)| point.ranks).sum();
    let (mut before, mut is_seen) = (0, false);
    let mut progress = Progress::new(vec![(kernel.to_owned(), 1.0)], of.output.quiet);
    let is_same = |one: &(AtSize, Order), next: &(AtSize, Order)| {
        (one.0.ranks, one.0.size) == (next.0.ranks, next.0.size)
    };
    for group in points.chunk_by_mut(is_same) {
        if compares {
            // What is probably fast first, so that what is slow ends early.
            let least = |of: &(AtSize, Order)| at_least(&machines[0], &of.1).unwrap_or(u64::MAX);
            group.sort_by_cached_key(least);
        }
        let (mut last, mut all_made) = (u64::MAX, Vec::new());
        for (point, order) in group.iter() {
            let bytes = (series.message)(point);
            if let (Some(of), true) = (&measured, bytes > 0) {
                of.moves_bytes().map_err(unmade)?;
            }
            let doing = format!("{} ranks", point.ranks);
            let show = || progress.show(before as f64 / all as f64, &doing);
            let (machines, order, sensitivity) = (machines.clone(), order.clone(), of.sensitivity);
            let done = watched(move || replays(&machines, &order, sensitivity, last), show)?;
            progress.clear();
            let Some(done) = done else {
                sink.run.interrupted = true;
                break;
            };
            before += point.ranks;
            let latest = done.iter().flatten().map(|once| once.end).max().unwrap_or(last);
            last = if compares { last.min(latest) } else { last };
            all_made.push(made((kernel, &*named, bytes), &series, point, &done)?);
        }
        if compares {
            let key = |of: &Simulation| (of.time.is_lower_bound(), of.end.0.0);
            all_made.sort_by(|one, next| key(one).partial_cmp(&key(next)).unwrap_or(Equal));
        }
        if let Some(first) = all_made.first_mut().filter(|of| !is_seen && of.has_room()) {
            let is_its = |of: &&(AtSize, Order)| of.0.variant.unwrap_or(ONLY) == first.variant;
            if let Some((point, order)) = group.iter().find(is_its) {
                let (_, schedule) = recorded(&machines[0], order, true)?;
                let seen = observe(&schedule, &machines[0], &Window::whole(point.ranks));
                first.timeline = spans(&seen.class(Exit::Input)?);
                is_seen = true;
            }
        }
        for made in all_made {
            let notes = measured.as_ref().map_or(Vec::new(), |of| of.notes.clone());
            sink.add(Made { results: vec![made.into()], notes }, None)?;
        }
        if sink.run.interrupted {
            return sink.close(Exit::Interrupted);
        }
    }
    sink.close(Exit::Fine)
}

/// Replays an order on each machine if on the first it ends by `last`, else gives a lower bound of its time. Only the
/// first replay computes the sensitivity.
fn replays(
    machines: &[Machine],
    order: &Order,
    sensitivity: bool,
    last: u64,
) -> Result<Result<Vec<Once>, u64>> {
    let mut all = match once_until(&machines[0], order, last)? {
        Ok(first) => vec![first],
        Err(least) => return Ok(Err(least)),
    };
    if sensitivity {
        all = vec![once(&machines[0], order, true)?];
    }
    for machine in &machines[1..] {
        all.push(once(machine, order, false)?);
    }
    Ok(Ok(all))
}

/// The result of a point: its first replay, with the interval of all replays, or a lower bound of its time.
fn made(
    (name, machine, bytes): (&str, &str, u64),
    series: &Series,
    point: &AtSize,
    done: &Result<Vec<Once>, u64>,
) -> Result<Simulation> {
    let (parts, in_a_row) = (series.parts, point.messages);
    let (bytes, variant) = (Some(bytes), point.variant.unwrap_or(ONLY));
    let counts = |[operations, messages]: [u64; 2]| [point.ranks as u64, operations, messages];
    let of = |own| Replayed { name, bytes, variant, machine, counts: counts(own), parts, in_a_row };
    let made = match done {
        Err(least) => simulation_beyond(&of([0, 0]), *least as i64),
        Ok(all) => {
            let (first, times) = (&all[0], all.iter().map(|once| once.time() as i64));
            let finish = first.finish.iter().map(|ps| *ps as i64);
            let (of, ends) = (of([first.operations, first.messages]), (first.end as i64, finish));
            simulation(&of, ends, &times.collect::<Vec<_>>(), first.sensitivity.as_ref())
        }
    };
    made.map_err(unmade)
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
