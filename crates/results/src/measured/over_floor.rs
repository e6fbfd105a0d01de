//! What was measured, over a floor that was measured in the same rounds.

use std::collections::{BTreeMap, BTreeSet};

use bandgap_campaign::beside::Beside;
use bandgap_campaign::judge::{Judged, launch_of};
use bandgap_campaign::{Key, floors};
use bandgap_record::{Convergence, Evidence, Number, Quantity, RecordError, Unit};
use bandgap_report::table::value;
use bandgap_stats::launches::widened;
use bandgap_stats::quantile::{median, sorted};
use bandgap_stats::{Interval, interval::quantile_interval};
use bandgap_units::{Bytes, significant};
use serde::{Deserialize, Serialize};

use super::{Estimated, bandwidth, estimated, relative_of_both};

/// One key's time over that of another, round by round.
pub(crate) struct Ratios {
    value: f64,
    bounds: Option<Interval>,
    convergence: Convergence,
    rounds: usize,
    /// Launches that have some.
    pub(crate) launches: BTreeSet<u32>,
}

impl Ratios {
    /// The median over the rounds that have batches of both in the state seen from, so that each ratio compares
    /// neighbours in time. The value of a round is the mean of its batches. Of several launches the interval holds the
    /// variance of their medians. `None` where no round has both.
    pub(crate) fn of(above: &Key, below: &Key, judged: &Judged<'_>) -> Option<Self> {
        let in_rounds = |key: &Key| {
            let mut rounds = BTreeMap::<u64, Vec<f64>>::new();
            judged.in_rounds(key).for_each(|(round, value)| {
                rounds.entry(round).or_default().push(value);
            });
            let mean = |of: Vec<f64>| of.iter().sum::<f64>() / of.len() as f64;
            rounds.into_iter().map(move |(round, of)| (round, mean(of)))
        };
        let below: BTreeMap<u64, f64> = in_rounds(below).collect();
        let mut launches = BTreeMap::<u32, Vec<f64>>::new();
        for (round, time) in in_rounds(above) {
            let ratio = below.get(&round).map(|below| time / below);
            if let Some(ratio) = ratio.filter(|ratio| ratio.is_finite()) {
                launches.entry(launch_of(round)).or_default().push(ratio);
            }
        }
        let ratios: Vec<f64> = launches.values().flatten().copied().collect();
        if ratios.is_empty() {
            return None;
        }
        let value = median(&ratios);
        let medians: Vec<f64> = launches.values().map(|of| median(of)).collect();
        let bounds = quantile_interval(&sorted(&ratios), 0.5, judged.confidence());
        let bounds = bounds.map(|within| widened(value, within, &medians, judged.confidence()));
        let rule = judged.rule().without_clock();
        let judge = |bounds: &Interval| rule.judge(bounds.half_width(), value);
        let convergence = bounds.as_ref().map_or(Convergence::No, judge);
        let launches = launches.into_keys().collect();
        Some(Self { value, bounds, convergence, rounds: ratios.len(), launches })
    }

    /// It as it is recorded; `above` and `below` say what it is of.
    pub(crate) fn recorded(&self, above: &str, below: &str) -> Result<Quantity, RecordError> {
        let of = format!("median over rounds of {above} / {below}");
        let estimator = match (&self.bounds, self.launches.len()) {
            (None, _) => format!("{of}, too few for an interval"),
            (Some(_), 0 | 1) => format!("{of}, order-statistic interval"),
            _ => format!(
                "{of}, the wider of the order-statistic interval over rounds and the t interval over the \
                 launches' medians"
            ),
        };
        let evidence = Evidence::new(estimator, self.rounds as u64, self.convergence);
        let bounds = self.bounds.as_ref().map(|b| (b.low, b.high));
        Quantity::number(self.value, bounds, evidence)
    }
}

