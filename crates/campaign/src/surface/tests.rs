use bandgap_kernels::{Kernel, Pattern};
use bandgap_model::Estimate;
use bandgap_model::logp::{Params, issue_time};

use super::*;
use crate::load::Load;
use crate::series::{Operation, Sized};
use crate::signature::{SignaturePattern, of_load};

/// Nanoseconds that a byte takes on the way.
const PER_BYTE: f64 = 20.0;

/// The Myrinet of the LogP paper whose network takes so long for each byte that is stored: n·G on
/// the way there, nothing on the way back. The replayed machine has one latency for both ways.
fn myrinet(bytes: u32) -> Params {
    let on_the_way = PER_BYTE * f64::from(bytes);
    let params = Params::MYRINET;
    Params { latency: params.latency + on_the_way / 2.0, gap: params.gap.max(on_the_way), ..params }
}

/// Answers jobs by the model's formula.
#[derive(Default)]
struct Formula {
    kept: Table,
    done: f64,
    moved: Vec<u64>,
}

impl Runner for Formula {
    fn size(&self) -> usize {
        2
    }
    fn capacity(&self) -> usize {
        Params::MYRINET.capacity as usize
    }
    fn virtual_time(&self) -> bool {
        true
    }
    fn launch(&self) -> u32 {
        0
    }
    fn run(&mut self, job: &Job) -> Result<Executed, Stop> {
        assert_eq!(job.kernel, Kernel::Store);
        assert_eq!(job.pattern, Pattern::OneToOne { requester: 0, replier: 1 });
        self.moved.push(u64::from(job.bytes) * u64::from(job.messages));
        let params = myrinet(job.bytes);
        let issue = issue_time(&params, job.messages.into(), job.delay.picoseconds as f64 / 1e3);
        let samples = |time| vec![time; job.samples as usize];
        let drained = if job.messages == 1 { params.rtt() } else { issue + params.rtt() };
        Ok(Executed { issue: samples(issue), drained: samples(drained), probe: None })
    }
    fn delay(&self, ns: f64) -> Delay {
        Delay { iterations: 1, picoseconds: (ns * 1e3).round() as u64 }
    }
    fn time_delay(&mut self, delay: Delay, _: u32, samples: u32) -> Vec<f64> {
        vec![delay.picoseconds as f64 / 1e3; samples as usize]
    }
    fn keep(&mut self, measured: Measured) -> Result<(), Stop> {
        self.kept.push(measured);
        Ok(())
    }
    fn progress(&mut self, done: f64, _: &str) -> Result<(), Stop> {
        assert!(self.done <= done && done <= 1.0, "{done} after {}", self.done);
        self.done = done;
        Ok(())
    }
    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }
}

fn plan(sizes: &[u32]) -> BulkPlan {
    let signature = SignaturePlan {
        precision: 0.05,
        confidence: 0.95,
        budget: 8.0,
        samples: 50,
        seed: 1,
        pattern: SignaturePattern::OneToOne,
        load: Load::Words,
        stamp: 0.0,
    };
    let of = |&bytes| SignaturePlan { load: Load::Store { bytes }, ..signature.clone() };
    let SignaturePlan { precision, confidence, budget, samples, seed, stamp, .. } = signature;
    let points =
        [64, 4096].map(|bytes| Sized { operation: Operation::BulkStore, bytes, messages: 1 });
    BulkPlan {
        series: SeriesPlan {
            points: points.into(),
            precision,
            confidence,
            budget: budget / 2.0,
            samples,
            seed,
            stamp,
            pair: [0, 1],
        },
        surface: sizes.iter().map(of).collect(),
        budget,
    }
}

#[test]
fn each_length_gives_back_the_parameters_of_its_length() {
    let sizes = [0, 256, 2048];
    let (mut runner, plan) = (Formula::default(), plan(&sizes));
    measure(&mut runner, &plan).unwrap();
    let judged = plan.judge(&runner.kept);
    let empty = Params::MYRINET.rtt() / 2.0;
    let reply = Estimate { value: empty, low: empty, high: empty, samples: 2, estimator: "" };
    for bytes in sizes {
        let truth = myrinet(bytes);
        let table = of_load(&runner.kept, Load::Store { bytes });
        let found = judged.over(&table).transfers(200, &reply).unwrap();
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
}

#[test]
fn long_bursts_stay_within_the_region() {
    let mut runner = Formula::default();
    measure(&mut runner, &plan(&[0, 64 << 10])).unwrap();
    let most = runner.moved.iter().copied().max();
    assert!(most.is_some_and(|most| most <= 8 << 20), "{most:?}");
}

#[test]
fn without_a_surface_there_is_the_series() {
    let mut runner = Formula::default();
    measure(&mut runner, &plan(&[])).unwrap();
    assert_eq!(runner.kept.iter().count(), 4, "two sizes, whole and issue");
    assert!(runner.done > 0.0);
}
