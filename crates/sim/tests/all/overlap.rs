//! What of an exchange hides behind a computation between its begin and its wait.

use crate::programs::{self, COSTS, NS, byte_machine_with, marks};
use bandgap_comm::{Comm, CommError, Part, Processor};
use bandgap_sim::{Machine, Recorder};

fn machine(progress: &str) -> Machine {
    byte_machine_with(COSTS, &format!("progress = '{progress}'\n"))
}

/// An exchange, and then a computation of so many picoseconds.
fn blocking(comm: &mut Recorder, bytes: usize, work: u64) -> Result<(), CommError> {
    let part = Part::new(0, bytes);
    comm.exchange(1 - comm.rank(), 0, part, part)?;
    comm.compute(programs::wait(work));
    comm.mark();
    Ok(())
}

/// The computation between the begin of the exchange and its wait.
fn begun(comm: &mut Recorder, bytes: usize, work: u64) -> Result<(), CommError> {
    let (peer, part) = (1 - comm.rank(), Part::new(0, bytes));
    let receive = comm.irecv(peer, 0, part)?;
    let send = comm.isend(peer, 0, part)?;
    comm.compute(programs::wait(work));
    comm.wait(send)?;
    comm.wait(receive)?;
    comm.mark();
    Ok(())
}

/// By how much it is faster to begin, compute and wait than to exchange and then compute, in ps.
fn gained(machine: &Machine, bytes: usize, work: u64) -> i64 {
    let time = |program: fn(&mut Recorder, usize, u64) -> _| {
        let stamps = marks(machine, 2, |comm| program(comm, bytes, work));
        assert_eq!(stamps[0], stamps[1]);
        stamps[0][0].cast_signed()
    };
    time(blocking) - time(begun)
}

#[test]
fn all_but_the_overheads_hides_where_messages_move_by_themselves_and_nothing_otherwise() {
    // An exchange takes os + L + n·G + or. What is not overhead, L + n·G, or the computation, if that
    // is shorter, is hidden whole.
    for bytes in [0, 1, 64, 4096, 1 << 20] {
        let under_way = (100 + 3 * bytes as u64) * NS;
        for work in [0, 1, under_way / 2, under_way, 2 * under_way, 100 * under_way] {
            let hidden = under_way.min(work).cast_signed();
            assert_eq!(gained(&machine("asynchronous"), bytes, work), hidden, "{bytes} {work}");
            assert_eq!(gained(&machine("synchronous"), bytes, work), 0, "{bytes} {work}");
        }
    }
}

#[test]
fn where_messages_move_only_in_waits_ranks_that_begin_both_ways_do_not_wait_for_ever() {
    // Each waits for its receive first: that moves its send too.
    let stamps = marks(&machine("synchronous"), 2, |comm| {
        let (peer, part) = (1 - comm.rank(), Part::new(0, 10));
        let send = comm.isend(peer, 0, part)?;
        let receive = comm.irecv(peer, 0, part)?;
        comm.wait(receive)?;
        comm.wait(send)?;
        comm.mark();
        Ok(())
    });
    assert_eq!(stamps, [[180 * NS], [180 * NS]]);
}
