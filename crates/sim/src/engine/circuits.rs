//! Circuits through a network whose channels messages share.

use crate::network::Network;

/// The channels of a network in virtual time.
///
/// A circuit holds all channels of its route while the bytes of its message pass. It begins when all
/// circuits over any of these channels that were asked for before have ended. So no two circuits
/// wait for each other, and what was asked for first is never held up by what comes later.
#[derive(Debug)]
pub(super) struct Circuits<'a> {
    network: &'a Network,
    /// When the last circuit over each channel ends.
    free_from: Vec<u64>,
    route: Vec<usize>,
}

impl<'a> Circuits<'a> {
    pub(super) fn new(network: &'a Network) -> Self {
        Self { network, free_from: vec![0; network.channels()], route: Vec::new() }
    }

    /// Asks at `time` for a circuit that lasts `long`, and returns when it begins. Times ascend from
    /// call to call.
    #[inline]
    pub(super) fn begin(&mut self, time: u64, from: u32, to: u32, long: u64) -> u64 {
        let Self { network, free_from, route } = self;
        route.clear();
        network.route(from, to, |channel| route.push(channel));
        let start = route.iter().fold(time, |start, &channel| start.max(free_from[channel]));
        for &channel in &*route {
            free_from[channel] = start.saturating_add(long);
        }
        start
    }
}

#[cfg(test)]
mod tests {
    use crate::topology::Torus;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_channel_has_one_circuit_at_a_time_and_none_waits_longer_than_it_must(
            asked in proptest::collection::vec((0_u64..20, 0_u32..12, 0_u32..12, 1_u64..30), 1..60)
        ) {
            let network = Network::Torus(Torus::new(3, 4).unwrap());
            let mut circuits = Circuits::new(&network);
            // When the last circuit over each channel ends.
            let mut ends = vec![0; network.channels()];
            let mut time = 0;
            for (later, from, to, long) in asked {
                time += later;
                let start = circuits.begin(time, from, to, long);
                let mut held = Vec::new();
                network.route(from, to, |channel| held.push(channel));
                prop_assert!(start >= time && held.iter().all(|&channel| ends[channel] <= start));
                prop_assert!(start == time || held.iter().any(|&channel| ends[channel] == start));
                held.iter().for_each(|&channel| ends[channel] = start + long);
            }
        }
    }
}
