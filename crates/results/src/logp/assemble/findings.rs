//! What there is to say besides the numbers, as sentences.

use bandgap_campaign::load::Load;
use bandgap_model::{Estimate, Finding, Signature};
use bandgap_units::{Bytes, Ns};

use crate::measured::listed;

/// More bytes than this in a burst are not all in a core's own cache.
const NEAR_CACHE: u64 = 1 << 20;

/// How a delay is kept from overlapping with requests: what a loop with a delay has, and one without
/// has not.
const FENCES: &str = "A delay runs between fences, so that nothing overlaps with it; so idle, g − os − or, is the \
                      difference between loops without fences and loops with them.";

/// Where the times of a signature come from, and so what its reader can do.
#[derive(Clone, Copy)]
pub(super) enum Source {
    /// From a table that somebody else measured.
    Table,
    /// From a simulated machine.
    Virtual,
    /// From this machine, with fences around each delay.
    Measured {
        /// What a stamp costs, in nanoseconds.
        stamp: f64,
        /// Whether its user ended the run, who needs no advice on its time.
        interrupted: bool,
    },
}

impl Source {
    /// A finding in words, with what can be done.
    fn sentence(self, finding: &Finding, signature: &Signature) -> String {
        let more = match (finding.unobserved(), self) {
            (Some(what), Source::Table) => format!("observe {what}"),
            (Some(_), Source::Measured { interrupted: false, .. }) => {
                "more time (--time-budget) may do that".to_owned()
            }
            _ => String::new(),
        };
        let said = match finding {
            Finding::DelayCosts { .. } if matches!(self, Source::Measured { .. }) => {
                format!("{finding} {FENCES}")
            }
            Finding::SendOverheadUnresolved { .. } => self.unresolved(&signature.send_overhead),
            other => other.to_string(),
        };
        match &*more {
            "" => said,
            more => format!("{}; {more}.", said.trim_end_matches('.')),
        }
    }

    /// Why os cannot be told from 0.
    fn unresolved(self, os: &Estimate) -> String {
        let half = (os.high - os.low) / 2.0;
        let why = match self {
            // Exact times are what they are.
            _ if half == 0.0 => String::new(),
            Source::Measured { stamp, .. } if half <= stamp => {
                format!(": the clock, whose stamp costs {}, does not resolve it", Ns(stamp))
            }
            _ => ": too little was measured, or the points scatter".to_owned(),
        };
        format!("os is {}, not above zero within its interval{why}.", within(os))
    }

    /// What would make parameters known.
    fn advice(self) -> &'static str {
        match self {
            Source::Table => " More repetitions, or a quieter machine, would decide it.",
            Source::Measured { interrupted: false, .. } => {
                " A quieter machine (`bandgap doctor` says what disturbs this one), or a longer --time-budget, \
                 would decide it."
            }
            Source::Virtual | Source::Measured { interrupted: true, .. } => "",
        }
    }
}

fn within(of: &Estimate) -> String {
    Ns(of.value).within(Ns(of.low), Ns(of.high))
}

/// The parameters whose intervals are wider than the round trip itself, with their symbols.
fn unknown(signature: &Signature) -> Vec<(&'static str, &Estimate)> {
    let Signature { send_overhead, recv_overhead, gap, latency, rtt, .. } = signature;
    let all = [("os", send_overhead), ("or", recv_overhead), ("g", gap), ("L", latency)];
    all.into_iter().filter(|(_, of)| of.high - of.low > rtt.value).collect()
}

/// That these parameters are not known; `None` where there are none.
fn not_known(
    unknown: &[(&str, &Estimate)],
    signature: &Signature,
    source: Source,
) -> Option<String> {
    let named: Vec<String> =
        unknown.iter().map(|(symbol, of)| format!("{symbol} = {}", within(of))).collect();
    let (are, intervals) = match named.len() {
        0 => return None,
        1 => ("is", "its interval is"),
        _ => ("are", "their intervals are"),
    };
    let from = if matches!(source, Source::Table) { "table" } else { "run" };
    Some(format!(
        "Not known from this {from} {are} {}: {intervals} wider than the round trip, {}. Too little was measured, \
         or the points scatter.{}",
        listed(&named),
        Ns(signature.rtt.value),
        source.advice()
    ))
}

/// That a reply came before its request was issued, by these numbers.
fn too_early(signature: &Signature, source: Source) -> Option<String> {
    let (os, rtt) = (&signature.send_overhead, &signature.rtt);
    let why = match source {
        Source::Table => "A column or a unit of the table is probably wrong.",
        Source::Virtual | Source::Measured { .. } => {
            "So single requests were not measured under the conditions that many in a row were."
        }
    };
    (rtt.high < os.low).then(|| {
        format!(
            "RTT, {}, is shorter than os, {}, but a request cannot be answered before it is issued. {why}",
            within(rtt),
            within(os)
        )
    })
}

