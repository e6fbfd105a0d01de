//! Whether there is memory for what is to be moved.

use bandgap_host::available_memory;
use bandgap_units::Bytes;

use crate::{Exit, Failure};

/// Refuses ranks that take `each` bytes where that is more than the memory that is left: the system
/// would end them in the middle of a run.
///
/// # Errors
/// There is too little memory.
pub fn check(each: usize, ranks: usize) -> Result<(), Failure> {
    match available_memory() {
        Some(left) => fits(left.0, each, ranks),
        None => Ok(()),
    }
}

fn fits(left: u64, each: usize, ranks: usize) -> Result<(), Failure> {
    let needed = (each as u64).saturating_mul(ranks as u64);
    if needed <= left {
        return Ok(());
    }
    let rounded = |bytes: u64| Bytes(bytes.next_multiple_of(1 << 20));
    let what = format!(
        "hold the bytes of {ranks} ranks: that takes {}, and {} are left on this machine",
        rounded(needed),
        rounded(left)
    );
    Err(Failure::new(Exit::Usage, what)
        .hint("take fewer ranks, or a smaller --sizes, --dimension or --vectors"))
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
        // Each of two ranks sends from a GiB and receives into another, and exposes 2 · 4 slots of
        // 128 KiB: 4 GiB and 2 MiB.
        let messages = of("comms1", 1 << 30, "tcp");
        let needed = (4 << 30) + (2 << 20);
        assert!(fits(needed, messages, 2).is_ok());
        let refused = fits(needed - 1, messages, 2).unwrap_err().what;
        assert!(refused.contains("that takes 4098 MiB"), "{refused}");
        // Memory to memory there is nothing but what is exposed, 8 MiB each way at least.
        for (bytes, needed) in [(1 << 30, 4_u64 << 30), (8, 32 << 20)] {
            let transfers = of("bulk_get", bytes, "shm");
            assert!(fits(needed, transfers, 2).is_ok());
            assert!(fits(needed - 1, transfers, 2).is_err());
        }
    }
}
