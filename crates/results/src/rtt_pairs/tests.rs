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
