use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use crate::machine::Params;

use super::*;
use crate::data::Scarce;
use crate::plan::Asked;
use crate::runner::Executed;
use crate::tests::scripted::{Scripted, modelled, probes};

/// A short plan of every experiment of the list.
fn tasks() -> Vec<Task> {
    crate::short_tasks(&Asked::usual(1e6))
}

#[test]
fn experiments_have_names_of_their_own() {
    let names: BTreeSet<&str> = LIST.iter().map(|row| row.name).collect();
    assert_eq!((names.len(), LIST.len() >= 5), (LIST.len(), true));
    for (row, task) in LIST.iter().zip(tasks()) {
        assert_eq!(task.name, row.name);
    }
}

#[test]
fn a_task_needs_the_room_of_its_plan() {
    let plan = crate::floors::FloorPlan::short(&Asked::usual(1.0));
    let (tuning, task) = (Tuning::DEFAULT, Task::of(&plan).unwrap());
    let room = task.room(2, &tuning).unwrap();
    assert_eq!(room, plan.room(2, &tuning));
    assert_ne!(room, Room::default());
}

#[test]
fn every_experiment_walks_through_the_same_campaign() {
    for task in tasks() {
        // Two of the timed batches straddle a change.
        let timed = Rc::new(RefCell::new(0));
        let count = Rc::clone(&timed);
        let mut runner = Scripted::new(move |order| {
            *count.borrow_mut() += usize::from(order.probed);
            let far = if [2, 5].contains(&*count.borrow()) { 250.0 } else { 100.0 };
            let probe = order.probed.then(|| probes(100.0, far)).flatten();
            Ok(Executed { probe, ..modelled(order, &Params::MYRINET) })
        });
        runner.size = 4;
        // As it arrives at rank 0.
        let line = serde_json::to_string(&task).unwrap();
        let arrived: Task = serde_json::from_str(&line).unwrap();
        arrived.lead(&mut runner).unwrap();

        let name = task.name;
        let batches = || runner.kept.iter().flat_map(|(_, batches)| batches);
        let straddling = batches().filter(|batch| batch.rejected.is_some());
        let rounds: Vec<u32> = straddling.map(|batch| batch.round).collect();
        assert!(rounds.len() >= 2, "{name}: batches that straddle are kept");
        for (key, batches) in runner.kept.iter() {
            let counted = batches.iter().filter(|batch| batch.rejected.is_none()).count();
            assert!(counted >= 5, "{name}: {key:?} has converged on {counted} batches");
            let rounds: BTreeSet<u32> =
                batches.iter().filter(|b| b.rejected.is_none()).map(|batch| batch.round).collect();
            let all = rounds.last().map_or(0, |last| last + 1);
            assert_eq!(
                rounds.len(),
                all as usize,
                "{name}: {key:?} was repeated where it straddled"
            );
        }
        let position = |kind: &dyn Fn(&&bandgap_kernels::Order) -> bool| {
            runner.ran().position(|order| kind(&order)).unwrap()
        };
        assert!(position(&|o| o.checked) < position(&|o| o.probed), "{name}: checked first");
        assert!(runner.kept.verified().next().is_some(), "{name}");
        assert!(runner.said().any(|(_, doing)| doing.contains("round 1, ")), "{name}");
        assert!(runner.said().map(|(done, _)| done).is_sorted(), "{name}");
    }
}

#[test]
fn whatever_a_batch_takes_a_launch_ends_in_time() {
    for cost in [1e-3, 0.05, 1.0] {
        for task in crate::short_tasks(&Asked { precision: 0.0, ..Asked::usual(2.0) }) {
            let mut runner = Scripted::new(|order| Ok(modelled(order, &Params::MYRINET)));
            (runner.size, runner.cost, runner.latest) = (4, cost, 5.0);
            task.lead(&mut runner).unwrap();
            let spent = runner.elapsed().as_secs_f64();
            // Few batches are made in any case: those of a first look.
            assert!(spent <= 5.0 + 20.0 * cost, "{} {cost}: {spent}", task.name);
            let is_cut = runner.kept.share(Scarce::Rounds) < 1.0;
            assert!(is_cut == (cost == 1.0) || task.name != "logp", "{cost}");
        }
    }
}

#[test]
fn a_plan_of_another_build_is_refused() {
    let mut runner = Scripted::steady(1.0);
    for text in [r#"{"name":"floods","plan":{}}"#, r#"{"name":"floors","plan":{"floor":[]}}"#] {
        let task: Task = serde_json::from_str(text).unwrap();
        assert!(task.lead(&mut runner).is_err());
    }
    assert!(runner.events.is_empty());
}
