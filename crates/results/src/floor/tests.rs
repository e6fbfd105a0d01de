use bandgap_campaign::data::{Batch, Kept, Probe, Table};
use bandgap_campaign::floors::key;
use bandgap_campaign::judge::Judged;

use super::*;
use crate::measured::examples::{rate, time};

fn floor(name: &str, value: FloorValue, state: Option<&str>) -> Floor {
    let samples = vec![Number(5.2e-8), Number(0.1 + 0.2)];
    let (meaning, state) = (format!("what {name} is"), state.map(str::to_owned));
    let (lost_launches, findings) = (Vec::new(), Vec::new());
    let (name, places) = (name.into(), None);
    Floor { name, meaning, value, places, lost_launches, state, samples, findings }
}

pub(crate) fn sample() -> Floor {
    let meaning = "one store seen by the other core, half round trip".to_owned();
    Floor { meaning, ..floor("cache_line", FloorValue::Time(time(52.1, true)), Some("N")) }
}

fn page(floors: &[Floor], layout: &Layout) -> String {
    let among = Among::new(floors.iter().map(|floor| floor as &dyn Shown));
    floors.iter().map(|floor| floor.text(&among, layout)).collect()
}

#[test]
fn floors_say_what_they_are() {
    let list = [
        sample(),
        floor("tcp", FloorValue::Time(time(4020.0, true)), None),
        floor("tcp_stream", FloorValue::Rate(rate(3.97e9, false)), None),
        floor("new_in_a_later_version", FloorValue::Time(time(1.0, true)), None),
    ];
    insta::assert_snapshot!(page(&list, &Layout::default()));
}

#[test]
fn a_state_that_all_share_is_said_once_and_names_stay_whole() {
    let names = ["active_message_stream", "store_cross_core_1mib"];
    let of = |second: &str, layout: &Layout| {
        let value = || FloorValue::Time(time(52.1, true));
        let list =
            [(names[0], "N"), (names[1], second)].map(|(name, at)| floor(name, value(), Some(at)));
        page(&list, layout)
    };
    for width in [80, 120] {
        let layout = Layout { width, ..Layout::default() };
        let one = of("N", &layout);
        assert!(one.starts_with("State N\n") && !one.contains(" state"), "{one}");
        assert!(names.iter().all(|name| one.contains(name)), "{one}");
        // All were estimated in the same way.
        assert!(one.contains("\nEstimator: "), "{one}");
        assert!(one.lines().all(|line| line.chars().count() <= usize::from(width)), "{one}");
        let two = of("F", &layout);
        assert!(!two.contains("State") && two.contains(" state"), "{two}");
    }
}

#[test]
fn what_a_floor_takes_at_its_places_is_said_of_those_that_have_some() {
    let of = |places| {
        bandgap_comm::Floor::over_places("line", "", bandgap_comm::Yields::Operation, 1, places)
    };
    let mut table = Table::default();
    for _ in 0..5 {
        let batch = Batch { samples: vec![50.0, 51.0, 55.0], ..Batch::default() };
        table.push(Kept::Batch { key: key("line"), batch });
    }
    let judged = Judged::of(&table, 0.95, 0.05, 1);
    let said = |places| {
        let found = assemble::floor(&of(places), &judged, 1).unwrap();
        page(&[found], &Layout::default())
    };
    let three = said(3);
    assert!(three.contains("line at 3 places in memory: 50.0 ns to 55.0 ns"), "{three}");
    assert!(!said(1).contains("places"));
}

#[test]
fn floors_that_end_by_their_rounds_say_so() {
    use bandgap_campaign::floors::MOST_ROUNDS;
    let of = bandgap_comm::Floor::new("line", "", bandgap_comm::Yields::Operation, 1);
    let said = |rounds: u32, off: f64| {
        let mut table = Table::default();
        for round in 0..rounds {
            let value = if round % 2 == 0 { 100.0 } else { 100.0 + off };
            let batch = Batch { samples: vec![value], round, ..Batch::default() };
            table.push(Kept::Batch { key: key("line"), batch });
        }
        let judged = Judged::of(&table, 0.95, 0.001, 1);
        assemble::floor(&of, &judged, 1).unwrap().findings
    };
    let [finding] = &said(MOST_ROUNDS, 50.0)[..] else { panic!("nothing said") };
    assert!(finding.starts_with("not converged after 60 rounds, the most"), "{finding}");
    // Fewer rounds ended for another reason, and what converged needs no more.
    assert!(said(MOST_ROUNDS - 1, 50.0).is_empty() && said(MOST_ROUNDS, 0.0).is_empty());
}

#[test]
fn two_batches_are_too_few_to_converge() {
    let of = bandgap_comm::Floor::new("cache_line", "", bandgap_comm::Yields::Operation, 1);
    let converged = |batches: usize| {
        let mut table = Table::default();
        for value in [100.0, 100.1].into_iter().cycle().take(batches) {
            let batch = Batch { samples: vec![value], ..Batch::default() };
            table.push(Kept::Batch { key: key("cache_line"), batch });
        }
        let judged = Judged::of(&table, 0.95, 0.05, 1);
        let found = assemble::floor(&of, &judged, 1).unwrap();
        let FloorValue::Time(time) = found.value else { panic!("{found:?}") };
        time.converged
    };
    assert_eq!([2, 4, 5].map(converged), [false, false, true]);
}

#[test]
fn batches_of_several_states_are_never_averaged() {
    let of = bandgap_comm::Floor::new("line", "", bandgap_comm::Yields::Operation, 1);
    // Distances of 30 and 140 ns, with so many batches of the floor at each.
    let found = |near: usize, far: usize| {
        let mut table = Table::default();
        for (line, value, count) in [(30.0, 100.0, near), (140.0, 300.0, far)] {
            let probe = Some([Probe { cache_line: line, pace: 400.0 }; 2]);
            let batch = |samples| Batch { samples, probe, ..Batch::default() };
            for _ in 0..5 {
                table.push(Kept::Batch { key: key("other"), batch: batch(vec![1.0]) });
            }
            for _ in 0..count {
                table.push(Kept::Batch { key: key("line"), batch: batch(vec![value]) });
            }
        }
        assemble::floor(&of, &Judged::of(&table, 0.95, 0.05, 1), 1)
            .map(|of| (of.value.quantity().value.0, of.state))
    };
    assert_eq!(found(1, 1), Err("line: too few batches in one state".to_owned()));
    // The state with two gives the value, whichever it is.
    let (near, at) = found(2, 1).unwrap();
    assert!((near - 100e-9).abs() < 1e-15 && at.unwrap().contains("30.0 ns"));
    let (far, at) = found(1, 2).unwrap();
    assert!((far - 300e-9).abs() < 1e-15 && at.unwrap().contains("140 ns"));
}
