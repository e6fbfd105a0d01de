//! Tables of several launches that differ: intervals hold the truth, and lost launches are named.

use bandgap_campaign::beside::Beside;
use bandgap_campaign::data::{Batch, Kept, Table, Verified};
use bandgap_campaign::judge::Judged;
use bandgap_campaign::load::Load;
use bandgap_campaign::overlap::Cell;
use bandgap_campaign::series::{Part, Step};
use bandgap_campaign::signature::{ISSUE, SignaturePattern, rtt};
use bandgap_campaign::{
    Key, fan_in, floors as floor_keys, pairs as pair_keys, series as series_keys,
};
use bandgap_comm::{Floor, Yields};
use bandgap_kernels::{Checked, OverlapMode};
use bandgap_model::logp::{Params, issue_time};
use bandgap_record::Quantity;
use rand::SeedableRng;
use rand_distr::{Distribution, Normal};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::kind::{Among, Shown};
use crate::measured::LostLaunch;
use crate::measured::examples::asked;

const TRIALS: usize = 300;
const LAUNCHES: u32 = 5;

fn setting(launches: u32) -> Setting {
    let cpus = Some(vec![0, 1]);
    Setting { transport: "shm".into(), ranks: 2, launches, cpus, ..Setting::default() }
}

/// Six batches of one sample for each key and launch. A launch puts each key off by `off`, and a batch by
/// 1 % more.
fn scripted(
    off: f64,
    keys: &[(Key, f64)],
    launches: impl IntoIterator<Item = u32>,
    generator: &mut Xoshiro256PlusPlus,
) -> Table {
    let normal = Normal::new(0.0, 1.0).unwrap();
    let mut table = Table::default();
    for launch in launches {
        for (key, truth) in keys {
            let centre = truth * (1.0 + off * normal.sample(generator));
            for round in 0..6 {
                let samples = vec![centre * (1.0 + 0.01 * normal.sample(generator))];
                let batch = Batch { samples, launch, round, ..Batch::default() };
                table.push(Kept::Batch { key: key.clone(), batch });
            }
        }
    }
    table
}

/// The same as if all batches were of one launch.
fn pooled(table: &Table) -> Table {
    let mut pooled = Table::default();
    for (key, batches) in table.iter() {
        for batch in batches {
            let round = 6 * batch.launch + batch.round;
            let batch = Batch { launch: 0, round, ..batch.clone() };
            pooled.push(Kept::Batch { key: key.clone(), batch });
        }
    }
    pooled
}

/// How many intervals of each quantity hold its truth: over launches, and pooled.
fn held(
    off: f64,
    keys: &[(Key, f64)],
    truths: &[f64],
    of: impl Fn(&Table, u32) -> Vec<Quantity>,
) -> [Vec<usize>; 2] {
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(45);
    let mut inside = [vec![0; truths.len()], vec![0; truths.len()]];
    for _ in 0..TRIALS {
        let table = scripted(off, keys, 0..LAUNCHES, &mut generator);
        let both = [of(&table, LAUNCHES), of(&pooled(&table), 1)];
        for (counts, found) in inside.iter_mut().zip(both) {
            assert_eq!(found.len(), truths.len());
            for ((count, found), truth) in counts.iter_mut().zip(&found).zip(truths) {
                let (low, high) = found.interval().expect("batches enough for an interval");
                *count += usize::from((low..=high).contains(truth));
            }
        }
    }
    inside
}

/// 95 % of 300 are 285, with a standard deviation of 3.8. A hull of two intervals may hold a little more.
fn assert_held(what: &str, [over, pooled]: [Vec<usize>; 2]) {
    assert!(over.iter().all(|count| (273..=298).contains(count)), "{what}: {over:?}");
    assert!(pooled.iter().all(|count| *count < 225), "{what}: {pooled:?} pooled");
}

