//! A rank's process, from its first instruction to its last.

use std::error::Error;
use std::ffi::CString;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::vec;

use bandgap_campaign::Stop;
use bandgap_campaign::data::Kept;
use bandgap_campaign::runner::Runner;
use bandgap_comm::{CommError, Rendezvous, Result, Waiting};
use bandgap_host::{CycleClock, pin, process::die_with_parent};
use bandgap_shm::Control;

use crate::cause::{Cause, Noted};
use crate::floors::Bares;
use crate::live::{LiveRunner, follow};
use crate::machine::Parts;
use crate::message::{Assignment, Channel, FromRank, ToRank, Wait};
use crate::mpi::finalize;
use crate::station::Station;
use crate::watch::RankWatch;
use crate::{Exit, Transport, descriptors};

/// The hidden command that runs the program as a rank.
pub(crate) const COMMAND: &str = "rank";

/// Bytes that each rank has heard of others once they are connected.
const GREETING: u64 = 64;

/// The class and kind of the failure that makes a rank give up.
fn kind(stop: &Stop) -> (Exit, Cause) {
    use CommError::{Connect, Deadline, Missing, PeerGone, SetUp, Stopped, Usage};
    match stop {
        Stop::Interrupted | Stop::Comm(Stopped) => (Exit::Interrupted, Cause::LostPeer),
        Stop::Comm(PeerGone { .. }) => (Exit::Communication, Cause::LostPeer),
        Stop::Comm(Deadline { .. } | Connect(_)) => (Exit::Communication, Cause::Waited),
        Stop::Comm(SetUp(_)) => (Exit::Host, Cause::Own),
        Stop::Comm(Missing(_)) => (Exit::Remote, Cause::Own),
        Stop::Comm(Usage(_)) => (Exit::Usage, Cause::Own),
        Stop::Comm(_) => (Exit::Communication, Cause::Own),
        Stop::Wrong(_) => (Exit::Communication, Cause::Wrong),
        Stop::Launcher(_) => (Exit::Rank, Cause::Waited),
        _ => (Exit::Defect, Cause::Own),
    }
}

/// A refusal of this machine.
fn host(error: impl Into<Box<dyn Error + Send + Sync>>) -> CommError {
    CommError::SetUp(error.into())
}

/// Names the process after the command that the user called; its path would name it `exe`.
fn name_thread() {
    let called = std::env::args_os().next().map(PathBuf::from).unwrap_or_default();
    let name = called.file_name().and_then(|name| CString::new(name.as_bytes()).ok());
    if let Some(name) = name {
        // Only listings of processes show it.
        let _ = rustix::thread::set_name(&name);
    }
}

/// Runs a rank whose launcher is process `parent`, over the socket that is standard input.
pub fn main(parent: u32) -> ExitCode {
    name_thread();
    let Ok(stream) = std::io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from) else {
        return Exit::Rank.into();
    };
    let inherited = die_with_parent(parent).map_err(host).and_then(|()| {
        let refused =
            |error| host(format!("receive the launcher's descriptors (recvmsg): {error}"));
        descriptors::receive(&stream).map_err(refused)
    });
    let mut channel = Channel::new(stream);
    let served = inherited.map_err(Stop::from).and_then(|own| serve(&mut channel, own));
    let Err(stop) = served else { return ExitCode::SUCCESS };
    let advice = match stop {
        Stop::Comm(CommError::Deadline { .. }) => " (--deadline says how long to wait)",
        _ => "",
    };
    let ((exit, cause), what) = (kind(&stop), format!("it failed to {stop}{advice}"));
    // A launcher that is gone need not be told.
    let _ = channel.send(&FromRank::Failed(Noted { cause, what, exit }));
    exit.into()
}

/// Takes part in the launches for which the launcher needs this process.
fn serve(channel: &mut Channel, inherited: Vec<OwnedFd>) -> Result<(), Stop> {
    let Some(ToRank::Begin(mut assignment)) = channel.receive()? else {
        return Err(CommError::Stopped.into());
    };
    let mut inherited = inherited.into_iter();
    let page = inherited.next().ok_or_else(|| host("find the control page"))?;
    let control = Arc::new(Control::from_fd(page).map_err(host)?);
    loop {
        let own = std::mem::replace(&mut inherited, Vec::new().into_iter());
        take_part(&assignment, channel, &control, own)?;
        if !rests(&assignment) {
            return Ok(());
        }
        let again = channel.send(&FromRank::Rests).and_then(|()| channel.receive());
        let Ok(Some(ToRank::Begin(next))) = again else { return Ok(finalize()?) };
        assignment = next;
    }
}

/// Whether the next launch needs this process: a library can be initialised only once.
fn rests(assignment: &Assignment) -> bool {
    let named = assignment.transports.iter().map(|(name, _)| name.parse::<Transport>());
    named.flatten().any(|transport| transport.can.once)
}

