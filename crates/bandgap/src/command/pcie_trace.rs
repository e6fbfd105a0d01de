//! `bandgap breakdown --pcie-trace`: components from a PCIe analyser's trace.

use std::path::{Path, PathBuf};

use bandgap_launch::{Classify, Exit, Failure, told};
use bandgap_model::breakdown::Stack;
use bandgap_model::pcie::{Given, Hardware, Range, Read, Software, Timed};
use bandgap_record::{ComponentTable, read_pcie_trace};
use bandgap_results::breakdown::assemble::breakdown;
use bandgap_results::pcie_trace::assemble::pcie_trace;
use bandgap_results::pcie_trace::components::table;
use bandgap_stats::Rule;
use bandgap_stats::interval::normal_factor;
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
    /// direction, type, bytes and, where known, address and sequence or tag (`-` reads standard input)
    #[arg(long, value_name = "FILE")]
    pub pcie_trace: Option<PathBuf>,
    /// The same ping-pong without a switch, to divide Network into Wire and Switch
    #[arg(long, value_name = "FILE", requires = "pcie_trace")]
    pub without_switch: Option<PathBuf>,
    /// llp_post or llp_prog, as llp_post=175.42ns: RC-to-MEM takes them, and no trace has them
    #[arg(long, value_name = "NAME=TIME", value_parser = time, requires = "pcie_trace")]
    pub set: Vec<(String, Ns)>,
    /// Addresses of posts, as 0x3800000800:0x38000008ff [default: any]
    #[arg(long, value_name = "FROM:TO", value_parser = range, requires = "pcie_trace")]
    pub posts_at: Vec<Range>,
    /// Addresses of completion queues [default: found]
    #[arg(long, value_name = "FROM:TO", value_parser = range, requires = "pcie_trace")]
    pub completions_at: Vec<Range>,
    /// Addresses of receive buffers [default: what is no completion]
    #[arg(long, value_name = "FROM:TO", value_parser = range, requires = "pcie_trace")]
    pub payloads_at: Vec<Range>,
}

/// Two addresses with `:` between them.
fn range(text: &str) -> Result<Range, String> {
    let (from, to) = text
        .split_once(':')
        .ok_or("there is no ':' in it (write for example 0x7f1000000000:0x7f100003ffff)")?;
    let address = |text: &str| {
        let digits = text.strip_prefix("0x").or(text.strip_prefix("0X")).unwrap_or(text);
        u64::from_str_radix(digits, 16)
            .map_err(|_| format!("'{text}' is no address: give at most 16 hexadecimal digits"))
    };
    match (address(from)?, address(to)?) {
        (from, to) if from <= to => Ok(Range { from, to }),
        _ => Err("the first address is above the last".to_owned()),
    }
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
    let table_from = from.map(load).transpose()?;
    let warnings = table_from.as_ref().map(|table| table.warnings.clone());
    let trace = read(file, of)?;
    let direct = of.without_switch.as_deref().map(|file| read(file, of)).transpose()?;
    let confidence = measure.confidence.0;
    let in_table = table_from.as_ref().map(|table| software(&table.stack, confidence));
    let in_table = in_table.transpose()?.unwrap_or_default();
    let software =
        Software { post: given.post.or(in_table.post), prog: given.prog.or(in_table.prog) };
    let hardware = Hardware::of(&trace, direct.as_ref(), software, confidence);
    let rule = Rule { precision: measure.precision.0, stamp: 0.0 };
    let (name, without) = (named(file), of.without_switch.as_deref().map(named));
    let direct = without.as_deref().zip(direct.as_ref());
    let result = pcie_trace((&name, &trace), direct, &hardware, rule, confidence);
    let mut results = vec![result.class(Exit::Defect)?.into()];
    let made: Option<ComponentTable> = table(&hardware, given, table_from, confidence)
        .map_err(|error| Failure::new(Exit::Input, format!("use {name}: {error}")))?;
    if let Some(table) = made {
        results.push(breakdown(&table, rule, confidence).class(Exit::Defect)?.into());
    }
    let mut sink = Sink::open(&output.only_asked(), "breakdown", measure)?;
    warnings.iter().flatten().for_each(|warning| sink.warn_once(warning));
    let exit = sink.add(results)?;
    sink.close(output.judged(exit))
}

/// Reads a trace to its end.
fn read(file: &Path, of: &PcieTrace) -> Result<Read, Failure> {
    let given = Given {
        posts: of.posts_at.clone(),
        completions: of.completions_at.clone(),
        payloads: of.payloads_at.clone(),
    };
    let wrong = |why: String| Failure::new(Exit::Input, format!("use {}: {why}", named(file)));
    let trace = read_pcie_trace(open(file)?, given).map_err(|error| wrong(told(&error)))?;
    trace.finish().map_err(|error| wrong(told(&error)))
}

/// The times that were given.
fn set(of: &PcieTrace) -> Result<Software, Failure> {
    let mut software = Software::default();
    for (name, Ns(ns)) in &of.set {
        let known = match name.as_str() {
            "llp_post" => &mut software.post,
            "llp_prog" => &mut software.prog,
            other => {
                return Err(Failure::new(
                    Exit::Usage,
                    format!("set {other}: beside a trace it takes llp_post and llp_prog"),
                )
                .hint("give a table with --from for other components"));
            }
        };
        *known = Some(Timed::given(*ns, None));
    }
    Ok(software)
}

/// LLP_post and LLP_prog of a table, each a component or a model.
fn software(stack: &Stack, confidence: f64) -> Result<Software, Failure> {
    let models = stack.evaluated(&stack.state()).class(Exit::Defect)?;
    let factor = normal_factor(confidence);
    let timed = |ns: f64, deviation: Option<f64>| {
        Timed::given(ns, deviation.map(|deviation| deviation * factor))
    };
    let of = |name: &str| {
        if let Some(model) = stack.model(name).map(|at| &models[at]).filter(|model| model.is_time) {
            return Some(timed(model.value, stack.deviation(&model.sources)));
        }
        let at = stack.components().iter().position(|one| one.name == name)?;
        Some(timed(stack.times()[at], stack.deviation(&stack.sources(at))))
    };
    Ok(Software { post: of("llp_post"), prog: of("llp_prog") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_two_addresses() {
        assert_eq!(range("0x10:1f"), Ok(Range { from: 16, to: 31 }));
        for wrong in ["10", "10:", "x:10", "20:10", "0:11111111111111111"] {
            assert!(range(wrong).is_err(), "{wrong}");
        }
    }
}
