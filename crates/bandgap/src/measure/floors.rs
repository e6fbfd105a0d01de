//! The floors of this machine, and how near bandgap's own layers come to them.
//!
//! All are measured in rounds, interleaved in shuffled order and each between two placement
//! probes, so that a ratio compares neighbours in time and in the same state.

use std::net::{TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bandgap_comm::{CommError, Credited, Delay, Endpoint, Role, Watch, Window, Word};
use bandgap_host::{CycleClock, process::read_process};
use bandgap_kernels::{COMMAND, DONE, Job, Kernel, Pattern};
use bandgap_shm::floor::{self as memory, FloorArea};
use bandgap_shm::{Control, Segment, ShmEndpoint};
use bandgap_socket::{SocketLink, floor as socket, udp};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use super::data::{Batch, Key, Measured};
use super::live::{QUIT, Station, flush, probe_ns};
use super::runner::Stop;
use super::signature::straddles;
use crate::exit::Exit;
use crate::launch::message::{Assignment, Channel};
use crate::launch::rank::{
    Failure, clock, connect_tcp, connect_unix, credited, exchange, farewell, listen_tcp,
    listen_unix, station,
};
use crate::launch::watch::RankWatch;

/// What the user asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FloorPlan {
    /// Indices into [`FLOORS`].
    pub floors: Vec<usize>,
    /// Half-width of an interval over its estimate at which a floor is done.
    pub precision: f64,
    /// Confidence level of intervals.
    pub confidence: f64,
    /// Time for all, in seconds.
    pub budget: f64,
    /// Time between rounds, in seconds: to watch a machine for a while, rather than to measure.
    pub pause: f64,
    /// Seed of the order.
    pub seed: u64,
}

/// What one round of a floor moves or does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Yields {
    /// Half round trips: time is elapsed / (2 · rounds).
    HalfRoundTrip,
    /// Operations or messages: time is elapsed / rounds.
    Operation,
    /// Bytes: rate is bytes · rounds / elapsed.
    Bytes(u64),
}

/// A floor, or a layer of bandgap's measured beside its floor.
#[derive(Clone, Copy, Debug)]
pub struct Floor {
    /// Its name on the command line and in run files.
    pub name: &'static str,
    /// What a round yields.
    pub yields: Yields,
    /// Rounds of one sample.
    pub rounds: u32,
    /// The floor that this layer is compared with; none for a floor itself.
    pub over: Option<&'static str>,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    CacheLine,
    SlotRing,
    SlotRingStream,
    CopyLocal,
    CopyCrossCore,
    CopyVmReadv,
    Tcp,
    Unix,
    Udp,
    TcpStream,
    UnixStream,
    ClockRead,
    SystemCall,
    Shm(Kernel),
    OverTcp,
    OverUnix,
}

/// Bytes that a copy copies.
pub const COPY_BYTES: u64 = 64 << 10;
/// Bytes of one write of a stream.
pub const STREAM_BYTES: u64 = socket::STREAM_BYTES as u64;

const fn floor(name: &'static str, yields: Yields, rounds: u32, kind: Kind) -> Floor {
    Floor { name, yields, rounds, over: None, kind }
}

const fn layer(
    name: &'static str,
    yields: Yields,
    rounds: u32,
    over: &'static str,
    kind: Kind,
) -> Floor {
    Floor { name, yields, rounds, over: Some(over), kind }
}

