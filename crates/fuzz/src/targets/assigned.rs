//! Examples of what the launcher tells a rank: an assignment of every experiment.

use std::time::Duration;

use bandgap_campaign::beside::Beside;
use bandgap_campaign::breakdown::{BreakdownPlan, Division};
use bandgap_campaign::bulk::BulkPlan;
use bandgap_campaign::contention::{Beside as Pairs, Between, ContentionPlan};
use bandgap_campaign::fan_in::FanInPlan;
use bandgap_campaign::floors::FloorPlan;
use bandgap_campaign::load::Load;
use bandgap_campaign::logp::LogpPlan;
use bandgap_campaign::overlap::OverlapPlan;
use bandgap_campaign::pairs::PairsPlan;
use bandgap_campaign::plan::Asked;
use bandgap_campaign::series::{SeriesPlan, Step};
use bandgap_campaign::signature::{SignaturePattern, SignaturePlan};
use bandgap_campaign::{Planned, Task};
use bandgap_comm::{Floor, Yields};
use bandgap_host::{ClockReport, ClockSource, Fallback, WorkRate};
use bandgap_launch::message::{Assignment, ToRank, Wait};
use bandgap_units::Ns;

/// What the launcher tells a rank.
pub(super) fn assignments() -> Vec<Vec<u8>> {
    let addresses = ["127.0.0.1:4000", "127.0.0.1:4001,127.0.0.1:4002"].map(str::to_owned);
    let others = [ToRank::Addresses(addresses.to_vec()), ToRank::Noted];
    let begins = tasks().into_iter().map(|task| ToRank::Begin(Box::new(usual(task))));
    let most = tasks().pop().map(|task| ToRank::Begin(Box::new(with_everything(task))));
    let messages = begins.chain(most).chain(others);
    messages.map(|one| serde_json::to_vec(&one).expect("every message can be written")).collect()
}

/// An assignment in which nothing is that need not be.
fn usual(task: Task) -> Assignment {
    Assignment {
        rank: 0,
        size: 2,
        launch: 0,
        cpu: None,
        probes: true,
        transports: vec![("shm".to_owned(), 1)],
        bares: Vec::new(),
        stamped: false,
        exposed: 65_536,
        wait: Wait::Spin,
        clock: ClockReport {
            source: ClockSource::CycleCounter,
            fallback: None,
            ns_per_tick: 0.5,
            relative_uncertainty: 1e-6,
            cost: Ns(20.0),
            resolution: Ns(1.0),
        },
        work: WorkRate { offset: Ns(1.0), per_iteration: Ns(0.5), worst_residual: 0.01 },
        secret: *b"0123456789abcdef",
        deadline: Duration::from_secs(60),
        task,
    }
}

/// An assignment in which there is all that can be.
fn with_everything(task: Task) -> Assignment {
    let plain = usual(task);
    Assignment {
        rank: 1,
        size: 3,
        launch: 2,
        cpu: Some(1),
        transports: vec![("udp".to_owned(), 0), ("tcp".to_owned(), 0)],
        bares: vec![("tcp".to_owned(), 0)],
        stamped: true,
        wait: Wait::Block,
        clock: ClockReport {
            source: ClockSource::OsClock,
            fallback: Some(Fallback::MarkedUnstable),
            ..plain.clock
        },
        ..plain
    }
}

/// A task of every experiment; the last is measured with a floor beside it.
fn tasks() -> Vec<Task> {
    let (precision, confidence, budget, seed, stamp, check) = (0.05, 0.95, 2.5, 1, 20.0, true);
    let asked = Asked { precision, confidence, budget, seed, stamp, check };
    let asked = || asked.clone();
    let (pattern, samples) = (SignaturePattern::OneToOne, 50);
    let signature = |load| SignaturePlan { asked: asked(), samples, pattern, load };
    let steps = vec![Step::new("comms1", 8, 2, 3), Step::new("comms1", 65_536, 1, 2)];
    let series = || SeriesPlan { asked: asked(), steps: steps.clone(), samples };
    let line =
        || Floor::new("cache_line", "one store seen by the other core", Yields::HalfRoundTrip, 500);
    let word = Floor::layer(
        "message",
        "8-byte message, half round trip",
        Yields::HalfRoundTrip,
        500,
        &[std::borrow::Cow::Borrowed("cache_line")],
        "comms1",
    );
    let between = Between::Machine;
    let pairs = vec![Pairs { echo: [0, 1], load: [2, 3], between }];
    let surface = vec![signature(Load::Words), signature(Load::Get { bytes: 64 })];
    let (pair, sizes, elements) = ([0, 1], vec![8, 1024], vec![10]);
    let (division, inserted) = (Division::Lines(line()), vec![100.0]);
    let beside = Beside { floor: line(), results: vec!["signature".to_owned()] };
    vec![
        of(&LogpPlan { signature: signature(Load::Words), pairs: true }),
        of(&FanInPlan { asked: asked(), requesters: 2 }),
        of(&OverlapPlan { asked: asked(), pair, sizes: sizes.clone(), elements, samples }),
        of(&ContentionPlan { asked: asked(), pairs, ranks: 4, sizes }),
        of(&BulkPlan { series: series(), surface, budget: 5.0 }),
        of(&FloorPlan { asked: asked(), floors: vec![line(), word], pause: 0.0 }),
        of(&PairsPlan { asked: asked(), samples }),
        of(&BreakdownPlan { asked: asked(), divided: Division::Calls, inserted: Vec::new() }),
        of(&BreakdownPlan { asked: asked(), divided: division, inserted }),
        of(&series()).with_floors(vec![beside]),
    ]
}

fn of<P: Planned>(plan: &P) -> Task {
    Task::of(plan).expect("every plan can be written")
}
