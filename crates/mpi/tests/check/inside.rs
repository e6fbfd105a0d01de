//! Stamps inside the library: their counts are exact, and nothing of them is left.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::os::unix::process::parent_id;
use std::rc::Rc;

use bandgap_comm::{AtBorder, Delay, Part, Timed};
use bandgap_mpi::{DIVISION, Inside, Library, World};
use bandgap_probe::PASSES;
use bandgap_probe::Place::{Callback, Handler, Operation, Received, Send, UcpSend};
use bandgap_probe::point::{EVERYWHERE, NOTHING, crosses, interval};

const ROUNDS: u64 = 100;
const WARM: u64 = 40;
/// Rounds of an inserted computation, of four cycles or more each.
const INSERTED: u32 = 100_000;
/// Bytes that UCX sends by rendezvous.
const LONG: usize = 1 << 20;

/// So many messages there and back.
fn echo(library: &mut Library, rounds: u64) -> bandgap_comm::Result<()> {
    echo_of(library, rounds, 8)
}

fn echo_of(library: &mut Library, rounds: u64, len: usize) -> bandgap_comm::Result<()> {
    let [mine, theirs] = [0, len].map(|at| Part { at, len });
    for round in 0..rounds {
        let first = library.rank() == 0;
        if first {
            library.memory_mut()[..8].copy_from_slice(&round.to_le_bytes());
            library.send(1, 1, mine)?;
        }
        library.recv(1 - library.rank(), 1, theirs)?;
        assert_eq!(library.memory()[len..len + 8], round.to_le_bytes());
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

/// Whether a function is this program's own, as hooks are.
fn is_own(function: usize) -> bool {
    let program = std::env::current_exe().unwrap();
    is_in(function, |line| line.ends_with(program.to_str().unwrap()))
}

/// Whether a word is none, or holds the address of a function.
fn is_code(function: usize) -> bool {
    function == 0 || is_in(function, |line| line.contains(" r-xp "))
}

fn is_in(function: usize, mapping: impl Fn(&str) -> bool) -> bool {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    maps.lines().filter(|line| mapping(line)).any(|line| {
        let (begin, end) = line.split_once(' ').unwrap().0.split_once('-').unwrap();
        let [begin, end] = [begin, end].map(|at| usize::from_str_radix(at, 16).unwrap());
        (begin..end).contains(&function)
    })
}

/// What is in each word that stamps change, and in how many a hook.
fn words(inside: &Inside<'_>) -> (Vec<usize>, usize) {
    let all: Vec<usize> = inside.words().iter().map(|word| word.get()).collect();
    let hooks = all.iter().filter(|function| is_own(**function)).count();
    (all, hooks)
}

/// The names of what was passed.
fn names(passed: u32) -> Vec<&'static str> {
    (0..).zip(PASSES).filter(|(bit, _)| passed >> bit & 1 == 1).map(|(_, name)| name).collect()
}

/// More messages than UCX's queue over shared memory holds, to a rank that receives none until all are sent: operations are
/// busy, and are called again.
fn crowd(library: &mut Library) {
    let (part, sent) = (Part { at: 0, len: 8 }, format!("bandgap-sent-{}", parent_id()));
    let sent = std::env::temp_dir().join(sent);
    if library.rank() == 0 {
        let mut all: Vec<_> = (0..ROUNDS).map(|_| library.isend(1, 2, part).unwrap()).collect();
        fs::write(&sent, "").unwrap();
        library.wait_all(&mut all).unwrap();
        library.recv(1, 2, part).unwrap();
        fs::remove_file(&sent).unwrap();
    } else {
        while !sent.exists() {}
        (0..ROUNDS).for_each(|_| library.recv(0, 2, part).unwrap());
        library.send(0, 2, part).unwrap();
    }
}

/// What MPI may not be sent to another thread for, unless this one waits for it.
struct Lent<T>(T);
// SAFETY: the thread that lends it waits.
unsafe impl<T> std::marker::Send for Lent<T> {}

pub fn check(world: &Rc<World>) -> &'static str {
    let mut library = Library::new(Rc::clone(world)).unwrap();
    library.resize(2 * LONG);
    let inside = world.inside().unwrap();
    // What was opened is noted, until messages are learnt.
    assert_eq!(words(&inside).1, 2);
    // Nothing that was closed: freed memory holds other bytes (MALLOC_PERTURB_).
    assert!(inside.words().iter().all(|word| is_code(word.get())), "a word is no function");
    let passed = match inside.learn(|| echo(&mut library, WARM)) {
        Ok(passed) => passed,
        Err(error) => {
            assert!(matches!(error, bandgap_comm::CommError::Missing(_)), "{error}");
            return "elsewhere";
        }
    };
    let callback = names(passed).contains(&"callback");
    let ways = std::env::var("UCX_TLS").unwrap() + ",callback";
    let eager = names(passed).into_iter().filter(|name| ways.split(',').all(|way| way != *name));
    assert_eq!(eager.collect::<Vec<_>>(), ["am_short", "eager"]);
    let before = (pages(), words(&inside));
    assert_eq!(before.1.1, 0);
    let mut stamped = |at: AtBorder, inside: &Inside<'_>| -> Timed {
        inside.begin(at).unwrap();
        echo(&mut library, WARM).unwrap();
        inside.reset();
        echo(&mut library, ROUNDS).unwrap();
        inside.end(at, passed).unwrap()
    };
    for model in &DIVISION.models[..2] {
        for part in model.parts {
            let bandgap_comm::division::At::Point(point) = part.at else { panic!("{part:?}") };
            let inserted =
                part.border.map(|place| (place, Delay { iterations: INSERTED, picoseconds: 0 }));
            for inserted in [None, inserted] {
                let Timed { ticks, count, begun, .. } =
                    stamped(AtBorder { point, inserted }, &inside);
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
                // What is between the ranks is no time of one of them.
                let least = count as i64 * i64::from(INSERTED);
                let is_in = inserted.is_some() && !crosses(point);
                assert!(!is_in || ticks >= least, "{}: {ticks} {least}", part.name);
            }
        }
    }
    // Neither has an interval.
    for (point, places) in [(EVERYWHERE, if callback { 6 } else { 5 }), (NOTHING, 0)] {
        let Timed { count, begun, .. } = stamped(AtBorder::point(point), &inside);
        assert_eq!((count, begun), (0, places * ROUNDS));
    }
    assert!((pages(), words(&inside)) == before, "pages or words differ");
    inside.begin(AtBorder::point(EVERYWHERE)).unwrap();
    assert!(words(&inside).1 > 4);
    inside.end(AtBorder::point(EVERYWHERE), passed).unwrap();
    // Nothing is counted, since nothing is stamped.
    inside.reset();
    echo(&mut library, WARM).unwrap();
    assert_eq!(inside.end(AtBorder::point(NOTHING), 0).unwrap(), Timed::default());
    // Another thread's calls are told, and leave no count that is exact.
    let at = AtBorder::point(interval(Send, UcpSend));
    inside.begin(at).unwrap();
    inside.reset();
    let mut lent = Lent(&mut library);
    std::thread::scope(|threads| threads.spawn(move || echo({ &mut lent }.0, ROUNDS)).join())
        .unwrap()
        .unwrap();
    assert_eq!(inside.end(at, passed).unwrap().begun, 2 * ROUNDS);
    let long = inside.learn(|| echo_of(&mut library, WARM, LONG)).unwrap();
    assert!(names(long).contains(&"rendezvous"), "{:?}", names(long));
    let at = AtBorder::point(interval(Operation, Send));
    inside.begin(at).unwrap();
    inside.reset();
    crowd(&mut library);
    let begun = inside.end(at, passed).unwrap().begun;
    let is_busy = library.rank() == 0 && ways.contains("posix");
    assert_eq!(begun > ROUNDS + 1, is_busy, "{begun}");
    // The next file is another.
    echo(&mut library, 1).unwrap();
    let passed = inside.learn(|| {
        crowd(&mut library);
        Ok(())
    });
    let passed = passed.unwrap();
    assert_eq!(names(passed).contains(&"busy"), is_busy);
    assert!((pages(), words(&inside)) == before, "pages or words differ");
    if callback { "callback" } else { "no callback" }
}