#[test]
fn round_trips_of_pairs_and_gaps_hold_the_variance_between_launches() {
    let keys = [(pair_keys::key(0, 1), 900.0), (pair_keys::key(0, 2), 1100.0)];
    let found = held(0.1, &keys, &[900e-9, 1100e-9], |table, launches| {
        let judged = asked().judge(table);
        let (outcomes, _) = pairs(&setting(launches), &judged).unwrap();
        let Outcome::RttPairs(of) = &outcomes[0] else { panic!("pairs") };
        of.pairs.iter().map(|pair| pair.rtt.clone()).collect()
    });
    assert_held("pairs", found);
    let keys = [(fan_in::key(1), 50.0), (fan_in::key(3), 150.0)];
    let found = held(0.1, &keys, &[50e-9, 150e-9, 3.0], |table, launches| {
        let judged = asked().judge(table);
        let (outcomes, _) = contention(&setting(launches), &judged).unwrap();
        let Outcome::Contention(of) = &outcomes[0] else { panic!("fan-in") };
        let [one, three] = &of.rows[..] else { panic!("two rows") };
        vec![one.gap.clone(), three.gap.clone(), three.ratio.clone()]
    });
    assert_held("fan-in", found);
}

fn floor_plan() -> FloorPlan {
    let floor = Floor::new("cache_line", "", Yields::Operation, 1);
    let layer =
        Floor { name: "layer".into(), over: vec!["cache_line".into()].into(), ..floor.clone() };
    FloorPlan { asked: asked(), floors: vec![floor, layer], pause: 0.0 }
}

#[test]
fn floors_and_ratios_hold_the_variance_between_launches() {
    let keys = [(floor_keys::key("cache_line"), 50.0), (floor_keys::key("layer"), 75.0)];
    let found = held(0.1, &keys, &[50e-9, 75e-9, 1.5], |table, launches| {
        let (outcomes, _) = floors(launches, table, &floor_plan());
        let quantity = |of: &Outcome| match of {
            Outcome::Floor(floor) => floor.value.quantity().clone(),
            Outcome::Ratio(ratio) => ratio.ratio.clone(),
            other => panic!("{other:?}"),
        };
        outcomes.iter().map(quantity).collect()
    });
    assert_held("floors", found);
}

fn bulk_steps() -> Vec<Step> {
    [1, 11].map(|messages| Step::new("bulk_store", 4096, messages, 2)).into()
}

fn series_of(table: &Table, launches: u32) -> crate::series::Series {
    let plan = SeriesPlan { asked: asked(), steps: bulk_steps(), samples: 1 };
    let (outcomes, _) = series(&setting(launches), &plan, table).unwrap();
    let Outcome::Series(of) = &outcomes[0] else { panic!("a series") };
    crate::series::Series::clone(of)
}

#[test]
fn times_and_gaps_of_series_hold_the_variance_between_launches() {
    let key = |step: &Step| series_keys::key(step, Part::Whole);
    let steps = bulk_steps();
    let keys = [(key(&steps[0]), 1000.0), (key(&steps[1]), 6000.0)];
    // Ten further transfers in 5000 ns.
    let found = held(0.1, &keys, &[1e-6, 4.096e9, 0.5e-6], |table, launches| {
        let of = series_of(table, launches);
        let point = &of.points[0];
        let rate = point.bandwidth.clone();
        vec![point.time.clone(), rate.unwrap(), point.gap.clone().unwrap()]
    });
    assert_held("series", found);
}

/// Overlap at one size and one length of vectors.
fn overlap_plan() -> OverlapPlan {
    let (sizes, elements) = (vec![8], vec![10]);
    OverlapPlan { asked: asked(), pair: [0, 1], sizes, elements, samples: 1 }
}

