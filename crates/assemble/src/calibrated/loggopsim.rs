//! Arguments of LogGOPSim.

use bandgap_sim::EAGER;

use super::Calibrated;
use super::text::decimal;
use crate::Result;

impl Calibrated {
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
