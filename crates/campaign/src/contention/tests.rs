use bandgap_kernels::{LOAD, LOADS, WHOLE};

use super::looks::{LOOK, MARGIN, outlasts};
use super::*;
use crate::key::Key;
use crate::series::key;
use crate::tests::scripted::{Scripted, taking};

/// A machine where a round trip takes 100 ns and two for each byte, twice that under a load, and a
/// load's message 10 ns; `echo` is how many times as long the first sample of a timed batch takes.
fn machine(echo: impl Fn(&Contention) -> f64 + 'static) -> Scripted {
    let mut runner = Scripted::new(move |order| {
        let kernel: Contention = order.kernel(4).unwrap();
        let loaded = kernel.load_messages > 0;
        let trip = (100.0 + 2.0 * kernel.bytes as f64) * if loaded { 2.0 } else { 1.0 };
        let mut done = taking(order, trip * f64::from(kernel.messages));
        if loaded {
            let load = vec![10.0 * f64::from(kernel.load_messages); order.samples as usize];
            done.samples.insert(LOAD, load);
            if order.probed {
                done.samples.get_mut(WHOLE).unwrap()[0] *= echo(&kernel);
            }
        }
        Ok(done)
    });
    runner.size = 4;
    runner
}

fn plan(sizes: &[u32], budget: f64) -> ContentionPlan {
    ContentionPlan { sizes: sizes.to_vec(), ..ContentionPlan::short(&Asked::usual(budget)) }
}

fn at(plan: &ContentionPlan, size: u32, load: &str) -> Key {
    key(&plan.step(&plan.pairs[0], size, load), WHOLE)
}

#[test]
fn loads_outlast_the_echo_and_hardly_more_than_a_look_finds_how_many_messages_do() {
    let sizes = [0, 64, 4 << 10, 64 << 10, 256 << 10];
    let plan = plan(&sizes, 1e9);
    let mut runner = machine(|_| 1.0);
    plan.lead(&mut runner).unwrap();
    let judged = plan.asked.judge(&runner.kept);
    for size in sizes {
        let idle = 50.0 + f64::from(size);
        for (load, times) in
            LOADS.map(|(name, percent)| (name, if percent > 0 { 2.0 } else { 1.0 }))
        {
            assert_eq!(judged.point(&at(&plan, size, load)).unwrap().value, times * idle);
        }
    }
    // However much load a timed batch takes, all points have checked ones.
    assert_eq!(runner.kept.verified().filter(|(_, of)| of.checked_batches > 0).count(), 15);
    for order in runner.timed() {
        let kernel: Contention = order.kernel(4).unwrap();
        let load = 10.0 * f64::from(kernel.load_messages);
        let echo = 2.0 * (100.0 + 2.0 * kernel.bytes as f64) * f64::from(kernel.messages);
        let demanded = outlasts(echo, kernel.messages);
        let lasting = MARGIN * demanded..=1.5 * MARGIN * demanded;
        assert!(kernel.load_messages == 0 || lasting.contains(&load), "{kernel:?}");
    }
    let looks = runner.ran().filter(|order| order.samples == LOOK && !order.probed);
    assert!(looks.count() <= CURVE.len() + 2 * (2 * sizes.len() - 1));
    // t = 50 + n: of the peak, half is reached at 50 B, where the curve has not begun; nine tenths at
    // 450.
    let length = |load: &str| {
        let point = runner.kept.point(&at(&plan, 64, load)).unwrap();
        point.labels.get("load_bytes").map(ToString::to_string)
    };
    assert_eq!((length("idle"), length("50 % load").as_deref()), (None, Some("64")));
    assert!(matches!(length("90 % load").as_deref(), Some("449" | "450")));
    let point = runner.kept.point(&at(&plan, 64, "90 % load")).unwrap();
    assert_eq!(point.place(LOAD_AXIS), Some(&90_u32.into()));
}

#[test]
fn a_batch_whose_load_does_not_outlast_each_echo_is_kept_as_rejected() {
    let plan = plan(&[8], 30.0);
    let mut runner = machine(|kernel| if kernel.load_bytes == 64 { 9.0 } else { 1.0 });
    runner.cost = 1.0;
    plan.lead(&mut runner).unwrap();
    let judged = plan.asked.judge(&runner.kept);
    assert!(judged.point(&at(&plan, 8, "50 % load")).is_none());
    assert!(judged.point(&at(&plan, 8, "90 % load")).is_some());
    let batches = runner.kept.batches(&at(&plan, 8, "50 % load"));
    assert!(batches.len() > 1);
    for batch in batches {
        assert_eq!(
            (batch.rejected.clone(), batch.samples.len()),
            (Some(crate::data::Rejected::LoadEnded), 20)
        );
    }
}

#[test]
fn without_a_bandwidth_there_is_no_load_and_where_none_outlasts_no_point() {
    let plan = plan(&[0, 1 << 30], 1e9);
    let mut runner = machine(|_| 1.0);
    plan.lead(&mut runner).unwrap();
    let count = |runner: &Scripted, size, load| runner.kept.batches(&at(&plan, size, load)).len();
    // 2^20 messages take 10 ms, an echo of 1 GiB 4 s.
    for load in ["50 % load", "90 % load"] {
        assert!(count(&runner, 0, load) > 0 && count(&runner, 1 << 30, load) == 0);
    }
    assert!(count(&runner, 1 << 30, "idle") > 0);
    let mut runner = Scripted::steady(0.0);
    runner.size = 4;
    plan.lead(&mut runner).unwrap();
    assert!(count(&runner, 0, "idle") > 0);
    assert_eq!(["50 % load", "90 % load"].map(|load| count(&runner, 0, load)), [0, 0]);
}

#[test]
fn looks_take_half_of_the_budget_and_the_longest_sizes_are_left_out() {
    let sizes = [0, 64, 256, 1024];
    let plan = plan(&sizes, 24.0);
    let mut runner = machine(|_| 1.0);
    // The curve takes 8 s; two looks or more a size, and after those of 64 B more than 12 s are over.
    runner.cost = 1.0;
    plan.lead(&mut runner).unwrap();
    let has = |size| !runner.kept.batches(&at(&plan, size, "90 % load")).is_empty();
    assert!(has(0) && !has(1024));
    for size in sizes {
        assert_eq!(has(size), !runner.kept.batches(&at(&plan, size, "idle")).is_empty());
    }
}
