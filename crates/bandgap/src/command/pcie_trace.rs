//! `bandgap breakdown --pcie-trace`: components from a PCIe analyser's trace.

use std::path::{Path, PathBuf};

use bandgap_launch::{Classify, Exit, Failure, told};
use bandgap_model::breakdown::{Errors, Stack};
use bandgap_model::pcie::{Hardware, Software, Timed, Trace};
use bandgap_record::read_pcie_trace;
use bandgap_results::breakdown::assemble::breakdown;
use bandgap_results::pcie_trace::assemble::{pcie_trace, table};
use bandgap_stats::Rule;
use bandgap_units::Ns;
use clap::Args;

use super::components::{Source, load};
use super::fit::{named, open};
use super::whatif::time;
use crate::args::{Measure, Output};
use crate::output::Sink;

/// A trace, and how it is read.
#[derive(Debug, Args)]
#[command(next_help_heading = "From a PCIe analyser")]
pub struct PcieTrace {
    /// Components from a PCIe analyser's trace, in the place of the table's: CSV with the columns time_ns,
    /// direction, type, bytes and, where known, address and sequence (`-` reads standard input)
    #[arg(long, value_name = "FILE")]
    pub pcie_trace: Option<PathBuf>,
    /// The same ping-pong without a switch, to divide Network into Wire and Switch
    #[arg(long, value_name = "FILE", requires = "pcie_trace")]
    pub without_switch: Option<PathBuf>,
    /// llp_post or llp_prog, as llp_post=175.42ns: RC-to-MEM takes them, and no trace has them
    #[arg(long, value_name = "NAME=TIME", value_parser = time, requires = "pcie_trace")]
    pub set: Vec<(String, Ns)>,
}

/// Prints what a trace says and, if it gives components, a breakdown with them.
///
/// # Errors
/// A trace or the table cannot be read or is wrong, or the result cannot be written.
pub(super) fn run(
    of: &PcieTrace,
    file: &Path,
    from: Option<&Source>,
    measure: &Measure,
    output: &Output,
) -> Result<Exit, Failure> {
    let known = from.map(|source| source.from.as_path());
    let inputs = [Some(file), of.without_switch.as_deref(), known];
    if inputs.into_iter().flatten().filter(|path| *path == Path::new("-")).count() > 1 {
        return Err(Failure::new(Exit::Usage, "read standard input twice: give files"));
    }
    let given = set(of)?;
    let from = from.map(load).transpose()?.map(|loaded| loaded.table);
    let of_table = |name| from.as_ref().and_then(|table| timed(&table.stack, name));
    let software = Software {
        post: given.post.clone().or_else(|| of_table("llp_post")),
        prog: given.prog.clone().or_else(|| of_table("llp_prog")),
    };
    let trace = read(file)?;
    let direct = of.without_switch.as_deref().map(read).transpose()?;
    let (name, without) = (named(file), of.without_switch.as_deref().map(named));
    let direct = without.as_deref().zip(direct.as_ref());
    let hardware = Hardware::of((&name, &trace), direct, &software);
    let (rule, confidence) =
        (Rule { precision: measure.precision.0, stamp: 0.0 }, measure.confidence.0);
    let result = pcie_trace((&name, &trace), direct, &hardware, rule, confidence);
    let mut results = vec![result.class(Exit::Defect)?.into()];
    if let Some(table) = table(&hardware, &given, from) {
        results.push(breakdown(&table, rule, confidence).class(Exit::Defect)?.into());
    }
    let mut sink = Sink::open(&output.only_asked(), "breakdown", measure)?;
    let exit = sink.add(results)?;
    sink.close(output.judged(exit))
}

/// Reads a trace to its end. One without posts and completions is none.
fn read(file: &Path) -> Result<Trace, Failure> {
    let wrong = |why: String| Failure::new(Exit::Input, format!("use {}: {why}", named(file)));
    let trace = read_pcie_trace(open(file)?).map_err(|error| wrong(told(&error)))?;
    if trace.counted.posts == 0 && trace.counted.completions == 0 {
        return Err(wrong(
            "it has neither posts nor completions (MWr of 64 bytes, down and up)".to_owned(),
        ));
    }
    Ok(trace)
}

/// The times that were given.
fn set(of: &PcieTrace) -> Result<Software, Failure> {
    let mut software = Software::default();
    for (name, Ns(ns)) in &of.set {
        let known = match name.as_str() {
            "llp_post" => &mut software.post,
            "llp_prog" => &mut software.prog,
            other => {
                let what = format!("set {other}: beside a trace it takes llp_post and llp_prog");
                return Err(Failure::new(Exit::Usage, what));
            }
        };
        if *ns < 0.0 {
            return Err(Failure::new(
                Exit::Usage,
                format!("set {name}: a time must not be negative"),
            ));
        }
        *known = Some(Timed { ns: *ns, errors: Errors::new(), samples: 0 });
    }
    Ok(software)
}

/// A time of a table, of a component or of a model.
fn timed(stack: &Stack, name: &str) -> Option<Timed> {
    if let Some(at) = stack.component(name) {
        let one = &stack.components[at];
        return Some(Timed { ns: one.ns, errors: one.errors.clone(), samples: 0 });
    }
    let value = stack.value(stack.model(name)?, &stack.state());
    Some(Timed { ns: value.ns, errors: value.errors, samples: 0 })
}
