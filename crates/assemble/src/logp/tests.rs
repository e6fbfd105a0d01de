use crate::machine::{Params, issue_time};
use bandgap_campaign::beside::Beside;
use bandgap_campaign::data::{Batch, Kept};
use bandgap_campaign::plan::Asked;
use bandgap_campaign::signature::issue;
use bandgap_campaign::{Measurements, Setting};
use bandgap_model::{Finding, Options, Regime, extract};
use bandgap_record::Rows;
use bandgap_results::{Outcome, template, words};

use super::*;
use crate::AssembleError;

pub(crate) const MESSAGES: [u32; 13] = [1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 128, 192, 256];
const DELAYS: [u64; 4] = [0, 8000, 16_000, 32_000];

/// A table of a machine. Times scatter by 0.1 % and differ by 1 % from launch to launch.
struct Synthetic {
    machine: Params,
    load: Load,
    launches: u32,
    rounds: u32,
    messages: Vec<u32>,
    noise: f64,
}

impl Synthetic {
    fn of(machine: Params) -> Synthetic {
        let messages = MESSAGES.to_vec();
        Synthetic { machine, load: Load::Words, launches: 3, rounds: 8, messages, noise: 0.01 }
    }

    fn table(&self) -> Measurements {
        let mut table = Measurements::default();
        let mut at = 0_u32;
        for launch in 0..self.launches {
            for round in 0..self.rounds {
                let mut push = |key, of: &dyn Fn(f64) -> f64| {
                    at = at.wrapping_mul(1_103_515_245).wrapping_add(12_345);
                    let off = f64::from(at >> 16) / 65_536.0 - 0.5;
                    let times = 1.0 + self.noise * (off / 10.0 + f64::from(launch));
                    let samples = vec![of(times)];
                    let batch = Batch { samples, launch, round, ..Batch::default() };
                    table.push(Kept::Batch { key, batch });
                };
                let rtt_ns = self.machine.rtt();
                push(rtt(self.load), &|times| times * rtt_ns);
                push(floors::key("socket"), &|times| times * rtt_ns / 2.0 / 1.25);
                for delay in DELAYS {
                    for &messages in &self.messages {
                        // A delay lasts as long as ever.
                        push(issue(self.load, messages, 1000 * delay), &|times| {
                            times * issue_time(&self.machine, messages.into(), delay as f64 / times)
                        });
                    }
                }
            }
        }
        table
    }

    fn setting(&self) -> Setting {
        let floor = bandgap_comm::Floor::new("socket", "", bandgap_comm::Yields::HalfRoundTrip, 1);
        Setting {
            transport: "tcp".to_owned(),
            ranks: 2,
            launches: self.launches,
            cpus: Some(vec![0, 1]),
            beside: vec![Beside { floor, results: vec![SIGNATURE.to_owned()] }],
            ..Setting::default()
        }
    }

    fn plan(&self) -> SignaturePlan {
        let (precision, confidence, budget, seed, stamp, check) = (0.05, 0.95, 1.0, 1, 0.0, false);
        let asked = Asked { precision, confidence, budget, seed, stamp, check };
        let plan = SignaturePlan::new(asked, SignaturePattern::OneToOne);
        SignaturePlan { samples: 1, load: self.load, ..plan }
    }

    fn made_with(&self, stamp: f64, empty: bool) -> Result<Made> {
        let (table, setting) = (self.table(), self.setting());
        let judged = Judged::of(&table, 0.95, 0.05, 1).stamped(stamp);
        let measured = Measured { setting: &setting, judged: &judged };
        logp(&measured, &self.plan(), empty.then_some(&judged))
    }

    fn made(&self) -> Made {
        self.made_with(0.0, false).unwrap()
    }
}

pub(crate) fn split(made: &Made) -> (&Logp, &Rows) {
    let [Outcome::Logp(logp), Outcome::Rows(rows)] = &made.results[..] else {
        panic!("a signature and its curve")
    };
    (logp, rows)
}