/// A time over a floor of the machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FloorRatio {
    /// The floor: `cache_line`.
    pub name: String,
    /// Bytes of the messages; absent for half a round trip of requests and replies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The ratio.
    pub ratio: Number,
    /// Lower end of its confidence interval; absent where there were too few rounds for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<Number>,
    /// Upper end of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<Number>,
    /// Whether the interval came within the wanted precision of the ratio.
    #[serde(default = "known", skip_serializing_if = "Clone::clone")]
    pub converged: bool,
    /// The floor as it was in the same rounds and the same state: a time or a rate. Absent in older runs, where it was
    /// the placement probe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<Quantity>,
}

/// Older runs do not say whether a ratio has converged.
fn known() -> bool {
    true
}

impl FloorRatio {
    /// The times of `key`, of which `parts` make one of the floor's, over the floor: in the state seen from. Or why not.
    /// Where there are too few rounds for an order-statistic interval, the relative half-widths of both add in
    /// quadrature.
    pub(crate) fn of(
        key: &Key,
        parts: f64,
        bytes: Option<u64>,
        beside: &Beside,
        judged: &Judged<'_>,
    ) -> Result<Result<Self, String>, RecordError> {
        let name = beside.floor.name.to_string();
        let below = floors::key(&name);
        let Some(ratios) = Ratios::of(key, &below, judged) else {
            let batches = judged.table().batches(&below);
            let rejected = batches.iter().all(|batch| batch.rejected.is_some());
            let reason = batches.iter().find_map(|batch| batch.rejected.clone());
            let reason = reason.filter(|_| rejected).unwrap_or_else(|| match judged.label() {
                Some(state) => format!("no round has batches of both in the state {state}"),
                None => "no round has batches of both".to_owned(),
            });
            return Ok(Err(format!("not compared with the floor {name}: {reason}")));
        };
        // Of a single batch there is a value without an interval.
        let single = |key: &Key| {
            let value = *judged.values(key).first()?;
            Estimated::single(value, "single batch", Convergence::No).recorded(Unit::Second).ok()
        };
        let time = |key: &Key| estimated(judged, key, false).or_else(|| single(key));
        let [above, floor] = [key, &below].map(time);
        let pooled = || {
            let half = ratios.value * relative_of_both(above.as_ref()?, floor.as_ref()?)?;
            // So wide an interval says nothing of a ratio.
            (half < ratios.value)
                .then_some(Interval { low: ratios.value - half, high: ratios.value + half })
        };
        let bounds = ratios.bounds.or_else(pooled);
        let floor = match (floor, beside.floor.yields.bytes()) {
            (Some(time), Some(bytes)) => bandwidth(bytes, &time)?,
            (time, _) => time,
        };
        let part = |of: f64| Number(of / parts);
        let (low, high) = bounds.map(|b| (part(b.low), part(b.high))).unzip();
        let rule = judged.rule().without_clock();
        let judge = |bounds: &Interval| rule.judge(bounds.half_width(), ratios.value).is_enough();
        let converged = bounds.as_ref().is_some_and(judge);
        Ok(Ok(Self { name, bytes, ratio: part(ratios.value), low, high, converged, floor }))
    }

    /// The ratio with its interval, and the floor: `1.32 × (1.28 to 1.36) the floor tcp, 4.02 µs`.
    pub(crate) fn in_words(&self) -> String {
        let number = |Number(value): Number| significant(value, 3);
        let interval = match self.low.zip(self.high) {
            Some((low, high)) => {
                let mark = if self.converged { "" } else { ", not converged" };
                format!("({} to {}{mark})", number(low), number(high))
            }
            // Older runs name no floor.
            None if self.floor.is_none() => "(no interval: an older run)".to_owned(),
            None => "(no interval: too few rounds)".to_owned(),
        };
        let floor = self.floor.as_ref().map(|floor| format!(", {}", value(floor)));
        let (ratio, name) = (number(self.ratio), &self.name);
        format!("{ratio} × {interval} the floor {name}{}", floor.unwrap_or_default())
    }

    /// The same of a message, or of what else the series of this name is of, with its bytes where it has some.
    pub(crate) fn sentence(&self, series: &str) -> String {
        format!("{} takes {}.", one(series, self.bytes), self.in_words())
    }
}

