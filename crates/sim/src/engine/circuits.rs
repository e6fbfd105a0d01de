//! Circuits through a network in which messages share channels.

use super::clock::Time;
use crate::network::Network;

/// The channels of a network in virtual time.
///
/// A circuit holds all channels of its route while the bytes of its message pass. It begins when
/// all earlier circuits over any of these channels have ended. So no two circuits wait for each
/// other, and a circuit is never delayed by one that was asked for later.
#[derive(Debug)]
pub(super) struct Circuits<'a, T> {
    network: &'a Network,
    /// Time at which the last circuit over each channel ends.
    free_from: Vec<T>,
    route: Vec<usize>,
}

impl<'a, T: Time> Circuits<'a, T> {
    pub(super) fn new(network: &'a Network) -> Self {
        Self { network, free_from: vec![T::default(); network.channels()], route: Vec::new() }
    }

    /// Asks for a circuit, and returns the time at which the last of its channels is free.
    pub(super) fn free_from(&mut self, from: u32, to: u32) -> T {
        let Self { network, free_from, route } = self;
        route.clear();
        network.route(from, to, |channel| route.push(channel));
        route.iter().fold(T::default(), |start, &channel| start.later(free_from[channel]))
    }

    /// Holds the channels of the circuit that was asked for last.
    pub(super) fn hold(&mut self, until: T) {
        for &channel in &self.route {
            self.free_from[channel] = until;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_channel_has_one_circuit_at_a_time_and_none_waits_longer_than_it_must(
            asked in proptest::collection::vec((0_u64..20, 0_u32..12, 0_u32..12, 1_u64..30), 1..60)
        ) {
            let network = Network::Grid { rows: 3, columns: 4, is_torus: true };
            let mut circuits = Circuits::<u64>::new(&network);
            // When the last circuit over each channel ends.
            let mut ends = vec![0; network.channels()];
            let mut time = 0;
            for (later, from, to, long) in asked {
                time += later;
                let start = circuits.free_from(from, to).max(time);
                circuits.hold(start + long);
                let mut held = Vec::new();
                network.route(from, to, |channel| held.push(channel));
                prop_assert!(start >= time && held.iter().all(|&channel| ends[channel] <= start));
                prop_assert!(start == time || held.iter().any(|&channel| ends[channel] == start));
                held.iter().for_each(|&channel| ends[channel] = start + long);
            }
        }
    }
}