pub(crate) fn assert_is(of: &Option<Quantity>, ns: f64, within: f64) {
    let of = of.as_ref().unwrap();
    let found = of.as_time().unwrap().0;
    assert!((found / ns - 1.0).abs() < within, "{of:?}, not {ns}");
}

/// Each note has words, and what it says has all its values.
pub(crate) fn assert_said(notes: &[Note]) {
    for note in notes {
        assert!(template(&note.code).is_some(), "{note:?}");
        assert!(!words(note).contains('?'), "{note:?}: {}", words(note));
    }
}

fn codes(made: &Made) -> Vec<(&str, &str)> {
    made.notes.iter().map(|note| (note.code.as_str(), note.about.as_str())).collect()
}

#[test]
fn each_launch_has_its_own_parameters_and_a_lost_one_has_none() {
    let machine = Params::MYRINET;
    let (synthetic, mut setting) = (Synthetic::of(machine), Synthetic::of(machine).setting());
    setting.launches = 4;
    let table = synthetic.table();
    let measured = Measured { setting: &setting, judged: &Judged::of(&table, 0.95, 0.05, 1) };
    let made = logp(&measured, &synthetic.plan(), None).unwrap();
    let of = &split(&made).0.parameters;
    let known = [
        (&of.send_overhead, machine.send_overhead, 0.01),
        (&of.recv_overhead, machine.recv_overhead, 0.02),
        (&of.gap, machine.gap, 0.002),
        (&of.latency, machine.latency, 0.01),
        (&of.rtt, machine.rtt(), 0.001),
    ];
    for (found, ns, within) in known {
        let found = found.as_ref().unwrap();
        let [own @ .., None] = &found.launches[..] else { panic!("{found:?}") };
        for (launch, own) in own.iter().enumerate() {
            // Launches differ by 0, 1 and 2 %.
            let truth = ns * 1e-9 * (1.0 + 0.01 * launch as f64);
            assert!((own.unwrap().0 / truth - 1.0).abs() < within, "{found:?}");
        }
        let mean = own.iter().map(|own| own.unwrap().0).sum::<f64>() / 3.0;
        assert!((found.value.0 / mean - 1.0).abs() < 1e-9, "{found:?}");
    }
}

#[test]
fn the_parameters_are_those_of_the_machine_with_the_variance_of_launches() {
    let machine = Params::MYRINET;
    let made = Synthetic::of(machine).made();
    let (logp, curve) = split(&made);
    let found = &logp.parameters;
    // Launches differ by 0, 1 and 2 %.
    assert_is(&found.send_overhead, 1.01 * machine.send_overhead, 0.01);
    assert_is(&found.recv_overhead, 1.01 * machine.recv_overhead, 0.05);
    assert_is(&found.gap, 1.01 * machine.gap, 0.005);
    assert_is(&found.latency, 1.01 * machine.latency, 0.01);
    assert_is(&found.rtt, 1.01 * machine.rtt(), 0.001);
    let capacity = found.capacity.as_ref().unwrap();
    assert!((capacity.value.0 - 16.0).abs() < 0.5 && capacity.unit == Unit::One);
    assert_eq!(logp.regime, Regime::NetworkBound);
    // t(2, 95 %)·1 %/√3.
    let width = found.rtt.as_ref().unwrap().relative_width().unwrap();
    assert!((width / (4.303 * 0.01 / 3_f64.sqrt() / 1.01) - 1.0).abs() < 0.1, "{width}");
    let over = logp.over_floor.as_ref().unwrap();
    assert_eq!(over.floor, "socket");
    assert!((over.ratio.value.0 - 1.25).abs() < 0.01 && over.ratio.converged);
    assert_eq!(curve.axes, ["messages", "delay_ps"]);
    assert_eq!(curve.rows.len(), MESSAGES.len() * DELAYS.len());
    let cost = curve.cell(&curve.rows[0], "cost").unwrap();
    assert_is(&Some(cost.clone()), 1.01 * issue_time(&machine, 1, 0.0), 0.01);
    assert!(logp.lines.iter().any(|line| line.name == "send_overhead" && line.from == 1));
    assert_eq!(logp.transition.as_ref().unwrap().cause, "round_trip");
}