fn take_part(
    assignment: &Assignment,
    channel: &mut Channel,
    control: &Arc<Control>,
    inherited: vec::IntoIter<OwnedFd>,
) -> Result<(), Stop> {
    let begun = Instant::now();
    if let Some(cpu) = assignment.cpu {
        pin(cpu).map_err(host)?;
    }
    let mut station = connect(assignment, channel, control, inherited)?;
    channel.send(&FromRank::Connected)?;
    if assignment.rank != 0 {
        follow(&mut station)?;
        return farewell(&mut station, channel);
    }
    let library = station.first()?.library();
    let mut runner = LiveRunner::new(station, channel, assignment, begun);
    library.map_or(Ok(()), |library| runner.keep(Kept::Library(library)))?;
    if let Err(stop) = assignment.task.lead(&mut runner) {
        runner.give_up();
        return Err(stop);
    }
    let mut station = runner.finish()?;
    farewell(&mut station, channel)
}

/// Connects this rank's ends of all assigned transports.
fn connect(
    assignment: &Assignment,
    channel: &mut Channel,
    control: &Arc<Control>,
    mut inherited: vec::IntoIter<OwnedFd>,
) -> Result<Station> {
    let Assignment { rank, size, exposed, deadline, .. } = *assignment;
    let clock = CycleClock::with_calibration(assignment.clock).map_err(host)?;
    let control = Arc::clone(control);
    let waiting = match assignment.wait {
        Wait::Yield => Waiting::Yield,
        Wait::Block => Waiting::Block,
        Wait::Spin | Wait::Auto => Waiting::Spin,
    };
    let (secret, until) = (assignment.secret, Instant::now() + deadline);
    let interface = assignment.interface.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let library = assignment.library.as_deref();
    let exchange = &mut |address| exchange(channel, address, until);
    let mut meeting = Rendezvous {
        secret,
        deadline: until,
        interface,
        library,
        stamped: assignment.stamped,
        ..Rendezvous::new([rank, size], exchange)
    };
    let named = |name: &str| name.parse::<Transport>().map_err(|error: String| host(error));
    let parts = |transport: &Transport| {
        let watch = RankWatch { control: Arc::clone(&control), deadline };
        Parts { clock, waiting, watch, tuning: transport.can.tuning }
    };
    let mut handed = |count: usize| -> Vec<OwnedFd> { inherited.by_ref().take(count).collect() };
    let mut machines = Vec::new();
    for (name, count) in &assignment.transports {
        let (transport, own) = (named(name)?, handed(*count));
        meeting.argument = transport.argument;
        let machine = (transport.connect)(own, exposed, &mut meeting, parts(&transport))?;
        machines.push((transport, machine));
    }
    let stamped = match assignment.transports.first() {
        Some((name, _)) if assignment.stamped => {
            let transport: Transport = named(name)?;
            transport.stamped.map(|connect| connect(&mut meeting, parts(&transport))).transpose()?
        }
        _ => None,
    };
    let inherited = assignment.bares.iter().map(|(name, count)| (name.clone(), handed(*count)));
    let inherited = inherited.collect();
    let library = assignment.library.clone();
    let bares = Bares { ends: Vec::new(), inherited, secret, interface, library };
    let (epoch, passed) = (0, GREETING);
    Ok(Station { rank, size, machines, stamped, bares, control, clock, deadline, epoch, passed })
}

/// Time between two checks of a finished rank whether a peer lacks its last message.
const LAST_LOOKS: Duration = Duration::from_millis(1);

/// Reports that this rank is done, and waits until all are: to peers that still poll, a connection that
/// closes earlier would look like a dead rank.
fn farewell(station: &mut Station, channel: &mut Channel) -> Result<(), Stop> {
    channel.send(&FromRank::Done)?;
    // A peer that is gone needs nothing more.
    while station.first()?.tend().unwrap_or(false) && !channel.has_arrived(LAST_LOOKS)? {}
    channel.receive::<ToRank>()?;
    Ok(())
}

/// Sends this rank's address to the launcher, and returns those of all ranks.
fn exchange(channel: &mut Channel, address: String, until: Instant) -> Result<Vec<String>> {
    let lost = |source| CommError::System { operation: "reach the launcher", source };
    let begun = Instant::now();
    channel.send(&FromRank::Address(address)).map_err(lost)?;
    if !channel.has_arrived(until.saturating_duration_since(begun)).map_err(lost)? {
        let waiting_for = "the addresses of all ranks";
        return Err(CommError::Deadline { waited: begun.elapsed(), waiting_for });
    }
    match channel.receive().map_err(lost)? {
        Some(ToRank::Addresses(addresses)) => Ok(addresses),
        _ => Err(CommError::Stopped),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::station::tests::tended;

    #[test]
    fn who_is_done_sees_to_it_that_its_last_message_arrives() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let (mut rank, mut launcher) = (Channel::new(ours), Channel::new(theirs));
        let control = Arc::new(Control::create().unwrap());
        let arrived = Arc::new(AtomicBool::new(false));
        std::thread::scope(|threads| {
            threads.spawn(|| {
                let done: Option<FromRank> = launcher.receive().unwrap();
                assert!(matches!(done, Some(FromRank::Done)));
                // The other rank lacks the last message and is not done before it arrives.
                let begun = Instant::now();
                while !arrived.load(Ordering::Relaxed) && begun.elapsed() < Duration::from_secs(60)
                {
                    std::thread::yield_now();
                }
                launcher.send(&ToRank::Noted).unwrap();
            });
            farewell(&mut tended(&control, 0, &arrived), &mut rank).unwrap();
        });
        assert!(arrived.load(Ordering::Relaxed));
    }
}
