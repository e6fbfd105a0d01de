//! The floors and the probe between two threads: counts, data, and waits that end.

use std::cell::Cell;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use bandgap_comm::{
    Deliver, Endpoint, FloorRole, HandlerId, Measuring, Message, NoHandler, Posted, Rank, Stamp,
    Timer, Window,
};
use bandgap_shm::floor::{
    FloorArea, PARTS, cache_line, cache_line_exchange, copy_cross_core, copy_local, copy_vm_readv,
    ring_lines, slot_ring, slot_ring_stream, store_cross_core,
};
use bandgap_shm::{Control, Segment, ShmEndpoint, ShmError, probe, report};

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

/// What a side is given; `give_up` says whether it gives up waiting.
fn measure<T>(
    role: FloorRole,
    window: Window,
    give_up: impl Fn() -> bool,
    run: impl FnOnce(&Measuring<'_, Counting>) -> T,
) -> T {
    let give_up = |_, _| give_up();
    let timer = &Counting::default();
    run(&Measuring { role, window, timer, turn: 0, patience: Duration::ZERO, give_up: &give_up })
}

/// Never gives up, but lets the other thread run.
fn patient() -> bool {
    thread::yield_now();
    false
}

const WINDOW: Window = Window { samples: 3, rounds: 40 };

/// Runs both roles over one area mapped twice, and returns what each got.
fn both<T: Send>(
    window: Window,
    run: impl Fn(&FloorArea, &Measuring<'_, Counting>) -> T + Sync,
) -> [T; 2] {
    let here = FloorArea::create().unwrap();
    let there = FloorArea::from_fd(here.fd().try_clone_to_owned().unwrap()).unwrap();
    let side = |area, role| measure(role, window, patient, |with| run(area, with));
    thread::scope(|scope| {
        let answer = scope.spawn(|| side(&there, FloorRole::Responder));
        let asked = side(&here, FloorRole::Initiator);
        [asked, answer.join().unwrap()]
    })
}

#[test]
fn each_sample_of_an_exchange_is_one_interval() {
    // Two stamps an interval, so each reads 1.
    let [asked, answered] = both(WINDOW, |area, with| {
        let expected = if with.role == FloorRole::Initiator { vec![1; 3] } else { vec![] };
        // Epochs need not be in order, only new.
        for epoch in [7, 0, 1 << 40, 3] {
            assert_eq!(cache_line(area, epoch + 4, with)?, expected);
            assert_eq!(cache_line_exchange(area, epoch, with)?, expected);
            assert_eq!(slot_ring(area, epoch, with)?, expected);
        }
        Ok::<_, ShmError>(())
    });
    asked.unwrap();
    answered.unwrap();
}

#[test]
fn the_lines_of_a_ring_are_measured_while_its_messages_stay_as_they_are() {
    let segment = Segment::create(2, 16).unwrap();
    let mut here = ShmEndpoint::attach(&segment, 0, 2).unwrap();
    let mut there = ShmEndpoint::attach(&segment, 1, 2).unwrap();
    // All slots of both rings hold a request when the lines are measured.
    let message = |from: u64, number| Message::new(HandlerId(3), [from, number, !number, 7]);
    for number in 0..16 {
        assert_eq!(here.try_request(1, message(0, number)).unwrap(), Posted::Yes);
        assert_eq!(there.try_request(0, message(1, number)).unwrap(), Posted::Yes);
    }
    let window = Window { samples: 2 * PARTS as u32, rounds: 5 };
    let side = |role| {
        let rings = Segment::from_fd(segment.fd().try_clone_to_owned().unwrap()).unwrap();
        measure(role, window, patient, |with| ring_lines(&rings, 7, with))
    };
    thread::scope(|scope| {
        let answer = scope.spawn(|| side(FloorRole::Responder));
        assert_eq!(side(FloorRole::Initiator).unwrap(), [1; 2 * PARTS]);
        assert_eq!(answer.join().unwrap().unwrap(), [0; 0]);
    });
    for (endpoint, from) in [(&mut here, 1), (&mut there, 0)] {
        let mut taken = Taken::default();
        while taken.0.len() < 16 {
            endpoint.progress(&mut taken).unwrap();
        }
        let sent: Vec<Message> = (0..16).map(|number| message(from, number)).collect();
        assert_eq!(taken.0, sent);
    }
}

/// Keeps the requests that arrive.
#[derive(Default)]
struct Taken(Vec<Message>);

impl Deliver for Taken {
    fn request(&mut self, _: Rank, message: Message) -> Result<Option<&Message>, NoHandler> {
        self.0.push(message);
        Ok(None)
    }

    fn reply(&mut self, _: Rank, _: Message) -> Result<(), NoHandler> {
        Ok(())
    }
}

#[test]
fn a_stream_goes_round_its_ring_with_and_without_whole_credits() {
    // 3 × 1300 messages pass the 512 slots seven times; 1300 is no multiple of 128.
    for rounds in [1, 127, 128, 1300] {
        let window = Window { samples: 3, rounds };
        let [asked, answered] = both(window, |area, with| {
            slot_ring_stream(area, 5, with).unwrap();
            slot_ring_stream(area, 6, with)
        });
        assert_eq!(asked.unwrap(), [1; 3]);
        assert_eq!(answered.unwrap(), [0; 0]);
    }
}

#[test]
fn bytes_across_cores_arrive_and_only_they_are_timed() {
    let window = Window { samples: 2, rounds: 3 };
    for bytes in [1, 4096, 100_000] {
        let both = [
            both(window, |area, with| copy_cross_core(area, 1, bytes, with)),
            both(window, |area, with| store_cross_core(area, 1, bytes, with)),
        ];
        for [asked, answered] in both {
            // Three a sample, each between two stamps; the other side checks the bytes.
            assert_eq!(asked.unwrap(), [3; 2]);
            assert_eq!(answered.unwrap(), [0; 0]);
        }
    }
}

/// [`copy_vm_readv`] with this system call, by sides that give up when the other has.
fn copy_by(read: fn(u32, u64, &mut [u8]) -> io::Result<()>) -> [Result<Vec<u64>, ShmError>; 2] {
    let failed = AtomicBool::new(false);
    both(WINDOW, |area, with| {
        let impatient = |_, _| patient() || failed.load(Ordering::Relaxed);
        let with = Measuring { give_up: &impatient, ..*with };
        let result = copy_vm_readv(area, 1, 64, read, &with);
        failed.fetch_or(result.is_err(), Ordering::Relaxed);
        result
    })
}

#[test]
fn a_system_call_that_reads_nothing_is_found_out() {
    let [asked, answered] = copy_by(|process, address, _into| {
        assert_eq!(process, std::process::id());
        assert_ne!(address, 0);
        Ok(())
    });
    assert!(matches!(asked, Err(ShmError::WrongData { floor: "copy_vm_readv", at: 0 })));
    assert!(matches!(answered, Err(ShmError::GaveUp("copy_vm_readv"))));
}

#[test]
fn a_failing_system_call_is_told() {
    let [asked, _] = copy_by(|_, _, _| Err(io::ErrorKind::PermissionDenied.into()));
    assert!(matches!(asked, Err(ShmError::System { .. })));
}

#[test]
fn a_local_copy_is_timed_sample_by_sample() {
    let [asked, answered] = both(WINDOW, |_, with| copy_local(1000, with));
    assert_eq!(asked.unwrap(), [1; 3]);
    assert_eq!(answered.unwrap(), [0; 0]);
}

#[test]
fn who_is_alone_gives_up() {
    let area = FloorArea::create().unwrap();
    for role in [FloorRole::Initiator, FloorRole::Responder] {
        let alone = measure(
            role,
            WINDOW,
            || true,
            |with| {
                [
                    cache_line(&area, 1, with),
                    cache_line_exchange(&area, 1, with),
                    slot_ring(&area, 1, with),
                    slot_ring_stream(&area, 1, with),
                    copy_cross_core(&area, 1, 64, with),
                    store_cross_core(&area, 1, 64, with),
                ]
            },
        );
        for outcome in alone {
            assert!(matches!(outcome, Err(ShmError::GaveUp(_))), "{outcome:?}");
        }
    }
}

#[test]
fn a_probe_that_was_given_up_leaves_the_next_one_right() {
    let here = Control::create().unwrap();
    let there = Control::from_fd(here.fd().try_clone_to_owned().unwrap()).unwrap();
    let window = Window { samples: 2, rounds: 10 };
    let alone = measure(FloorRole::Initiator, window, || true, |with| probe(&here, 1, with));
    assert_eq!(alone, None);
    let side = |control, role| measure(role, window, patient, |with| probe(control, 2, with));
    thread::scope(|scope| {
        let answer = scope.spawn(|| side(&there, FloorRole::Responder));
        assert_eq!(side(&here, FloorRole::Initiator), Some(vec![1, 1]));
        assert_eq!(answer.join().unwrap(), Some(vec![]));
    });
}

#[test]
fn a_report_of_another_epoch_is_none() {
    let here = Control::create().unwrap();
    let there = Control::from_fd(here.fd().try_clone_to_owned().unwrap()).unwrap();
    let side = |control, role, epoch, value| {
        measure(role, WINDOW, || true, |with| report(control, epoch, value, with))
    };
    assert_eq!(side(&here, FloorRole::Initiator, 1, 0), None);
    assert_eq!(side(&there, FloorRole::Responder, 1, u32::MAX), Some(u32::MAX));
    assert_eq!(side(&here, FloorRole::Initiator, 1, 0), Some(u32::MAX));
    assert_eq!(side(&here, FloorRole::Initiator, 2, 0), None);
}
