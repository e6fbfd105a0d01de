use std::collections::BTreeMap;

use bandgap_campaign::pairs::{HOPS, key, long_key};
use bandgap_record::{Note, Value};

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

/// Ranks 0 to 3 of a simulated machine at one hop, or on these hosts: RTT 100 ns and 1000 bytes in 1000 ns there and back,
/// but of some pairs these multiples.
fn bed(hosts: &[&str], at_once: &[u64], times: impl Fn([usize; 2], u64) -> [f64; 2]) -> Made {
    let mut of = Synthetic::new();
    of.setting.ranks = 4;
    of.setting.hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
    if hosts.is_empty() {
        of.setting.cpus = None;
    }
    for (a, b) in (0..4).flat_map(|a| (a + 1..4).map(move |b| (a, b))) {
        for &at_once in at_once {
            let [rtt, time] = times([a, b], at_once);
            for (key, ns) in [(key(a, b), 100.0 * rtt), (long_key(a, b, 500), 1000.0 * time)] {
                of.times(&key.at(AT_ONCE, at_once).at(HOPS, 1_u64), ns);
            }
        }
    }
    of.made(|of| pairs(of, Some(&USUAL))).unwrap()
}

/// The codes of notes, with whom they name.
fn named(made: &Made) -> Vec<(&str, &str)> {
    let who = |note: &Note| match note.values.get("who") {
        Some(Value::Text(who)) => who.clone(),
        _ => String::new(),
    };
    let of = |note| (&*note.code, who(note));
    made.notes.iter().map(of).collect()
}

#[test]
fn a_host_is_slow_if_all_its_links_are_and_else_a_link() {
    let hosts = ["h0", "h1", "h2", "h3"];
    let slow = |pair: [usize; 2], of: &[usize]| of.iter().any(|rank| pair.contains(rank));
    let host = bed(&hosts, &[2, 1], |pair, _| [1.0, if slow(pair, &[3]) { 10.0 } else { 1.0 }]);
    assert_eq!(named(&host), [("slow_host_bandwidth", "h3")]);
    let note = &host.notes[0];
    assert_eq!(note.about, "series/hosts/shm/host=h3/bandwidth");
    let number = |name: &str| match note.values[name] {
        Value::Number(of) => of.0,
        Value::Text(_) => f64::NAN,
    };
    assert_eq!(number("pairs"), 3.0);
    // 1000 bytes in 10 and in 1 µs, within the scatter of batches.
    assert!(
        (number("value") / 0.1e9 - 1.0).abs() < 0.01 && (number("others") / 1e9 - 1.0).abs() < 0.01
    );
    // The median of the pairs of h0 is that of two good ones and a bad one.
    let median = host.value("series/hosts/shm/host=h0/bandwidth").unwrap();
    assert!((median / 1e9 - 1.0).abs() < 0.01, "{median}");
    // Both are slow, and the link between the others is not.
    let both = bed(&hosts, &[2, 1], |pair, _| [if slow(pair, &[1, 2]) { 3.0 } else { 1.0 }, 1.0]);
    assert_eq!(named(&both), [("slow_host_rtt", "h1"), ("slow_host_rtt", "h2")]);
    let link = bed(&hosts, &[2, 1], |pair, _| [if pair == [1, 2] { 3.0 } else { 1.0 }, 1.0]);
    assert_eq!(named(&link), [("slow_link_rtt", "h1 – h2")]);
    // Two hosts have one link; a pair within a host is none.
    let two = ["h0", "h0", "h1", "h1"];
    let link =
        bed(&two, &[1], |pair, _| [[1.0, 9.0][usize::from([[0, 1], [1, 2]].contains(&pair))], 1.0]);
    assert_eq!(named(&link), [("slow_link_rtt", "h0 – h1")]);
    // Ranks of a simulated machine are hosts.
    let rank = bed(&[], &[1], |pair, _| [1.0, if slow(pair, &[2]) { 2.0 } else { 1.0 }]);
    assert_eq!(named(&rank), [("slow_host_bandwidth", "rank 2")]);
}

#[test]
fn what_was_slow_only_beside_others_is_not_named() {
    let hosts = ["h0", "h1", "h2", "h3"];
    let busy = |pair: [usize; 2], at_once: u64| {
        [1.0, if pair[1] == 3 && at_once == 2 { 3.0 } else { 1.0 }]
    };
    assert_eq!(named(&bed(&hosts, &[2, 1], busy)), [("none_slow", "")]);
    assert_eq!(named(&bed(&hosts, &[2], busy)), [("maybe_slow", "")]);
}
