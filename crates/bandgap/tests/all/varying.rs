//! The whole procedure on machines that vary, whose truth is known: signatures over launches, their run files, and what
//! `compare` says of two.

use bandgap_assemble::{Measured, conditions, logp, setup};
use bandgap_campaign::plan::Asked;
use bandgap_campaign::signature::{SignaturePattern, SignaturePlan};
use bandgap_campaign::{Measurements, Task};
use bandgap_launch::{Collected, Target, in_virtual_time};
use bandgap_results::{Comparison, Judged, Run, Word, compare};
use bandgap_sim::Machine;

/// Machines of a run. Each gives four values that count, of parameters with factors of their own.
const MACHINES: usize = 3;
/// A run without results.
const EMPTY: &[u8] = br#"{"format": "bandgap-run", "version": 2, "bandgap": {"version": "0"},
    "command": ["bandgap"], "started": "2026-01-01T00:00:00Z", "seed": 1}"#;

/// How machines vary, and g of the first.
#[derive(Clone, Copy)]
struct Truth(&'static str, f64);

/// Run files of a seed: of the first launches, as many as each count says. A run of fewer launches has the same first ones.
fn runs(Truth(variation, gap): Truth, seed: u64, counts: &[u32]) -> Vec<(String, Run)> {
    let mut runs = vec![Run::from_json(EMPTY).unwrap(); counts.len()];
    for at in 0..MACHINES {
        let gap = if at == 0 { gap } else { 1500.0 };
        let text = format!(
            "name = \"m{at}\"\nsend_overhead_ns = 400\nrecv_overhead_ns = 600\nlatency_ns = 500\n\
             gap_ns = {gap}\n[variation]\n{variation}"
        );
        let machine = Machine::parse(&text, "text").unwrap();
        let (precision, confidence, budget, stamp, check) = (0.05, 0.95, 15.0, 0.0, false);
        let asked = Asked { precision, confidence, budget, seed, stamp, check };
        let plan = SignaturePlan::new(asked.clone(), SignaturePattern::OneToOne);
        let launches = Some((seed, 0..counts.iter().copied().max().unwrap()));
        let task = Task::of(&plan).unwrap();
        let done = in_virtual_time(&machine, launches, (2, &task), &mut |_, _| {}).unwrap();
        for (run, &launches) in runs.iter_mut().zip(counts) {
            let mut table = Measurements::default();
            (0..launches).for_each(|launch| table.append(done.table.of_launch(launch)));
            let done = Collected { launches, varies: done.varies, ..Collected::default() };
            let setting = done.setting(&Target::Simulated(machine.name.clone()), 2);
            let of = Measured { setting: &setting, judged: &asked.judge(&table) };
            run.results.extend(logp(&of, &plan, None).unwrap().results);
            run.setup.of.extend(setup(&of));
            run.conditions.push(conditions(&of));
        }
    }
    let read = |run: Run| Run::from_json(run.to_json().unwrap().as_bytes()).unwrap();
    runs.into_iter().map(|run| (format!("seed {seed}"), read(run))).collect()
}

/// What is asked of a comparison.
type Asks = fn(&Comparison) -> bool;

/// Pairs of runs.
fn pairs() -> u64 {
    std::env::var("BANDGAP_PAIRS").map_or(20, |pairs| pairs.parse().unwrap())
}

/// The shares of pairs of runs of which each of these holds, by the number of launches.
fn shares<const N: usize, const K: usize>(
    [a, b]: [Truth; 2],
    counts: [u32; N],
    holds: [Asks; K],
) -> [[f64; N]; K] {
    let (mut found, mut values) = ([[0.0; N]; K], 0);
    for pair in 0..pairs() {
        let [a, b] = [(a, 2 * pair), (b, 2 * pair + 1)].map(|(of, seed)| runs(of, seed, &counts));
        for (at, (a, b)) in a.into_iter().zip(b).enumerate() {
            let made = compare([&[a], &[b]], 0.95, 0.05, None);
            values += made.quantities.len();
            for (found, holds) in found.iter_mut().zip(holds) {
                found[at] += f64::from(u8::from(holds(&made)));
            }
        }
    }
    // Now and then launches of two modes are on no common line.
    let all = 4 * MACHINES * N * pairs() as usize;
    assert!(values <= all && values * 1000 >= all * 995, "{values} of {all}");
    let found = found.map(|of| of.map(|found| found / pairs() as f64));
    println!("{} pairs, {}, launches {counts:?}: {found:?}", pairs(), b.0);
    found
}

fn differs(made: &Comparison) -> bool {
    made.machine.verdict == Word::Machine || made.quantities.iter().any(|of| of.verdict.is_change())
}

/// Whether the intervals of all values hold that nothing changed.
fn holds(made: &Comparison) -> bool {
    let ends = made.quantities.iter().map(|of| of.change.as_ref()?.interval());
    ends.into_iter().all(|ends| ends.is_some_and(|(low, high)| low <= 0.0 && high >= 0.0))
}

fn is_found(made: &Comparison) -> bool {
    let is_it = |of: &Judged| of.id == "logp/sim:m0/gap" && of.verdict == Word::Slower && !of.exact;
    made.quantities.iter().any(is_it)
}

/// Compares runs of equal machines that vary so: the shares that differ, and in which the intervals hold together. Three launches
/// never differ. Few pairs may by chance have more that differ than many.
fn equal(variation: &'static str) -> [f64; 4] {
    let equal = [Truth(variation, 1500.0); 2];
    let [differ, hold] = shares(equal, [3, 4, 5, 10], [differs, holds]);
    let most = if pairs() < 200 { 0.15 } else { 0.06 };
    assert!(differ[0] == 0.0 && differ.iter().all(|share| *share <= most), "{differ:?}");
    hold
}

#[test]
fn equal_machines_whose_launches_scatter_seldom_differ_and_all_intervals_hold_together() {
    let hold = equal("sigma = 0.02");
    let least = if pairs() < 200 { 0.75 } else { 0.9 };
    assert!(hold.iter().all(|share| *share >= least), "{hold:?}");
}

#[test]
fn equal_machines_with_two_modes_seldom_differ() {
    equal("factor = 1.3");
}

#[test]
fn five_percent_of_one_parameter_are_found() {
    let sides = [1500.0, 1575.0].map(|gap| Truth("sigma = 0.01", gap));
    let [[five, ten]] = shares(sides, [5, 10], [is_found as Asks]);
    assert!(five >= 0.93 && ten >= 0.99, "{five} {ten}");
}
