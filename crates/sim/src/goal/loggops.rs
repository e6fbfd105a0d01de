//! Parameters of LogGOPSim, and how often each is contained in a step of a message.

use std::str::FromStr;

use crate::Machine;

/// Letters of the parameters that are times: L, o and g, and per byte G and O.
pub const LETTERS: [&str; 5] = ["L", "o", "g", "G", "O"];

/// Indices of L and G among them.
pub(super) const LATENCY: usize = 0;
pub(super) const PER_BYTE: usize = 3;

/// Decimal digits of each in nanoseconds: down to picoseconds, or attoseconds for times per byte.
const DIGITS: [usize; 5] = [3, 3, 3, 9, 9];

/// Largest S that LogGOPSim accepts: no sender waits for its receiver.
pub const EAGER: u64 = i32::MAX as u64;

/// LogGOPS parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loggops {
    /// L, o and g in picoseconds, G and O in attoseconds per byte, in the order of [`LETTERS`].
    pub parameters: [i64; 5],
    /// S: longest message that does not wait for its receive, in bytes.
    pub eager: u64,
}

impl Default for Loggops {
    /// The defaults of LogGOPSim.
    fn default() -> Self {
        Self { parameters: [2_500_000, 1_500_000, 1_000_000, 6_000_000_000, 0], eager: 65_535 }
    }
}

impl Loggops {
    /// Approximates a machine that has two overheads and a G for each protocol: o = (os + or)/2 and
    /// L of the shortest messages, G of the longest, O = 0; no sender waits. `None` if the machine
    /// does not say what bytes cost.
    pub fn of(machine: &Machine) -> Option<Self> {
        let (first, last) = machine.protocols.first().zip(machine.protocols.last())?;
        let overhead = (first.send_overhead + first.recv_overhead) / 2;
        let per_byte = last.gap_per_byte.saturating_mul(1000);
        let parameters = [first.latency, overhead, machine.gap, per_byte, 0];
        let parameters = parameters.map(|of| i64::try_from(of).unwrap_or(i64::MAX));
        Some(Self { parameters, eager: EAGER })
    }
}

/// Step of a message of s bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It occupies the sender's processor: o + (s − 1)·O.
    Sending,
    /// It occupies an interface, on either side: g + (s − 1)·G.
    Passing,
    /// Its first byte travels: o + L.
    Flight,
    /// It occupies the receiver's processor: o + (s − 1)·max(G, O).
    Taking,
}

impl Loggops {
    /// How often each parameter is contained in a step of a message of `size` bytes. If G and O
    /// cost the same, an infinitesimal increase (sign 1) or decrease (−1) of a parameter decides.
    pub(super) fn counts(&self, step: Step, size: u64, towards: (usize, i64)) -> [i64; 5] {
        let bytes = size as i64 - 1;
        match step {
            Step::Sending => [0, 1, 0, 0, bytes],
            Step::Passing => [0, 0, 1, bytes, 0],
            Step::Flight => [1, 1, 0, 0, 0],
            Step::Taking => {
                let cost = |of: usize| {
                    let growth = if of == towards.0 { bytes.saturating_mul(towards.1) } else { 0 };
                    (self.time(of, bytes), growth)
                };
                let (gap, overhead) = (cost(PER_BYTE), cost(PER_BYTE + 1));
                // LogGOPSim uses unsigned arithmetic: 0 is less than the cost of 0 bytes.
                let wraps = bytes < 0 && (gap == (0, 0) || overhead == (0, 0));
                if (gap >= overhead) != wraps { [0, 1, 0, bytes, 0] } else { [0, 1, 0, 0, bytes] }
            }
        }
    }

    /// Whether an infinitesimal change of G decides the cost of receiving a message.
    pub(super) fn may_be_either(&self, size: u64) -> bool {
        let bytes = size as i64 - 1;
        let [gap, overhead] = [PER_BYTE, PER_BYTE + 1].map(|of| self.time(of, bytes));
        bytes != 0 && (gap == overhead || bytes < 0 && gap == 0)
    }

    /// Picoseconds of `count` times a parameter.
    pub(super) fn time(&self, parameter: usize, count: i64) -> i64 {
        const PICO: i64 = 1_000_000;
        let value = self.parameters[parameter];
        if parameter < PER_BYTE {
            return count.saturating_mul(value);
        }
        if value % PICO == 0 {
            return count.saturating_mul(value / PICO);
        }
        let product = i128::from(count) * i128::from(value);
        i64::try_from(product.div_euclid(PICO.into())).unwrap_or(i64::MAX)
    }

    /// Picoseconds of a step.
    pub(super) fn cost(&self, counts: [i64; 5]) -> i64 {
        let times = counts.into_iter().enumerate().map(|(of, count)| self.time(of, count));
        times.fold(0, i64::saturating_add)
    }
}

impl FromStr for Loggops {
    type Err = String;

    /// Parses e.g. `L=2500,o=1500,g=1000,G=6,O=0,S=65535`, in ns, ns per byte, and bytes. Missing
    /// parameters have LogGOPSim's defaults.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut all = Self::default();
        let mut given = Vec::new();
        for pair in text.split(',') {
            let (key, value) = pair
                .split_once('=')
                .ok_or_else(|| format!("\"{pair}\" must be a parameter, '=' and a number"))?;
            if given.contains(&key) {
                return Err(format!("{key} is given twice"));
            }
            given.push(key);
            let wrong = |why: String| format!("{key}={value}: {why}");
            match LETTERS.iter().position(|letter| *letter == key) {
                Some(at) => all.parameters[at] = decimal(value, DIGITS[at]).map_err(wrong)?,
                None if key == "S" => {
                    let wrong = |_| wrong("must be a whole number of bytes".to_owned());
                    all.eager = value.parse().map_err(wrong)?;
                }
                None => return Err(format!("{key} is not a parameter; use L, o, g, G, O or S")),
            }
        }
        Ok(all)
    }
}

/// Parses a decimal number of ns as an integer with `digits` more digits.
fn decimal(text: &str, digits: usize) -> Result<i64, String> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    if whole.is_empty() || ![whole, part].concat().bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("must be a non-negative decimal number".to_owned());
    }
    let part = part.trim_end_matches('0');
    if part.len() > digits {
        return Err(format!("has more than {digits} digits after the decimal point"));
    }
    let number = format!("{whole}{part:0<digits$}").parse().ok();
    number.filter(|number| *number <= MOST).ok_or_else(|| "is too large".to_owned())
}

/// An hour in picoseconds, or 3.6 ms per byte.
const MOST: i64 = 3_600_000_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read_in_their_units() {
        let all: Loggops = "L=2.5,G=0.04,S=0,g=1000".parse().unwrap();
        assert_eq!((all.parameters, all.eager), ([2500, 1_500_000, 1_000_000, 40_000_000, 0], 0));
        for wrong in [
            "L",
            "",
            "L=",
            "L=-1",
            "l=1",
            "L=1,L=2",
            "L=1e3",
            "o=0.0001",
            "S=1.5",
            "g=99999999999999",
        ] {
            assert!(wrong.parse::<Loggops>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_byte_may_cost_less_than_a_picosecond() {
        let all: Loggops = "L=0,o=0,g=0,G=0.0005".parse().unwrap();
        let cost = |step, size| all.cost(all.counts(step, size, (0, 0)));
        assert_eq!((cost(Step::Passing, 1001), cost(Step::Taking, 4)), (500, 1));
    }
}
