use std::cell::RefCell;
use std::rc::Rc;

use bandgap_comm::{Floor, Yields};
use bandgap_kernels::{Kernel, Order, Pair, Store};
use bandgap_model::Estimate;
use bandgap_model::logp::Params;

use super::*;
use crate::beside::Beside;
use crate::load::Load;
use crate::plan::Asked;
use crate::series::Step;
use crate::signature::{RTT, issue, of_load, rtt};
use crate::tests::scripted::{Scripted, modelled};

/// Nanoseconds that a byte takes on the way.
const PER_BYTE: f64 = 20.0;

/// The Myrinet of the LogP paper whose network takes so long for each byte that is stored: n·G on
/// the way there, nothing on the way back. The replayed machine has one latency for both ways.
fn myrinet(bytes: usize) -> Params {
    let on_the_way = PER_BYTE * bytes as f64;
    let params = Params::MYRINET;
    Params { latency: params.latency + on_the_way / 2.0, gap: params.gap.max(on_the_way), ..params }
}

/// Answers stores by the model's formula, in virtual time. Notes the bytes of each batch's samples.
fn formula() -> (Scripted, Rc<RefCell<Vec<u64>>>) {
    let moved = Rc::new(RefCell::new(Vec::new()));
    let noted = Rc::clone(&moved);
    let mut runner = Scripted::new(move |order: &Order| {
        let store: Store = order.kernel(2).unwrap();
        assert_eq!((store.pair, order.samples), (Pair::FIRST, 2));
        noted.borrow_mut().push(store.bytes as u64 * u64::from(store.messages));
        Ok(modelled(order, &myrinet(store.bytes)))
    });
    runner.virtual_time = true;
    (runner, moved)
}

fn plan(sizes: &[u32]) -> BulkPlan {
    let asked = Asked::usual(8.0);
    let of = |&bytes: &u32| SignaturePlan::short(&asked, Load::Store { bytes });
    let step = |bytes| Step::new("bulk_store", bytes, 1, 2);
    BulkPlan {
        series: SeriesPlan {
            asked: asked.within(4.0),
            steps: [64, 4096].map(step).into(),
            samples: 50,
        },
        surface: sizes.iter().map(of).collect(),
        budget: 8.0,
    }
}

#[test]
fn each_length_gives_back_the_parameters_of_its_length() {
    let sizes = [0, 256, 2048];
    let ((mut runner, _), plan) = (formula(), plan(&sizes));
    plan.lead(&mut runner).unwrap();
    let judged = plan.series.asked.judge(&runner.kept);
    let empty = Params::MYRINET.rtt() / 2.0;
    let reply = Estimate { value: empty, low: empty, high: empty, samples: 2, estimator: "" };
    for bytes in sizes {
        let truth = myrinet(bytes as usize);
        let table = of_load(&runner.kept, Load::Store { bytes });
        let found = judged.over(&table).signature(200, Some(&reply)).unwrap();
        let near = |name: &str, found: f64, truth: f64| {
            assert!((found / truth - 1.0).abs() < 1e-6, "{name}({bytes}): {found}, not {truth}");
        };
        near("os", found.send_overhead.value, truth.send_overhead);
        near("or", found.recv_overhead.value, truth.recv_overhead);
        // 256·20 ns is less than 12.4 µs, 2048·20 ns = 40.96 µs is more.
        near("g", found.gap.value, if bytes == 2048 { 40_960.0 } else { 12_400.0 });
        near("L", found.latency.value, 11_100.0 + PER_BYTE * f64::from(bytes));
        near("RTT", found.rtt.value, 31_400.0 + PER_BYTE * f64::from(bytes));
    }
    // What is of the series is of no signature.
    assert!(of_load(&runner.kept, Load::Store { bytes: 64 }).is_empty());
    assert!(of_load(&runner.kept, Load::Get { bytes: 256 }).is_empty());
    // Two rounds, in which the round trip and short bursts are visited four times.
    let load = Load::Store { bytes: 256 };
    let batches = |key| runner.kept.batches(&key).len();
    assert_eq!(
        [batches(rtt(load)), batches(issue(load, 1, 0)), batches(issue(load, 12, 0))],
        [8, 8, 2]
    );
    // Progress is that of one measurement.
    let said: Vec<f64> = runner.said().map(|(done, _)| done).collect();
    assert!(said.is_sorted() && said.contains(&0.5), "{said:?}");
    assert!(runner.said().any(|(_, doing)| doing.starts_with("stores of 2 KiB, round 2, ")));
}

#[test]
fn long_bursts_stay_within_the_region() {
    let (mut runner, moved) = formula();
    plan(&[0, 64 << 10]).lead(&mut runner).unwrap();
    let most = moved.borrow().iter().copied().max();
    assert!(most.is_some_and(|most| most <= 8 << 20), "{most:?}");
}

#[test]
fn without_a_surface_there_is_the_series() {
    let (mut runner, _) = formula();
    plan(&[]).lead(&mut runner).unwrap();
    assert_eq!(runner.kept.iter().count(), 4, "two sizes, whole and issue");
    assert!(runner.ran().all(|order| order.kernel == Store::NAME));
}

#[test]
fn floors_stand_beside_the_series_and_not_beside_the_signatures() {
    let mut runner = Scripted::new(|order: &Order| Ok(modelled(order, &myrinet(0))));
    (runner.size, runner.cost) = (2, 0.1);
    let floor = Floor::new("copy", "", Yields::Bytes(4096), 1);
    runner.beside = vec![Beside { floor, results: vec!["bulk_store".to_owned()] }];
    plan(&[0, 256]).lead(&mut runner).unwrap();
    assert!(runner.kept.iter().any(|(key, _)| key.what() == RTT));
    let batches = runner.kept.batches(&crate::bare::key("copy"));
    // Each campaign counts its rounds from 0.
    let rounds: Vec<u32> = batches.iter().map(|batch| batch.round).collect();
    assert!(rounds.len() > 3 && rounds.iter().copied().eq(0..rounds.len() as u32), "{rounds:?}");
}

#[test]
fn each_signature_has_an_equal_share_of_the_time_that_is_left() {
    // On real time, a tenth of a second each batch, and nothing ever converges.
    let mut runner = Scripted::new(|order| Ok(modelled(order, &myrinet(64))));
    runner.cost = 0.1;
    let mut plan = plan(&[0, 64]);
    plan.budget = 400.0;
    plan.series.asked = Asked { budget: 200.0, precision: 0.0, ..plan.series.asked };
    plan.surface.iter_mut().for_each(|signature| signature.asked.precision = 0.0);
    plan.lead(&mut runner).unwrap();
    let batches = |bytes: u64| {
        runner.ran().filter(|order| order.parameters["bytes"].as_u64() == Some(bytes)).count()
    };
    // 2000 batches of the series, of which every other one is of 64 B; then 1000 of each signature,
    // beside its first look and its warm-up.
    let [empty, short] = [0, 64].map(batches);
    assert!((1000..=1200).contains(&empty), "{empty}");
    assert!((1950..=2200).contains(&short), "{short}");
}
