//! LogGOPSim's model once more, as simply as possible: one queue of events, and what finds its resources taken is put
//! back into it. It shares nothing with the replay, which reads what it is given here as text.

use std::collections::{BTreeMap, BTreeSet};

use bandgap_sim::Loggops;
use proptest::prelude::*;

use super::{goal, replay_goal};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Verb {
    Send,
    Receive,
    Compute,
    Message,
}

#[derive(Clone, Copy, Debug)]
struct Op {
    verb: Verb,
    size: u64,
    /// None for any.
    peer: Option<usize>,
    tag: Option<u64>,
    cpu: usize,
    nic: usize,
}

/// Operations of each rank, and who (second) waits for whom (first), for its start only or not.
#[derive(Clone, Debug, Default)]
struct Schedule {
    ranks: Vec<Vec<Op>>,
    waits: Vec<Vec<(usize, usize, bool)>>,
}

#[derive(Clone, Copy, Debug)]
struct Parameters {
    l: u64,
    o: u64,
    g: u64,
    gb: u64,
    ob: u64,
    s: u64,
}

const UNITS: usize = 2;

/// A receive or a message: its peer, its tag, and its operation.
type Waiting = (Option<usize>, Option<u64>, usize);

/// When each rank ends, in ns; none where something is left.
fn model(schedule: &Schedule, of: &Parameters) -> Option<Vec<u64>> {
    let count = schedule.ranks.len();
    let mut cpu = vec![[0_u64; UNITS]; count];
    let (mut out, mut into) = (cpu.clone(), cpu.clone());
    let mut posted: Vec<Vec<Waiting>> = vec![Vec::new(); count];
    let mut unexpected = posted.clone();
    let mut open: Vec<Vec<usize>> = (0..count)
        .map(|rank| {
            let ops = 0..schedule.ranks[rank].len();
            ops.map(|op| schedule.waits[rank].iter().filter(|w| w.1 == op).count()).collect()
        })
        .collect();
    let mut events: BTreeMap<(u64, usize), (usize, usize, Op)> = BTreeMap::new();
    let mut done = BTreeSet::new();
    let mut order = 0;
    for (rank, open) in open.iter().enumerate() {
        let mut ready: Vec<usize> = (0..open.len()).filter(|op| open[*op] == 0).collect();
        ready.sort_by_key(|op| schedule.ranks[rank][*op].verb as u8);
        for op in ready {
            events.insert((0, order), (rank, op, schedule.ranks[rank][op]));
            order += 1;
        }
    }
    while let Some(((t, own), (rank, at, op))) = events.pop_first() {
        let b = op.size.wrapping_sub(1);
        let at_cpu = if op.verb == Verb::Message { op.peer.unwrap() } else { rank };
        let free = cpu[at_cpu][op.cpu].max(match op.verb {
            Verb::Send => out[rank][op.nic],
            Verb::Message => into[at_cpu][op.nic],
            _ => 0,
        });
        if op.verb != Verb::Receive && free > t {
            events.insert((free, own), (rank, at, op));
            continue;
        }
        // What begins (first) and is done by this, of which rank.
        let mut changed: Vec<(usize, usize, bool)> = Vec::new();
        let fits = |a: Option<usize>, b: Option<usize>, c: Option<u64>, d: Option<u64>| {
            (a.is_none() || b.is_none() || a == b) && (c.is_none() || d.is_none() || c == d)
        };
        match op.verb {
            Verb::Compute => {
                cpu[rank][op.cpu] = t + op.size;
                changed.extend([(rank, at, true), (rank, at, false)]);
            }
            Verb::Send => {
                cpu[rank][op.cpu] = t.wrapping_add(of.o).wrapping_add(b.wrapping_mul(of.ob));
                out[rank][op.nic] = t.wrapping_add(of.g).wrapping_add(b.wrapping_mul(of.gb));
                let message = Op { verb: Verb::Message, ..op };
                events.insert((t + of.o + of.l, order), (rank, at, message));
                order += 1;
                changed.push((rank, at, true));
                changed.extend((op.size <= of.s).then_some((rank, at, false)));
            }
            Verb::Message => {
                let bytes = b.wrapping_mul(of.ob).max(b.wrapping_mul(of.gb));
                cpu[at_cpu][op.cpu] = t.wrapping_add(of.o).wrapping_add(bytes);
                into[at_cpu][op.nic] = t.wrapping_add(of.g).wrapping_add(b.wrapping_mul(of.gb));
                let queue = &mut posted[at_cpu];
                match queue.iter().position(|q| fits(q.0, Some(rank), q.1, op.tag)) {
                    None => unexpected[at_cpu].push((Some(rank), op.tag, at)),
                    Some(place) => {
                        let receive = queue.remove(place).2;
                        if op.size > of.s {
                            changed.push((rank, at, false));
                            cpu[rank][op.cpu] = cpu[rank][op.cpu].max(t);
                            out[rank][op.nic] = out[rank][op.nic].max(t);
                        }
                        changed.push((at_cpu, receive, false));
                    }
                }
            }
            Verb::Receive => {
                changed.push((rank, at, true));
                let queue = &mut unexpected[rank];
                match queue.iter().position(|q| fits(q.0, op.peer, q.1, op.tag)) {
                    None => posted[rank].push((op.peer, op.tag, at)),
                    Some(place) => {
                        let (from, _, send) = queue.remove(place);
                        if op.size > of.s {
                            let from = from.unwrap();
                            changed.push((from, send, false));
                            cpu[from][op.cpu] = cpu[from][op.cpu].max(t);
                            out[from][op.nic] = out[from][op.nic].max(t);
                        }
                        changed.push((rank, at, false));
                    }
                }
            }
        }
        let mut ready: Vec<(usize, usize)> = Vec::new();
        for (rank, at, start) in changed {
            // LogGOPSim counts twice where a receive of more than S bytes takes a message of fewer.
            if !start && !done.insert((rank, at)) {
                continue;
            }
            for &(_, after, _) in schedule.waits[rank].iter().filter(|w| w.0 == at && w.2 == start)
            {
                open[rank][after] -= 1;
                if open[rank][after] == 0 {
                    ready.push((rank, after));
                }
            }
        }
        ready.sort_by_key(|(rank, at)| (*rank, schedule.ranks[*rank][*at].verb as u8));
        for (rank, at) in ready {
            let op = schedule.ranks[rank][at];
            let nic = if op.verb == Verb::Send { out[rank][op.nic] } else { 0 };
            events.insert((cpu[rank][op.cpu].max(nic), order), (rank, at, op));
            order += 1;
        }
    }
    let left = posted.iter().chain(&unexpected).any(|queue| !queue.is_empty());
    let open = open.iter().flatten().any(|open| *open > 0);
    (!left && !open).then(|| cpu.iter().map(|cpu| *cpu.iter().max().unwrap()).collect())
}