/// All floors and layers, in the order of the table.
pub const FLOORS: &[Floor] = &[
    floor("cache_line", Yields::HalfRoundTrip, 500, Kind::CacheLine),
    layer("active_message", Yields::HalfRoundTrip, 500, "cache_line", Kind::Shm(Kernel::PingPong)),
    floor("slot_ring", Yields::HalfRoundTrip, 500, Kind::SlotRing),
    floor("slot_ring_stream", Yields::Operation, 8192, Kind::SlotRingStream),
    layer(
        "active_message_stream",
        Yields::Operation,
        8192,
        "slot_ring_stream",
        Kind::Shm(Kernel::Stream),
    ),
    floor("copy_local", Yields::Bytes(COPY_BYTES), 16, Kind::CopyLocal),
    floor("copy_cross_core", Yields::Bytes(COPY_BYTES), 1, Kind::CopyCrossCore),
    floor("copy_vm_readv", Yields::Bytes(COPY_BYTES), 1, Kind::CopyVmReadv),
    floor("tcp", Yields::HalfRoundTrip, 20, Kind::Tcp),
    layer("active_message_tcp", Yields::HalfRoundTrip, 20, "tcp", Kind::OverTcp),
    floor("unix", Yields::HalfRoundTrip, 20, Kind::Unix),
    layer("active_message_unix", Yields::HalfRoundTrip, 20, "unix", Kind::OverUnix),
    floor("udp", Yields::HalfRoundTrip, 20, Kind::Udp),
    floor("tcp_stream", Yields::Bytes(STREAM_BYTES), 2, Kind::TcpStream),
    floor("unix_stream", Yields::Bytes(STREAM_BYTES), 2, Kind::UnixStream),
    floor("clock_read", Yields::Operation, 1, Kind::ClockRead),
    floor("system_call", Yields::Operation, 1, Kind::SystemCall),
];

/// Samples of one batch.
const SAMPLES: u32 = 20;
/// Rounds over all floors at least and at most.
const ROUNDS: std::ops::Range<usize> = 7..60;
/// First word's low nibble of a command that runs a floor; a job's is a kernel.
const FLOOR: Word = 0xE;
/// Longest wait for a system call that may be refused.
const REFUSED: Duration = Duration::from_secs(1);

/// Ticks of each sample, or why this floor cannot be had on this machine.
type Ticks = Result<Vec<u64>, String>;

/// Both ends of everything that is measured, on one rank.
struct Bench {
    role: Role,
    clock: CycleClock,
    control: Arc<Control>,
    area: FloorArea,
    shm: Station<ShmEndpoint, RankWatch>,
    tcp: Station<Credited<SocketLink<TcpStream>>, RankWatch>,
    unix: Station<Credited<SocketLink<UnixStream>>, RankWatch>,
    raw_tcp: TcpStream,
    raw_unix: UnixStream,
    raw_udp: UdpSocket,
    patience: Duration,
    epoch: u64,
}

/// A rank of the floors: the leader measures and decides, the other answers.
///
/// # Errors
/// The ranks could not be connected, or communication failed.
pub fn rank(
    assignment: &Assignment,
    plan: &FloorPlan,
    channel: &mut Channel,
    control: &Arc<Control>,
    segment: &Segment,
    area: FloorArea,
) -> Result<(), Failure> {
    let mut bench = Bench::connect(assignment, channel, control, segment, area)?;
    if assignment.rank == 0 {
        Leader { bench: &mut bench, channel, plan, launch: assignment.launch }.measure()?;
    } else {
        bench.follow()?;
    }
    farewell(channel)
}