/// What a time below that of its floor means.
pub(crate) const BELOW_ONE: &str = "A ratio below 1 is no error: a floor is a bare loop over other lines of memory, or \
                                    in another order, and not a bound.";

/// The same where one of these ratios is below 1 with its whole interval.
pub(crate) fn below_one(ratios: &[FloorRatio]) -> Option<&'static str> {
    ratios.iter().any(|of| of.high.is_some_and(|Number(high)| high < 1.0)).then_some(BELOW_ONE)
}

/// What the series of this name is of: with its bytes where it has some.
pub(crate) fn called(series: &str, bytes: Option<u64>) -> String {
    match (series, bytes.map(Bytes)) {
        ("synch1" | "barrier", _) => "barrier".to_owned(),
        (_, None | Some(Bytes(0))) => "message without bytes".to_owned(),
        ("bulk_store", Some(bytes)) => format!("store of {bytes}"),
        ("bulk_get", Some(bytes)) => format!("get of {bytes}"),
        ("comms2" | "exchange", Some(bytes)) => format!("exchange of {bytes} each way"),
        (_, Some(bytes)) => format!("message of {bytes}"),
    }
}

/// The same as the beginning of a sentence: `A message of 8 B`.
pub(crate) fn one(series: &str, bytes: Option<u64>) -> String {
    let called = called(series, bytes);
    format!("{} {called}", if called.starts_with('e') { "An" } else { "A" })
}

#[cfg(test)]
mod tests {
    use bandgap_campaign::data::{Batch, Kept, Probe, Table};
    use bandgap_comm::{Floor, Yields};

    use super::*;

    fn beside() -> Beside {
        let floor = Floor::new("line", "", Yields::HalfRoundTrip, 1);
        Beside { floor, results: vec!["signature".into()] }
    }

    fn batch(time: f64, round: u32, cache_line: f64) -> Batch {
        let probe = Some([Probe { cache_line, pace: 400.0 }; 2]);
        Batch { samples: vec![time], round, probe, ..Batch::default() }
    }

    /// Round trips of 300 and 500 ns in each of seven rounds, and a floor of 100 ns in the state of `floor`.
    fn table(floor: f64) -> Table {
        let mut table = Table::default();
        let mut push = |key: &Key, batch| table.push(Kept::Batch { key: key.clone(), batch });
        for round in 0..7 {
            push(&Key::new("rtt"), batch(300.0, round, 50.0));
            push(&Key::new("rtt"), batch(500.0, round, 50.0));
            push(&floors::key("line"), batch(100.0 + f64::from(round), round, floor));
        }
        table
    }

    fn found(table: &Table) -> Result<FloorRatio, String> {
        let judged = Judged::of(table, 0.95, 0.05, 1);
        FloorRatio::of(&Key::new("rtt"), 2.0, None, &beside(), &judged).unwrap()
    }

    #[test]
    fn half_a_round_trip_is_compared_with_the_floor_of_its_round() {
        let found = found(&table(50.0)).unwrap();
        // 400 over 100, 101, … 106, halved: the median is that of 103, and the interval of seven their range.
        let near = |found: Number, expected: f64| assert!((found.0 - expected).abs() < 1e-9);
        near(found.ratio, 200.0 / 103.0);
        near(found.low.unwrap(), 200.0 / 106.0);
        near(found.high.unwrap(), 2.0);
        let floor = found.floor.as_ref().unwrap();
        assert!((floor.value.0 - 103e-9).abs() < 1e-15, "{floor:?}");
        assert_eq!(found.in_words(), "1.94 × (1.89 to 2.00) the floor line, 103 ns");
        // 0.06 of 1.94 are 3 %, which is more than 2 %.
        let judged = |precision| {
            let table = table(50.0);
            let judged = Judged::of(&table, 0.95, precision, 1);
            FloorRatio::of(&Key::new("rtt"), 2.0, None, &beside(), &judged).unwrap().unwrap()
        };
        assert!(
            judged(0.02).in_words().starts_with("1.94 × (1.89 to 2.00, not converged) the floor")
        );
    }