#[test]
fn gains_and_hidden_shares_hold_the_variance_between_launches() {
    let times = [200.0, 140.0, 100.0, 150.0, 20.0];
    let keys: Vec<(Key, f64)> = OverlapMode::ALL
        .into_iter()
        .zip(times)
        .map(|(mode, time)| (Cell::of(mode, 8, 10).key(), time))
        .collect();
    // T_b − T_n = 60 of T_x − T_o = 80. With launches that differ by more, some shares were undecided.
    let found = held(0.03, &keys, &[60e-9, 80e-9, 0.75], |table, launches| {
        let (outcomes, _) = overlap(&setting(launches), &overlap_plan(), table).unwrap();
        let Outcome::Overlap(of) = &outcomes[0] else { panic!("an overlap") };
        let point = &of.points[0];
        let all = [Some(&point.gain), point.hideable.as_ref(), point.share.as_ref()];
        all.into_iter().flatten().cloned().collect()
    });
    assert_held("overlap", found);
}

/// The launches that a result names as lost, and whether its text says so.
fn named(shown: &dyn Shown, lost: &[LostLaunch], recorded: &serde_json::Value) -> (Vec<u32>, bool) {
    let text = shown.text(&Among::new([shown]), &bandgap_report::Layout::default());
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let numbers: Vec<u32> = lost.iter().map(|of| of.launch).collect();
    let in_file = recorded["lost_launches"].as_array().map_or(0, Vec::len);
    assert_eq!(in_file, numbers.len(), "{recorded}");
    (numbers, words.contains("launch 2 ("))
}

#[test]
fn a_launch_without_batches_that_count_is_named_and_else_nothing_is() {
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(46);
    let key = |step: &Step| series_keys::key(step, Part::Whole);
    let steps = bulk_steps();
    let cells = OverlapMode::ALL.map(|mode| (Cell::of(mode, 8, 10).key(), 100.0));
    let keys: Vec<(Key, f64)> = [
        (pair_keys::key(0, 1), 900.0),
        (fan_in::key(1), 50.0),
        (floor_keys::key("cache_line"), 50.0),
        (floor_keys::key("layer"), 75.0),
        (key(&steps[0]), 1000.0),
    ]
    .into_iter()
    .chain(cells)
    .collect();
    for (launches, lost) in [(vec![0, 1, 2], vec![]), (vec![0, 2], vec![1])] {
        let table = scripted(0.1, &keys, launches, &mut generator);
        let plan = overlap_plan();
        let (judged, setting) = (asked().judge(&table), setting(3));
        let mut outcomes = pairs(&setting, &judged).unwrap().0;
        outcomes.extend(contention(&setting, &judged).unwrap().0);
        outcomes.extend(floors(3, &table, &floor_plan()).0);
        outcomes.extend(overlap(&setting, &plan, &table).unwrap().0);
        outcomes.push(series_of(&table, 3).into());
        let mut kinds = 0;
        for outcome in &outcomes {
            let recorded = serde_json::to_value(outcome).unwrap();
            let found = match outcome {
                Outcome::RttPairs(of) => named(&**of, &of.lost_launches, &recorded),
                Outcome::Contention(of) => named(&**of, &of.lost_launches, &recorded),
                Outcome::Floor(of) => named(&**of, &of.lost_launches, &recorded),
                Outcome::Ratio(of) => named(&**of, &of.lost_launches, &recorded),
                Outcome::Overlap(of) => named(&**of, &of.lost_launches, &recorded),
                Outcome::Series(of) => named(&**of, &of.lost_launches, &recorded),
                _ => continue,
            };
            kinds += 1;
            assert_eq!(found, (lost.clone(), !lost.is_empty()), "{recorded}");
        }
        // Two floors, and one of the others.
        assert_eq!(kinds, 7);
    }
}