impl Bench {
    fn connect(
        assignment: &Assignment,
        channel: &mut Channel,
        control: &Arc<Control>,
        segment: &Segment,
        area: FloorArea,
    ) -> Result<Self, Failure> {
        let failed = |e: &dyn std::fmt::Display| Failure::new("", e, Exit::Communication);
        let clock = clock(assignment)?;
        let (tcp, tcp_raw, unix, unix_raw) =
            (listen_tcp()?, listen_tcp()?, listen_unix()?, listen_unix()?);
        let (udp_socket, udp_address) = udp::bind_loopback().map_err(|e| failed(&e))?;
        let own = [&tcp.1, &tcp_raw.1, &unix.1, &unix_raw.1, &udp_address].map(String::as_str);
        let all = exchange(channel, own.join(" "))?;
        let of = |which: usize| -> Vec<String> {
            let address = |rank: &String| rank.split(' ').nth(which).unwrap_or("").to_owned();
            all.iter().map(address).collect()
        };
        let link_tcp = connect_tcp(assignment, tcp.0, &of(0))?;
        let raw_tcp = connect_tcp(assignment, tcp_raw.0, &of(1))?;
        let link_unix = connect_unix(assignment, unix.0, &of(2))?;
        let raw_unix = connect_unix(assignment, unix_raw.0, &of(3))?;
        let peer = 1 - assignment.rank;
        let raw_udp = udp::connect(udp_socket, &of(4)[peer]).map_err(|e| failed(&e))?;
        let endpoint = ShmEndpoint::attach(segment, assignment.rank, 2).map_err(|e| failed(&e))?;
        let lost = || Failure::new("connect the ranks", &"", Exit::Communication);
        Ok(Self {
            role: if assignment.rank == 0 { Role::Initiator } else { Role::Responder },
            clock,
            control: Arc::clone(control),
            area,
            shm: station(assignment, control, endpoint, clock),
            tcp: station(assignment, control, credited(link_tcp), clock),
            unix: station(assignment, control, credited(link_unix), clock),
            raw_tcp: raw_tcp.into_streams().pop().ok_or_else(lost)?,
            raw_unix: raw_unix.into_streams().pop().ok_or_else(lost)?,
            raw_udp,
            patience: Duration::from_secs_f64(assignment.deadline.min(5.0)),
            epoch: 0,
        })
    }

    /// Carries out the leader's commands.
    fn follow(&mut self) -> Result<(), Stop> {
        loop {
            let active = self.shm.executor().active();
            active.serve_until(|state| !state.commands.is_empty())?;
            let Some(words) = active.state_mut().commands.pop_front() else { continue };
            if words[0] == QUIT {
                active.settle()?;
                self.tcp.executor().active().settle()?;
                return Ok(self.unix.executor().active().settle()?);
            }
            let floor = FLOORS.get((words[0] >> 8) as usize).filter(|_| words[0] & 0xF == FLOOR);
            let Some(floor) = floor else {
                let what = format!("the command {words:x?} is no floor");
                return Err(CommError::Garbage { peer: 0, what }.into());
            };
            let _answered = self.bracketed(floor)?;
            let active = self.shm.executor().active();
            active.request(0, DONE, [])?;
            active.await_replies()?;
        }
    }

    /// One batch between two placement probes, in ticks.
    fn bracketed(&mut self, floor: &Floor) -> Result<(Ticks, Option<[Word; 2]>), Stop> {
        let before = self.shm.probe_as(self.role)?;
        let ticks = self.run(floor)?;
        let after = self.shm.probe_as(self.role)?;
        Ok((ticks, before.zip(after).map(|(before, after)| [before, after])))
    }

