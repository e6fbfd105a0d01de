//! Stamps inside the library: their counts are exact, and nothing of them is left.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::rc::Rc;

use bandgap_comm::{AtBorder, Delay, Part, Timed};
use bandgap_mpi::{DIVISION, Inside, Library, World};
use bandgap_probe::Place::{Callback, Handler, Received};
use bandgap_probe::point::{EVERYWHERE, NOTHING, interval};

const ROUNDS: u64 = 100;
const WARM: u64 = 40;

/// So many messages there and back.
fn echo(library: &mut Library, rounds: u64) -> bandgap_comm::Result<()> {
    let [mine, theirs] = [0, 8].map(|at| Part { at, len: 8 });
    for round in 0..rounds {
        let first = library.rank() == 0;
        if first {
            library.memory_mut()[..8].copy_from_slice(&round.to_le_bytes());
            library.send(1, 1, mine)?;
        }
        library.recv(1 - library.rank(), 1, theirs)?;
        assert_eq!(library.memory()[8..16], round.to_le_bytes());
        if !first {
            library.send(0, 1, theirs)?;
        }
    }
    Ok(())
}

/// The protections of all libraries' pages, and a sum of what is in those that nobody writes: code, and jump slots that are bound at once.
fn pages() -> (Vec<String>, u64) {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let own = maps.lines().filter(|line| line.contains(".so"));
    let memory = File::open("/proc/self/mem").unwrap();
    let (mut all, mut sum) = (Vec::new(), 0_u64);
    for line in own {
        let (range, rest) = line.split_once(' ').unwrap();
        all.push(format!("{range} {}", &rest[..4]));
        if matches!(&rest[..4], "r-xp" | "r--p") {
            let (begin, end) = range.split_once('-').unwrap();
            let [begin, end] = [begin, end].map(|at| u64::from_str_radix(at, 16).unwrap());
            let mut bytes = vec![0; (end - begin) as usize];
            memory.read_exact_at(&mut bytes, begin).unwrap();
            let more = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
            sum = bytes.iter().fold(sum, more);
        }
    }
    (all, sum)
}

pub fn check(world: &Rc<World>) -> &'static str {
    let mut library = Library::new(Rc::clone(world)).unwrap();
    library.resize(16);
    let inside = world.inside().unwrap();
    let callback = match inside.learn(|| echo(&mut library, WARM)) {
        Ok(callback) => callback,
        Err(error) => {
            assert!(matches!(error, bandgap_comm::CommError::Missing(_)), "{error}");
            return "elsewhere";
        }
    };
    let before = pages();
    let mut stamped = |at: AtBorder, inside: &Inside<'_>| -> Timed {
        inside.begin(at).unwrap();
        echo(&mut library, WARM).unwrap();
        inside.reset();
        echo(&mut library, ROUNDS).unwrap();
        inside.end(at, callback).unwrap()
    };
    for model in &DIVISION.models[..2] {
        for part in model.parts {
            let bandgap_comm::division::At::Point(point) = part.at else { panic!("{part:?}") };
            let inserted =
                part.border.map(|place| (place, Delay { iterations: 10, picoseconds: 0 }));
            for inserted in [None, inserted] {
                let Timed { ticks, count, begun } = stamped(AtBorder { point, inserted }, &inside);
                let both = interval(Handler, Received);
                let is_none = match callback {
                    true => point == both,
                    false => {
                        [interval(Handler, Callback), interval(Callback, Received)].contains(&point)
                    }
                };
                assert!(is_none || begun == ROUNDS, "{}: {begun}", part.name);
                assert!(is_none || count >= ROUNDS - 1 && ticks != 0, "{}: {count}", part.name);
                assert!(!is_none || count == 0, "{}: {count}", part.name);
            }
        }
    }
    // Neither has an interval.
    for (point, places) in [(EVERYWHERE, if callback { 6 } else { 5 }), (NOTHING, 0)] {
        let Timed { count, begun, .. } = stamped(AtBorder::point(point), &inside);
        assert_eq!((count, begun), (0, places * ROUNDS));
    }
    assert!(pages() == before, "pages differ");
    // Nothing is counted, since nothing is stamped.
    inside.reset();
    echo(&mut library, WARM).unwrap();
    assert_eq!(inside.end(AtBorder::point(NOTHING), callback).unwrap(), Timed::default());
    if callback { "callback" } else { "no callback" }
}