impl Schedule {
    fn text(&self) -> String {
        self.spread(1)
    }

    /// As text, with ranks without operations between the others.
    fn spread(&self, apart: usize) -> String {
        let mut text = format!("num_ranks {}\n", self.ranks.len() * apart);
        for (rank, ops) in self.ranks.iter().enumerate() {
            text += &format!("rank {} {{\n", rank * apart);
            for (number, op) in ops.iter().enumerate() {
                let Op { size, cpu, nic, .. } = op;
                let any = |of: Option<u64>| of.map_or("-1".to_owned(), |of| of.to_string());
                let (peer, tag) = (any(op.peer.map(|peer| (peer * apart) as u64)), any(op.tag));
                text += &match op.verb {
                    Verb::Compute => format!("l{number}: calc {size} cpu {cpu}\n"),
                    Verb::Send => {
                        format!("l{number}: send {size}b to {peer} tag {tag} cpu {cpu} nic {nic}\n")
                    }
                    _ => format!(
                        "l{number}: recv {size}b from {peer} tag {tag} nic {nic} cpu {cpu}\n"
                    ),
                };
            }
            for (before, after, start) in &self.waits[rank] {
                let how = if *start { "irequires" } else { "requires" };
                text += &format!("l{after} {how} l{before}\n");
            }
            text += "}\n";
        }
        text
    }
}

/// One message, or a computation: where, where to, size, tag, units, and whether the receive takes any.
type Drawn = (usize, usize, usize, u64, [usize; 4], u8);

/// Bytes, and nanoseconds of computations.
type Sizes = ([u64; 7], [u64; 4]);

const SIZES: Sizes = ([1, 0, 1, 8, 8, 100, 3000], [0, 10, 700, 5000]);

