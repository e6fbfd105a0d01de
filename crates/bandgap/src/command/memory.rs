//! Whether there is memory for what is to be moved.

use bandgap_campaign::Planned;
use bandgap_host::available_memory;
use bandgap_launch::{Exit, Failure, Transport};
use bandgap_units::Bytes;

/// Refuses a plan whose buffers are more than the memory that is left: the system would end ranks
/// in the middle of it.
///
/// # Errors
/// There is too little memory.
pub(super) fn check(
    plan: &impl Planned,
    transport: Transport,
    ranks: usize,
) -> Result<(), Failure> {
    match available_memory() {
        Some(left) => fits(left.0, plan, transport, ranks),
        None => Ok(()),
    }
}

fn fits(left: u64, plan: &impl Planned, transport: Transport, ranks: usize) -> Result<(), Failure> {
    let each = plan.room(ranks, &transport.can().tuning).memory as u64;
    let needed = each.saturating_mul(ranks as u64);
    if needed <= left {
        return Ok(());
    }
    let rounded = |bytes: u64| Bytes(bytes.next_multiple_of(1 << 20));
    let what = format!(
        "hold the bytes of {ranks} ranks: that takes {}, and {} are left on this machine",
        rounded(needed),
        rounded(left)
    );
    Err(Failure::new(Exit::Usage, what).hint("take fewer ranks, or shorter --sizes"))
}

#[cfg(test)]
mod tests {
    use bandgap_campaign::plan::Asked;
    use bandgap_campaign::series::{SeriesPlan, Step};

    use super::*;

    #[test]
    fn what_ranks_hold_is_weighed_against_what_is_left() {
        let of = |series: &str, bytes| SeriesPlan {
            asked: Asked {
                precision: 0.05,
                confidence: 0.95,
                budget: 1.0,
                seed: 1,
                stamp: 0.0,
                check: false,
            },
            steps: vec![Step { series: series.to_owned(), bytes, messages: 1, ranks: 2 }],
            samples: 20,
            pair: [0, 1],
        };
        let [shm, tcp] = ["shm", "tcp"].map(|name| name.parse().unwrap());
        // Each of two ranks sends from a GiB and receives into another, and exposes 2 · 4 slots of
        // 128 KiB: 4 GiB and 2 MiB.
        let messages = of("comms1", 1 << 30);
        let needed = (4 << 30) + (2 << 20);
        assert!(fits(needed, &messages, tcp, 2).is_ok());
        let refused = fits(needed - 1, &messages, tcp, 2).unwrap_err().what;
        assert!(refused.contains("that takes 4098 MiB"), "{refused}");
        // Memory to memory there is nothing but what is exposed, 8 MiB each way at least.
        for (bytes, needed) in [(1 << 30, 4_u64 << 30), (8, 32 << 20)] {
            let transfers = of("bulk_get", bytes);
            assert!(fits(needed, &transfers, shm, 2).is_ok());
            assert!(fits(needed - 1, &transfers, shm, 2).is_err());
        }
    }
}
