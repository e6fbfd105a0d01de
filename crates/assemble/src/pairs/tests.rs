use std::collections::BTreeMap;

use bandgap_campaign::Setting;
use bandgap_campaign::pairs::{key, long_key};
use bandgap_record::{Number, Value};

use super::*;
use crate::tests::Synthetic;

const USUAL: Tolerance = Tolerance { latency: 2.1, bandwidth: 0.93 };

#[test]
fn pairs_have_their_ranks_and_distance() {
    let mut of = Synthetic::new();
    of.setting.distances = BTreeMap::from([([0, 1], "near".to_owned())]);
    for (a, b, ns) in [(0, 1, 100.0), (0, 2, 300.0)] {
        of.times(&key(a, b), ns);
    }
    // On one host no pair is named.
    let made = of.made(|of| pairs(of, Some(&USUAL))).unwrap();
    assert!((made.value("series/pairs/shm/from=0/to=2/rtt").unwrap() / 300e-9 - 1.0).abs() < 1e-6);
    let rows = made.rows("series", "pairs").unwrap();
    assert_eq!(rows.rows[0].labels.get("distance"), Some(&"near".into()));
    assert_eq!((made.codes(), made.results.len()), (vec![], 1));
    assert!(matches!(Synthetic::new().made(|of| pairs(of, None)), Err(AssembleError::Empty)));
}

const HOSTS: [&str; 4] = ["h0", "h1", "h2", "h3"];

/// Ranks 0 to 3 on these hosts: round trips of 100 ns, and 1000 bytes there and back in 1000 ns,
/// but for some pairs these multiples.
fn bed(hosts: &[&str], at_once: &[u64], times: impl Fn([usize; 2], u64) -> [f64; 2]) -> Made {
    let mut of = Synthetic::new();
    let hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
    of.setting = Setting { ranks: 4, hosts, ..of.setting };
    for (a, b) in (0..4).flat_map(|a| (a + 1..4).map(move |b| (a, b))) {
        for &at_once in at_once {
            let [rtt, time] = times([a, b], at_once);
            of.times(&key(a, b).at(AT_ONCE, at_once), 100.0 * rtt);
            of.times(&long_key(a, b, 500).at(AT_ONCE, at_once), 1000.0 * time);
        }
    }
    of.made(|of| pairs(of, Some(&USUAL))).unwrap()
}

/// The codes of notes, with whom they name.
fn named(made: &Made) -> Vec<(&str, &str)> {
    let of = made.notes.iter().map(|note| match note.values.get("who") {
        Some(Value::Text(who)) => (&*note.code, &**who),
        _ => (&*note.code, ""),
    });
    of.collect()
}

#[test]
fn a_host_is_slow_if_all_its_links_are_and_else_a_link() {
    // Pairs of these ranks take so many times as long.
    let of = |ranks: &'static [usize], times: [f64; 2]| {
        let is_one = move |pair: [usize; 2]| ranks.iter().any(|rank| pair.contains(rank));
        move |pair, _| if is_one(pair) { times } else { [1.0; 2] }
    };
    let host = bed(&HOSTS, &[2, 1], of(&[3], [1.0, 10.0]));
    assert_eq!(named(&host), [("slow_host_bandwidth", "h3")]);
    let note = &host.notes[0];
    assert_eq!(note.about, "series/hosts/shm/host=h3/bandwidth");
    // 1000 bytes in 10 and in 1 µs, within the scatter of batches; h0 has two good pairs and a bad one.
    let median = host.value("series/hosts/shm/host=h0/bandwidth").unwrap();
    for (name, value) in [("pairs", 3.0), ("value", 0.1e9), ("others", median)] {
        let Value::Number(Number(number)) = note.values[name] else { panic!("{note:?}") };
        assert!((number / value - 1.0).abs() < 0.01, "{note:?}");
    }
    // Both are slow, and the link between the others is not.
    let hosts = [("slow_host_rtt", "h1"), ("slow_host_rtt", "h2")];
    assert_eq!(named(&bed(&HOSTS, &[2, 1], of(&[1, 2], [3.0, 1.0]))), hosts);
    let one = |pair, _| if pair == [1, 2] { [3.0, 1.0] } else { [1.0; 2] };
    assert_eq!(named(&bed(&HOSTS, &[2, 1], one)), [("slow_link_rtt", "h1 – h2")]);
    // A host that is slow in one way hides no link that is in the other.
    let both = |pair: [usize; 2], _| match pair {
        [1, 3] => [3.0, 10.0],
        pair => [1.0, if pair[1] == 3 { 10.0 } else { 1.0 }],
    };
    let found = [("slow_host_bandwidth", "h3"), ("slow_link_rtt", "h1 – h3")];
    assert_eq!(named(&bed(&HOSTS, &[2, 1], both)), found);
    // Two hosts have one link, of all pairs between them; a pair within a host is none.
    let two = |pair: [usize; 2], _| if pair.contains(&1) { [9.0, 1.0] } else { [1.0; 2] };
    let link = bed(&["a", "a", "b", "b"], &[1], two);
    assert_eq!(named(&link), [("slow_link_rtt", "a – b")]);
    assert_eq!(link.notes[0].values["pairs"], Value::Number(Number(2.0)));
    let busy =
        |pair: [usize; 2], at_once| if pair[1] == 3 && at_once == 2 { [3.0; 2] } else { [1.0; 2] };
    assert_eq!(named(&bed(&HOSTS, &[2, 1], busy)), [("none_slow", "")]);
    assert_eq!(named(&bed(&HOSTS, &[2], busy)), [("maybe_slow", "")]);
}
