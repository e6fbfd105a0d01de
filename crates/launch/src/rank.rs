//! A rank's process, from its first instruction to its last.

use std::net::TcpStream;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bandgap_comm::passing::Mail;
use bandgap_comm::{ActiveMessages, Bulk, CommError, Credited, Endpoint, Link, Waiting};
use bandgap_host::{CycleClock, pin, process::die_with_parent};
use bandgap_kernels::{Executor, MessageState, RankState, handlers, message_handlers};
use bandgap_shm::floor::FloorArea;
use bandgap_shm::{Control, Exposed, Segment, ShmEndpoint};
use bandgap_socket::{SocketLink, tcp, udp, unix};

use super::descriptors;
use super::message::{Assignment, Channel, FromRank, ToRank, Wait};
use super::transport::Transport;
use super::watch::RankWatch;
use crate::Exit;
use crate::floors;
use crate::live::{LiveRunner, State, Station, follow};
use bandgap_campaign::{Runner, Stop, Task, contention, pairs, series, signature, surface};

/// The hidden command under which the binary is a rank.
pub const COMMAND: &str = "rank";
/// Slots of a ring in shared memory.
pub const SLOTS: usize = bandgap_shm::DEFAULT_SLOTS;
/// Requests that may be outstanding toward one peer over a socket: several round trips' worth.
const CREDITS: u16 = 32;

/// Everything that goes wrong in a rank, with its class.
pub struct Failure {
    message: String,
    exit: Exit,
}

impl Failure {
    /// A failure of this class, in words fit after "failed to".
    pub fn new(what: &str, error: &dyn std::fmt::Display, exit: Exit) -> Self {
        Self { message: format!("{what}{error}"), exit }
    }
}

impl From<Stop> for Failure {
    fn from(stop: Stop) -> Self {
        let exit = match &stop {
            Stop::Interrupted | Stop::Comm(CommError::Stopped) => Exit::Interrupted,
            Stop::Comm(_) | Stop::Floor(_) => Exit::Communication,
            Stop::Launcher(_) => Exit::Rank,
            Stop::Sim(_) => Exit::Defect,
        };
        if let Stop::Comm(CommError::Deadline { .. }) = stop {
            return Self::new("", &format!("{stop} (--deadline says how long to wait)"), exit);
        }
        Self::new("", &stop, exit)
    }
}

impl From<CommError> for Failure {
    fn from(error: CommError) -> Self {
        Self::from(Stop::Comm(error))
    }
}

/// Runs a rank whose launcher is process `parent`, over the socket that is standard input.
pub fn main(parent: u32) -> ExitCode {
    // When the launcher is already gone there is nobody to report to.
    if die_with_parent(parent).is_err() {
        return ExitCode::from(Exit::Rank as u8);
    }
    let Ok(stream) = std::io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from) else {
        return ExitCode::from(Exit::Rank as u8);
    };
    let (memory, channel) = match (descriptors::receive(&stream), Channel::new(stream)) {
        (Ok(memory), Ok(channel)) => (memory, channel),
        _ => return ExitCode::from(Exit::Rank as u8),
    };
    let mut channel = channel;
    let outcome = match channel.receive() {
        Ok(Some(ToRank::Begin(assignment))) => {
            let [page, segment, exposed, area] = memory;
            let memory = |what: &dyn std::fmt::Display| Failure::new("", what, Exit::Host);
            Control::from_fd(page).map_err(|e| memory(&e)).and_then(|control| {
                let control = Arc::new(control);
                let segment = || Segment::from_fd(segment).map_err(|e| memory(&e));
                let exposed = || Exposed::from_fd(exposed).map_err(|e| memory(&e));
                let area = || FloorArea::from_fd(area).map_err(|e| memory(&e));
                begin(&assignment, &mut channel, &control, segment, exposed, area)
            })
        }
        _ => return ExitCode::from(Exit::Rank as u8),
    };
    let Err(failure) = outcome else { return ExitCode::SUCCESS };
    let code = failure.exit as u8;
    // Without a launcher there is nobody left to tell.
    let _ = channel.send(&FromRank::Failed { message: failure.message, code });
    ExitCode::from(code)
}

/// Says that this rank is done, and waits until all are: a connection that closes earlier would
/// look like a death to peers that still poll.
///
/// # Errors
/// The launcher is gone.
pub fn farewell(channel: &mut Channel) -> Result<(), Failure> {
    let lost = |e: std::io::Error| Failure::new("reach the launcher: ", &e, Exit::Rank);
    channel.send(&FromRank::Done).map_err(lost)?;
    channel.receive::<ToRank>().map_err(lost)?;
    Ok(())
}

