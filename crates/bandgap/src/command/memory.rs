//! Whether there is memory for what is to be moved.

use bandgap_host::available_memory;
use bandgap_units::Bytes;

use bandgap_campaign::Task;
use bandgap_launch::Exit;
use bandgap_launch::Failure;
use bandgap_launch::Target;
use bandgap_launch::Transport;

/// Refuses a task whose buffers are more than the memory that is left: the system would end ranks
/// in the middle of it.
///
/// # Errors
/// There is too little memory.
pub(super) fn check(target: &Target, ranks: usize, task: &Task) -> Result<(), Failure> {
    let Target::Real(transport) = target else { return Ok(()) };
    match available_memory() {
        Some(left) => fits(left.0, *transport, ranks, task),
        None => Ok(()),
    }
}

fn fits(left: u64, transport: Transport, ranks: usize, task: &Task) -> Result<(), Failure> {
    let needed = (task.memory(ranks, &transport.tuning()) as u64).saturating_mul(ranks as u64);
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
    use super::*;
    use bandgap_campaign::series::{Operation, SeriesPlan, Sized};

    #[test]
    fn what_ranks_hold_is_weighed_against_what_is_left() {
        let of = |operation, bytes| {
            let points = vec![Sized { operation, bytes, messages: 1 }];
            Task::Series(SeriesPlan {
                points,
                precision: 0.05,
                confidence: 0.95,
                budget: 1.0,
                samples: 20,
                seed: 1,
                stamp: 0.0,
                pair: [0, 1],
            })
        };
        // Each of two ranks sends from a GiB and receives into another, and exposes 2 · 4 slots of
        // 128 KiB: 4 GiB and 2 MiB.
        let messages = of(Operation::Comms1, 1 << 30);
        let needed = (4 << 30) + (2 << 20);
        assert!(fits(needed, Transport::Tcp, 2, &messages).is_ok());
        let refused = fits(needed - 1, Transport::Tcp, 2, &messages).unwrap_err().what;
        assert!(refused.contains("that takes 4098 MiB"), "{refused}");
        // Memory to memory there is nothing but what is exposed, 8 MiB each way at least.
        for (bytes, needed) in [(1 << 30, 4_u64 << 30), (8, 32 << 20)] {
            let transfers = of(Operation::BulkGet, bytes);
            assert!(fits(needed, Transport::Shm, 2, &transfers).is_ok());
            assert!(fits(needed - 1, Transport::Shm, 2, &transfers).is_err());
        }
    }
}
