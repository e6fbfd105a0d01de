//! Checks that memory suffices for the ranks.

use bandgap_host::available_memory;
use bandgap_units::Bytes;
use rustix::process::{Resource, getrlimit};

use crate::{Exit, Failure, Result, usage};

/// Memory of a rank's process itself: its pages, stacks and tables, and the buffers of floors. A release build was seen
/// to take half of it.
const PROCESS: u64 = 3 << 20;
/// Bytes of a page, and of its entry in the page table of each process that maps it.
const PAGE: u64 = 4096;
const ENTRY: u64 = 8;
/// Address space of the program and its libraries.
const PROGRAM: u64 = 16 << 20;

/// The memory that ranks need.
#[derive(Clone, Copy, Debug)]
pub struct Need {
    /// Number of ranks.
    pub ranks: usize,
    /// Bytes of data of each rank.
    pub each: usize,
    /// Bytes that all ranks map in common.
    pub shared: usize,
    /// Bytes of its peers' memory that each rank maps.
    pub mapped: usize,
}

impl Need {
    fn bytes(self) -> u64 {
        let Self { ranks, each, shared, .. } = self;
        let entries = shared as u64 / PAGE * ENTRY;
        let each = (each as u64).saturating_add(PROCESS).saturating_add(entries);
        each.saturating_mul(ranks as u64).saturating_add(shared as u64)
    }

    /// Address space of one rank. Memory that grows exists twice while it is copied.
    fn addresses(self) -> u64 {
        let mapped = PROCESS + PROGRAM + self.shared as u64 + self.mapped as u64;
        (self.each as u64).saturating_mul(2).saturating_add(mapped)
    }

    fn hint(self) -> &'static str {
        match self.each {
            0 => "use fewer ranks",
            _ => "use fewer ranks, or a smaller --sizes, --dimension or --vectors",
        }
    }
}

/// Refuses ranks that need more memory than is left: the system would kill them in the middle of a run.
///
/// # Errors
/// There is too little memory.
pub fn check(need: Need) -> Result<()> {
    getrlimit(Resource::As).current.map_or(Ok(()), |limit| has_addresses(limit, need))?;
    available_memory().map_or(Ok(()), |left| fits(left.0, need))
}

fn has_addresses(limit: u64, need: Need) -> Result<()> {
    let needed = need.addresses();
    if needed <= limit {
        return Ok(());
    }
    Err(usage!(
        "hold the memory of {} ranks: each takes up to {} of address space, and the limit is {}",
        need.ranks,
        rounded(needed),
        rounded(limit)
    )
    .hint(format!("raise `ulimit -v`, {}", need.hint())))
}

fn rounded(bytes: u64) -> Bytes {
    Bytes(bytes.next_multiple_of(1 << 20))
}

fn fits(left: u64, need: Need) -> Result<()> {
    let needed = need.bytes();
    if needed <= left {
        return Ok(());
    }
    let mut what = format!(
        "hold the memory of {} ranks: that takes {}, and {} are left for this process",
        need.ranks,
        rounded(needed),
        rounded(left)
    );
    if need.shared > 0 {
        what += &format!("; {} of it lie between them", rounded(need.shared as u64));
    }
    Err(Failure::new(Exit::Usage, what).hint(need.hint()))
}

#[cfg(test)]
mod tests {
    use bandgap_campaign::Planned;
    use bandgap_campaign::plan::Asked;
    use bandgap_campaign::series::{SeriesPlan, Step};

    use super::*;
    use crate::Transport;

    #[test]
    fn what_ranks_hold_is_weighed_against_what_is_left() {
        let of = |series: &str, bytes, transport: &str| {
            let (precision, confidence, seed, stamp, check) = (0.05, 0.95, 1, 0.0, false);
            let plan = SeriesPlan {
                asked: Asked { precision, confidence, budget: 1.0, seed, stamp, check },
                steps: vec![Step::new(series, bytes, 1, 2)],
                samples: 20,
            };
            let transport: Transport = transport.parse().unwrap();
            plan.room(2, &transport.can.tuning).memory
        };
        let two = |each| Need { ranks: 2, each, shared: 0, mapped: 0 };
        // Each of two ranks sends from a GiB and receives into another. Their processes take 6 MiB.
        let messages = of("comms1", 1 << 30, "tcp");
        let needed = (4 << 30) + (6 << 20);
        assert!(fits(needed, two(messages)).is_ok());
        let refused = fits(needed - 1, two(messages)).unwrap_err().what;
        assert!(refused.contains("4102 MiB"), "{refused}");
        // Memory to memory there is nothing but what is exposed, 8 MiB each way at least.
        for (bytes, needed) in [(1 << 30, (4_u64 << 30) + (6 << 20)), (8, 38 << 20)] {
            let transfers = of("bulk_get", bytes, "shm");
            assert!(fits(needed, two(transfers)).is_ok());
            assert!(fits(needed - 1, two(transfers)).is_err());
        }
    }

    #[test]
    fn what_lies_between_ranks_counts_once_and_its_pages_in_each() {
        // 4 · 3 MiB, 512 MiB once, and a 512th of it for each.
        let need = Need { ranks: 4, each: 0, shared: 512 << 20, mapped: 0 };
        let needed = (12 + 512 + 4) << 20;
        assert!(fits(needed, need).is_ok());
        let refused = fits(needed - 1, need).unwrap_err();
        let what = refused.what;
        assert!(what.contains("528 MiB") && what.contains("512 MiB"), "{what}");
        assert!(refused.hint.is_some());
    }

    #[test]
    fn addresses_are_those_of_one_process() {
        let need = Need { ranks: 4, each: 8 << 20, shared: 5 << 20, mapped: 3 << 20 };
        // Twice 8 MiB, 8 MiB of others, and 19 MiB of the process.
        assert!(has_addresses(43 << 20, need).is_ok());
        let refused = has_addresses((43 << 20) - 1, need).unwrap_err();
        assert_eq!(refused.exit, Exit::Usage);
    }

    #[test]
    fn rings_between_many_ranks_are_known_before_they_are_made() {
        let shm: Transport = "shm".parse().unwrap();
        // 4096 + 2² · (256 + 64 · 128); with 256 ranks the rings have 32 slots.
        assert_eq!((shm.shared)(2), 4096 + 4 * 8448);
        assert_eq!((shm.shared)(256), 4096 + 65_536 * 2304);
        let tcp: Transport = "tcp".parse().unwrap();
        assert_eq!((tcp.shared)(256), 0);
    }
}