/// A table of the LogP machine, whose times are longer by a share in each launch. Launches in `rtt_only`
/// have no issue phases.
fn signature_table(slower: &[f64], rtt_only: &[u32]) -> Table {
    let mut table = Table::default();
    let mut keep = |key: Key, time: f64, launch: u32| {
        for round in 0..6 {
            let samples = vec![time * (1.0 + 1e-3 * f64::from(round % 3))];
            let batch = Batch { samples, launch, round, ..Batch::default() };
            table.push(Kept::Batch { key: key.clone(), batch });
        }
    };
    let machine = Params::MYRINET;
    for (launch, slower) in (0..).zip(slower) {
        keep(rtt(Load::Words), machine.rtt() * slower, launch);
        if rtt_only.contains(&launch) {
            continue;
        }
        for delay in [0.0, 2000.0, 4000.0, 12_000.0, 20_000.0, 40_000.0] {
            for messages in [1_u64, 2, 3, 4, 6, 8, 64, 96, 128, 192, 256] {
                let time = issue_time(&machine, messages, delay / slower) * slower;
                let at = Key::new(ISSUE).at("load", Load::Words.name()).at("bytes", 0_u32);
                let at = at.at("messages", messages as u32).at("delay_ps", (delay * 1e3) as u64);
                keep(at, time, launch);
            }
        }
    }
    table
}

#[test]
fn a_launch_without_a_signature_is_named_with_the_reason() {
    let of = |rtt_only: &[u32]| {
        let table = signature_table(&[1.0, 1.1, 1.2], rtt_only);
        let pattern = SignaturePattern::OneToOne;
        let plan = SignaturePlan { asked: asked(), samples: 1, pattern, load: Load::Words };
        let (outcomes, _) = signature(&setting(3), &plan, &table).unwrap();
        let Outcome::Logp(of) = &outcomes[0] else { panic!("a signature") };
        let recorded = serde_json::to_value(&outcomes[0]).unwrap();
        let found = named(&**of, &of.lost_launches, &recorded);
        (found, of.lost_launches.clone(), of.parameters.rtt.clone().unwrap())
    };
    let (none, _, rtt) = of(&[]);
    assert_eq!(none, (vec![], false));
    // Means of 29.2 µs times 1, 1.1 and 1.2: s = 2.9 µs, and t(2, 95 %)/√3 = 2.48 of that.
    let (low, high) = rtt.interval().unwrap();
    assert!(((high - low) / 2.0 / (0.1 * 2.484 * 1e-9 * Params::MYRINET.rtt()) - 1.0).abs() < 0.02);
    let (one, lost, _) = of(&[1]);
    assert_eq!(one, (vec![1], true));
    assert!(!lost[0].reason.is_empty() && lost[0].reason != "it has no batch", "{lost:?}");
}

/// A floor of tcp's kind, compared with these results, which move so many bytes a round or a word.
fn beside(name: &'static str, yields: Yields, results: &[&str]) -> Beside {
    let results = results.iter().map(|&name| name.to_owned()).collect();
    Beside { floor: Floor::new(name, "", yields, 20), results }
}

/// Adds batches of a floor, of this time in each round.
fn with_floor(mut table: Table, name: &str, time: f64) -> Table {
    for round in 0..9 {
        let batch = Batch { samples: vec![time], round, ..Batch::default() };
        table.push(Kept::Batch { key: floor_keys::key(name), batch });
    }
    table
}

