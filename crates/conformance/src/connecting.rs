//! Connecting: ranks are threads that meet as the processes of a run do.

use std::collections::BTreeMap;
use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::ranks::{PATIENCE, SINK, Seen, request, run_over, until_error};
use crate::{EXPOSED, Harness, Result};
use bandgap_comm::{AnyEndpoint, CommError, Endpoint, Rank, Rendezvous, Transport};

/// Time to connect where a rank is missing.
const SHORT: Duration = Duration::from_millis(500);

/// Connects the ranks of a new run, each in its own thread. Returns what becomes of them, in the order in which this is
/// known. `guest` says of a rank which run it is of, and whether it leaves when it has told its address. Each run has its own
/// secret, and another rank that is the first to get the addresses.
///
/// # Panics
/// A rank panicked, or hangs long after the deadline.
fn meet<T: Transport<Endpoint: Send>>(
    size: usize,
    exposed: usize,
    patience: Duration,
    guest: impl Fn(Rank) -> (u8, bool),
) -> impl Iterator<Item = (Rank, Result<AnyEndpoint>)> {
    let prepared = T::prepare(size, exposed).expect("descriptors that ranks inherit");
    let deadline = Instant::now() + patience;
    // Addresses, by how many there are at the end of their round, and by rank.
    let table = Arc::new((Mutex::new(BTreeMap::new()), Condvar::new()));
    let (tell, told) = channel();
    for rank in 0..size {
        let ((run, leaves), table, tell) = (guest(rank), Arc::clone(&table), tell.clone());
        let inherited = prepared.iter().map(|fd| fd.try_clone().expect("a descriptor")).collect();
        thread::spawn(move || {
            let mut due = 0;
            let exchange = &mut |address: String| {
                let (list, news) = &*table;
                let mut list = list.lock().expect("nobody panics with the list");
                due += size;
                list.insert((due, rank), address);
                news.notify_all();
                let left = deadline.saturating_duration_since(Instant::now());
                let list = news.wait_timeout_while(list, left, |list| list.len() < due);
                let (list, late) = list.expect("nobody panics with the list");
                if late.timed_out() || leaves {
                    return Err(CommError::Stopped);
                }
                let all = list.values().skip(due - size).take(size).cloned().collect();
                drop(list);
                (0..500 * ((rank + usize::from(run)) % size)).for_each(|_| thread::yield_now());
                Ok(all)
            };
            let meeting = Rendezvous::new([rank, size], exchange);
            let mut meeting = Rendezvous { secret: [run; 16], deadline, ..meeting };
            let end = T::connect(inherited, exposed, &mut meeting).map(AnyEndpoint::of);
            // Nobody listens any more where another rank has failed.
            let _ = tell.send((rank, end));
        });
    }
    (0..size)
        .map(move |_| told.recv_timeout(patience + PATIENCE).expect("a rank panicked or hangs"))
}

/// The endpoints of a new run of `size` ranks that each expose `exposed` bytes, by rank.
///
/// # Panics
/// A rank was not connected.
pub(crate) fn connected<T: Transport<Endpoint: Send>>(
    size: usize,
    exposed: usize,
    run: u8,
) -> Vec<AnyEndpoint> {
    let connected = |(rank, end): (Rank, Result<_>)| {
        (rank, end.unwrap_or_else(|error| panic!("rank {rank} failed to {error}")))
    };
    let ends = meet::<T>(size, exposed, PATIENCE, |_| (run, false)).map(connected);
    ends.collect::<BTreeMap<_, _>>().into_values().collect()
}

/// Of three runs at once, each rank gets the end of its own rank in its own run, whichever rank goes ahead.
pub fn ranks_meet_their_own_run_in_any_order<T: Transport<Endpoint: Send>>(_: &Harness) {
    let runs = [0, 1, 2].map(|run| thread::spawn(move || connected::<T>(3, EXPOSED, run)));
    let runs = runs.map(|run| run.join().expect("every rank is connected"));
    for (ends, run) in runs.into_iter().zip(0..) {
        let ranks: Vec<_> = ends.iter().map(|end| (end.rank(), end.size())).collect();
        assert_eq!(ranks, [(0, 3), (1, 3), (2, 3)]);
        let logs = run_over(ends, |am| {
            let peers = [am.rank() + 1, am.rank() + 2].map(|peer| peer % 3);
            peers.into_iter().try_for_each(|peer| request(am, peer, SINK, &[run]))
        });
        for log in logs {
            assert!(log.requests.iter().map(|(_, words)| words[0]).eq([run; 2]), "{run}: {log:?}");
        }
    }
}

/// A rank that tells its address and never comes is an error of each other rank: by the deadline, or, if that rank got
/// its end without it, as soon as it makes progress.
pub fn a_rank_that_never_comes_is_noticed<T: Transport<Endpoint: Send>>(made: &Harness) {
    for (rank, end) in meet::<T>(3, EXPOSED, SHORT, |rank| (0, rank == 1)) {
        if let (true, Ok(mut end)) = (made.notices_departure && rank != 1, end) {
            until_error("the missing rank", || end.progress(&mut Seen::default()));
        }
    }
}

/// Who does not know the run's secret is not let in. Only for transports between hosts, where anybody can call.
pub fn nobody_gets_in_without_the_secret<T: Transport<Endpoint: Send>>(_: &Harness) {
    for (rank, end) in meet::<T>(2, EXPOSED, SHORT, |rank| (rank as u8, false)) {
        assert!(end.is_err() || !T::CAN.hosts, "rank {rank} took a stranger for its peer");
    }
}