#[test]
fn every_field_comes_back_from_json_and_ids_are_there_once() {
    for machine in [Params::MYRINET, Params::PARAGON] {
        let made = Synthetic::of(machine).made();
        let mut ids = Vec::new();
        for result in &made.results {
            let json = serde_json::to_string(result).unwrap();
            assert_eq!(serde_json::from_str::<Outcome>(&json).unwrap(), *result);
            ids.extend(result.as_shown().quantities().into_iter().map(|(id, ..)| id));
        }
        let count = ids.len();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), count);
    }
}

#[test]
fn what_is_known_is_recorded_where_no_signature_is() {
    for (messages, lacks) in [
        (vec![1, 2, 3, 4], "bursts of many messages"),
        (vec![64, 128, 192], "bursts of few messages"),
        (vec![], "bursts of few messages"),
    ] {
        let made = Synthetic { messages, ..Synthetic::of(Params::MYRINET) }.made();
        let Outcome::Logp(logp) = &made.results[0] else { panic!("no signature") };
        assert_is(&logp.parameters.rtt, 1.01 * Params::MYRINET.rtt(), 0.01);
        assert!(logp.parameters.gap.is_none() && logp.over_floor.is_some());
        assert_eq!(logp.regime, Regime::Undecided);
        assert_eq!(codes(&made), [("logp_unfitted", "logp/tcp")]);
        assert_eq!(made.notes[0].values["lacks"], lacks.into());
        assert_said(&made.notes);
    }
    // Nothing at all.
    let nothing = Synthetic { rounds: 0, ..Synthetic::of(Params::MYRINET) };
    assert!(matches!(nothing.made_with(0.0, false), Err(AssembleError::Model(_))));
}

#[test]
fn what_limits_an_interval_is_noted_about_its_parameter() {
    // 40 % of noise on times of 2 µs, which the stamp's cost excuses or does not.
    let noisy = Synthetic { noise: 0.05, ..Synthetic::of(Params::MYRINET) };
    let of = |stamp| {
        let made = noisy.made_with(stamp, false).unwrap();
        let has = |code, name| codes(&made).contains(&(code, &*format!("logp/tcp/{name}")));
        assert_said(&made.notes);
        let converged = split(&made).0.parameters.rtt.as_ref().unwrap().converged;
        (has("clock_limit", "rtt"), converged)
    };
    assert_eq!(of(0.0), (false, false));
    assert_eq!(of(1e6), (true, true));
}

#[test]
fn transfers_are_told_apart_by_their_length_and_have_an_l_beside_empty_ones() {
    let load = Load::Store { bytes: 64 };
    let mut of = Synthetic { load, ..Synthetic::of(Params::MYRINET) };
    let without = of.made();
    let (logp, curve) = split(&without);
    assert_eq!(
        (logp.id().as_str(), logp.bytes),
        ("logp/tcp/name=bulk_store_signature/bytes=64", Some(64))
    );
    assert_eq!((curve.name.as_str(), &*curve.axes[0]), ("bulk_store_signature", "bytes"));
    assert!(logp.parameters.latency.is_none() && logp.over_floor.is_none());
    let latency = format!("{}/latency", logp.id());
    assert!(codes(&without).contains(&("no_empty_round_trip", &latency)));
    assert_said(&without.notes);
    // The same machine without bytes: L is that of words.
    let full = of.table();
    of.load = load.with(0);
    let (empty, setting) = (of.table(), of.setting());
    let judged = Judged::of(&full, 0.95, 0.05, 1);
    let measured = Measured { setting: &setting, judged: &judged };
    of.load = load;
    let made =
        super::logp(&measured, &of.plan(), Some(&Judged::of(&empty, 0.95, 0.05, 1))).unwrap();
    assert_is(&split(&made).0.parameters.latency, 1.01 * Params::MYRINET.latency, 0.02);
}