#[test]
fn a_signature_is_compared_with_a_floor_between_the_same_ranks() {
    let of = |pattern, ranks: usize, measured: bool| {
        let mut table = signature_table(&[1.0], &[]);
        if measured {
            // Half of Myrinet's round trip.
            table = with_floor(table, "tcp", Params::MYRINET.rtt() / 2.0);
        }
        let plan = SignaturePlan { asked: asked(), samples: 1, pattern, load: Load::Words };
        let beside = vec![
            beside("tcp", Yields::HalfRoundTrip, &["signature"]),
            beside("other", Yields::HalfRoundTrip, &["echo"]),
        ];
        let setting = Setting { ranks, beside, ..setting(1) };
        let (outcomes, _) = signature(&setting, &plan, &table).unwrap();
        let Outcome::Logp(of) = &outcomes[0] else { panic!("a signature") };
        let ratios: Vec<(String, f64)> =
            of.floor_ratios.iter().map(|of| (of.name.clone(), of.ratio.0)).collect();
        (ratios, of.findings.join(" "))
    };
    let (ratios, findings) = of(SignaturePattern::OneToOne, 4, true);
    assert!(
        matches!(&ratios[..], [(name, ratio)] if name == "tcp" && (ratio - 1.0).abs() < 0.02),
        "{ratios:?}"
    );
    assert!(!findings.contains("floor"), "{findings}");
    for (pattern, measured, why) in [
        (SignaturePattern::OneToOne, false, "no round has batches of both"),
        (SignaturePattern::Pairs, true, "between ranks 0 and 2 is not compared"),
    ] {
        let (ratios, findings) = of(pattern, 4, measured);
        assert!(
            ratios.is_empty() && findings.contains("not compared with the floor tcp"),
            "{findings}"
        );
        assert!(findings.contains(why) && !findings.contains("other"), "{findings}");
    }
}

#[test]
fn messages_are_compared_with_floors_of_as_many_bytes() {
    let of = |sizes: &[u32], pair: [usize; 2]| {
        let mut table = with_floor(with_floor(Table::default(), "word", 500.0), "copy", 1e5);
        let step = |&size: &u32| Step { pair, ..Step::new("comms1", size, 1, 2) };
        let steps: Vec<Step> = sizes.iter().map(step).collect();
        for step in &steps {
            for round in 0..9 {
                let time = 1000.0 + f64::from(step.size);
                let batch = Batch { samples: vec![time], round, ..Batch::default() };
                table.push(Kept::Batch { key: series_keys::key(step, Part::Whole), batch });
            }
        }
        let plan = SeriesPlan { asked: asked(), steps, samples: 1 };
        let beside = vec![
            beside("word", Yields::HalfRoundTrip, &["comms1"]),
            beside("copy", Yields::Bytes(1 << 20), &["comms1"]),
            beside("other", Yields::HalfRoundTrip, &["synch1"]),
        ];
        let setting = Setting { ranks: 4, beside, ..setting(1) };
        let (outcomes, _) = series(&setting, &plan, &table).unwrap();
        let Outcome::Series(of) = &outcomes[0] else { panic!("a series") };
        let ratios: Vec<_> =
            of.floor_ratios.iter().map(|of| (of.name.clone(), of.bytes, of.ratio.0)).collect();
        (ratios, of.findings.join(" "))
    };
    let (ratios, findings) = of(&[0, 4, 8, 16, 1 << 20], [0, 1]);
    // 1008 over 500, and 1000 + 2²⁰ over 100 000.
    let long = (1000.0 + f64::from(1 << 20)) / 1e5;
    assert_eq!(ratios, [("word".into(), Some(8), 2.016), ("copy".into(), Some(1 << 20), long)]);
    assert!(!findings.contains("floor"), "{findings}");
    let (ratios, findings) = of(&[0, 4], [0, 1]);
    assert_eq!(ratios, [("word".into(), Some(4), 2.008)]);
    let long = "with the floor copy: no message of 1 MiB was measured between ranks 0 and 1.";
    assert!(findings.contains(long), "{findings}");
    let (ratios, findings) = of(&[16], [0, 1]);
    let short =
        "with the floor word: no message of 8 B or less was measured between ranks 0 and 1.";
    assert!(ratios.is_empty() && findings.contains(short), "{findings}");
    let (ratios, findings) = of(&[8], [0, 2]);
    let others = "with the floor word: it is between ranks 0 and 1, and other ranks took part.";
    assert!(ratios.is_empty() && findings.contains(others), "{findings}");
}

