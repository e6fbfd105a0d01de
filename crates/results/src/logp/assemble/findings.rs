//! What there is to say besides the numbers, as sentences.

use bandgap_campaign::load::Load;
use bandgap_model::{Finding, Signature};
use bandgap_units::{Bytes, Ns};

/// More bytes than this in a burst are not all in a core's own cache.
const NEAR_CACHE: u64 = 1 << 20;

/// How a delay is kept from overlapping with requests: what a loop with a delay has, and one without
/// has not.
const FENCES: &str = "A delay runs between fences, so that nothing overlaps with it; so idle, g − os − or, is the \
                      difference between loops without fences and loops with them.";

/// What there is to say about a signature, which was measured with fences around each delay, or may have
/// been otherwise.
pub(super) fn of_signature(signature: &Signature, fenced: bool) -> Vec<String> {
    let sentence = |finding: &Finding| match finding {
        Finding::DelayCosts { .. } if fenced => format!("{finding} {FENCES}"),
        other => other.to_string(),
    };
    let mut findings: Vec<String> = signature.findings.iter().map(sentence).collect();
    if signature.recv_overhead.high < 0.0 {
        findings.push(
            "or is negative: with a delay between them requests cost less than os + Δ; the processor \
             probably handles replies while it computes."
                .to_owned(),
        );
    }
    findings
}

/// The same of transfers, whose L may not be known. Shorter, since there are several such signatures:
/// what the table shows is not said again.
pub(super) fn of_transfers(signature: &Signature, latency_known: bool) -> Vec<String> {
    let (mut findings, mut unsettled) = (Vec::new(), Vec::new());
    for finding in &signature.findings {
        match finding {
            Finding::CapacityUnseen
            | Finding::BelowZero { .. }
            | Finding::ProcessorBound { .. } => {}
            Finding::NegativeLatency { .. } if !latency_known => {}
            Finding::Unsettled { delay } => unsettled.push(Ns(*delay)),
            other => findings.push(other.to_string()),
        }
    }
    if !unsettled.is_empty() {
        findings.push(format!(
            "The steady state is not confirmed by further points with delays of {}; observe larger M.",
            Ns::distinct(&unsettled).join(", ")
        ));
    }
    if signature.recv_overhead.high < 0.0 {
        findings.push(
            "or is negative: a transfer within a burst costs less than os + Δ, so that it is \
             probably slower when it comes alone."
                .to_owned(),
        );
    }
    if !latency_known {
        let unknown = "L is left out: no round trip without bytes was measured in this state.";
        findings.push(unknown.to_owned());
    }
    findings
}

/// What memory has to do with bursts of up to `most` transfers; not in virtual time, where bytes
/// have no place.
pub(super) fn of_memory(load: Load, most: u32) -> Vec<String> {
    let mut findings = Vec::new();
    let longest = u64::from(load.bytes()) * u64::from(most);
    if longest > NEAR_CACHE {
        findings.push(format!(
            "Bursts move up to {}, more than the nearest cache holds. The time that this adds to a \
             transfer is counted in or.",
            Bytes(longest)
        ));
    }
    if most > load.places() {
        findings.push(format!(
            "Bursts have up to {most} transfers, and memory is exposed for {}. The later ones send \
             the same bytes again, which caches may still hold.",
            load.places()
        ));
    }
    findings
}

#[cfg(test)]
mod tests {
    use bandgap_model::{Options, extract};

    use super::*;

    #[test]
    fn fences_are_mentioned_where_they_are_and_matter() {
        let told = |near: bool, fenced: bool| {
            let table = crate::logp::tests::table_of_arms(near);
            let found = extract(&table, &Options::default(), None).unwrap();
            of_signature(&found, fenced).iter().any(|said| said.contains("fences"))
        };
        assert!(told(true, true));
        assert_eq!([told(true, false), told(false, true)], [false, false]);
    }

    #[test]
    fn of_transfers_what_the_table_shows_is_not_said_again_and_what_it_does_not_show_is() {
        let table = crate::logp::tests::table_of_arms(false);
        let mut found = extract(&table, &Options::default(), None).unwrap();
        found.findings = vec![
            Finding::ProcessorBound { gap: 62.0 },
            Finding::CapacityUnseen,
            Finding::BelowZero { name: "or", value: 3.0, low: -1.0, high: 7.0 },
            Finding::CapacityCut { low: -3.26 },
            Finding::Unsettled { delay: 12.96 },
            Finding::Unsettled { delay: 13.04 },
        ];
        // Where an interval ended before it was cut off stands nowhere else.
        let cut = "The interval of C reaches down to -3.3, and is cut off at 0: C counts requests.";
        // Two delays that differ do not read alike.
        let unsettled = "The steady state is not confirmed by further points with delays of 12.96 ns, 13.04 ns; \
                         observe larger M.";
        assert_eq!(of_transfers(&found, true), [cut, unsettled]);
    }

    #[test]
    fn memory_is_mentioned_where_bursts_leave_the_cache_or_the_exposed_places() {
        let told = |bytes: u32, most: u32| {
            let findings = of_memory(Load::Store { bytes }, most);
            ["nearest cache", "is exposed"].map(|what| findings.iter().any(|f| f.contains(what)))
        };
        let places = Load::Store { bytes: 64 }.places();
        assert_eq!(told(64, places.min(1 << 14)), [false, false]);
        assert_eq!(told(64, places + 1), [u64::from(places) >= 1 << 14, true]);
        // 64 KiB sixteen times are 1 MiB, and not more.
        let long = Load::Store { bytes: 1 << 16 }.places();
        assert_eq!(told(1 << 16, 16), [false, long < 16]);
        assert_eq!(told(1 << 16, 17), [true, long < 17]);
    }
}