fn begin(
    assignment: &Assignment,
    channel: &mut Channel,
    control: &Arc<Control>,
    segment: impl FnOnce() -> Result<Segment, Failure>,
    exposed: impl FnOnce() -> Result<Exposed, Failure>,
    area: impl FnOnce() -> Result<FloorArea, Failure>,
) -> Result<(), Failure> {
    if let Some(cpu) = assignment.cpu {
        pin(cpu).map_err(|e| Failure::new("", &e, Exit::Host))?;
    }
    let Assignment { rank, size, .. } = *assignment;
    if let Task::Floors(plan) = &assignment.task {
        return floors::rank(assignment, plan, channel, control, &segment()?, exposed()?, area()?);
    }
    let bytes = assignment.task.exposed(size, &assignment.transport.tuning());
    match assignment.transport {
        Transport::Shm => {
            let memory = |e| Failure::new("", &e, Exit::Host);
            let mut endpoint = ShmEndpoint::attach(&segment()?, rank, size).map_err(memory)?;
            if bytes > 0 {
                endpoint = endpoint.exposing(exposed()?).map_err(memory)?;
            }
            play(assignment, channel, control, endpoint)
        }
        Transport::Tcp => {
            let (listener, address) = listen_tcp()?;
            let addresses = exchange(channel, address)?;
            let link = connect_tcp(assignment, listener, &addresses)?;
            play(assignment, channel, control, credited(link.exposing(bytes)))
        }
        Transport::Unix => {
            let (listener, name) = listen_unix()?;
            let names = exchange(channel, name)?;
            let link = connect_unix(assignment, listener, &names)?;
            play(assignment, channel, control, credited(link.exposing(bytes)))
        }
        Transport::Udp => {
            let failed = |e| Failure::new("", &e, Exit::Communication);
            let (ports, addresses) = udp::Ports::bind(size).map_err(failed)?;
            let addresses = exchange(channel, addresses)?;
            let link = udp::link(rank, ports, &addresses, &assignment.secret).map_err(failed)?;
            play(assignment, channel, control, credited(link.exposing(bytes)))
        }
    }
}

/// Flow control over a link.
pub fn credited<L: Link>(link: L) -> Credited<L> {
    Credited::new(link, CREDITS)
}

/// Plays this rank's part over `endpoint`.
fn play<E: Bulk>(
    assignment: &Assignment,
    channel: &mut Channel,
    control: &Arc<Control>,
    endpoint: E,
) -> Result<(), Failure> {
    if assignment.task.passes_messages() {
        return play_passing(assignment, channel, control, endpoint);
    }
    let clock = clock(assignment)?;
    let station = station(assignment, control, endpoint, clock);
    carry_out(assignment, channel, clock, station)
}

/// The same in a task of message passing.
fn play_passing<E: Bulk>(
    assignment: &Assignment,
    channel: &mut Channel,
    control: &Arc<Control>,
    endpoint: E,
) -> Result<(), Failure> {
    let clock = clock(assignment)?;
    let station = passing_station(assignment, control, endpoint, clock, assignment.transport)?;
    carry_out(assignment, channel, clock, station)
}

/// Follows the leader, or leads.
fn carry_out<E: Endpoint, S: State>(
    assignment: &Assignment,
    channel: &mut Channel,
    clock: CycleClock,
    mut station: Station<E, RankWatch, S>,
) -> Result<(), Failure> {
    if assignment.rank != 0 {
        follow(&mut station)?;
        return farewell(channel);
    }
    // A probe spins: where ranks share a core or sleep, it would see another machine.
    let probes = !assignment.oversubscribed && assignment.wait != Wait::Block;
    let mut runner =
        LiveRunner::new(station, channel, clock, assignment.work, assignment.launch, probes);
    lead(&mut runner, &assignment.task)?;
    let station = runner.finish("done")?;
    farewell(channel)?;
    drop(station);
    Ok(())
}

/// The clock that the launcher calibrated.
pub fn clock(assignment: &Assignment) -> Result<CycleClock, Failure> {
    CycleClock::with_calibration(assignment.clock).map_err(|e| Failure::new("", &e, Exit::Host))
}

/// A rank's means to carry out jobs over `endpoint`.
fn station<E: Bulk>(
    assignment: &Assignment,
    control: &Arc<Control>,
    endpoint: E,
    clock: CycleClock,
) -> Station<E, RankWatch> {
    let (waiting, watch) = waiting(assignment, control);
    let am = ActiveMessages::new(endpoint, handlers(), RankState::default(), waiting, watch);
    Station::new(Executor::new(am, clock), Arc::clone(control))
}