#[test]
fn what_is_not_compared_with_a_floor_is_called_what_it_is() {
    let of = |step: Step, floor: &'static str, yields: Yields| {
        let mut table = Table::default();
        for round in 0..9 {
            let batch = Batch { samples: vec![1000.0], round, ..Batch::default() };
            table.push(Kept::Batch { key: series_keys::key(&step, Part::Whole), batch });
        }
        let name = step.series.clone();
        let plan = SeriesPlan { asked: asked(), steps: vec![step], samples: 1 };
        let setting =
            Setting { ranks: 3, beside: vec![beside(floor, yields, &[&name])], ..setting(1) };
        let (outcomes, _) = series(&setting, &plan, &table).unwrap();
        let Outcome::Series(of) = &outcomes[0] else { panic!("a series") };
        of.findings.iter().find(|said| said.contains("compared")).unwrap().clone()
    };
    let long = Yields::Bytes(1 << 20);
    assert_eq!(
        of(Step::new("synch1", 0, 1, 3), "both", Yields::Operation),
        "Nothing is compared with the floor both: it is between two ranks, and more took part."
    );
    assert_eq!(
        of(Step::new("synch1", 0, 1, 2), "both", Yields::Operation),
        "A barrier is not compared with the floor both: no round has batches of both."
    );
    assert_eq!(
        of(Step::new("bulk_store", 1 << 20, 1, 2), "store", long),
        "A store of 1 MiB is not compared with the floor store: no round has batches of both."
    );
    assert_eq!(
        of(Step::new("bulk_get", 64, 1, 2), "copy", long),
        "Nothing is compared with the floor copy: no get of 1 MiB was measured between ranks 0 and 1."
    );
}

#[test]
fn exchanges_are_compared_whole_and_what_a_ratio_lacks_or_contains_is_said() {
    let of = |sleeps: bool| {
        let mut table = with_floor(Table::default(), "both", 500.0);
        let names = ["comms2", "exchange", "comms1"];
        let steps: Vec<Step> = names.iter().map(|name| Step::new(name, 8, 1, 2)).collect();
        for step in &steps {
            for round in 0..9 {
                let batch = Batch { samples: vec![1000.0], round, ..Batch::default() };
                table.push(Kept::Batch { key: series_keys::key(step, Part::Whole), batch });
            }
        }
        let plan = SeriesPlan { asked: asked(), steps, samples: 1 };
        let beside = vec![beside("both", Yields::Operation, &["comms2", "exchange"])];
        let setting = Setting { beside, sleeps, ..setting(1) };
        let (outcomes, _) = series(&setting, &plan, &table).unwrap();
        let series = outcomes.iter().filter_map(|outcome| match outcome {
            Outcome::Series(series) => Some(series),
            _ => None,
        });
        let told = series.map(|of| {
            let ratios: Vec<f64> = of.floor_ratios.iter().map(|of| of.ratio.0).collect();
            let findings = of.findings.join(" ");
            let said = ["no floor of this shape over shm", "contains the wake-up"];
            (of.name.clone(), ratios, said.map(|said| findings.contains(said)))
        });
        told.collect::<Vec<_>>()
    };
    for sleeps in [false, true] {
        let expected = [
            // Both halves of 1000 over 500.
            ("comms2".to_owned(), vec![4.0], [false, sleeps]),
            ("exchange".to_owned(), vec![2.0], [false, sleeps]),
            ("comms1".to_owned(), Vec::new(), [true, false]),
        ];
        assert_eq!(of(sleeps), expected);
    }
}

