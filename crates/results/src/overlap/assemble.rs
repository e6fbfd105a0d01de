//! From batches to hidden shares.

use std::collections::{BTreeMap, BTreeSet};

use bandgap_campaign::Setting;
use bandgap_campaign::data::Batch as Measured;
use bandgap_campaign::judge::Judged;
use bandgap_campaign::overlap::{Cell, OVERLAP, OverlapPlan};
use bandgap_kernels::OverlapMode;
use bandgap_record::{Convergence, Evidence, Quantity, RecordError, Unit};
use bandgap_stats::interval::{joint_confidence, mean_interval};
use bandgap_stats::launches::over_launches;
use bandgap_stats::paired::{PairedRatio, paired_ratio_over_launches, undisturbed};
use bandgap_stats::quantile::mean;
use bandgap_stats::rounds::{self as in_rounds, InRound};
use bandgap_stats::{Interval, Point, Rule, batch_value};
use bandgap_units::Ns;

use super::findings::findings;
use super::schema::{Overlap, OverlapBatches, OverlapPoint, place};
use crate::error::AssembleError;
use crate::measured::{Batch, Checked, Estimated, Launches, State, conditions, missing};

/// What there is to say of the table of such a plan.
pub(crate) fn overlap(
    setting: &Setting,
    plan: &OverlapPlan,
    judged: &Judged<'_>,
) -> Result<Overlap, AssembleError> {
    let (mut points, mut places, mut seen) = (Vec::new(), Vec::new(), Vec::new());
    let mut joint = Vec::new();
    let planned = plan.sizes.len() * plan.elements.len();
    for &bytes in &plan.sizes {
        for &elements in &plan.elements {
            match point(judged, setting.is_virtual(), (bytes, elements), planned)? {
                Some(Found { point, joint_gain, launches }) => {
                    points.push(point);
                    joint.push(joint_gain);
                    seen.push(launches);
                }
                None => places.push(place(bytes.into(), elements.into())),
            }
        }
    }
    if points.is_empty() {
        return Err(AssembleError::NoPoint("overlap".to_owned()));
    }
    let measured = judged.table().iter().flat_map(|(_, batches)| batches);
    let launches = Launches::of_points(setting.launches, measured.map(|batch| batch.launch), &seen);
    let verified =
        || judged.table().verified().filter(|(key, _)| key.text("mode") != Some("computation"));
    let checked = Checked::of(verified().map(|(_, verified)| verified));
    Ok(Overlap {
        transport: setting.transport.clone(),
        ranks: setting.ranks as u32,
        pair: plan.pair.map(|rank| rank as u32),
        cores: setting.cores(plan.pair).map(|cores| cores.map(|core| core as u32)),
        launches: setting.launches,
        lost_launches: launches.lost,
        checked: (!setting.is_virtual()).then_some(checked),
        state: State::seen(judged, judged.table().of(OVERLAP)),
        findings: missing(&places, planned, setting)
            .into_iter()
            .chain(launches.findings)
            .chain(findings(&points, (&joint, planned), judged, setting.interrupted))
            .chain(conditions(setting, OVERLAP))
            .collect(),
        batches: plan.cells().into_iter().map(|cell| batches(judged, cell)).collect(),
        points,
    })
}

fn batches(judged: &Judged<'_>, cell: Cell) -> OverlapBatches {
    let Cell { mode, bytes, elements } = cell;
    OverlapBatches {
        mode,
        bytes: mode.exchanges().then_some(bytes.into()),
        elements: mode.computes().then_some(elements.into()),
        batches: judged.table().batches(&cell.key()).iter().map(|b| Batch::of(b, judged)).collect(),
    }
}

/// Values of batches that were measured in one round: T_b, T_n, T_x, T_c, T_o.
type Row = [f64; 5];

