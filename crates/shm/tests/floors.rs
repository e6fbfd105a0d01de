//! The floors and the probe between two threads: counts, data, and waits that end.
#![allow(clippy::unwrap_used)]

use std::cell::Cell;
use std::io;
use std::thread;

use bandgap_comm::{Role, Stamp, Timer, Window};
use bandgap_shm::floor::{
    FloorArea, cache_line, copy_cross_core, copy_local, copy_pipeline, copy_vm_readv, slot_ring,
    slot_ring_stream, store_cross_core,
};
use bandgap_shm::{Control, ShmError, probe, report};

/// Counts stamps: each is one later than the one before.
#[derive(Default)]
struct Counting(Cell<u64>);

impl Timer for Counting {
    fn stamp(&self) -> Stamp {
        self.0.set(self.0.get() + 1);
        Stamp::from_ticks(self.0.get())
    }

    fn work(&self, _iterations: u32) {}
}

/// Never gives up, but lets the other thread run.
fn patient() -> bool {
    thread::yield_now();
    false
}

const WINDOW: Window = Window { samples: 3, rounds: 40 };

/// Runs both roles over one area mapped twice, and returns what each got.
fn both<T: Send>(run: impl Fn(&FloorArea, Role, &Counting) -> T + Sync) -> [T; 2] {
    let here = FloorArea::create().unwrap();
    let there = FloorArea::from_fd(here.fd().try_clone_to_owned().unwrap()).unwrap();
    thread::scope(|scope| {
        let answer = scope.spawn(|| run(&there, Role::Responder, &Counting::default()));
        let asked = run(&here, Role::Initiator, &Counting::default());
        [asked, answer.join().unwrap()]
    })
}

#[test]
fn each_sample_of_an_exchange_is_one_interval() {
    // Two stamps an interval, so each reads 1.
    let [asked, answered] = both(|area, role, timer| {
        // Epochs need not be in order, only new.
        for epoch in [7, 0, 1 << 40, 3] {
            let samples = cache_line(area, epoch + 4, role, WINDOW, timer, patient)?;
            assert_eq!(samples, if role == Role::Initiator { vec![1; 3] } else { vec![] });
            let samples = slot_ring(area, epoch, role, WINDOW, timer, patient)?;
            assert_eq!(samples, if role == Role::Initiator { vec![1; 3] } else { vec![] });
        }
        Ok::<_, ShmError>(())
    });
    asked.unwrap();
    answered.unwrap();
}

#[test]
fn a_stream_goes_round_its_ring_with_and_without_whole_credits() {
    // 3 × 1300 messages pass the 512 slots seven times; 1300 is no multiple of 128.
    for rounds in [1, 127, 128, 1300] {
        let window = Window { samples: 3, rounds };
        let [asked, answered] = both(|area, role, timer| {
            slot_ring_stream(area, 5, role, window, timer, patient).unwrap();
            slot_ring_stream(area, 6, role, window, timer, patient)
        });
        assert_eq!(asked.unwrap(), [1; 3]);
        assert_eq!(answered.unwrap(), [0; 0]);
    }
}

#[test]
fn copies_across_cores_arrive_and_only_they_are_timed() {
    for bytes in [1, 4096, 100_000] {
        let window = Window { samples: 2, rounds: 3 };
        let [asked, answered] =
            both(|area, role, timer| copy_cross_core(area, 1, role, window, bytes, timer, patient));
        // Three copies a sample, each between two stamps.
        assert_eq!(asked.unwrap(), [3; 2]);
        assert_eq!(answered.unwrap(), [0; 0]);
    }
}

#[test]
fn stores_arrive_and_are_timed_one_by_one() {
    for bytes in [1, 4096, 100_000] {
        let window = Window { samples: 2, rounds: 3 };
        let [stored, seen] = both(|area, role, timer| {
            store_cross_core(area, 1, role, window, bytes, timer, patient)
        });
        // Three stores a sample, each between two stamps; the other side checks the bytes.
        assert_eq!(stored.unwrap(), [3; 2]);
        assert_eq!(seen.unwrap(), [0; 0]);
    }
}

