use std::cell::RefCell;
use std::rc::Rc;

use crate::machine::Params;
use bandgap_kernels::{Order, Pair, Store};

use super::*;
use crate::load::Load;
use crate::plan::Asked;
use crate::series::Step;
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
    let of = |&bytes: &u32| SignaturePlan::short_of(&asked, Load::Store { bytes });
    let step = |bytes| Step::new("bulk_store", bytes, 1, 2);
    BulkPlan {
        series: SeriesPlan {
            asked: asked.clone(),
            steps: [64, 4096].map(step).into(),
            samples: 50,
        },
        surface: sizes.iter().map(of).collect(),
    }
}

#[test]
fn long_bursts_stay_within_the_region() {
    let (mut runner, moved) = formula();
    plan(&[0, 64 << 10]).lead(&mut runner).unwrap();
    let most = moved.borrow().iter().copied().max();
    assert!(most.is_some_and(|most| most <= 8 << 20), "{most:?}");
}

#[test]
fn each_signature_has_an_equal_share_of_the_time_that_is_left() {
    // On real time, a tenth of a second each batch, and nothing ever converges.
    let mut runner = Scripted::new(|order| Ok(modelled(order, &myrinet(64))));
    runner.cost = 0.1;
    let mut plan = plan(&[0, 64]);
    // Of the command's time a launch takes what is its own.
    runner.usual = 400.0;
    let signatures = plan.surface.iter_mut().map(|signature| &mut signature.asked);
    for asked in signatures.chain([&mut plan.series.asked]) {
        (asked.budget, asked.precision) = (2000.0, 0.0);
    }
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

#[test]
fn signatures_are_of_a_few_sizes_and_of_none() {
    let of = |sizes: &str| signature_sizes(&sizes.parse::<Sizes>().unwrap().all(false));
    assert_eq!(of("0:4MiB"), [0, 64, 1 << 10, 16 << 10, 256 << 10]);
    assert_eq!(of("1KiB:64KiB"), [0, 1 << 10, 16 << 10, 64 << 10]);
    assert_eq!(of("0:16"), [0, 16]);
    assert_eq!(of("8,2KiB,4KiB"), [0, 8, 2 << 10, 4 << 10]);
    assert_eq!(of("3,4MiB,64MiB"), [0, 3, 4 << 20]);
    assert_eq!(of("0"), [0]);
    assert!(of("8MiB:64MiB").is_empty());
}
