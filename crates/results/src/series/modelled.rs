//! What the model says of operations of all ranks, beside what was measured.

use bandgap_campaign::signature::judge;
use bandgap_comm::collectives::{Algorithm, Barrier, Broadcast, Sum};
use bandgap_model::collectives::{
    CostCurve, FittedMessages, Hockney, MeasuredCost, MeasuredMessages, PointToPoint, barrier,
    broadcast, sum,
};
use bandgap_model::hockney::HockneyFit;
use bandgap_record::{Convergence, Quantity, RecordError, Unit};
use bandgap_stats::Rule;
use bandgap_units::{Bytes, Ns, Rate, significant};

use super::schema::{Series, SeriesPoint};
use crate::measured::recorded;

/// The series of single messages, whose point is half of a round trip. Their fit gives Hockney's
/// costs.
pub const MESSAGES: [&str; 2] = ["echo", "comms1"];
/// The series of what of a message is whose time. With that of single messages it gives LogGP's costs.
pub const MESSAGE_COSTS: &str = "message_costs";

/// What single messages cost, as far as the run knows it.
pub(super) struct Costs {
    hockney: Option<FittedMessages>,
    loggp: Option<MeasuredMessages>,
}

impl Costs {
    /// By the series of single messages with its fit, and that of whose time they are.
    pub(super) fn of(messages: &Series, fit: Option<&HockneyFit>, costs: Option<&Series>) -> Self {
        let loggp = costs.and_then(|costs| {
            let least = messages.points.iter().map(|point| point.hops).min()?;
            let of =
                |variant: &str| curve(costs, |point| point.variant.as_deref() == Some(variant));
            Some(MeasuredMessages {
                message: curve(messages, |point| point.hops == least)?,
                send: of("send")?,
                receive: of("receive")?,
                gap: of("gap")?,
            })
        });
        Self { hockney: fit.and_then(FittedMessages::of), loggp }
    }
}

/// The times of these points, over the length.
fn curve(series: &Series, of: impl Fn(&SeriesPoint) -> bool) -> Option<CostCurve> {
    CostCurve::new(series.points.iter().filter(|point| of(point)).filter_map(|point| {
        let (bytes, time) = (Bytes(point.bytes), point.time.as_time()?);
        let half = point.time.interval().map(|(low, high)| Ns((high - low) / 2.0 * 1e9));
        Some(MeasuredCost { bytes, time, half_width: half })
    }))
}

/// Notes at each point of a collective what its algorithm costs.
pub(super) fn compare(
    series: &mut Series,
    costs: &Costs,
    (confidence, rule): (f64, Rule),
) -> Result<(), RecordError> {
    let name = series.name.clone();
    for point in &mut series.points {
        if cost(&name, point, &FREE).is_none() {
            continue;
        }
        let noted = |(estimate, known)| {
            let convergence = if known { judge(&estimate, &rule) } else { Convergence::No };
            recorded(&estimate, Unit::Second, convergence)
        };
        let hockney = costs.hockney.as_ref().map(|messages| {
            (messages.estimate(confidence, |on| cost(&name, point, on).unwrap_or(Ns::ZERO)), true)
        });
        let loggp = costs
            .loggp
            .as_ref()
            .map(|messages| messages.estimate(|on| cost(&name, point, on).unwrap_or(Ns::ZERO)));
        (point.modelled_hockney, point.modelled_loggp) =
            (hockney.map(noted).transpose()?, loggp.map(noted).transpose()?);
    }
    Ok(())
}

/// Messages that cost nothing.
const FREE: Hockney =
    Hockney { startup: Ns::ZERO, rate: Rate(f64::INFINITY), add_per_byte: Ns::ZERO };

/// The cost of a point's operation; `None` where there is no formula.
fn cost(name: &str, point: &SeriesPoint, on: &impl PointToPoint) -> Option<Ns> {
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
    let found = [
        (
            "Hockney's terms, by the fit of single messages between the two nearest ranks",
            off(series, |point| point.modelled_hockney.as_ref()),
        ),
        (
            "LogGP's terms, by os, or, g and t of messages as measured",
            off(series, |point| point.modelled_loggp.as_ref()),
        ),
    ];
    let parts: Vec<String> = found
        .into_iter()
        .filter_map(|(terms, off)| Some(format!("in {terms}, {}", off?)))
        .collect();
    if parts.is_empty() {
        return None;
    }
    let more = match series.name.as_str() {
        "global_sum" => " Additions cost nothing in it.",
        "barrier" if series.points.iter().any(|point| is_of_signals(series, point)) => {
            " It is one of messages; the barrier by dissemination is made of signals here, which are no \
             messages: a rank stores a number, and its peer looks there."
        }
        _ => "",
    };
    Some(format!(
        "The model is the algorithm's cost: {}. A ratio has no interval of its own: t and the modelled \
         times have theirs in run.json.{more}",
        parts.join("; ")
    ))
}

/// The transport over which a barrier takes no messages where it can do without.
const OF_SIGNALS: &str = "shm";

/// Whether a barrier that has a model took no messages.
fn is_of_signals(series: &Series, point: &SeriesPoint) -> bool {
    let by = point.variant.as_deref().and_then(|by| Barrier::from_name(by).ok());
    series.transport == OF_SIGNALS
        && by == Some(Barrier::Dissemination)
        && point.modelled().is_some()
}

/// How far the times are off what a model says.
fn off(series: &Series, model: impl Fn(&SeriesPoint) -> Option<&Quantity>) -> Option<String> {
    let mut ratios: Vec<f64> = series
        .points
        .iter()
        .filter_map(|point| Some(point.time.value.0 / model(point)?.value.0))
        .filter(|ratio| ratio.is_finite())
        .collect();
    ratios.sort_by(f64::total_cmp);
    let [least, most] = [ratios.first()?, ratios.last()?].map(|ratio| significant(*ratio, 3));
    if least == most {
        return Some(format!("t is {least} times that at every point"));
    }
    let median = significant(ratios[(ratios.len() - 1) / 2], 3);
    Some(format!("t is {least} to {most} times that, at half of the points {median} times or less"))
}