#[test]
fn lines_name_launches_without_times_of_their_own() {
    let steps: Vec<Step> = [0, 8, 64, 512, 4096].map(|n| Step::new("comms1", n, 1, 2)).into();
    let mut table = Table::default();
    for (launch, fewest) in [(0, 5), (1, 2), (2, 5)] {
        for step in &steps[..fewest] {
            for round in 0..3 {
                let time = 1000.0 + f64::from(step.size + round + 10 * launch);
                let batch = Batch { samples: vec![time], launch, round, ..Batch::default() };
                table.push(Kept::Batch { key: series_keys::key(step, Part::Whole), batch });
            }
        }
    }
    let plan = SeriesPlan { asked: asked(), steps, samples: 1 };
    let (outcomes, _) = series(&setting(3), &plan, &table).unwrap();
    let [Outcome::Series(of), Outcome::Hockney(fit), ..] = &outcomes[..] else {
        panic!("{outcomes:?}")
    };
    assert_eq!(of.lost_launches, []);
    let partly = "At 3 of 5 points not all of the 3 launches have batches that count.";
    assert!(of.findings.iter().any(|said| said == partly), "{:?}", of.findings);
    let recorded = serde_json::to_value(&outcomes[1]).unwrap();
    assert_eq!(named(&**fit, &fit.lost_launches, &recorded), (vec![1], true));
}

#[test]
fn a_single_launch_is_judged_as_ever() {
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(47);
    let key = pair_keys::key(0, 1);
    let table = scripted(0.1, &[(key.clone(), 900.0)], [3], &mut generator);
    let judged: Judged<'_> = asked().judge(&table);
    assert_eq!(judged.point(&key), bandgap_stats::Point::of(&judged.values(&key), 0.95));
}

/// One batch is no value, but it was measured: it is kept. A floor that the machine refuses has none.
#[test]
fn a_floor_without_a_value_keeps_its_batches() {
    let table = |rejected: Option<&str>| {
        let batch = Batch {
            samples: rejected.map_or(vec![50.0], |_| Vec::new()),
            rejected: rejected.map(str::to_owned),
            ..Batch::default()
        };
        let mut table = Table::default();
        table.push(Kept::Batch { key: floor_keys::key("cache_line"), batch });
        table
    };
    let (outcomes, warnings) = floors(1, &table(None), &floor_plan());
    let [Outcome::Batches(kept)] = &outcomes[..] else { panic!("{outcomes:?}") };
    assert_eq!((kept.batches.len(), &kept.batches[0].batch.samples[..]), (1, &[50.0][..]));
    assert_eq!(warnings, std::slice::from_ref(&kept.reason));
    let (outcomes, warnings) = floors(1, &table(Some("no cores")), &floor_plan());
    assert!(outcomes.is_empty());
    assert_eq!(warnings, ["cache_line: no cores"]);
}

/// What cannot be written down takes nothing else with it.
#[test]
fn a_floor_that_is_no_number_keeps_its_batches_and_the_other_floors() {
    let mut table = Table::default();
    for (name, time) in [("cache_line", f64::INFINITY), ("layer", 50.0)] {
        for round in 0..3 {
            let batch = Batch { samples: vec![time; 4], round, ..Batch::default() };
            table.push(Kept::Batch { key: floor_keys::key(name), batch });
        }
    }
    let (outcomes, warnings) = floors(1, &table, &floor_plan());
    let [Outcome::Floor(floor), .., Outcome::Batches(kept)] = &outcomes[..] else {
        panic!("{outcomes:?}")
    };
    assert_eq!((&*floor.name, kept.batches.len()), ("layer", 3));
    assert!(warnings[0].starts_with("cache_line: "), "{warnings:?}");
}

/// No other result says what was compared of batches that no fit could be made of.
#[test]
fn batches_without_a_fit_say_what_was_compared() {
    let mut table = Table::default();
    let key = Key::new("comms1");
    table.push(Kept::Batch {
        key: key.clone(),
        batch: Batch { samples: vec![50.0], ..Batch::default() },
    });
    let checked = Checked { received: 20, compared: 19, summed: 0 };
    table.push(Kept::Verified { key, verified: Verified::of_checked(checked) });
    let of = |setting: &Setting| unfitted_alone(setting, &table, &AssembleError::Empty).checked;
    assert_eq!(of(&setting(1)).map(|checked| (checked.messages, checked.compared)), Some((20, 19)));
    // In virtual time no bytes move.
    assert_eq!(of(&Setting { cpus: None, ..setting(1) }), None);
}