#[test]
fn a_message_passes_the_slots_more_than_once_and_arrives() {
    // One piece; eight of one byte; seven and a short one; 32 pieces through the eight slots, the
    // last of them shorter.
    for bytes in [1, 8, 65_535, (1 << 20) - 1] {
        let window = Window { samples: 2, rounds: 3 };
        let [sent, received] = both(|area, role, timer| {
            // What a later epoch left is not taken for this one's.
            copy_pipeline(area, 9, role, window, bytes, timer, patient)?;
            copy_pipeline(area, 1, role, window, bytes, timer, patient)
        });
        // Two stamps a sample, so each reads 1; both sides check what came last.
        assert_eq!(sent.unwrap(), [1; 2]);
        assert_eq!(received.unwrap(), [0; 0]);
    }
}

#[test]
fn a_system_call_that_reads_nothing_is_found_out() {
    let [asked, answered] = both(|area, role, timer| {
        let read = |process, address, _into: &mut [u8]| {
            assert_eq!(process, std::process::id());
            assert_ne!(address, 0);
            io::Result::Ok(())
        };
        let mut asks = 0;
        let patience = || {
            asks += 1;
            patient() || asks > 1000
        };
        copy_vm_readv(area, 1, role, WINDOW, 64, timer, read, patience)
    });
    assert!(matches!(asked, Err(ShmError::WrongData { floor: "copy_vm_readv", at: 0 })));
    assert!(matches!(answered, Err(ShmError::GaveUp { floor: "copy_vm_readv" })));
}

#[test]
fn a_failing_system_call_is_told() {
    let [asked, _] = both(|area, role, timer| {
        let mut asks = 0;
        let patience = || {
            asks += 1;
            patient() || asks > 1000
        };
        let refuse = |_, _, _: &mut [u8]| Err(io::Error::from(io::ErrorKind::PermissionDenied));
        copy_vm_readv(area, 1, role, WINDOW, 64, timer, refuse, patience)
    });
    assert!(matches!(asked, Err(ShmError::System { .. })));
}

#[test]
fn a_local_copy_is_timed_sample_by_sample() {
    assert_eq!(copy_local(WINDOW, 1000, &Counting::default()).unwrap(), [1; 3]);
}

#[test]
fn who_is_alone_gives_up() {
    let area = FloorArea::create().unwrap();
    let timer = Counting::default();
    for role in [Role::Initiator, Role::Responder] {
        let alone = [
            cache_line(&area, 1, role, WINDOW, &timer, || true),
            slot_ring(&area, 1, role, WINDOW, &timer, || true),
            slot_ring_stream(&area, 1, role, WINDOW, &timer, || true),
            copy_cross_core(&area, 1, role, WINDOW, 64, &timer, || true),
            store_cross_core(&area, 1, role, WINDOW, 64, &timer, || true),
            copy_pipeline(&area, 1, role, WINDOW, 64, &timer, || true),
        ];
        for outcome in alone {
            assert!(matches!(outcome, Err(ShmError::GaveUp { .. })), "{outcome:?}");
        }
    }
}

#[test]
fn a_probe_that_was_given_up_leaves_the_next_one_right() {
    let here = Control::create(2).unwrap();
    let there = Control::from_fd(here.fd().try_clone_to_owned().unwrap()).unwrap();
    let timer = Counting::default();
    assert_eq!(probe(&here, Role::Initiator, 1, 2, 10, &timer, || true), None);
    thread::scope(|scope| {
        let answer =
            scope.spawn(|| probe(&there, Role::Responder, 2, 2, 10, &Counting::default(), patient));
        assert_eq!(probe(&here, Role::Initiator, 2, 2, 10, &timer, patient), Some(vec![1, 1]));
        assert_eq!(answer.join().unwrap(), Some(vec![]));
    });
}

#[test]
fn a_report_of_another_epoch_is_none() {
    let here = Control::create(2).unwrap();
    let there = Control::from_fd(here.fd().try_clone_to_owned().unwrap()).unwrap();
    assert_eq!(report(&here, Role::Initiator, 1, 0, || true), None);
    assert_eq!(report(&there, Role::Responder, 1, u32::MAX, || true), Some(u32::MAX));
    assert_eq!(report(&here, Role::Initiator, 1, 0, || true), Some(u32::MAX));
    assert_eq!(report(&here, Role::Initiator, 2, 0, || true), None);
}
