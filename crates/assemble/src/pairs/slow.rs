//! Which hosts or links are slow.

use std::collections::{BTreeMap, BTreeSet};

use bandgap_campaign::pairs::{PAIR_RTT, PAIR_TIME, Seen, Tolerance};
use bandgap_record::Note;
use bandgap_stats::quantile::median;
use bandgap_units::Ns;

use crate::Measured;

type Pair = [u64; 2];

/// The hosts and the links that are slow, or that none is; or how many pairs were not repeated alone.
///
/// A host is slow if its links to all other hosts are, at least two. A link between other hosts is slow by itself. Ranks of a
/// simulated machine are hosts.
pub(super) fn slow(of: &Measured<'_>, by: &Tolerance, [pairs, hosts]: [&str; 2]) -> Vec<Note> {
    let (own, mut notes, mut links) = (&of.setting.hosts, Vec::new(), Vec::new());
    let name = |at: u64| own.get(at as usize).cloned().unwrap_or_else(|| format!("rank {at}"));
    let bytes = of.judged.table.of(PAIR_TIME).find_map(|(key, _)| key.number("bytes"));
    let all = Seen::all(of.judged, own);
    let outside = by.outside(&all);
    for (what, column) in [(PAIR_RTT, "rtt"), (PAIR_TIME, "bandwidth")] {
        let own: Vec<&Seen> = all.iter().filter(|of| of.what == what).collect();
        let slow = outside.iter().filter(|of| of.what == what && of.at_once == 1);
        let slow: BTreeSet<Pair> = slow.map(|of| of.pair).collect();
        let typical = |is_one: &dyn Fn(&Pair) -> bool| {
            let best = own.iter().filter(|of| is_one(&of.pair)).map(|of| Ns(of.best).as_secs());
            let best: Vec<f64> = best.collect();
            let time = if best.is_empty() { 1.0 } else { median(&best) };
            bytes.filter(|_| what == PAIR_TIME).map_or(time, |bytes| 2.0 * bytes as f64 / time)
        };
        let note = |kind: &str, about: String, who: &str, pairs: &BTreeSet<Pair>| {
            let note = Note::new(&format!("slow_{kind}_{column}"), format!("{about}/{column}"));
            let note = note.with("who", who).with("pairs", pairs.len() as f64);
            let note = note.with("value", typical(&|pair| pairs.contains(pair)));
            note.with("others", typical(&|pair| !slow.contains(pair)))
        };
        let (mut named, mut linked) = (BTreeSet::new(), BTreeMap::<_, BTreeSet<Pair>>::new());
        for host in own.iter().flat_map(|of| of.pair.map(name)).collect::<BTreeSet<_>>() {
            let its = own.iter().map(|of| of.pair).filter(|pair| pair.map(name).contains(&host));
            let its: BTreeSet<Pair> = its.collect();
            let ends: BTreeSet<String> = its.iter().flat_map(|pair| pair.map(name)).collect();
            if ends.len() > 2 && its.is_subset(&slow) {
                notes.push(note("host", format!("{hosts}/host={host}"), &host, &its));
                named.insert(host);
            }
        }
        for pair in &slow {
            if !pair.map(name).iter().any(|end| named.contains(end)) {
                linked.entry(pair.map(name).join(" – ")).or_default().insert(*pair);
            }
        }
        links.extend(linked.iter().filter_map(|(who, its)| {
            let [from, to] = its.first()?;
            let about = format!("{pairs}/from={from}/to={to}");
            Some(note("link", about, who, its))
        }));
    }
    notes.append(&mut links);
    let count = |all: &mut dyn Iterator<Item = Pair>| all.collect::<BTreeSet<_>>().len() as f64;
    let open = count(&mut outside.iter().filter(|of| of.at_once > 1).map(|of| of.pair));
    let all = count(&mut all.iter().map(|of| of.pair));
    if open > 0.0 {
        notes.push(Note::new("maybe_slow", pairs).with("pairs", open).with("of", all));
    } else if notes.is_empty() && all > 1.0 {
        notes.push(Note::new("none_slow", pairs).with("pairs", all));
    }
    notes
}
