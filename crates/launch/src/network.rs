//! Hops between the ranks of a target, and pairs of ranks whose messages share channels.

use bandgap_campaign::contention::{Between, EchoAndLoad};
use bandgap_sim::Network;

use crate::room::{check_limits, simulated};
use crate::spread::Spread;
use crate::{Result, Stage, Target};

/// The distances between `ranks` ranks on a target, in hops, each with its pair of lowest ranks; the
/// shortest distance first. Ranks that share a processor have no distance.
///
/// # Errors
/// There is no such machine, or a processor in `cores` is missing or not allowed.
pub fn distances(
    stage: &Stage,
    target: &Target,
    ranks: usize,
    cores: Option<&str>,
) -> Result<Vec<(u32, [usize; 2])>> {
    match target {
        Target::Simulated(name) => {
            let pairs = simulated(name)?.network.pairs_by_distance(ranks);
            Ok(pairs.into_iter().map(|(hops, (a, b))| (hops, [a, b])).collect())
        }
        Target::Real(transport) => {
            check_limits(ranks, std::slice::from_ref(transport))?;
            let spread = Spread::of(stage, ranks, cores)?;
            Ok(spread.distances(&stage.topology).into_iter().collect())
        }
    }
}

/// Numbers of ranks to try if the user names none.
const RANKS: [usize; 4] = [4, 8, 16, 32];

/// An echo and a load that meet, and as a control an echo that does not meet the load, among `ranks`
/// ranks of a target, or among as few ranks as possible. `echo` may name the echo's ranks.
///
/// In a network they meet if the first message of the echo (or either message of a named echo) takes a
/// channel of the load. The load goes from rank 0 as far as possible (CoMet, section 3.3.6: from 0 to 7
/// on a hypercube of eight, with an echo between 1 and 3), or from another rank if no load from rank 0
/// meets an echo. If no two pairs share a channel, and on a real machine, the first four ranks serve.
///
/// # Errors
/// There is no such machine.
pub fn contended(
    target: &Target,
    ranks: Option<usize>,
    echo: Option<[usize; 2]>,
) -> Result<(usize, Vec<EchoAndLoad>)> {
    let least = echo.map_or(0, |[a, b]| a.max(b) + 1).max(RANKS[0]);
    let usual = ranks.unwrap_or(least);
    let alone = |between| {
        let echo = echo.unwrap_or([0, 1]);
        let mut others = (0..usual.max(4)).filter(|rank| !echo.contains(rank));
        let load = [others.next().unwrap_or(2), others.next().unwrap_or(3)];
        (usual, vec![EchoAndLoad { echo, load, between }])
    };
    let Target::Simulated(name) = target else { return Ok(alone(Between::Machine)) };
    let machine = simulated(name)?;
    let tried: Vec<usize> = match ranks {
        Some(ranks) => vec![ranks],
        None => RANKS.into_iter().filter(|ranks| (least..=machine.ranks).contains(ranks)).collect(),
    };
    for ranks in tried {
        let found = meeting(&machine.network, ranks.min(machine.ranks), echo);
        if !found.is_empty() {
            return Ok((ranks, found));
        }
    }
    // Ranks beyond the number of nodes have no routes; the start of the ranks refuses them.
    let (ranks, mut first) = alone(Between::Nothing);
    for EchoAndLoad { echo, load, between } in &mut first {
        let known = echo.iter().chain(load.iter()).all(|rank| *rank < machine.ranks);
        if known && shares(&machine.network, *echo, *load) {
            *between = Between::Channel;
        }
    }
    Ok((ranks, first))
}

/// Whether a message of the echo, forth or back, takes a channel of the load.
fn shares(network: &Network, [a, b]: [usize; 2], load: [usize; 2]) -> bool {
    takes(network, [a, b], load) || takes(network, [b, a], load)
}

/// Whether messages from `one[0]` to `one[1]` take a channel of those of `other`.
fn takes(network: &Network, one: [usize; 2], other: [usize; 2]) -> bool {
    let wide = |pair: [usize; 2]| pair.map(|rank| rank as u32);
    network.shares_channel(wide(one), wide(other))
}

