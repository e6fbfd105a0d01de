//! The machine as a file that `-t sim:FILE.toml` reads, and as arguments of LogGOPSim.

use std::fmt::Write as _;

use bandgap_results::words;
use bandgap_sim::{EAGER, Machine};

use super::{Calibrated, Costs, Parameter, Pick, Protocol};
use crate::Result;

impl Calibrated {
    /// The machine file, with the intervals as comments. Values below 0 are written as 0.
    pub fn toml(&self, pick: Pick<'_>) -> String {
        // Names from a run file are reduced to plain characters, so that they cannot inject anything.
        let plain = |text: &str| {
            let is_plain = |c: char| c.is_alphanumeric() || " -_.:/".contains(c);
            text.chars().map(|c| if is_plain(c) { c } else { '_' }).collect::<String>()
        };
        let mut text =
            format!("# Taken from {}, with the intervals as comments.\n", plain(&self.origin));
        for note in &self.notes {
            let _ = writeln!(text, "# {}", words(note));
        }
        let _ = writeln!(text, "name = \"{}\"", plain(&self.transport));
        let mut put = |text: &mut String, all: &[(&str, Parameter, usize)]| {
            for (key, of, digits) in all {
                let number = |ns: f64| decimal(ns, *digits);
                let (value, low, high) = (
                    number(pick(of).max(0.0)),
                    number(of.low.min(of.high)),
                    number(of.high.max(of.low)),
                );
                let doubt = if of.low <= 0.0 && of.high > 0.0 { ": may be 0" } else { "" };
                let _ = writeln!(text, "{key} = {value}  # {low} to {high}{doubt}");
            }
        };
        let costs = |of: &Costs| {
            let names = ["send_overhead_ns", "recv_overhead_ns", "latency_ns"];
            [0, 1, 2].map(|at| (names[at], [of.send, of.recv, of.latency][at], 3))
        };
        put(&mut text, &costs(&self.words));
        // A gap of 0 is not allowed.
        put(&mut text, &[("gap_ns", self.gap.map(|ns| ns.max(LEAST)), 3)]);
        if let Some(groups) = &self.groups {
            let hosts = Machine::MOST_RANKS as u64 / groups.ranks.max(1);
            text += "\n[network]\ntopology = \"hosts\"\n";
            let _ = writeln!(text, "hosts = {hosts}\nranks_per_host = {}", groups.ranks);
            put(&mut text, &[("hop_ns", groups.hop, 3)]);
        }
        for Protocol { up_to, costs: of, per_byte } in &self.protocols {
            text += "\n[[protocol]]\n";
            if *up_to < u64::MAX {
                let _ = writeln!(text, "up_to_bytes = {up_to}");
            }
            put(&mut text, &costs(of));
            put(&mut text, &[("gap_per_byte_ns", *per_byte, 6)]);
        }
        text
    }

    /// The arguments of LogGOPSim, after a comment that explains them; times are in ns, or in ps.
    ///
    /// # Errors
    /// As [`Calibrated::loggops`].
    pub fn loggopsim(&self, in_picoseconds: bool) -> Result<String> {
        let [latency, o, gap, per_byte, _] = self.loggops(&mut |of| of.value)?.parameters;
        // Picoseconds, and attoseconds a byte.
        let times = [latency, o, gap].map(|time| time as f64);
        let per_byte = per_byte as f64 / 1e6;
        let (name, [latency, o, gap], per_byte) = match in_picoseconds {
            false => ("ns", times.map(|ps| decimal(ps / 1e3, 0)), decimal(per_byte / 1e3, 6)),
            true => ("ps", times.map(|ps| decimal(ps, 0)), decimal(per_byte, 0)),
        };
        let mut text = format!(
            "# {}, in {name}; G in {name} a byte{}\n\
         # o = (os + or)/2, since LogGOPSim has one overhead; L and o of the shortest messages, G of the longest\n\
         # a message of s bytes takes (s - 1)·G there, and s·G here; no sender waits for its receiver (-S)\n",
            self.origin,
            match in_picoseconds {
                false =>
                    ": ATLAHS' takes a decimal one, the other a whole number, so use --unit ps",
                true => "; the times of calc in a schedule must be in ps too",
            },
        );
        text.extend(
            self.toml(&mut |of| of.value)
                .lines()
                .map(|line| format!("# {}\n", line.trim_start_matches("# "))),
        );
        Ok(format!("{text}-L {latency} -o {o} -g {gap} -G {per_byte} -O 0 -S {EAGER}\n"))
    }
}

/// Shortest gap of a machine, in nanoseconds.
const LEAST: f64 = 0.001;

/// A number with at most `digits` digits after the point.
pub fn decimal(number: f64, digits: usize) -> String {
    let text = format!("{number:.digits$}");
    let short = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => text.as_str(),
    };
    if short == "-0" { "0".to_owned() } else { short.to_owned() }
}
