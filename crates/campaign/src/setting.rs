//! Where a campaign was measured, as far as its results need it.

use std::collections::BTreeMap;

use crate::beside::Beside;

/// The ranks of a campaign and their places.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Setting {
    /// The name of the experiment.
    pub experiment: String,
    /// The transport's name on the command line.
    pub transport: String,
    /// The transport's floors that results are compared with.
    pub beside: Vec<Beside>,
    /// Whether ranks shared processors. Then no floor is measured, since its loop spins and would
    /// keep the other side from running.
    pub oversubscribed: bool,
    /// How ranks waited; `None` in virtual time.
    pub wait: Option<&'static str>,
    /// The command that started the ranks, if it is not bandgap itself.
    pub launcher: Option<String>,
    /// Number of ranks.
    pub ranks: usize,
    /// Number of launches begun.
    pub launches: u32,
    /// Whether launches of a simulated machine differ.
    pub varies: bool,
    /// The processors of the ranks, by rank; `None` in virtual time.
    pub cpus: Option<Vec<usize>>,
    /// The hosts of the ranks, by rank; empty if there is only one host.
    pub hosts: Vec<String>,
    /// The distances between processors of a host, by processor numbers in ascending order.
    pub distances: BTreeMap<[usize; 2], String>,
}

impl Setting {
    /// Whether time was virtual.
    pub fn is_virtual(&self) -> bool {
        self.cpus.is_none()
    }

    /// The floors that a result of this name is compared with.
    pub fn floors_of(&self, result: &str) -> impl Iterator<Item = &Beside> {
        let measured = self.beside.iter().filter(|_| !self.oversubscribed);
        measured.filter(move |beside| beside.has(result))
    }

    /// The distance between the processors of two ranks. With several hosts it is `host` or
    /// `network`.
    pub fn distance(&self, ranks: [usize; 2]) -> Option<String> {
        if let [Some(a), Some(b)] = ranks.map(|rank| self.hosts.get(rank)) {
            return Some(if a == b { "host" } else { "network" }.to_owned());
        }
        let cpus = self.cpus.as_ref()?;
        let [a, b] = [*cpus.get(ranks[0])?, *cpus.get(ranks[1])?];
        self.distances.get(&[a.min(b), a.max(b)]).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_of_two_ranks_is_that_of_their_processors() {
        let setting = Setting {
            cpus: Some(vec![4, 0, 2]),
            distances: BTreeMap::from([([0, 4], "far".to_owned())]),
            ..Setting::default()
        };
        let distance = |ranks| setting.distance(ranks);
        assert_eq!(distance([0, 1]).as_deref(), Some("far"));
        assert_eq!(distance([1, 0]).as_deref(), Some("far"));
        assert_eq!([distance([0, 2]), distance([0, 3])], [None, None]);
        assert!(!setting.is_virtual());
        let nowhere = Setting { cpus: None, ..setting };
        assert_eq!((nowhere.distance([0, 1]), nowhere.is_virtual()), (None, true));
    }
}