#[test]
fn what_a_parameter_does_not_mean_is_noted() {
    let observations =
        Judged::of(&Synthetic::of(Params::MYRINET).table(), 0.95, 0.05, 1).observations();
    let found = extract(&observations, &Options::default(), None).unwrap();
    let quiet = Signature { findings: Vec::new(), ..found.clone() };
    let estimate = |[value, low, high]: [f64; 3]| Estimate { value, low, high, ..found.rtt };
    let of = |signature: &Signature| {
        let notes = notes("logp/tcp", signature);
        assert_said(&notes);
        notes.into_iter().map(|note| (note.code, note.about)).collect::<Vec<_>>()
    };
    let one = |code: &str, name: &str| vec![(code.to_owned(), format!("logp/tcp/{name}"))];
    assert_eq!(of(&quiet), []);
    let latency = estimate([-500.0, -900.0, -100.0]);
    assert_eq!(of(&Signature { latency, ..quiet.clone() }), one("latency_below_zero", "latency"));
    let latency = estimate([-500.0, -900.0, 100.0]);
    assert_eq!(of(&Signature { latency, ..quiet.clone() }), []);
    let send_overhead = estimate([1.0, -20.0, 22.0]);
    let unresolved = of(&Signature { send_overhead, ..quiet.clone() });
    assert_eq!(unresolved, one("not_above_zero", "send_overhead"));
    let send_overhead = estimate([1e3, -1e6, 1e6]);
    let unknown = of(&Signature { send_overhead, ..quiet.clone() });
    assert_eq!(unknown, one("not_known", "send_overhead"));
    let recv_overhead = estimate([-50.0, -80.0, -20.0]);
    let negative = of(&Signature { recv_overhead, ..quiet.clone() });
    assert_eq!(negative, one("recv_overhead_below_zero", "recv_overhead"));
    let rtt = estimate([500.0, 400.0, 600.0]);
    let narrow = [2000.0, 1990.0, 2010.0];
    let early = Signature {
        rtt,
        send_overhead: estimate(narrow),
        recv_overhead: estimate(narrow),
        ..quiet.clone()
    };
    let early = Signature { gap: estimate(narrow), latency: estimate(narrow), ..early };
    assert_eq!(of(&early), one("rtt_below_os", "rtt"));
    let findings = vec![
        ("arm_slope", &["slope", "from"][..]),
        ("arm_undecided", &["slope", "from", "low", "high"]),
        ("send_only_unseen", &[]),
        ("gap_unsettled", &["from", "to"]),
        ("send_only_bends", &["to", "next", "last", "cost"]),
    ];
    for (code, values) in findings {
        let values: Vec<_> = values.iter().map(|name| (*name, 54.0)).collect();
        let finding = Finding::new(code, "gap", &values);
        let of = of(&Signature { findings: vec![finding; 2], ..quiet.clone() });
        assert_eq!(of, [one(code, "gap"), one(code, "gap")].concat());
    }
}

#[test]
fn delays_that_hardly_differ_have_places_of_their_own() {
    let elapsed = Estimated::new(8.0, None, Convergence::ClockLimited, ("", 1));
    let point = |delay| BurstTime { messages: 2, delay, elapsed: elapsed.clone() };
    let delays = [0.0, 1e-5, 2e-5, 0.002];
    let made = curve(&Logp::new(SIGNATURE, "shm", None), delays.map(point).into()).unwrap();
    let Outcome::Rows(rows) = &made.results[0] else { panic!("no rows") };
    let places: Vec<_> = rows.rows.iter().map(|row| row.place[1].number().unwrap()).collect();
    assert_eq!(places, [0, 1, 2, 3]);
    let cost = rows.cell(&rows.rows[0], "cost").unwrap();
    assert!(cost.converged && cost.value.0 == 4e-9 && made.notes.is_empty());
}