/// A load with an echo that meets it, and with an echo of the same distance that does not; empty if no
/// echo meets a load. Loads from the lowest ranks come first, and the farthest among them.
fn meeting(network: &Network, ranks: usize, named: Option<[usize; 2]>) -> Vec<EchoAndLoad> {
    if named.is_some_and(|echo| echo.iter().any(|rank| *rank >= ranks)) {
        return Vec::new();
    }
    let hops = |a: usize, b: usize| network.distance(a, b);
    let mut loads: Vec<[usize; 2]> = (0..ranks)
        .flat_map(|start| (0..ranks).map(move |end| [start, end]))
        .filter(|[start, end]| start != end)
        .collect();
    loads.sort_by_key(|&[start, end]| (start, std::cmp::Reverse((hops(start, end), end))));
    for load in loads {
        let mut echoes: Vec<[usize; 2]> = match named {
            Some(echo) => vec![echo],
            None => (0..ranks).flat_map(|a| (a + 1..ranks).map(move |b| [a, b])).collect(),
        };
        echoes.retain(|echo| echo.iter().all(|rank| !load.contains(rank)));
        // The nearest first; the sort is stable.
        echoes.sort_by_key(|[a, b]| hops(*a, *b));
        let meets = |&&echo: &&[usize; 2]| match named {
            Some(_) => shares(network, echo, load),
            None => takes(network, echo, load),
        };
        let Some(&shared) = echoes.iter().find(meets) else { continue };
        let apart = echoes.iter().find(|&&[a, b]| {
            hops(a, b) == hops(shared[0], shared[1]) && !shares(network, [a, b], load)
        });
        let beside = |echo, between| EchoAndLoad { echo, load, between };
        let control = apart.map(|echo| beside(*echo, Between::Nothing));
        return std::iter::once(beside(shared, Between::Channel)).chain(control).collect();
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(machine: &str, ranks: Option<usize>) -> (usize, Vec<EchoAndLoad>) {
        contended(&Target::Simulated(machine.to_owned()), ranks, None).unwrap()
    }

    #[test]
    fn on_a_hypercube_the_load_crosses_the_echo_as_in_the_source() {
        let between = |between| move |echo| EchoAndLoad { echo, load: [0, 7], between };
        let [shared, apart] = [Between::Channel, Between::Nothing].map(between);
        // Two pairs of four nodes share no channel, so there are eight. From 0 to 7 by 1 and 3.
        let expected = vec![shared([1, 3]), apart([1, 5])];
        for ranks in [None, Some(8)] {
            assert_eq!(of("ipsc860", ranks), (8, expected.clone()));
        }
        let (ranks, four) = of("ipsc860", Some(4));
        assert_eq!((ranks, four.len(), four[0].between), (4, 1, Between::Nothing));
        // The last bit is flipped last, so messages from 3 to 7 end there.
        for (echo, between) in [([3, 1], Between::Channel), ([3, 7], Between::Nothing)] {
            let named = contended(&Target::Simulated("ipsc860".into()), Some(8), Some(echo));
            let (_, found) = named.unwrap();
            assert_eq!((found[0].echo, found[0].between, found.len()), (echo, between, 1));
        }
    }

    #[test]
    fn where_nothing_is_shared_or_nobody_knows_the_first_four_ranks_do() {
        let four = |between| EchoAndLoad { echo: [0, 1], load: [2, 3], between };
        assert_eq!(of("myrinet", None), (4, vec![four(Between::Nothing)]));
        let shm = contended(&Target::Real(crate::Transport::usual()), None, None).unwrap();
        assert_eq!(shm, (4, vec![four(Between::Machine)]));
        let named = contended(&Target::Real(crate::Transport::usual()), None, Some([2, 0]));
        let load = [1, 3];
        let expected = EchoAndLoad { echo: [2, 0], load, between: Between::Machine };
        assert_eq!(named.unwrap(), (4, vec![expected]));
    }

    #[test]
    fn of_a_named_echo_a_load_from_any_rank_is_found_and_either_message_may_share_its_way() {
        // 2 rows of 4: messages between 0 and 3 pass 1 and 2, and no load from rank 0 passes there.
        let mesh = Network::Grid { rows: 2, columns: 4, is_torus: false };
        for echo in [[0, 3], [3, 0]] {
            let load = [1, 7];
            let expected = EchoAndLoad { echo, load, between: Between::Channel };
            assert_eq!(meeting(&mesh, 8, Some(echo)), [expected]);
        }
        assert!(shares(&mesh, [0, 3], [1, 2]) && shares(&mesh, [3, 0], [1, 2]));
        assert!(!takes(&mesh, [3, 0], [1, 2]) && !shares(&mesh, [0, 3], [4, 7]));
        // Neighbours have a channel of their own if no third rank's route leads over it.
        assert_eq!(meeting(&mesh, 2, Some([0, 1])), []);
        assert_eq!(meeting(&mesh, 8, Some([0, 9])), []);
    }
}
