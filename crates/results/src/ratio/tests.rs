use super::*;
use crate::measured::examples::number;

fn ratio(state: &str, converged: bool) -> Ratio {
    Ratio {
        name: "active_message_stream".into(),
        over: "store_cross_core_1mib".into(),
        ratio: Quantity { converged, ..number(1.05) },
        lost_launches: Vec::new(),
        state: Some(state.into()),
        findings: Vec::new(),
    }
}

pub(crate) fn sample() -> Ratio {
    ratio("N", true)
}

#[test]
fn a_state_that_all_share_is_said_once_and_names_stay_whole() {
    let page = |second: &str, layout: &Layout| {
        let list = [ratio("N", true), ratio(second, false)];
        let among = Among::new(list.iter().map(|ratio| ratio as &dyn Shown));
        list.iter().map(|ratio| ratio.text(&among, layout)).collect::<String>()
    };
    for width in [80, 120] {
        let layout = Layout { width, ..Layout::default() };
        let one = page("N", &layout);
        assert!(one.starts_with("\nState N\n") && !one.contains(" state"), "{one}");
        assert!(one.contains(&sample().name) && one.contains(&sample().over), "{one}");
        assert!(one.contains("\nEstimator: "), "{one}");
        assert!(one.lines().all(|line| line.chars().count() <= usize::from(width)), "{one}");
        let two = page("F", &layout);
        assert!(!two.contains("State") && two.contains(" state"), "{two}");
    }
    // The mark stands where the footnote is meant.
    assert_eq!(page("N", &Layout::default()).matches("1.05 *").count(), 1);
}

#[test]
fn a_ratio_from_few_rounds_says_why_it_has_no_interval() {
    use bandgap_campaign::data::{Batch, Kept, Table};
    use bandgap_campaign::floors::key;
    use bandgap_campaign::judge::Judged;

    // The median at 95 % needs six values.
    for (rounds, known, why) in
        [(5, false, "too few for an interval"), (6, true, "order-statistic")]
    {
        let mut table = Table::default();
        for (name, time) in [("layer", 3.0), ("floor", 2.0)] {
            for round in 0..rounds {
                let batch = Batch { samples: vec![time], round, ..Batch::default() };
                table.push(Kept::Batch { key: key(name), batch });
            }
        }
        let layer = bandgap_comm::Floor::new("layer", "", bandgap_comm::Yields::Operation, 1);
        let judged = Judged::of(&table, 0.95, 0.05, 1);
        let found = assemble::ratio(&layer, "floor", &judged, 1).unwrap().unwrap().ratio;
        assert_eq!((found.value.0, found.interval().is_some()), (1.5, known));
        assert!(found.estimator.contains(why), "{found:?}");
    }
}