#[cfg(test)]
mod tests {
    use bandgap_model::hockney::{HockneyOptions, SizedTimes, fit};

    use super::*;
    use crate::measured::examples::RULE;
    use crate::series::tests::{example, point};

    /// Hockney's: t(n) = 1000 + n/2 ns. LogGP's: the same t, os = 100, or = 200 and g = 250 ns.
    fn costs() -> Costs {
        let sizes = [0_u64, 8, 64, 512, 4096, 32768];
        let of = |bytes: u64| 1000.0 + bytes as f64 / 2.0;
        let times = sizes.map(|bytes| SizedTimes { bytes, times_ns: vec![of(bytes)] });
        let fit = fit(&times, &HockneyOptions::default()).unwrap();
        let messages = sizes.map(|bytes| point(bytes, 2, of(bytes)));
        let parts = [("send", 100.0), ("receive", 200.0), ("gap", 250.0)]
            .map(|(name, time)| SeriesPoint { variant: Some(name.into()), ..point(8, 2, time) });
        let costs = example(MESSAGE_COSTS, parts.to_vec());
        Costs::of(&example("echo", messages.to_vec()), Some(&fit), Some(&costs))
    }

    fn compared(costs: &Costs, points: &[(&str, u64, f64)], name: &str) -> Series {
        let of = |&(variant, bytes, time): &(&str, u64, f64)| SeriesPoint {
            variant: Some(variant.into()),
            ..point(bytes, 8, time)
        };
        let mut series = example(name, points.iter().map(of).collect());
        compare(&mut series, costs, (0.95, RULE)).unwrap();
        series
    }

    #[test]
    fn a_collective_has_its_algorithms_cost_in_both_terms_beside_it() {
        let costs = costs();
        let close = |name, variant, bytes, expected: [f64; 2]| {
            let found = compared(&costs, &[(variant, bytes, 5e3)], name);
            let point = &found.points[0];
            let all = [&point.modelled_hockney, &point.modelled_loggp];
            for (found, ns) in all.into_iter().zip(expected) {
                let found = found.as_ref().unwrap().value.0 * 1e9;
                assert!((found / ns - 1.0).abs() < 1e-6, "{variant}: {found}, {ns}");
            }
        };
        // Three messages in a row. Six of a sender and one more: by Hockney each is a whole one, by
        // LogGP each takes the gap. Three of nothing; three both ways.
        close("broadcast", "binomial", 512, [3.0 * 1256.0; 2]);
        close("broadcast", "linear", 512, [7.0 * 1256.0, 6.0 * 250.0 + 1256.0]);
        close("barrier", "dissemination", 0, [3000.0; 2]);
        close("global_sum", "recursive_doubling", 512, [3.0 * 1256.0; 2]);
        // Where no overheads were measured there is Hockney's only.
        let costs = Costs { loggp: None, ..costs };
        let found = compared(&costs, &[("linear", 512, 5e3)], "broadcast");
        assert!(
            found.points[0].modelled_loggp.is_none() && found.points[0].modelled_hockney.is_some()
        );
        assert!(!sentence(&found).unwrap().contains("LogGP"));
    }

    #[test]
    fn how_far_the_models_are_off_is_said() {
        // Twice and four times the Hockney cost of three messages of 1256 ns.
        let at = |times: f64| ("binomial", 512, times * 3.0 * 1256.0);
        let several = compared(&costs(), &[at(2.0), at(4.0)], "broadcast");
        let text = sentence(&several).unwrap();
        assert!(
            text.contains("t is 2.00 to 4.00 times that, at half of the points 2.00"),
            "{text}"
        );
        let text = sentence(&compared(&costs(), &[at(1.0)], "broadcast")).unwrap();
        assert_eq!(text.matches("t is 1.00 times that at every point").count(), 2, "{text}");
        assert!(!text.contains("Additions"), "{text}");
        let sum = compared(&costs(), &[("tree", 512, 5e3)], "global_sum");
        assert!(sentence(&sum).unwrap().ends_with("Additions cost nothing in it."));
    }

    #[test]
    fn a_barrier_of_signals_is_no_barrier_of_messages() {
        let said = |transport: &str, name: &str, variant: &str| {
            let mut found = compared(&costs(), &[(variant, 0, 5e3)], name);
            found.transport = transport.to_owned();
            sentence(&found).unwrap()
        };
        let text = said("shm", "barrier", "dissemination");
        assert!(text.contains("The model is the algorithm's cost") && text.contains("signals"));
        // Elsewhere, by other algorithms, and in other operations there are messages.
        for (transport, name, variant) in [
            ("tcp", "barrier", "dissemination"),
            ("sim:ipsc860", "barrier", "dissemination"),
            ("shm", "barrier", "tree"),
            ("shm", "broadcast", "linear"),
            ("shm", "global_sum", "recursive_doubling"),
        ] {
            let text = said(transport, name, variant);
            assert!(!text.contains("signal"), "{transport}, {name}, {variant}: {text}");
        }
    }

    #[test]
    fn of_what_has_no_formula_nothing_is_claimed() {
        for (name, variant) in [("broadcast", "carrier_pigeon"), ("comms3", "binomial")] {
            let found = compared(&costs(), &[(variant, 8, 5e3)], name);
            assert!(found.points[0].modelled().is_none(), "{name}");
            assert_eq!(sentence(&found), None);
        }
    }
}
