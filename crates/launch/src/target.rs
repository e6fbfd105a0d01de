//! Where to measure: on a transport of this machine, or in virtual time.

use std::str::FromStr;

use crate::Transport;

/// What `--transport` names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Rank processes of this machine.
    Real(Transport),
    /// A simulated machine: a built-in name, or a file.
    Simulated(String),
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(machine) = text.strip_prefix("sim:") {
            if machine.is_empty() {
                return Err(format!("sim: needs a machine, such as {}", machines()));
            }
            return Ok(Self::Simulated(machine.to_owned()));
        }
        let real = text.parse().map(Self::Real);
        real.map_err(|error| format!("{error} and sim:MACHINE with {} or a file", machines()))
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Real(transport) => transport.fmt(f),
            Self::Simulated(machine) => write!(f, "sim:{machine}"),
        }
    }
}

fn machines() -> String {
    bandgap_sim::Machine::built_in().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_read_back_as_written() {
        for text in ["shm", "tcp", "unix", "udp", "sim:paragon", "sim:a/b.toml"] {
            assert_eq!(text.parse::<Target>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn unknown_transports_are_told_what_there_is() {
        let error = "carrier-pigeon".parse::<Target>().unwrap_err();
        assert!(error.contains("shm, tcp, unix, udp") && error.contains("paragon"), "{error}");
        assert!("sim:".parse::<Target>().unwrap_err().contains("paragon"));
    }
}
