//! `bandgap simulate --validate RUN`: simulates the measurements of a run on the machine taken from it.

use bandgap_assemble::{
    AssembleError, Calibrated, Measured, SEED, Times, chosen, simulated, tasks, validation,
};
use bandgap_campaign::Setting;
use bandgap_launch::{Exit, Failure, Result, Target, in_virtual_time, input, simulated as machine};
use bandgap_report::share;
use bandgap_results::Run;
use bandgap_sim::Machine;
use serde_json::json;

use super::show::kept;
use super::simulate::Simulate;
use crate::args::nothing_asked;
use crate::output::Sink;
use crate::refused::unmade;

/// Simulates the measurements of a run over a transport, and keeps both times with their errors.
///
/// # Errors
/// There is no such run, its results do not make a machine, the machine cannot carry out the measurements, or the result
/// cannot be written.
pub fn run(of: &Simulate) -> Result<Exit> {
    let (path, run) = kept(&of.schedule)?;
    let named = of.points.transport.as_ref().map(Target::name);
    let transport = chosen(&run, named.as_deref()).map_err(unmade)?;
    let path = path.display().to_string();
    let (machines, sources, notes) = match (transport.strip_prefix("sim:"), &of.points.transport) {
        // A run records the name of its simulated machine, but not its file.
        (Some(_), Some(Target::Simulated(file))) => (vec![machine(file)?], Vec::new(), Vec::new()),
        (Some(name), _) => {
            let file = |failure: Failure| failure.hint("add -t sim:FILE, the machine's file");
            (vec![machine(name).map_err(file)?], Vec::new(), Vec::new())
        }
        (None, _) => {
            let measured = Calibrated::of(&run, &path, Some(transport), of.how.one_latency);
            let measured = measured.map_err(unmade)?;
            let value = measured.machine(&mut |of| of.value).map_err(unmade)?;
            let [low, high] = measured.ends().map_err(unmade)?;
            (vec![value, low, high], measured.sources, measured.notes)
        }
    };
    let mut sink = Sink::open(&of.output.only_asked(), "validate", SEED)?;
    let tolerance = of.tolerance.0;
    sink.plan(&json!({
        "name": "validate", "run": path, "tolerance": tolerance,
        "precision": run.planned("precision"), "confidence": run.confidence(),
    }));
    let times = machines.iter().map(|machine| times(machine, &run, transport));
    let times: Vec<Times> = times.collect::<Result<_>>()?;
    let within = (tolerance, &*share(tolerance));
    let made = validation(&run, transport, &times, &sources, within);
    let (mut made, is_outside) = made.map_err(|error| match error {
        AssembleError::Unmeasured => {
            input!("validate {path} over {transport}: nothing in it can be simulated")
        }
        error => unmade(error),
    })?;
    made.notes = notes;
    sink.add(made, None)?;
    sink.close(if of.strict && is_outside { Exit::Doubtful } else { Exit::Fine })
}

/// The times of a run's tasks on a machine.
fn times(machine: &Machine, run: &Run, transport: &str) -> Result<Times> {
    let ranks = run.conditions.iter().filter(|of| of.transport == transport);
    let ranks = ranks.map(|of| of.ranks as usize).max().unwrap_or(2);
    if ranks > machine.ranks {
        let most = machine.ranks;
        return Err(input!("validate {ranks} ranks over {transport}: its machine has {most}"));
    }
    let setting = Setting { transport: transport.to_owned(), ranks, ..Setting::default() };
    let mut times = Times::new();
    for task in tasks(run, transport) {
        let collected = in_virtual_time(machine, None, (ranks, &task), &mut |_, _| {})?;
        let judged = nothing_asked().judge(&collected.table);
        simulated(&task, &Measured { setting: &setting, judged: &judged }, &mut times);
    }
    Ok(times)
}
