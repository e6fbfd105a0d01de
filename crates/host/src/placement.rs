//! Which rank runs on which core.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::topology::CacheKind;
use crate::{Cpu, HostError, Result, Topology, format_cpu_list};

/// A core for every rank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    /// Rank r runs on `cpus[r]`.
    pub cpus: Vec<usize>,
    /// Some core has more than one rank. Waiting ranks must then yield the core, and results
    /// include scheduling.
    pub oversubscribed: bool,
}

impl Placement {
    /// Rank r on `cpus[r]`.
    pub fn of(cpus: Vec<usize>) -> Self {
        let distinct: BTreeSet<&usize> = cpus.iter().collect();
        Self { oversubscribed: distinct.len() < cpus.len(), cpus }
    }
}

/// Chooses a core for each of `ranks` ranks.
///
/// Without a request, each physical core first gets one rank, so that no two ranks share a core.
/// Ranks with neighbouring numbers share caches, node and package as far as possible. The remaining
/// hardware threads follow in the same order. If there are still more ranks, the list is repeated.
///
/// With a request, ranks go to its cores in the order given, again from the start if there are more
/// ranks than cores.
///
/// # Errors
/// [`HostError::CpuUnusable`] names a requested core that is not online or not allowed.
/// [`HostError::NoCpus`] if the request is empty, or no core is allowed.
pub fn place(topology: &Topology, ranks: usize, requested: Option<&[usize]>) -> Result<Placement> {
    let order = match requested {
        Some(cpus) => {
            check(topology, cpus)?;
            cpus.to_vec()
        }
        None => nearest_first(topology),
    };
    if order.is_empty() {
        return Err(HostError::NoCpus(match requested {
            Some(_) => "the requested list of cores is empty",
            None => "no online core is allowed for this process",
        }));
    }
    Ok(Placement::of(order.into_iter().cycle().take(ranks).collect()))
}

fn check(topology: &Topology, cpus: &[usize]) -> Result<()> {
    for &cpu in cpus {
        let problem = match topology.cpu(cpu) {
            None => "not online",
            Some(found) if !found.allowed => "not allowed for this process",
            Some(_) => continue,
        };
        return Err(HostError::CpuUnusable {
            cpu,
            problem,
            allowed: format_cpu_list(&topology.allowed_ids()),
        });
    }
    Ok(())
}

/// The allowed cores: the first hardware thread of every physical core, then the second threads,
/// and so on. Each of these groups is sorted by package, node, and shared caches, outermost first.
fn nearest_first(topology: &Topology) -> Vec<usize> {
    let mut cpus: Vec<&Cpu> = topology.allowed().collect();
    let thread = |cpu: &Cpu| {
        let earlier = cpu.siblings.iter().take_while(|sibling| **sibling < cpu.id);
        earlier.filter(|sibling| topology.cpu(**sibling).is_some_and(|other| other.allowed)).count()
    };
    cpus.sort_by_cached_key(|cpu| {
        let shared = cpu.caches.iter().rev().filter(|cache| cache.kind != CacheKind::Instruction);
        let groups: Vec<usize> =
            shared.map(|cache| cache.cpus.first().copied().unwrap_or(cpu.id)).collect();
        (thread(cpu), cpu.package, cpu.node, groups, cpu.id)
    });
    cpus.into_iter().map(|cpu| cpu.id).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Distance;
    use crate::topology::tests::two_packages;

    #[test]
    fn ranks_fill_cores_nearest_first_and_siblings_last() {
        let all: Vec<usize> = (0..32).collect();
        let placement = place(&two_packages(&all), 32, None).unwrap();
        assert_eq!(placement.cpus, all);
        assert!(!placement.oversubscribed);
    }

    #[test]
    fn the_first_allowed_thread_stands_for_its_core() {
        // Of core 1 only its second thread, 17, is allowed, and both threads of core 0: 17 is a
        // core of its own and comes before 16, and shares the L3 of core 0, so before core 2.
        let placement = place(&two_packages(&[0, 16, 17, 2]), 4, None).unwrap();
        assert_eq!(placement.cpus, [0, 17, 2, 16]);
    }

    #[test]
    fn more_ranks_than_cores_begin_again() {
        let placement = place(&two_packages(&[4, 9]), 5, None).unwrap();
        assert_eq!(placement, Placement { cpus: vec![4, 9, 4, 9, 4], oversubscribed: true });
    }

    #[test]
    fn a_request_is_followed_in_its_order() {
        let topology = two_packages(&(0..32).collect::<Vec<_>>());
        let placement = place(&topology, 2, Some(&[9, 3, 1])).unwrap();
        assert_eq!(placement, Placement { cpus: vec![9, 3], oversubscribed: false });
        assert!(place(&topology, 3, Some(&[9, 3])).unwrap().oversubscribed);
        assert!(place(&topology, 2, Some(&[3, 3])).unwrap().oversubscribed);
    }

    #[test]
    fn a_core_that_cannot_be_used_is_named_with_those_that_can() {
        let topology = two_packages(&[0, 1, 2, 8]);
        let unusable = |cores: &[usize]| match place(&topology, 1, Some(cores)) {
            Err(HostError::CpuUnusable { cpu, problem, allowed }) => {
                assert_eq!(allowed, "0-2,8");
                (cpu, problem)
            }
            other => panic!("{other:?}"),
        };
        let ((40, offline), (5, forbidden)) = (unusable(&[0, 40]), unusable(&[5])) else {
            panic!()
        };
        assert_ne!(offline, forbidden);
        assert!(matches!(place(&topology, 1, Some(&[])), Err(HostError::NoCpus(_))));
        assert!(matches!(place(&two_packages(&[]), 1, None), Err(HostError::NoCpus(_))));
    }

    proptest! {
        #[test]
        fn no_core_is_shared_while_another_is_free(
            allowed in proptest::collection::btree_set(0_usize..32, 1..32), ranks in 1_usize..70,
        ) {
            let allowed: Vec<usize> = allowed.into_iter().collect();
            let topology = two_packages(&allowed);
            let placement = place(&topology, ranks, None).unwrap();
            prop_assert_eq!(placement.cpus.len(), ranks);
            prop_assert!(placement.cpus.iter().all(|cpu| allowed.contains(cpu)));
            prop_assert_eq!(placement.oversubscribed, ranks > allowed.len());
            let free = |core: usize| {
                allowed.iter().any(|cpu| cpu % 16 == core)
                    && placement.cpus.iter().all(|cpu| cpu % 16 != core)
            };
            let siblings = placement.cpus.iter().enumerate().any(|(i, a)| {
                placement.cpus[i + 1..]
                    .iter()
                    .any(|b| topology.distance(*a, *b) == Some(Distance::SmtSibling))
            });
            prop_assert!(!siblings || !(0..16).any(free));
        }
    }
}
