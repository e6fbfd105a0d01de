//! The parameters of LogGOPSim, and what each step of a message costs.

use std::str::FromStr;

/// LogGOPS parameters in integers: picoseconds, and for a byte attoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loggops {
    /// L: from the sender to the receiver.
    pub latency: i64,
    /// o: a message at a processor.
    pub overhead: i64,
    /// g: between messages at an interface.
    pub gap: i64,
    /// G: a byte at an interface and at the receiver's processor, in attoseconds.
    pub gap_per_byte: i64,
    /// O: a byte at a processor, in attoseconds.
    pub overhead_per_byte: i64,
    /// S: bytes of the longest message that does not wait for its receive.
    pub eager: u64,
}

impl Default for Loggops {
    /// What LogGOPSim takes by itself.
    fn default() -> Self {
        Self {
            latency: 2_500_000,
            overhead: 1_500_000,
            gap: 1_000_000,
            gap_per_byte: 6_000 * PER_BYTE,
            overhead_per_byte: 0,
            eager: 65_535,
        }
    }
}

/// Attoseconds of a picosecond.
const PER_BYTE: i64 = 1_000_000;

/// A parameter that times depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// L.
    Latency,
    /// o.
    Overhead,
    /// g.
    Gap,
    /// G.
    GapPerByte,
}

impl Parameter {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Latency, Self::Overhead, Self::Gap, Self::GapPerByte];

    /// Its letter.
    pub fn letter(self) -> &'static str {
        match self {
            Self::Latency => "L",
            Self::Overhead => "o",
            Self::Gap => "g",
            Self::GapPerByte => "G",
        }
    }
}

/// A step of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It leaves the sender's processor: o + (s − 1)·O.
    Sending,
    /// It leaves an interface free, at either side: g + (s − 1)·G.
    Passing,
    /// Its first byte is under way: o + L.
    Flight,
    /// The receiver's processor takes it: o + (s − 1)·max(G, O).
    Taking,
}

/// Bytes that count of a message of `size`: the first one costs nothing, and 0 bytes cost less than that.
fn counted(size: u64) -> i64 {
    size as i64 - 1
}

fn bytes(count: i64, attoseconds: i64) -> i64 {
    match attoseconds % PER_BYTE {
        0 => count.saturating_mul(attoseconds / PER_BYTE),
        _ => {
            let product = i128::from(count) * i128::from(attoseconds);
            i64::try_from(product.div_euclid(PER_BYTE.into())).unwrap_or(i64::MAX)
        }
    }
}

impl Loggops {
    /// What a step costs a message of `size` bytes, in picoseconds.
    pub(super) fn cost(&self, step: Step, size: u64) -> i64 {
        let count = counted(size);
        match step {
            Step::Sending => self.overhead.saturating_add(bytes(count, self.overhead_per_byte)),
            Step::Passing => self.gap.saturating_add(bytes(count, self.gap_per_byte)),
            Step::Flight => self.overhead.saturating_add(self.latency),
            Step::Taking => self.overhead.saturating_add(self.taken(size, 0).0),
        }
    }

    /// Counts of a parameter in a step: its cost grows by so many times what the parameter grows by, if that is little
    /// and of this sign.
    pub(super) fn counts(&self, step: Step, size: u64, parameter: Parameter, sign: i64) -> i64 {
        let count = counted(size);
        match (step, parameter) {
            (Step::Sending | Step::Flight | Step::Taking, Parameter::Overhead)
            | (Step::Flight, Parameter::Latency)
            | (Step::Passing, Parameter::Gap) => 1,
            (Step::Passing, Parameter::GapPerByte) => count,
            (Step::Taking, Parameter::GapPerByte) => sign * self.taken(size, sign).1,
            _ => 0,
        }
    }

