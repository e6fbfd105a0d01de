use bandgap_campaign::Setting;
use bandgap_campaign::data::{Batch, Kept, Probe, Table};
use bandgap_campaign::judge::Judged;
use bandgap_campaign::pairs::key;

use super::*;
use crate::measured::examples::time;

fn pair(requester: u32, replier: u32, rtt: f64) -> Pair {
    let near = requester.abs_diff(replier) == 1;
    let distance = if near { "same node" } else { "other node" };
    Pair { requester, replier, distance: Some(distance.into()), rtt: time(rtt, true) }
}

pub(crate) fn sample() -> RttPairs {
    RttPairs {
        transport: "tcp".into(),
        lost_launches: Vec::new(),
        findings: Vec::new(),
        pairs: vec![
            pair(0, 1, 19_900.0),
            pair(0, 2, 20_100.0),
            pair(1, 0, 19_950.0),
            pair(1, 2, 20_000.0),
            pair(2, 0, 20_050.0),
        ],
        minimum: time(19_900.0, true),
        maximum: time(20_100.0, false),
    }
}

#[test]
fn round_trips_of_few_ranks_are_shown_one_by_one() {
    let mut record = sample();
    let text = |record: &RttPairs| record.text(&Among::new([]), &Layout::default());
    insta::assert_snapshot!(text(&record));
    // Seventeen ranks are too many for a matrix.
    record.pairs = (1..17).map(|replier| pair(0, replier, 20_000.0)).collect();
    assert!(!text(&record).contains("repliers across"));
}

#[test]
fn pairs_at_several_distances_are_all_in_the_table() {
    let mut table = Table::default();
    for (pair, line, rtt) in [([0, 1], 30.0, 150.0), ([0, 2], 140.0, 700.0), ([1, 2], 140.0, 701.0)]
    {
        for _ in 0..5 {
            let probe = Some([Probe { cache_line: line, pace: 400.0 }; 2]);
            let batch = Batch { samples: vec![rtt], probe, ..Batch::default() };
            table.push(Kept::Batch { key: key(pair[0], pair[1]), batch });
        }
    }
    let judged = Judged::of(&table, 0.95, 0.05, 1);
    let found = assemble::rtt_pairs(&Setting::default(), &judged).unwrap();
    let times = found.pairs.iter().map(|pair| (pair.requester, pair.replier, pair.rtt.value.0));
    let [near, far, farther] = [150e-9, 700e-9, 701e-9];
    assert_eq!(times.collect::<Vec<_>>(), [(0, 1, near), (0, 2, far), (1, 2, farther)]);
    assert_eq!((found.minimum.value.0, found.maximum.value.0), (near, farther));
}

#[test]
fn pairs_whose_intervals_overlap_that_of_the_extreme_are_not_told_from_it() {
    let said = |times: &[f64]| {
        let pairs: Vec<Pair> = (1..).zip(times).map(|(to, of)| pair(0, to, *of)).collect();
        let (minimum, maximum) = (pairs[0].rtt.clone(), pairs[times.len() - 1].rtt.clone());
        let record = RttPairs { pairs, minimum, maximum, ..sample() };
        record.text(&Among::new([]), &Layout { width: 132, ..Layout::default() })
    };
    let of = |text: &str, end: &str| {
        let line = text.lines().find(|line| line.trim_start().starts_with(end)).unwrap();
        line.to_owned()
    };
    // Intervals reach 2 % down and 3 % up.
    let apart = said(&[100.0, 110.0, 120.0]);
    assert!(of(&apart, "shortest").trim().ends_with("ranks 0 and 1 (same node)"), "{apart}");
    assert!(of(&apart, "longest").trim().ends_with("ranks 0 and 3 (other node)"), "{apart}");
    let two = said(&[100.0, 104.0, 120.0]);
    let undecided = "undecided between ranks 0 and 1 (same node), ranks 0 and 2 (other node)";
    assert!(of(&two, "shortest").contains(undecided), "{two}");
    assert!(of(&two, "longest").trim().ends_with("ranks 0 and 3 (other node)"), "{two}");
    let many = said(&[100.0, 101.0, 102.0, 103.0, 120.0]);
    assert!(of(&many, "shortest").contains("one of 4 pairs whose intervals overlap"), "{many}");
}