fn built(
    ranks: usize,
    drawn: &[Drawn],
    waits: &[(usize, usize, usize, u8)],
    units: usize,
    (bytes, times): Sizes,
) -> Schedule {
    let mut of = Schedule { ranks: vec![Vec::new(); ranks], waits: vec![Vec::new(); ranks] };
    for &(from, to, size, tag, unit, how) in drawn {
        let (from, to, unit) = (from % ranks, to % ranks, unit.map(|unit| unit % units));
        let size = bytes[size % bytes.len()];
        if how % 4 == 0 {
            let size = times[tag as usize % 4];
            let (peer, tag) = (None, None);
            of.ranks[from].push(Op { verb: Verb::Compute, size, peer, tag, cpu: unit[0], nic: 0 });
            continue;
        }
        let send = Op {
            verb: Verb::Send,
            size,
            peer: Some(to),
            tag: Some(tag),
            cpu: unit[0],
            nic: unit[1],
        };
        of.ranks[from].push(send);
        let peer = Some(from).filter(|_| how % 16 != 5);
        let tag = Some(tag).filter(|_| how % 16 != 6);
        let receive = Op { verb: Verb::Receive, size, peer, tag, cpu: unit[2], nic: unit[3] };
        let place = if how > 128 { of.ranks[to].len() } else { of.ranks[to].len() / 2 };
        of.ranks[to].insert(place, receive);
    }
    for &(rank, a, b, how) in waits {
        let rank = rank % ranks;
        let count = of.ranks[rank].len();
        if count > 1 && a % count != b % count {
            let (a, b) = (a % count, b % count);
            of.waits[rank].push((a.min(b), a.max(b), how % 4 == 0));
        }
    }
    of
}

/// Schedules whose times are often equal, as text.
pub fn tied() -> impl Strategy<Value = String> {
    let unit = [0_usize..2, 0..2, 0..2, 0..2];
    let drawn = (0_usize..6, 0_usize..6, 0_usize..7, 0_u64..3, unit, any::<u8>());
    let waits = (0_usize..6, any::<usize>(), any::<usize>(), any::<u8>());
    let all =
        (2_usize..7, prop::collection::vec(drawn, 1..16), prop::collection::vec(waits, 0..16));
    let sizes = ([0, 1, 2, 3, 0, 1, 2], [0, 1000, 2000, 3000]);
    all.prop_map(move |(ranks, drawn, waits)| built(ranks, &drawn, &waits, UNITS, sizes).text())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn the_replay_agrees_with_the_model(
        ranks in 1_usize..6,
        units in 1..=UNITS,
        drawn in prop::collection::vec(
            (0_usize..6, 0_usize..6, 0_usize..7, 0_u64..3, [0_usize..2, 0..2, 0..2, 0..2], any::<u8>()), 1..40),
        waits in prop::collection::vec((0_usize..6, any::<usize>(), any::<usize>(), any::<u8>()), 0..30),
        (l, o, g) in (0_u64..3000, 3_u64..2000, 10_u64..2000),
        (gb, ob, s) in (0_u64..10, 0_u64..4, 0_u64..4000),
    ) {
        let schedule = built(ranks, &drawn, &waits, units, SIZES);
        let text = schedule.text();
        let loggops: Loggops = format!("L={l},o={o},g={g},G={gb},O={ob},S={s}").parse().unwrap();
        let replayed = replay_goal(&goal(&text), &loggops);
        let spread = replay_goal(&goal(&schedule.spread(3)), &loggops).ok();
        prop_assert_eq!(spread.map(|of| of.finish().step_by(3).collect()), replayed.as_ref().ok().map(|of| of.finish().collect::<Vec<i64>>()));
        match model(&schedule, &Parameters { l, o, g, gb, ob, s }) {
            Some(finish) => {
                let finish: Vec<i64> = finish.iter().map(|ns| 1000 * *ns as i64).collect();
                prop_assert_eq!(replayed.map(|of| of.finish().collect::<Vec<i64>>()).map_err(|e| e.to_string()), Ok(finish), "{}", text);
            }
            None => prop_assert!(replayed.is_err_and(|error| error.is_endless()), "{}", text),
        }
    }
}

#[test]
fn most_random_schedules_end() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let drawn = prop::collection::vec(
        (0_usize..6, 0_usize..6, 0_usize..7, 0_u64..3, [0_usize..2, 0..2, 0..2, 0..2], any::<u8>()),
        1..40,
    );
    let of = Parameters { l: 100, o: 50, g: 20, gb: 1, ob: 0, s: 500 };
    let ends = |_: &usize| {
        let drawn = drawn.new_tree(&mut runner).unwrap().current();
        model(&built(4, &drawn, &[], 2, SIZES), &of).is_some()
    };
    let ended = (0..100).filter(ends).count();
    assert!(ended > 60, "{ended}");
}