/// What there is to say about a signature.
pub(super) fn of_signature(signature: &Signature, source: Source) -> Vec<String> {
    let unknown = unknown(signature);
    // What is said of all that is not known is not said of each.
    let is_unknown = |finding: &Finding| match finding {
        Finding::SendOverheadUnresolved { .. } => unknown.iter().any(|(symbol, _)| *symbol == "os"),
        Finding::BelowZero { name, .. } => unknown.iter().any(|(symbol, _)| symbol == name),
        _ => false,
    };
    let told = signature.findings.iter().filter(|finding| !is_unknown(finding));
    let mut findings: Vec<String> = too_early(signature, source).into_iter().collect();
    findings.extend(not_known(&unknown, signature, source));
    findings.extend(told.map(|finding| source.sentence(finding, signature)));
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
pub(super) fn of_transfers(
    signature: &Signature,
    latency_known: bool,
    source: Source,
) -> Vec<String> {
    let (mut findings, mut unsettled) = (Vec::new(), Vec::new());
    for finding in &signature.findings {
        match finding {
            Finding::CapacityUnseen
            | Finding::BelowZero { .. }
            | Finding::ProcessorBound { .. } => {}
            Finding::NegativeLatency { .. } if !latency_known => {}
            Finding::Unsettled { delay } => unsettled.push(Ns(*delay)),
            other => findings.push(source.sentence(other, signature)),
        }
    }
    if !unsettled.is_empty() {
        findings.push(format!(
            "The steady state is not confirmed by further points with delays of {}.",
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
        let told = |near: bool, source: Source| {
            let table = crate::logp::tests::table_of_arms(near);
            let found = extract(&table, &Options::default(), None).unwrap();
            of_signature(&found, source).iter().any(|said| said.contains("fences"))
        };
        assert!(told(true, MEASURED));
        assert_eq!([told(true, Source::Table), told(false, MEASURED)], [false, false]);
    }

    const MEASURED: Source = Source::Measured { stamp: 25.0, interrupted: false };

    /// A signature that nothing is to be said of, with another os.
    fn with_os(os: [f64; 3]) -> Signature {
        let table = crate::logp::tests::table_of_arms(false);
        let mut found = extract(&table, &Options::default(), None).unwrap();
        let [value, low, high] = os;
        found.send_overhead = Estimate { value, low, high, ..found.send_overhead };
        found.rtt = Estimate { value: 1000.0, low: 990.0, high: 1010.0, ..found.rtt };
        found.findings.clear();
        found
    }

    #[test]
    fn why_os_is_not_above_zero_is_what_is_known_of_the_clock() {
        let said = |os: [f64; 3], source: Source| {
            let mut found = with_os(os);
            found.findings = vec![Finding::SendOverheadUnresolved { send_overhead: os[0] }];
            let all = of_signature(&found, source);
            let [said] = &all[..] else { panic!("{all:?}") };
            said.clone()
        };
        let (narrow, wide) = ([3.0, -15.0, 21.0], [3.0, -300.0, 306.0]);
        assert_eq!(
            said(narrow, MEASURED),
            "os is 3.00 ns (-15.0 to 21.0 ns), not above zero within its interval: the clock, whose stamp costs \
             25.0 ns, does not resolve it."
        );
        let scatters = "within its interval: too little was measured, or the points scatter.";
        assert!(said(wide, MEASURED).ends_with(scatters), "{}", said(wide, MEASURED));
        // Of the clock behind a table nothing is known.
        assert!(said(narrow, Source::Table).ends_with(scatters));
        assert!(said([0.0; 3], Source::Virtual).ends_with("within its interval."));
    }

    #[test]
    fn what_is_less_known_than_the_round_trip_is_not_known_and_said_once() {
        let mut found = with_os([2780.0, -33_700.0, 39_200.0]);
        found.findings = vec![
            Finding::SendOverheadUnresolved { send_overhead: 2780.0 },
            Finding::BelowZero { name: "or", value: 3.0, low: -2000.0, high: 2006.0 },
        ];
        let or = Estimate { value: 3.0, low: -2000.0, high: 2006.0, ..found.recv_overhead };
        found.recv_overhead = or;
        let [said] = &of_signature(&found, MEASURED)[..] else { panic!("several sentences") };
        for what in [
            "Not known from this run are os = ",
            "(-33.7 to 39.2 µs) and or = ",
            "their intervals are wider than the round trip, 1.00 µs.",
            "`bandgap doctor`",
            "--time-budget",
        ] {
            assert!(said.contains(what), "{said}");
        }
        let [of_table] = &of_signature(&found, Source::Table)[..] else { panic!("several") };
        assert!(of_table.starts_with("Not known from this table are os"), "{of_table}");
        assert!(!of_table.contains("--time-budget"), "{of_table}");
        let ended = Source::Measured { stamp: 25.0, interrupted: true };
        assert!(of_signature(&found, ended)[0].ends_with("or the points scatter."));
        assert!(of_signature(&with_os([10.0, 9.0, 11.0]), MEASURED).is_empty());
    }

    #[test]
    fn a_round_trip_shorter_than_os_is_said_to_be_impossible() {
        let said = |os: [f64; 3], source: Source| of_signature(&with_os(os), source).join(" ");
        let told = said([1200.0, 1100.0, 1300.0], Source::Table);
        assert!(told.starts_with("RTT, 1.00 µs (0.990 to 1.01 µs), is shorter than os"), "{told}");
        assert!(told.ends_with("A column or a unit of the table is probably wrong."), "{told}");
        assert!(!said([1200.0, 1100.0, 1300.0], MEASURED).contains("column"));
        // Intervals that overlap say nothing.
        assert_eq!(said([1200.0, 1000.0, 1400.0], Source::Table), "");
    }

    #[test]
    fn what_to_observe_is_for_those_who_make_tables() {
        let mut found = with_os([10.0, 9.0, 11.0]);
        found.findings = vec![Finding::GapUnsettled { from_messages: 64, to_messages: 128 }];
        let end = |source: Source| {
            let said = of_signature(&found, source).join(" ");
            said.rsplit_once("further points").unwrap().1.to_owned()
        };
        assert_eq!(end(Source::Table), "; observe larger M.");
        assert_eq!(end(MEASURED), "; more time (--time-budget) may do that.");
        assert_eq!(end(Source::Virtual), ".");
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
        let unsettled = "The steady state is not confirmed by further points with delays of 12.96 ns, 13.04 ns.";
        assert_eq!(of_transfers(&found, true, MEASURED), [cut, unsettled]);
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