    /// What bytes cost the receiver's processor, and what that grows by with G. LogGOPSim computes without signs: of
    /// the two costs of 0 bytes, which are below 0, that nearer to 0 counts, but 0 itself does not.
    fn taken(&self, size: u64, sign: i64) -> (i64, i64) {
        let count = counted(size);
        let gap = (bytes(count, self.gap_per_byte), count.saturating_mul(sign));
        let overhead = (bytes(count, self.overhead_per_byte), 0);
        match count < 0 && (gap.0 == 0 || overhead.0 == 0) {
            true => gap.min(overhead),
            false => gap.max(overhead),
        }
    }

    /// Of a parameter its value in the unit of its derivative: picoseconds, or attoseconds for a byte.
    pub fn value(&self, parameter: Parameter) -> i64 {
        match parameter {
            Parameter::Latency => self.latency,
            Parameter::Overhead => self.overhead,
            Parameter::Gap => self.gap,
            Parameter::GapPerByte => self.gap_per_byte,
        }
    }
}

impl FromStr for Loggops {
    type Err = String;

    /// `L=2500,o=1500,g=1000,G=6,O=0,S=65535`, in ns, ns for a byte, and bytes. What is not given is as LogGOPSim has
    /// it.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut all = Self::default();
        let mut given = Vec::new();
        for pair in text.split(',') {
            let (key, value) = pair
                .split_once('=')
                .ok_or_else(|| format!("\"{pair}\" must be a letter, '=' and a number"))?;
            let (key, value) = (key.trim(), value.trim());
            if given.contains(&key) {
                return Err(format!("{key} is given twice"));
            }
            given.push(key);
            let wrong = |why: String| format!("{key}={value}: {why}");
            let (slot, digits) = match key {
                "L" => (&mut all.latency, 3),
                "o" => (&mut all.overhead, 3),
                "g" => (&mut all.gap, 3),
                "G" => (&mut all.gap_per_byte, 9),
                "O" => (&mut all.overhead_per_byte, 9),
                "S" => {
                    let wrong = |_| wrong("it must be a whole number of bytes".to_owned());
                    all.eager = value.parse().map_err(wrong)?;
                    continue;
                }
                _ => return Err(format!("{key} is no parameter: L, o, g, G, O and S are")),
            };
            *slot = decimal(value, digits).map_err(wrong)?;
        }
        Ok(all)
    }
}

/// A decimal number of ns as an integer of so many digits more.
fn decimal(text: &str, digits: usize) -> Result<i64, String> {
    if text.starts_with('-') {
        return Err("it must not be negative".to_owned());
    }
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let is_number = !whole.is_empty() && [whole, part].concat().bytes().all(|b| b.is_ascii_digit());
    if !is_number {
        return Err("it must be a decimal number".to_owned());
    }
    let part = part.trim_end_matches('0');
    if part.len() > digits {
        return Err(format!("it has more than {digits} digits behind the point"));
    }
    let number: i64 = format!("{whole}{part:0<digits$}").parse().unwrap_or(i64::MAX);
    match number <= MOST {
        true => Ok(number),
        false => Err("it is too large".to_owned()),
    }
}

/// An hour of picoseconds, and 3.6 ms for a byte.
const MOST: i64 = 3_600_000_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read_in_their_units() {
        let all: Loggops = "L=2.5,G=0.04,S=0,g=1000".parse().unwrap();
        assert_eq!((all.latency, all.gap_per_byte, all.eager), (2500, 40_000_000, 0));
        assert_eq!((all.overhead, all.gap), (1_500_000, 1_000_000));
        for wrong in
            ["L", "", "L=", "L=-1", "l=1", "L=1,L=2", "L=1e3", "o=0.0001", "S=1.5", "g=99999999999"]
        {
            assert!(wrong.parse::<Loggops>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_byte_may_cost_less_than_a_picosecond() {
        let all: Loggops = "L=0,o=0,g=0,G=0.0005".parse().unwrap();
        assert_eq!(all.cost(Step::Passing, 1001), 500);
        assert_eq!(all.cost(Step::Taking, 4), 1);
    }
}
