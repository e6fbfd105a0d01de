//! `bandgap layers`: the same kernel over several transports.

use std::time::Duration;

use bandgap_assemble::Made;
use bandgap_launch::{Classify, Exit, Result, Target, Transport, launcher_of, usage};
use bandgap_record::{Column, Place, Quantity, Row, Rows, Unit};
use bandgap_results::LAYERS;
use clap::Args;
use clap::builder::PossibleValuesParser;

use super::comet::{Comet, passing, used};
use super::run::compared;
use super::series::{Planned, Series};
use crate::args::Measure;
use crate::session::Session;

/// Time for the command, for each transport.
const USUAL: Duration = Duration::from_secs(15);

/// The kernel, and where.
#[derive(Clone, Debug, Args)]
pub struct Layers {
    /// Which; contention and overlap are measured by comet, over one transport at a time
    #[arg(value_name = "KERNEL", value_parser = PossibleValuesParser::new(passing()))]
    kernel: String,
    #[command(flatten)]
    series: Series,
    #[command(flatten)]
    measure: Measure,
}

/// Measures the kernel over each transport, and what each layer costs more than the one before.
///
/// # Errors
/// It could not be measured, or not be written.
pub fn run(layers: &Layers) -> Result<Exit> {
    let Layers { kernel, series, measure } = layers;
    let mut targets = measure.ranks.transport.clone();
    if targets.is_empty() {
        // From the one of this host alone outwards.
        let mut usual: Vec<Transport> = compared(measure.has_hosts()).collect();
        usual.sort_by_key(|transport| transport.can.hosts);
        targets = usual.into_iter().map(Target::Real).collect();
    }
    if targets.len() < 2 {
        let what = "compare the layers of one transport";
        return Err(usage!("{what}").hint("name several, as in -t shm,tcp,mpi"));
    }
    if let Some(twice) = (1..targets.len())
        .find(|at| targets[..*at].iter().any(|of| of.name() == targets[*at].name()))
    {
        let hint = "name each transport once";
        return Err(usage!("compare {} with itself", targets[twice]).hint(hint));
    }
    let mut parts = Vec::new();
    for target in targets {
        if let Target::Real(transport) = &target
            && transport.can.launcher
        {
            let of = &measure.ranks.of_library;
            launcher_of(of.launch_with.as_deref(), of.library(transport), 2)?;
        }
        let mut of = measure.everywhere()?;
        of.ranks.transport = vec![target.clone()];
        parts.push((target, Planned::of(&[kernel], false, series, &of)?));
    }
    used(&Comet { series: series.clone(), ..Comet::default() }, &[kernel])?;
    let usual = USUAL * parts.len() as u32;
    let mut session = Session::open("layers", measure, usual, [(kernel, 1.0)])?;
    session.share(1.0 / parts.len() as f64);
    let names: Vec<String> = parts.iter().map(|(target, _)| target.name()).collect();
    let mut at_work = Vec::new();
    for (target, planned) in parts {
        session.target = target;
        at_work.push(planned.begin(&mut session)?);
    }
    // In turns, so that what changes on the machine meanwhile changes for all.
    'launches: for launch in 0..measure.launches() {
        for (at, of) in at_work.iter_mut().enumerate() {
            let to_keep = launch > 0 || at > 0;
            if !of.collect(&mut session, Some(launch), to_keep)? {
                break 'launches;
            }
        }
    }
    for of in at_work {
        of.end(&mut session, series)?;
    }
    let rows = costs(&session, kernel, (&names, measure.precision.precision.0))?;
    if !rows.rows.is_empty() {
        let made = Made { results: vec![rows.into()], ..Made::default() };
        session.sink.add(made, None, None)?;
    }
    session.close()
}

/// The times of each transport by place, and how much longer each is than that of the transport before.
///
/// *Formula*: cost = t − t of the layer before; its half-width is the root of the sum of their squares: the two were
/// measured one after the other. It is precise if that is at most the share `precision` of it.
fn costs(
    session: &Session<'_>,
    kernel: &str,
    (names, precision): (&[String], f64),
) -> Result<Rows> {
    let all = session.sink.run.results.iter().filter_map(|result| result.as_rows());
    let series: Vec<&Rows> = all.filter(|rows| rows.name == kernel).collect();
    let of = |name: &String| series.iter().find(|rows| rows.transport == *name).copied();
    let mut axes = series.first().map_or_else(Vec::new, |rows| rows.axes.clone());
    axes.retain(|axis| axis != "variant");
    let place = |rows: &Rows, row: &Row| -> Vec<Place> {
        axes.iter().filter_map(|axis| rows.place(row, axis).cloned()).collect()
    };
    let mut found = Vec::new();
    let mut before: Option<&Rows> = None;
    for name in names {
        let Some(rows) = of(name) else { continue };
        for row in &rows.rows {
            let at = place(rows, row);
            let Some(time) = rows.cell(row, "time") else { continue };
            let below = before.and_then(|below| {
                let row = below.rows.iter().find(|row| place(below, row) == at)?;
                below.cell(row, "time")
            });
            let cost = below.map(|below| cost(time, below, precision)).transpose()?;
            let place = [at, vec![name.as_str().into()]].concat();
            found.push(Row { place, cells: vec![Some(time.clone()), cost], ..Row::default() });
        }
        before = Some(rows);
    }
    axes.push("transport".to_owned());
    Ok(Rows {
        kind: "series".to_owned(),
        name: LAYERS.to_owned(),
        axes,
        columns: vec![
            Column::new("time", Unit::Second, "time of the kernel over this transport"),
            Column::new("cost", Unit::Second, "time less that over the transport before"),
        ],
        rows: found,
        ..Rows::default()
    })
}

fn cost(time: &Quantity, below: &Quantity, precision: f64) -> Result<Quantity> {
    let value = time.value.0 - below.value.0;
    let wide = time.half_width().zip(below.half_width()).map(|(a, b)| a.hypot(b));
    let interval = wide.map(|wide| (value - wide, value + wide));
    let samples = time.samples.min(below.samples);
    let both = time.converged && below.converged;
    let precise = wide.map_or(both, |wide| wide <= precision * value.abs());
    let evidence = ("difference", samples, precise);
    Quantity::new(value, interval, Unit::Second, evidence).class(Exit::Defect)
}