    fn run(&mut self, floor: &Floor) -> Result<Ticks, Stop> {
        self.epoch += 1;
        let window = Window { samples: SAMPLES, rounds: floor.rounds };
        let (role, epoch, timer, patience) = (self.role, self.epoch, &self.clock, self.patience);
        let begun = Instant::now();
        let control = &self.control;
        let give_up = |limit: Duration| {
            move || {
                std::thread::yield_now();
                control.stopped() || control.poisoned().is_some() || begun.elapsed() > limit
            }
        };
        let give_up_late = give_up(patience);
        let area = &self.area;
        let ticks = match floor.kind {
            Kind::CacheLine => memory::cache_line(area, epoch, role, window, timer, give_up_late),
            Kind::SlotRing => memory::slot_ring(area, epoch, role, window, timer, give_up_late),
            Kind::SlotRingStream => {
                memory::slot_ring_stream(area, epoch, role, window, timer, give_up_late)
            }
            Kind::CopyCrossCore => {
                let bytes = COPY_BYTES as usize;
                memory::copy_cross_core(area, epoch, role, window, bytes, timer, give_up_late)
            }
            Kind::CopyVmReadv => {
                let bytes = COPY_BYTES as usize;
                let read = |process, address, into: &mut [u8]| {
                    let wanted = into.len();
                    match read_process(process, address, into) {
                        Ok(read) if read == wanted => Ok(()),
                        Ok(_) => Err(std::io::Error::other("fewer bytes than asked")),
                        Err(error) => Err(std::io::Error::other(error.to_string())),
                    }
                };
                // Refused in some containers: the responder notices by waiting in vain.
                let refused = give_up(REFUSED);
                return Ok(memory::copy_vm_readv(
                    area, epoch, role, window, bytes, timer, read, refused,
                )
                .map_err(|error| error.to_string()));
            }
            Kind::CopyLocal => match role {
                Role::Initiator => memory::copy_local(window, COPY_BYTES as usize, timer),
                Role::Responder => Ok(Vec::new()),
            },
            Kind::Tcp => {
                return from_socket(socket::ping_pong(
                    &self.raw_tcp,
                    role,
                    window,
                    timer,
                    patience,
                ));
            }
            Kind::Unix => {
                return from_socket(socket::ping_pong(
                    &self.raw_unix,
                    role,
                    window,
                    timer,
                    patience,
                ));
            }
            Kind::Udp => {
                return from_socket(socket::ping_pong(
                    &self.raw_udp,
                    role,
                    window,
                    timer,
                    patience,
                ));
            }
            Kind::TcpStream => {
                return from_socket(socket::stream(&self.raw_tcp, role, window, timer, patience));
            }
            Kind::UnixStream => {
                return from_socket(socket::stream(&self.raw_unix, role, window, timer, patience));
            }
            Kind::ClockRead | Kind::SystemCall => return Ok(Ok(self.local(floor.kind))),
            Kind::Shm(kernel) => return layer_ticks(&mut self.shm, kernel, window),
            Kind::OverTcp => return layer_ticks(&mut self.tcp, Kernel::PingPong, window),
            Kind::OverUnix => return layer_ticks(&mut self.unix, Kernel::PingPong, window),
        };
        match ticks {
            Ok(ticks) => Ok(Ok(ticks)),
            Err(error) => {
                self.shm.executor().active().watch_mut().check(Duration::ZERO, "a floor")?;
                Err(Stop::Floor(error.to_string()))
            }
        }
    }

    /// Floors that one rank measures by itself.
    fn local(&self, kind: Kind) -> Vec<u64> {
        if self.role == Role::Responder {
            return Vec::new();
        }
        let samples = SAMPLES as usize;
        let ns = match kind {
            Kind::ClockRead => bandgap_host::floor::clock_read(&self.clock, samples),
            _ => bandgap_host::floor::system_call(&self.clock, samples),
        };
        // These are means over many operations: kept to a thousandth of a tick.
        ns.iter().map(|ns| (ns / self.clock.ns_per_tick() * LOCAL_SCALE).round() as u64).collect()
    }
}

/// By how much the ticks of local floors are multiplied, so that they stay integers.
const LOCAL_SCALE: f64 = 1000.0;

fn from_socket(ticks: Result<Vec<u64>, bandgap_socket::SocketError>) -> Result<Ticks, Stop> {
    ticks.map(Ok).map_err(|error| Stop::Floor(error.to_string()))
}

fn layer_ticks<E: Endpoint>(
    station: &mut Station<E, RankWatch>,
    kernel: Kernel,
    window: Window,
) -> Result<Ticks, Stop> {
    let pattern = Pattern::OneToOne { requester: 0, replier: 1 };
    let (messages, samples) = (window.rounds, window.samples);
    let job = Job { kernel, pattern, messages, samples, delay: Delay::NONE, probed: false };
    Ok(Ok(station.executor().execute(&job)?.issue))
}

/// Rank 0: visits the floors in rounds until each is known well enough.
struct Leader<'a> {
    bench: &'a mut Bench,
    channel: &'a mut Channel,
    plan: &'a FloorPlan,
    launch: u32,
}