/// The rounds in which all five were measured in the state seen from, by launch. None is disturbed.
fn rounds(judged: &Judged<'_>, cells: [Cell; 5]) -> BTreeMap<u32, Vec<Row>> {
    let usable = |batch: &&Measured| judged.counts(batch) && !batch.samples.is_empty();
    let of = |cell: Cell, round: (u32, u32)| {
        let mut batches = judged.table().batches(&cell.key()).iter().filter(usable);
        let batch = batches.find(|batch| (batch.launch, batch.round) == round)?;
        Some(batch_value(&batch.samples))
    };
    let [first, ..] = cells;
    let all = judged.table().batches(&first.key()).iter().filter(usable).filter_map(|batch| {
        let round = (batch.launch, batch.round);
        let mut row = [0.0; 5];
        for (value, cell) in row.iter_mut().zip(cells) {
            *value = of(cell, round)?;
        }
        Some((batch.launch, row))
    });
    let mut launches = BTreeMap::<u32, Vec<Row>>::new();
    for (launch, row) in all {
        launches.entry(launch).or_default().push(row);
    }
    launches.values_mut().for_each(|rows| *rows = undisturbed(rows));
    launches.retain(|_, rows| !rows.is_empty());
    launches
}

/// The estimate of the mean over rounds, over launches where there are several; of values in the
/// launches' order.
fn over_rounds(values: &[f64], launches: &[usize], confidence: f64) -> Option<(f64, Interval)> {
    // Of no round there is no mean either.
    let interval = mean_interval(values, confidence)?;
    let pooled = (mean(values), interval);
    let own: Vec<f64> = parted(values, launches).iter().map(|values| mean(values)).collect();
    Some(over_launches(pooled, &own, confidence))
}

/// So many values of each launch.
fn parted<T: Copy>(values: &[T], launches: &[usize]) -> Vec<Vec<T>> {
    let mut rest = values;
    let take = |count: &usize| {
        let (own, further) = rest.split_at(*count);
        rest = further;
        own.to_vec()
    };
    launches.iter().map(take).collect()
}

/// The mean time over the rounds that the gain and the share rest on too: of two such times the difference
/// is the gain, which it is not of the means of all that was measured.
fn over_these(
    judged: &Judged<'_>,
    cell: Cell,
    values: &[f64],
    launches: &[usize],
    virtual_time: bool,
) -> Option<Quantity> {
    let confidence = judged.confidence();
    let numbered: Vec<InRound> = (0..).zip(values.iter().copied()).collect();
    // Of no value there is no mean either.
    let interval = in_rounds::interval(&numbered, confidence)?;
    let pooled = (mean(values), interval);
    let own: Vec<f64> = parted(values, launches).iter().map(|values| mean(values)).collect();
    let (value, interval) = over_launches(pooled, &own, confidence);
    let point = Point { value, interval, batches: values.len(), fenced: 0, launches: own.len() };
    let convergence = match virtual_time {
        true => Convergence::Converged,
        false => judged.rule_of(&cell.key()).judge_point(&point),
    };
    Estimated::new(&point, TIME, convergence).recorded(Unit::Second).ok()
}

/// Whether an interval says which share is hidden: no more than all of a part can be, and an interval as
/// wide as all of it says nothing. A slowdown is a share below 0.
fn tells_a_share(interval: &Interval) -> bool {
    interval.low <= 1.0 + ROUNDING && interval.high - interval.low <= 1.0
}

/// What arithmetic may add to a share of all.
const ROUNDING: f64 = 1e-9;

const TIME: &str = "mean over the rounds in which all five times count, t interval";
const GAIN: &str = "mean of T_b − T_n over rounds, t interval";
const HIDEABLE: &str = "min(T_c, T_x − T_o) of means over rounds, t interval";
const SHARE: &str = "ratio of means over rounds, Fieller's interval";

/// One point, as it was found.
struct Found {
    point: OverlapPoint,
    /// The interval of its gain where those of all planned points hold together.
    joint_gain: Interval,
    /// The launches of its rounds.
    launches: BTreeSet<u32>,
}

