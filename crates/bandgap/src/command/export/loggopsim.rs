//! Arguments of LogGOPSim.

use bandgap_launch::Result;
use bandgap_sim::EAGER;
use clap::ValueEnum;

use crate::calibrated::{Calibrated, decimal};

/// The unit of its times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Unit {
    /// Nanoseconds
    #[default]
    Ns,
    /// Picoseconds, in which G is a whole number: a schedule's calc must then be in them too
    Ps,
}

/// The arguments, behind a comment on what they are.
///
/// # Errors
/// The run lacks what they need.
pub fn arguments(machine: &Calibrated, unit: Unit) -> Result<String> {
    let [latency, o, gap, per_byte, _] = machine.loggops(&mut |of| of.value)?.parameters;
    // Picoseconds, and attoseconds a byte.
    let times = [latency, o, gap].map(|time| time as f64);
    let per_byte = per_byte as f64 / 1e6;
    let (name, [latency, o, gap], per_byte) = match unit {
        Unit::Ns => ("ns", times.map(|ps| decimal(ps / 1e3, 0)), decimal(per_byte / 1e3, 6)),
        Unit::Ps => ("ps", times.map(|ps| decimal(ps, 0)), decimal(per_byte, 0)),
    };
    let mut text = format!(
        "# {}, in {name}; G in {name} a byte{}\n\
         # o = (os + or)/2, since LogGOPSim has one overhead; L and o of the shortest messages, G of the longest\n\
         # a message of s bytes takes (s - 1)·G there, and s·G here; no sender waits for its receiver (-S)\n",
        machine.origin,
        match unit {
            Unit::Ns => ": ATLAHS' takes a decimal one, the other a whole number, so use --unit ps",
            Unit::Ps => "; the times of calc in a schedule must be in ps too",
        },
    );
    text.extend(
        machine
            .toml(&mut |of| of.value)
            .lines()
            .map(|line| format!("# {}\n", line.trim_start_matches("# "))),
    );
    Ok(format!("{text}-L {latency} -o {o} -g {gap} -G {per_byte} -O 0 -S {EAGER}\n"))
}