    #[test]
    fn of_a_few_rounds_the_interval_is_that_of_both() {
        let few = |rounds| {
            let mut few = Table::default();
            for (key, batches) in table(50.0).iter() {
                for batch in batches.iter().filter(|batch| batch.round < rounds) {
                    few.push(Kept::Batch { key: key.clone(), batch: batch.clone() });
                }
            }
            found(&few).unwrap()
        };
        // One batch of the floor has no interval.
        let one = few(1);
        assert_eq!((one.ratio, one.low), (Number(2.0), None));
        assert!((one.floor.unwrap().value.0 - 100e-9).abs() < 1e-15);
        let found = few(3);
        // 400/101 halved; round trips of 400 in each round, and floors of 100, 101 and 102, each like the one
        // before: 101 ± √2 · t(2)/√3.
        let relative = 2.0_f64.sqrt() * 4.302_653 / 3.0_f64.sqrt() / 101.0;
        assert!((found.ratio.0 - 200.0 / 101.0).abs() < 1e-9);
        let half = (found.high.unwrap().0 - found.low.unwrap().0) / 2.0;
        assert!(
            (half / found.ratio.0 - relative).abs() < 1e-3,
            "{half} of {}, {relative}",
            found.ratio.0
        );
    }

    #[test]
    fn a_floor_in_another_state_is_no_floor_and_that_is_said() {
        let reason = found(&table(200.0)).unwrap_err();
        assert!(
            reason.contains("no round has batches of both in the state cache line 50"),
            "{reason}"
        );
        let mut table = table(50.0).part(|key| key.what() == "rtt");
        let rejected = Some("not available on this machine: forbidden".to_owned());
        let batch = Batch { rejected, ..Batch::default() };
        table.push(Kept::Batch { key: floors::key("line"), batch });
        let reason = found(&table).unwrap_err();
        assert!(reason.ends_with("line: not available on this machine: forbidden"), "{reason}");
    }

    #[test]
    fn what_stands_over_a_floor_is_called_what_its_series_is_of() {
        let old = r#"{"name":"any","ratio":1.5,"low":1.4,"high":1.6}"#;
        let old: FloorRatio = serde_json::from_str(old).unwrap();
        let said = |bytes, series| FloorRatio { bytes, ..old.clone() }.sentence(series);
        for (bytes, series, expected) in [
            (Some(1 << 20), "bulk_store", "A store of 1 MiB takes 1.50 ×"),
            (Some(64 << 10), "bulk_get", "A get of 64 KiB takes 1.50 ×"),
            (Some(8), "comms2", "An exchange of 8 B each way takes 1.50 ×"),
            (Some(8), "comms1", "A message of 8 B takes 1.50 ×"),
            (Some(0), "barrier", "A barrier takes 1.50 ×"),
            (Some(0), "comms1", "A message without bytes takes 1.50 ×"),
        ] {
            let said = said(bytes, series);
            assert!(said.replace('\u{a0}', " ").starts_with(expected), "{said}");
        }
    }

    #[test]
    fn a_ratio_below_one_with_its_whole_interval_is_explained() {
        let of = |high: &str| -> FloorRatio {
            let text = format!(r#"{{"name":"any","ratio":0.5,"low":0.4{high}}}"#);
            serde_json::from_str(&text).unwrap()
        };
        assert_eq!(below_one(&[of(r#","high":1.0"#), of("")]), None);
        assert_eq!(below_one(&[of(r#","high":1.0"#), of(r#","high":0.99"#)]), Some(BELOW_ONE));
    }

    #[test]
    fn an_older_run_has_a_ratio_without_its_floor() {
        let old: FloorRatio =
            serde_json::from_str(r#"{"name":"cache_line","ratio":1.5,"low":1.4,"high":1.6}"#)
                .unwrap();
        assert_eq!(old.in_words(), "1.50 × (1.40 to 1.60) the floor cache_line");
    }
}