/// One of so many planned points; `None` where no two rounds have all five times.
fn point(
    judged: &Judged<'_>,
    virtual_time: bool,
    (bytes, elements): (u32, u32),
    planned: usize,
) -> Result<Option<Found>, RecordError> {
    let cells = [
        OverlapMode::Blocking,
        OverlapMode::NonBlocking,
        OverlapMode::Exchange,
        OverlapMode::Computation,
        OverlapMode::Overheads,
    ]
    .map(|mode| Cell::of(mode, bytes, elements));
    let rounds = rounds(judged, cells);
    let launches: Vec<usize> = rounds.values().map(Vec::len).collect();
    let rows: Vec<Row> = rounds.values().flatten().copied().collect();
    let times = std::array::from_fn(|at| {
        let values: Vec<f64> = rows.iter().map(|row| row[at]).collect();
        over_these(judged, cells[at], &values, &launches, virtual_time)
    });
    let [Some(blocking), Some(non_blocking), Some(exchange), Some(computation), Some(overheads)] =
        times
    else {
        return Ok(None);
    };
    let (confidence, samples) = (judged.confidence(), rows.len() as u64);
    let gains: Vec<f64> = rows.iter().map(|[blocking, begun, ..]| blocking - begun).collect();
    let over = |values: &[f64]| over_rounds(values, &launches, confidence);
    let joint = over_rounds(&gains, &launches, joint_confidence(confidence, planned));
    let (Some((mean_gain, interval)), Some((_, joint_gain))) = (over(&gains), joint) else {
        return Ok(None);
    };
    let judge = |interval: &Interval, of: f64, rule: Rule| match virtual_time {
        true => Convergence::Converged,
        false => rule.judge(interval.half_width(), of),
    };
    let rule_of = |cell: Cell| judged.rule_of(&cell.key());
    let [blocked, _, _, computed, begun] = cells;
    // Beside the times that it is a difference of, of which a sample holds as many.
    let known = judge(&interval, blocking.value.0 * 1e9, rule_of(blocked));
    let gain = time(mean_gain, interval, Evidence::new(GAIN, samples, known))?;
    let (mut hideable, mut share) = (None, None);
    if elements > 0 {
        let (parts, is_computation) = hideables(&rows);
        if let Some((mean_part, interval)) = over(&parts) {
            // Overheads are timed one by one.
            let rule = rule_of(if is_computation { computed } else { begun });
            let known = judge(&interval, mean_part, rule);
            let evidence = Evidence::new(HIDEABLE, samples, known);
            hideable = Some(time(mean_part, interval, evidence)?);
        }
        let pairs: Vec<(f64, f64)> = gains.iter().copied().zip(parts).collect();
        if let Some(PairedRatio { value, interval }) =
            paired_ratio_over_launches(&parted(&pairs, &launches), confidence)
                .filter(|of| mean_of_second(&pairs) > 0.0 && tells_a_share(&of.interval))
        {
            let known = judge(&interval, 1.0, judged.rule().without_clock());
            let evidence = Evidence::new(SHARE, samples, known);
            share = Some(Quantity::number(value, Some((interval.low, interval.high)), evidence)?);
        }
    }
    let point = OverlapPoint {
        bytes: bytes.into(),
        elements: elements.into(),
        blocking,
        non_blocking,
        exchange,
        computation,
        overheads,
        gain,
        hideable,
        share,
    };
    Ok(Some(Found { point, joint_gain, launches: rounds.into_keys().collect() }))
}

fn mean_of_second(pairs: &[(f64, f64)]) -> f64 {
    mean(&pairs.iter().map(|pair| pair.1).collect::<Vec<_>>())
}

/// The shorter of the two parts, in each round the same one, that whose mean is less; and whether it is the computation.
fn hideables(rows: &[Row]) -> (Vec<f64>, bool) {
    let computations: Vec<f64> =
        rows.iter().map(|[_, _, _, computation, _]| *computation).collect();
    let exchanges: Vec<f64> =
        rows.iter().map(|[_, _, exchange, _, overheads]| exchange - overheads).collect();
    let is_shorter = !rows.is_empty() && mean(&computations) <= mean(&exchanges);
    (if is_shorter { computations } else { exchanges }, is_shorter)
}