/// The same for jobs that may be of message passing.
pub fn passing_station<E: Bulk>(
    assignment: &Assignment,
    control: &Arc<Control>,
    endpoint: E,
    clock: CycleClock,
    transport: Transport,
) -> Result<Station<E, RankWatch, MessageState>, Failure> {
    let (waiting, watch) = waiting(assignment, control);
    let (handlers, first) = message_handlers();
    let (rank, size, exposed) = (assignment.rank, assignment.size, endpoint.exposed());
    let mail = Mail::new(rank, size, exposed, 0, &transport.tuning(), first)?;
    let am = ActiveMessages::new(endpoint, handlers, MessageState::new(mail), waiting, watch);
    Ok(Station::new(Executor::new(am, clock), Arc::clone(control)).passing())
}

/// How a rank waits, and what it looks at while it does.
fn waiting(assignment: &Assignment, control: &Arc<Control>) -> (Waiting, RankWatch) {
    let waiting = match assignment.wait {
        Wait::Yield => Waiting::Yield,
        Wait::Block => Waiting::Block,
        Wait::Spin | Wait::Auto => Waiting::Spin,
    };
    let deadline = Duration::from_secs_f64(assignment.deadline);
    (waiting, RankWatch::new(Arc::clone(control), deadline))
}

/// The leader's procedures, in their order.
fn lead<R: Runner>(runner: &mut R, task: &Task) -> Result<(), Stop> {
    let (plan, pairs, fan_in) = match task {
        Task::Signature { plan, pairs, fan_in } => (plan, pairs, fan_in),
        Task::Series(plan) => return series::measure(runner, plan).map(drop),
        Task::Bulk(plan) => return surface::measure(runner, plan),
        Task::Floors(_) => return Ok(()),
    };
    if let Some(most) = fan_in {
        contention::measure(runner, plan, *most, plan.budget)?;
        return Ok(());
    }
    signature::measure(runner, plan)?;
    if *pairs {
        pairs::measure(runner, plan, plan.budget / 4.0)?;
    }
    Ok(())
}

/// Tells the launcher this rank's address and waits for those of all.
pub fn exchange(channel: &mut Channel, address: String) -> Result<Vec<String>, Failure> {
    let lost =
        |error: &dyn std::fmt::Display| Failure::new("reach the launcher: ", error, Exit::Rank);
    channel.send(&FromRank::Address(address)).map_err(|e| lost(&e))?;
    match channel.receive().map_err(|e| lost(&e))? {
        Some(ToRank::Addresses(addresses)) => Ok(addresses),
        _ => Err(lost(&"it answered something else")),
    }
}

/// A TCP link to every other rank.
pub fn connect_tcp(
    assignment: &Assignment,
    listener: tcp::Listener,
    addresses: &[String],
) -> Result<SocketLink<TcpStream>, Failure> {
    let Assignment { rank, size, secret, deadline, .. } = *assignment;
    let deadline = Instant::now() + Duration::from_secs_f64(deadline);
    tcp::connect(rank, size, listener, addresses, secret, deadline)
        .map_err(|e| Failure::new("", &e, Exit::Communication))
}

/// A Unix link to every other rank.
pub fn connect_unix(
    assignment: &Assignment,
    listener: unix::Listener,
    names: &[String],
) -> Result<SocketLink<UnixStream>, Failure> {
    let Assignment { rank, size, secret, deadline, .. } = *assignment;
    let deadline = Instant::now() + Duration::from_secs_f64(deadline);
    unix::connect(rank, size, listener, names, secret, deadline)
        .map_err(|e| Failure::new("", &e, Exit::Communication))
}

/// A listener in the abstract namespace, under a name that cannot be guessed.
pub fn listen_unix() -> Result<(unix::Listener, String), Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::new("", error, Exit::Communication);
    let mut bytes = [0; 16];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())
        .map_err(|e| failed(&e))?;
    let name = format!("bandgap-{:032x}", u128::from_le_bytes(bytes));
    let listener = unix::Listener::bind(name.as_bytes()).map_err(|e| failed(&e))?;
    Ok((listener, name))
}

/// A TCP listener on the loopback interface.
pub fn listen_tcp() -> Result<(tcp::Listener, String), Failure> {
    tcp::Listener::bind_loopback().map_err(|e| Failure::new("", &e, Exit::Communication))
}
