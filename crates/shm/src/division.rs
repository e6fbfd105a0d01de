//! Where the time of a message over lines goes: their transfer, and software.

use bandgap_comm::AtBorder;
use bandgap_comm::division::At::{self, Derived as Follows, Floor, Point};
use bandgap_comm::division::{ByRound, Derivation, Derived, Division, Model, Part, Times, Timing};
use bandgap_stats::quantile::median;
use bandgap_units::{Category, Delay, Layer, Side};

use crate::floor::{FLOORS, RING_LINES};

/// Round trips of which one processor does both sides, one after the other.
const TOGETHER: u8 = 1;
/// The stores and loads of such round trips, without the software above them.
pub(crate) const LINES: u8 = 2;
/// Before each store of an exchange without software.
const BEFORE_STORE: u8 = 0;

/// Blocks of a computation that is looked at.
const LOOKED_AT: u32 = 4;

const SLOT: At = Floor(&FLOORS[RING_LINES]);

/// Nothing is stamped while two processors communicate: a stamp would delay the line that is waited for.
#[rustfmt::skip] // One line each.
pub(crate) const DIVISION: &Division = &Division {
    any_length: false,
    passes: &[],
    pair: None,
    awaited: None,
    models: &[Model { name: "latency", kernel: "ping_pong", messages: 150, ways: 2, whole: 0, all: None, derivation: Some(&BY_COMPUTATION), parts: &[
        Part::new("slot", (Category::Network, Layer::Hardware, Side::Network), SLOT),
        Part::new("software", (Category::Cpu, Layer::Hlp, Side::Both), Follows),
    ] }],
};

static BY_COMPUTATION: Derivation = Derivation {
    timings: &[
        Timing { name: "together", at: Point(TOGETHER), computing: false },
        Timing { name: "lines", at: Point(LINES), computing: false },
        Timing { name: "busy_lines", at: Point(LINES), computing: true },
        Timing { name: "busy_slot", at: SLOT, computing: true },
    ],
    looks: &[
        AtBorder { point: TOGETHER, inserted: None },
        AtBorder { point: LINES, inserted: None },
        AtBorder { point: LINES, inserted: Some(blocks(LOOKED_AT, 0)) },
    ],
    computation: as_software,
    parts,
};

const fn blocks(iterations: u32, picoseconds: u64) -> (u8, Delay) {
    (BEFORE_STORE, Delay { iterations, picoseconds })
}

/// The computation that takes about as long as the software of one way. Part of it is hidden behind the transfer, as part
/// of the software is.
fn as_software(looks: &[f64]) -> (u8, Delay) {
    let &[together, lines, busy] = looks else { return blocks(1, 0) };
    let block = ((busy - lines) / f64::from(LOOKED_AT)).max(0.0);
    let wanted = if block > 0.0 { ((together - lines) / block).round().max(1.0) } else { 1.0 };
    blocks(wanted as u32, (wanted * block / 2.0 * 1e3).round() as u64)
}

/// The transfer, and what the software adds to it. And what of the software is hidden behind the transfer.
///
/// *Formula*: with S the software of a round trip on one processor, D what a computation adds there that each side does before it
/// stores, and X what the same computation adds to half a round trip of the bare exchange between two processors: the software
/// adds S/2 · X/(D/2), and the rest of S/2 is hidden. D is its median over the rounds. Where the median of X/(D/2) is above 1, all of
/// S/2 is added, and where it is below 0 nothing, in the mean; the rounds are then as far apart as they were. Where D is not
/// above 0 all of S/2 is added.
fn parts(timed: &Times<'_>) -> Derived {
    let [lines, slot] = ["lines", "slot"].map(timed);
    // All times on one processor have as many stamps, and half of what a round trip has there is on each way.
    let above = |times: &str, bare: &ByRound, share: f64| -> ByRound {
        let above = |(round, time): (u64, f64)| Some((round, share * (time - bare.get(&round)?)));
        timed(times).into_iter().filter_map(above).collect()
    };
    let software = above("together", &lines, 0.5);
    let alone = middle(&above("busy_lines", &lines, 0.5));
    let mut shares = above("busy_slot", &slot, 1.0);
    shares.values_mut().for_each(|longer| *longer /= alone);
    let usual = middle(&shares);
    let is_computed = alone > 0.0;
    let divided = |(round, all): (&u64, &f64)| {
        let own = shares.get(round)?;
        let share = if is_computed { own + usual.clamp(0.0, 1.0) - usual } else { 1.0 };
        Some(((*round, share * all), (*round, (1.0 - share) * all)))
    };
    let (added, hidden) = software.iter().filter_map(divided).unzip();
    Derived { parts: vec![slot, added], hidden, is_seen: is_computed && usual <= 1.0 }
}

/// The median over the rounds; 0 of none.
fn middle(of: &ByRound) -> f64 {
    let values: Vec<f64> = of.values().copied().collect();
    if values.is_empty() { 0.0 } else { median(&values) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 30 ns of software, where each block of the computation adds this to a round trip on one processor, and all of it adds
    /// this to the bare loop, by round. Gives the software, and what of it is hidden, if that is seen.
    fn divided(block: f64, longer: [f64; 3]) -> (Vec<f64>, Option<Vec<f64>>) {
        let (border, computation) = as_software(&[88.0, 58.0, 58.0 + 4.0 * block]);
        assert_eq!(border, BEFORE_STORE);
        let busy = 58.0 + block * f64::from(computation.iterations);
        let all = |of: [f64; 3]| (0..).zip(of).collect::<ByRound>();
        let derived = parts(&|name| match name {
            "together" => all([88.0; 3]),
            "lines" => all([58.0; 3]),
            "busy_lines" => all([busy; 3]),
            "slot" => all([150.0; 3]),
            "busy_slot" => all(longer.map(|longer| 150.0 + longer)),
            other => panic!("{other}"),
        });
        let values = |of: &ByRound| of.values().map(|ns| (ns * 1e6).round() / 1e6).collect();
        assert_eq!(values(&derived.parts[0]), [150.0; 3]);
        (values(&derived.parts[1]), derived.is_seen.then(|| values(&derived.hidden)))
    }

    #[test]
    fn software_is_what_a_computation_as_long_as_it_shows() {
        // In blocks of 6 ns both sides do 5, which are 15 ns on each way; of these a third is seen.
        assert_eq!(as_software(&[88.0, 58.0, 82.0]), blocks(5, 15_000));
        assert_eq!(divided(6.0, [5.0; 3]), (vec![5.0; 3], Some(vec![10.0; 3])));
    }

    #[test]
    fn a_share_at_its_bound_is_as_uncertain_as_one_beside_it() {
        let (below, hidden) = divided(6.0, [11.7, 14.7, 17.7]);
        assert_eq!((below, hidden.is_some()), (vec![11.7, 14.7, 17.7], true));
        assert_eq!(divided(6.0, [12.3, 15.3, 18.3]), (vec![12.0, 15.0, 18.0], None));
        assert_eq!(divided(6.0, [-4.0, -1.0, 2.0]).0, [-3.0, 0.0, 3.0]);
    }

    #[test]
    fn a_computation_that_takes_no_time_shows_nothing_of_what_is_hidden() {
        assert_eq!(divided(0.0, [5.0; 3]), (vec![15.0; 3], None));
    }

    #[test]
    fn the_slot_is_the_floor_of_the_rings_own_lines() {
        assert!(DIVISION.floors().all(|floor| floor.name == "ring_lines"));
    }
}