fn time(value: f64, interval: Interval, by: Evidence) -> Result<Quantity, RecordError> {
    Quantity::time(Ns(value), Some((Ns(interval.low), Ns(interval.high))), by)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measured::examples::asked;
    use bandgap_campaign::data::{Kept, Table};

    fn plan() -> OverlapPlan {
        OverlapPlan {
            asked: asked(),
            pair: [0, 1],
            sizes: vec![8],
            elements: vec![0, 10],
            samples: 1,
        }
    }

    /// A table of rounds, each with T_b, T_n, T_x, T_c, T_o.
    fn table(rounds: &[Row]) -> Table {
        let mut table = Table::default();
        for (round, row) in (0..).zip(rounds) {
            for (mode, value) in OverlapMode::ALL.into_iter().zip(row) {
                for elements in [0, 10] {
                    let cell = Cell::of(mode, 8, elements);
                    if elements == 0
                        && [OverlapMode::Exchange, OverlapMode::Overheads].contains(&mode)
                    {
                        continue;
                    }
                    let batch = Measured { samples: vec![*value], round, ..Measured::default() };
                    table.push(Kept::Batch { key: cell.key(), batch });
                }
            }
        }
        table
    }

    fn found(rounds: &[Row]) -> Overlap {
        let (plan, table) = (plan(), table(rounds));
        let setting = Setting { cpus: Some(vec![0, 1]), ranks: 2, ..Setting::default() };
        overlap(&setting, &plan, &plan.asked.judge(&table)).unwrap()
    }

    #[test]
    fn of_no_rounds_there_is_no_estimate() {
        assert_eq!(over_rounds(&[], &[], 0.95), None);
        assert!(over_rounds(&[1.0, 2.0], &[2], 0.95).is_some());
    }

    /// A run that ends early has some times and no whole round.
    #[test]
    fn without_a_whole_round_there_is_no_overlap() {
        let plan = plan();
        let mut table = Table::default();
        let batch = Measured { samples: vec![200.0], ..Measured::default() };
        let key = Cell::of(OverlapMode::Blocking, 8, 0).key();
        table.push(Kept::Batch { key, batch });
        let setting = Setting { cpus: Some(vec![0, 1]), ranks: 2, ..Setting::default() };
        let none = overlap(&setting, &plan, &plan.asked.judge(&table));
        assert!(matches!(none, Err(AssembleError::NoPoint(_))), "{none:?}");
    }

    #[test]
    fn the_share_is_of_what_is_no_overhead_and_a_slowdown_is_negative() {
        // T_x − T_o = 60, T_c = 100: of 60 the gain of −15 is −25 %.
        let overlap = found(&[[200.0, 215.0, 100.0, 100.0, 40.0]; 3]);
        let point = &overlap.points[1];
        let share = point.share.as_ref().unwrap();
        assert!((share.value.0 + 0.25).abs() < 1e-12);
        assert_eq!(point.share_in_words(), "-25.0 %");
        assert!((point.gain.value.0 + 15e-9).abs() < 1e-18);
        assert!((point.hideable.as_ref().unwrap().value.0 - 60e-9).abs() < 1e-18);
        // T_c = 30 is the shorter part.
        let point = &found(&[[130.0, 100.0, 100.0, 30.0, 40.0]; 3]).points[1];
        assert!((point.share.as_ref().unwrap().value.0 - 1.0).abs() < 1e-12);
        // Without a computation there is no share.
        assert!(overlap.points[0].share.is_none() && overlap.points[0].hideable.is_none());
        assert_eq!(overlap.points[0].share_in_words(), "–");
    }

    #[test]
    fn where_nothing_is_left_to_hide_the_share_is_undecided() {
        let rows = [[200.0, 190.0, 100.0, 100.0, 99.0], [200.0, 190.0, 100.0, 100.0, 102.0]];
        let point = &found(&rows).points[1];
        assert!(point.share.is_none() && point.hideable.is_some());
        assert_eq!(point.share_in_words(), "undecided");
        // Nor is a share of less than nothing a share.
        let point = &found(&[[200.0, 190.0, 100.0, 100.0, 150.0]; 3]).points[1];
        assert!(point.share.is_none());
    }

    #[test]
    fn what_all_of_a_round_have_in_common_does_not_widen_the_share() {
        // Each round has its own pace: T_b − T_n is always half of T_x − T_o.
        let paces = [1.0, 1.02, 0.98, 1.01, 0.99];
        let rows = paces.map(|pace| [200.0, 170.0, 100.0, 100.0, 40.0].map(|time| time * pace));
        let share = found(&rows).points[1].share.clone().unwrap();
        let (low, high) = share.interval().unwrap();
        assert!((share.value.0 - 0.5).abs() < 1e-12 && high - low < 1e-9, "{share:?}");
        // The same times in other rounds do.
        let mixed = [0, 1, 2, 3, 4].map(|i| {
            let mut row = rows[i];
            row[1] = rows[(i + 1) % 5][1];
            row
        });
        let share = found(&mixed).points[1].share.clone().unwrap();
        let (low, high) = share.interval().unwrap();
        assert!(high - low > 0.05, "{share:?}");
    }

    #[test]
    fn the_gain_is_the_difference_of_the_times_beside_it() {
        // Computation beside a short message: a round whose blocking time is off does not count, in the
        // gain and in both times.
        let row = |blocking: f64, begun: f64| [blocking, begun, 500.0, 18_000.0, 100.0];
        let mut rows: Vec<Row> = (0..9).map(|i| row(18_595.0 + f64::from(i), 18_500.0)).collect();
        rows.push(row(24_000.0, 18_500.0));
        let point = &found(&rows).points[1];
        let difference = point.blocking.value.0 - point.non_blocking.value.0;
        assert!((difference - point.gain.value.0).abs() < 1e-15, "{point:?}");
        assert!((point.gain.value.0 - 99e-9).abs() < 1e-12, "{point:?}");
        for (name, time) in point.times() {
            assert_eq!(time.samples, 9, "{name}");
        }
    }

    #[test]
    fn a_gain_at_one_of_several_points_needs_the_more_evidence() {
        // Gains of 2, with standard error 0.589 over three degrees of freedom: 3.18 of these at 95 %, 4.18 at 97.5 %.
        let rows = [0.8, 1.2, 2.8, 3.2].map(|gain| [200.0, 200.0 - gain, 100.0, 100.0, 40.0]);
        let said = |elements: &[u32]| {
            let (plan, table) = (OverlapPlan { elements: elements.into(), ..plan() }, table(&rows));
            let setting = Setting { cpus: Some(vec![0, 1]), ..Setting::default() };
            overlap(&setting, &plan, &plan.asked.judge(&table)).unwrap().findings.join("\n")
        };
        let alone = said(&[10]);
        assert!(alone.contains("Non-blocking is faster at 1 of 1 points"), "{alone}");
        let both = said(&[0, 10]);
        let undecided = "At 2 of 2 points it cannot be told which is faster: the interval of the gain, widened to hold";
        assert!(both.contains(undecided) && !both.contains("is faster at"), "{both}");
    }

    #[test]
    fn a_share_of_which_nothing_is_known_or_above_all_is_undecided() {
        let told = |rows: &[Row]| {
            let overlap = found(rows);
            let said = |words: &str| overlap.findings.iter().any(|it| it.contains(words));
            (
                overlap.points[1].share_in_words(),
                said("above 100 %"),
                said("times as long"),
                said("more than all"),
            )
        };
        // What can be hidden is 400 of 18 000: the gains scatter by several times as much.
        let scattered = [-900.0, 800.0, -600.0, 900.0, 100.0];
        let rows = scattered.map(|gain| [18_600.0, 18_600.0 - gain, 500.0, 18_000.0, 100.0]);
        assert_eq!(told(&rows), ("undecided".to_owned(), true, true, false));
        // Ten times what can be hidden, in each round.
        let rows = [[22_600.0, 18_600.0, 500.0, 18_000.0, 100.0]; 3];
        assert_eq!(told(&rows), ("undecided".to_owned(), false, false, true));
        // Beside a long exchange it is not the computation.
        let rows = scattered.map(|gain| [18_600.0, 18_600.0 - gain, 18_000.0, 500.0, 100.0]);
        assert_eq!(told(&rows), ("undecided".to_owned(), true, false, false));
        // Within 100 points it is told, beyond all only in part, and a slowdown too.
        let near = [180.0, 220.0, 200.0];
        let rows = near.map(|gain| [18_600.0, 18_600.0 - gain, 500.0, 18_000.0, 100.0]);
        assert_eq!(told(&rows), ("50.0 %".to_owned(), false, false, false));
        let rows = [[18_600.0, 19_000.0, 500.0, 18_000.0, 100.0]; 3];
        assert_eq!(told(&rows), ("-100 %".to_owned(), false, false, false));
    }

    #[test]
    fn rounds_of_which_a_part_is_missing_do_not_count() {
        let mut table = table(&[[200.0, 170.0, 100.0, 100.0, 40.0]; 3]);
        let cell = Cell::of(OverlapMode::Blocking, 8, 10);
        let batch = Measured { samples: vec![9e9], round: 7, ..Measured::default() };
        table.push(Kept::Batch { key: cell.key(), batch });
        let plan = plan();
        let setting = Setting { cpus: Some(vec![0, 1]), ..Setting::default() };
        let overlap = overlap(&setting, &plan, &plan.asked.judge(&table)).unwrap();
        assert_eq!(overlap.points[1].share.as_ref().unwrap().samples, 3);
        assert!(!overlap.findings.iter().any(|said| said.contains("no value")));
        assert!((overlap.points[1].share.as_ref().unwrap().value.0 - 0.5).abs() < 1e-12);
    }

    #[test]
    fn the_clock_limits_the_gain_by_the_part_of_a_stamp_that_is_in_an_exchange() {
        // Of five gains of 20 ± 0.7 the half-width is 0.9 of 200: that and what can be hidden are judged by 0.04 % of
        // these, or by 5 % of a stamp. A sample holds 16 exchanges and computations, and overheads one by one.
        let rows = [0.0, 1.0, -1.0, 0.5, -0.5];
        let of = |computation: f64, stamp: f64| {
            let rows = rows.map(|off| [200.0, 180.0 + off, 100.0, computation + off, 40.0 + off]);
            let (mut plan, table) = (plan(), table(&rows));
            (plan.asked.precision, plan.asked.stamp) = (4e-4, stamp);
            let setting = Setting { cpus: Some(vec![0, 1]), ..Setting::default() };
            let point =
                overlap(&setting, &plan, &plan.asked.judge(&table)).unwrap().points.remove(1);
            [point.gain.convergence(), point.hideable.unwrap().convergence()]
        };
        let (no, limited) = (Convergence::No, Convergence::ClockLimited);
        // 4e-4 of a stamp of 4000 are 1.6, and of a sixteenth of it 0.1; what hides is the computation, 30, or 60.
        assert_eq!(of(30.0, 4e3), [no, no]);
        assert_eq!(of(100.0, 4e3), [no, limited]);
        assert_eq!(of(30.0, 64e3), [limited, limited]);
    }

    #[test]
    fn a_point_of_which_no_two_rounds_have_all_is_named() {
        let all = [[200.0, 170.0, 100.0, 100.0, 40.0]; 2];
        let mut table = table(&all[..1]);
        // Without a computation there is another round of all.
        for (mode, value) in OverlapMode::ALL.into_iter().zip(all[1]) {
            let batch = Measured { samples: vec![value], round: 1, ..Measured::default() };
            table.push(Kept::Batch { key: Cell::of(mode, 8, 0).key(), batch });
        }
        let plan = plan();
        let setting = Setting { cpus: Some(vec![0, 1]), ..Setting::default() };
        let overlap = overlap(&setting, &plan, &plan.asked.judge(&table)).unwrap();
        assert_eq!(overlap.points.len(), 1);
        let said = "1 of 2 points has no value, for want of batches that count: 8 B, 10 elements.";
        assert!(overlap.findings[0].starts_with(said), "{:?}", overlap.findings);
    }
}
