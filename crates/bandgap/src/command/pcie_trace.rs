//! `bandgap breakdown --pcie-trace`: components from a PCIe analyser's trace.

use std::path::{Path, PathBuf};

use bandgap_assemble::{pcie_table, pcie_trace, table_breakdown};
use bandgap_launch::{Classify, Exit, Result, input, told, usage};
use bandgap_model::breakdown::{Errors, Stack};
use bandgap_model::pcie::{Hardware, Software, Timed, Trace};
use bandgap_record::read_pcie_trace;
use bandgap_units::Ns;
use clap::Args;

use super::components::{Source, load, rule};
use super::fit::{named, open};
use super::whatif::time;
use crate::args::{Output, Precision};
use crate::output::close_given;

/// A trace, and the times that it lacks.
#[derive(Clone, Debug, Args)]
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

/// Prints the results of a trace and, if it yields components, a breakdown with them.
///
/// # Errors
/// A trace or the table cannot be read or is wrong, or the result cannot be written.
pub fn run(
    of: &PcieTrace,
    file: &Path,
    source: &Source,
    (precision, output): (&Precision, &Output),
) -> Result<Exit> {
    let inputs = [Some(file), of.without_switch.as_deref(), source.from.as_deref()];
    if inputs.into_iter().flatten().filter(|path| *path == Path::new("-")).count() > 1 {
        return Err(usage!("read standard input twice: give files"));
    }
    let given = set(of)?;
    let from = source.from.as_deref().map(|from| load(from, source.id.as_deref())).transpose()?;
    let from = from.map(|loaded| loaded.table);
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
    let (rule, level) = (rule(precision), precision.confidence.0);
    let made = pcie_trace((&name, &trace), direct, &hardware, rule, level);
    let mut made = made.class(Exit::Defect)?;
    let exit = if made.results.is_empty() { Exit::Missing } else { Exit::Fine };
    if let Some(table) = pcie_table(&hardware, &given, from) {
        made = made.and(table_breakdown(&table, rule, level).class(Exit::Defect)?);
    }
    close_given("breakdown", (precision, output), made, exit)
}

/// Reads a trace, which must have posts or completions.
fn read(file: &Path) -> Result<Trace> {
    let wrong = |why: String| input!("use {}: {why}", named(file));
    let trace = read_pcie_trace(open(file)?).map_err(|error| wrong(told(&error)))?;
    if trace.counted.posts == 0 && trace.counted.completions == 0 {
        return Err(wrong(
            "it has neither posts nor completions (MWr of 64 bytes, down and up)".to_owned(),
        ));
    }
    Ok(trace)
}

/// The times from `--set`.
fn set(of: &PcieTrace) -> Result<Software> {
    let mut software = Software::default();
    for (name, Ns(ns)) in &of.set {
        let usage = |why: &str| Err(usage!("set {name}: {why}"));
        let known = match name.as_str() {
            "llp_post" => &mut software.post,
            "llp_prog" => &mut software.prog,
            _ => return usage("beside a trace it takes llp_post and llp_prog"),
        };
        if *ns < 0.0 {
            return usage("a time must not be negative");
        }
        *known = Some(Timed { ns: *ns, errors: Errors::new(), samples: 0 });
    }
    Ok(software)
}

/// The time of a component or model in a table.
fn timed(stack: &Stack, name: &str) -> Option<Timed> {
    if let Some(at) = stack.component(name) {
        let one = &stack.components[at];
        return Some(Timed { ns: one.ns, errors: one.errors.clone(), samples: 0 });
    }
    let value = stack.value(stack.model(name)?, &stack.state());
    Some(Timed { ns: value.ns, errors: value.errors, samples: 0 })
}
