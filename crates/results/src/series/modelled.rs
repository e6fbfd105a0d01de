//! What the model says of operations of all ranks, beside what was measured.

use bandgap_campaign::signature::within;
use bandgap_comm::collectives::{Algorithm, Barrier, Broadcast, Sum};
use bandgap_model::collectives::{ByLength, FittedMessages, Hockney, barrier, broadcast, sum};
use bandgap_record::{RecordError, Unit};
use bandgap_units::{Bytes, Ns};

use super::schema::{Series, SeriesPoint};
use crate::measured::recorded;

/// The series whose fit gives the costs of single messages: half of a round trip.
pub(super) const MESSAGES: [&str; 2] = ["echo", "comms1"];

/// Notes at each point of a collective what its algorithm costs.
pub(super) fn compare(
    series: &mut Series,
    messages: &FittedMessages,
    (confidence, precision): (f64, f64),
) -> Result<(), RecordError> {
    let name = series.name.clone();
    for point in &mut series.points {
        if cost(&name, point, &none()).is_none() {
            continue;
        }
        let time = |on: &ByLength<Hockney>| cost(&name, point, on).unwrap_or(Ns::ZERO);
        let estimate = messages.estimate(confidence, time);
        let converged = within(&estimate, precision);
        point.modelled = Some(recorded(&estimate, Unit::Second, converged)?);
    }
    Ok(())
}

/// Messages that cost nothing.
fn none() -> ByLength<Hockney> {
    let free = Hockney {
        startup: Ns::ZERO,
        rate: bandgap_units::Rate(f64::INFINITY),
        add_per_byte: Ns::ZERO,
    };
    ByLength { up_to: Vec::new(), longer: free }
}

/// The cost of a point's operation; `None` where there is no formula.
fn cost(name: &str, point: &SeriesPoint, on: &ByLength<Hockney>) -> Option<Ns> {
    let (by, ranks, bytes) = (point.variant.as_deref()?, point.ranks as usize, Bytes(point.bytes));
    match name {
        "broadcast" => Some(broadcast(Broadcast::from_name(by).ok()?, on, ranks, bytes)),
        "global_sum" => Some(sum(Sum::from_name(by).ok()?, on, ranks, bytes)),
        "barrier" => Some(barrier(Barrier::from_name(by).ok()?, on, ranks)),
        _ => None,
    }
}

/// What a reader must know of the comparison.
pub(super) fn sentence(series: &Series) -> Option<String> {
    if series.points.iter().all(|point| point.modelled.is_none()) {
        return None;
    }
    let more = match series.name.as_str() {
        "global_sum" => " Additions cost nothing in it.".to_owned(),
        _ => String::new(),
    };
    Some(format!(
        "The model is the algorithm's cost by the fit of single messages between the two nearest \
         ranks.{more}"
    ))
}

#[cfg(test)]
mod tests {
    use bandgap_model::hockney::{HockneyOptions, SizedTimes, fit};

    use super::*;
    use crate::series::tests::{example, point};

    /// t(n) = 1000 + n/2 ns.
    fn messages() -> FittedMessages {
        let sizes = [0_u64, 8, 64, 512, 4096, 32768];
        let times =
            sizes.map(|bytes| SizedTimes { bytes, times_ns: vec![1000.0 + bytes as f64 / 2.0] });
        FittedMessages::of(&fit(&times, &HockneyOptions::default()).unwrap()).unwrap()
    }

    fn compared(name: &str, variant: &str, bytes: u64) -> Option<f64> {
        let of = SeriesPoint { variant: Some(variant.into()), ..point(bytes, 8, 5e3) };
        let mut series = example(name, vec![of]);
        compare(&mut series, &messages(), (0.95, 0.05)).unwrap();
        assert_eq!(sentence(&series).is_some(), series.points[0].modelled.is_some());
        series.points[0].modelled.as_ref().map(|of| of.value.0 * 1e9)
    }

    #[test]
    fn a_collective_has_its_algorithms_cost_beside_it() {
        let close = |found: Option<f64>, ns: f64| (found.unwrap() / ns - 1.0).abs() < 1e-6;
        // Three messages in a row; six and one more; three of nothing; three both ways.
        assert!(close(compared("broadcast", "binomial", 1000), 3.0 * 1500.0));
        assert!(close(compared("broadcast", "linear", 1000), 7.0 * 1500.0));
        assert!(close(compared("barrier", "dissemination", 0), 3000.0));
        assert!(close(compared("global_sum", "recursive_doubling", 1000), 3.0 * 1500.0));
    }

    #[test]
    fn of_what_has_no_formula_nothing_is_claimed() {
        assert_eq!(compared("broadcast", "carrier_pigeon", 8), None);
        assert_eq!(compared("comms3", "binomial", 8), None);
    }
}