impl Leader<'_> {
    fn measure(mut self) -> Result<(), Stop> {
        let mut order = Xoshiro256PlusPlus::seed_from_u64(self.plan.seed);
        let begun = Instant::now();
        let mut open: Vec<&Floor> =
            self.plan.floors.iter().filter_map(|&at| FLOORS.get(at)).collect();
        for floor in &open {
            // Code, caches and sockets warm up; what it measures is not kept.
            self.visit(floor)?;
        }
        let mut done = 0;
        for round in 0..ROUNDS.end {
            open.shuffle(&mut order);
            let mut measured = Vec::with_capacity(open.len());
            for floor in &open {
                let batch = self.visit(floor)?;
                measured.push(Measured { key: Key::Floor { name: floor.name.to_owned() }, batch });
            }
            open.retain(|floor| {
                !measured.iter().any(|m| {
                    m.batch.samples.is_empty()
                        && m.key == Key::Floor { name: floor.name.to_owned() }
                })
            });
            let spent = begun.elapsed().as_secs_f64() / self.plan.budget;
            let share = spent.max(round as f64 / ROUNDS.end as f64).min(1.0);
            done = round + 1;
            flush(self.channel, measured, share, &format!("round {done}"))?;
            if round + 1 >= ROUNDS.start && spent > 1.0 {
                break;
            }
            std::thread::sleep(Duration::from_secs_f64(self.plan.pause.clamp(0.0, 1.0)));
        }
        self.command([QUIT, 0, 0, 0])?;
        self.bench.shm.executor().active().settle()?;
        flush(self.channel, Vec::new(), 1.0, &format!("{done} rounds"))
    }

    fn command(&mut self, words: [Word; 4]) -> Result<(), Stop> {
        let active = self.bench.shm.executor().active();
        active.request(1, COMMAND, words)?;
        Ok(active.await_replies()?)
    }

    /// One batch of one floor.
    fn visit(&mut self, floor: &Floor) -> Result<Batch, Stop> {
        let at = FLOORS.iter().position(|f| f.name == floor.name).unwrap_or(0) as Word;
        let done = self.bench.shm.executor().active().state().done + 1;
        self.command([FLOOR | at << 8, 0, 0, 0])?;
        let (ticks, probe) = self.bench.bracketed(floor)?;
        self.bench.shm.executor().active().serve_until(|state| state.done >= done)?;
        let clock = self.bench.clock;
        let probe = probe.map(|ticks| ticks.map(|t| probe_ns(&clock, t)));
        let (samples, mut rejected) = match ticks {
            Ok(ticks) => (ticks.iter().map(|t| per_round(floor, &clock, *t)).collect(), None),
            Err(reason) => (Vec::new(), Some(format!("cannot be had here: {reason}"))),
        };
        if let Some(factor) = straddles(probe) {
            rejected = rejected.or(Some(format!("probes differ {factor:.2} ×")));
        }
        Ok(Batch { samples, probe, delay: None, launch: self.launch, rejected })
    }
}

/// Nanoseconds of one round: of half of it for a half round trip.
fn per_round(floor: &Floor, clock: &CycleClock, ticks: u64) -> f64 {
    if matches!(floor.kind, Kind::ClockRead | Kind::SystemCall) {
        return ticks as f64 / LOCAL_SCALE * clock.ns_per_tick();
    }
    // Copies stamp each round, everything else the whole sample.
    let stamps = match floor.kind {
        Kind::CopyCrossCore | Kind::CopyVmReadv => f64::from(floor.rounds),
        _ => 1.0,
    };
    let elapsed = (clock.to_ns(ticks).0 - stamps * clock.cost().0).max(0.0);
    let halves = if floor.yields == Yields::HalfRoundTrip { 2.0 } else { 1.0 };
    elapsed / (halves * f64::from(floor.rounds))
}
