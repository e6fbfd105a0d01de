//! What shall go wrong with datagrams, as it is typed.

use bandgap_comm::Faults;
use bandgap_units::Fraction;

/// Reads shares such as `loss=30%,duplicate=10%,reorder=10%,corrupt=1%,seed=7`; what is not named is 0.
pub fn faults(text: &str) -> Result<Faults, String> {
    let mut faults = Faults::default();
    for part in text.split(',') {
        let (name, value) =
            part.split_once('=').ok_or_else(|| format!("write {part} as in loss=30%"))?;
        if name == "seed" {
            faults.seed = value.parse().map_err(|_| format!("{value} is no whole number"))?;
            continue;
        }
        let share = match name {
            "loss" => &mut faults.loss,
            "duplicate" => &mut faults.duplicate,
            "reorder" => &mut faults.reorder,
            "corrupt" => &mut faults.corrupt,
            _ => {
                let known = "loss, duplicate, reorder, corrupt and seed";
                return Err(format!("there is no fault {name}; there are {known}"));
            }
        };
        *share = value.parse::<Fraction>().map_err(|error| error.to_string())?.0;
        // Nothing would ever arrive.
        if *share >= 1.0 {
            return Err(format!("{name} must be below 100 %"));
        }
    }
    Ok(faults)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_read_and_what_means_nothing_is_named() {
        let all = Faults { loss: 0.3, duplicate: 0.1, reorder: 0.2, corrupt: 0.01, seed: 7 };
        assert_eq!(faults("loss=30%,duplicate=10%,reorder=0.2,corrupt=1%,seed=7"), Ok(all));
        assert_eq!(faults("loss=30%"), Ok(Faults { loss: 0.3, ..Faults::default() }));
        for (text, named) in [
            ("lost=1%", "no fault lost"),
            ("loss", "loss=30%"),
            ("loss=100%", "below 100 %"),
            ("corrupt=x", "share"),
            ("seed=-1", "-1"),
        ] {
            let error = faults(text).unwrap_err();
            assert!(error.contains(named), "{text}: {error}");
        }
    }
}
