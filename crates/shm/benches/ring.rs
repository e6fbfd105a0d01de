//! The transport compared with the bare cache line: `cargo bench -p bandgap-shm --bench ring`.
//!
//! Two threads run on processors of their own, if there are two. The figures mean nothing if other
//! programs share these. The best of several windows is printed; it is not an estimate.

use std::thread;
use std::time::{Duration, Instant};

use bandgap_comm::{
    ActiveMessages, CommError, DeadlineWatch, FloorRole, HandlerId, Handlers, Measuring, Stamp,
    Timer, Waiting, Window,
};
use bandgap_shm::floor::{FloorArea, cache_line, slot_ring, slot_ring_stream};
use bandgap_shm::{DEFAULT_SLOTS, Segment, ShmEndpoint};

struct Clock(Instant);

impl Timer for Clock {
    fn stamp(&self) -> Stamp {
        Stamp::from_ticks(self.0.elapsed().as_nanos() as u64)
    }

    fn work(&self, _iterations: u32) {}
}

const WINDOWS: u32 = 20;
const ROUNDS: u32 = 20_000;
const WINDOW: Window = Window { samples: WINDOWS, rounds: ROUNDS };
const ECHO: HandlerId = HandlerId(0);
const SINK: HandlerId = HandlerId(1);

/// Requests handled and replies taken.
type State = [u64; 2];

fn pin(processor: usize) {
    let mut set = rustix::thread::CpuSet::new();
    set.set(processor);
    if rustix::thread::sched_setaffinity(None, &set).is_err() {
        eprintln!("not pinned: no processor {processor}");
    }
}

fn active_messages(
    segment: &Segment,
    rank: usize,
) -> ActiveMessages<ShmEndpoint, State, DeadlineWatch> {
    let mut handlers = Handlers::default();
    handlers.request(|state: &mut State, call, word, _, _, _| {
        state[0] += 1;
        call.reply(HandlerId(0), [word])
    });
    handlers.request(|state, call, _, _, _, _| {
        state[0] += 1;
        call.done()
    });
    handlers.reply(|state, _, _, _, _, _| state[1] += 1);
    let endpoint = ShmEndpoint::attach(segment, rank, 2).expect("a free rank");
    let watch = DeadlineWatch(Duration::from_secs(20));
    ActiveMessages::new(endpoint, handlers, [0; 2], Waiting::Spin, watch)
}

/// A ping-pong, a flood with replies, and a stream without; the best time per round of each.
fn initiate(segment: &Segment) -> Result<[f64; 3], CommError> {
    let mut am = active_messages(segment, 0);
    let mut best = [f64::INFINITY; 3];
    for _ in 0..WINDOWS {
        for (kind, handler) in [ECHO, ECHO, SINK].into_iter().enumerate() {
            let start = Instant::now();
            for word in 0..u64::from(ROUNDS) {
                am.request(1, handler, [word])?;
                match kind {
                    0 => am.await_replies()?,
                    1 => drop(am.poll()?),
                    _ => {}
                }
            }
            am.await_replies()?;
            let each = start.elapsed().as_nanos() as f64 / f64::from(ROUNDS);
            best[kind] = best[kind].min(each);
        }
    }
    Ok(best)
}

fn respond(segment: &Segment) -> Result<(), CommError> {
    let mut am = active_messages(segment, 1);
    let all = 3 * u64::from(WINDOWS) * u64::from(ROUNDS);
    am.serve_until(|state| state[0] == all)?;
    am.settle()
}

fn best(ticks: Vec<u64>) -> f64 {
    ticks.into_iter().min().unwrap_or(0) as f64 / f64::from(ROUNDS)
}

fn main() {
    let area = FloorArea::create().expect("shared memory");
    let segment = Segment::create(2, DEFAULT_SLOTS).expect("shared memory");
    let floors = |role| {
        let with = Measuring {
            role,
            window: WINDOW,
            timer: &Clock(Instant::now()),
            turn: 0,
            patience: Duration::MAX,
            give_up: &|_, _| false,
        };
        [cache_line(&area, 1, &with), slot_ring(&area, 1, &with), slot_ring_stream(&area, 1, &with)]
            .map(|floor| best(floor.expect("both sides run")))
    };
    let ([line, ring, stream], [ping_pong, flood, one_way]) = thread::scope(|scope| {
        scope.spawn(|| {
            pin(1);
            floors(FloorRole::Responder);
            respond(&segment).expect("the transport works");
        });
        pin(0);
        let floors = floors(FloorRole::Initiator);
        (floors, initiate(&segment).expect("the transport works"))
    });
    println!("cache line, half round trip       {:8.1} ns", line / 2.0);
    println!("bare slot ring, half round trip   {:8.1} ns", ring / 2.0);
    println!("bare slot ring, stream            {stream:8.1} ns");
    println!("request and reply, half of it     {:8.1} ns", ping_pong / 2.0);
    println!("requests with replies, each       {flood:8.1} ns");
    println!("requests without replies, each    {one_way:8.1} ns");
}
