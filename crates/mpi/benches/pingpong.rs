//! Plain loops over the MPI of whoever started this: `mpirun -n 2 pingpong [BATCHES] [LIBRARY]`. Prints the median of
//! all batches, in nanoseconds: of half a round trip, or of a collective.

use std::error::Error;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Instant;

use bandgap_comm::{CommError, Part};
use bandgap_mpi::{Library, find, start};

/// A loop of so many rounds, on messages of so many bytes.
type Loop = fn(&mut Library, rounds: usize, bytes: usize) -> Result<(), CommError>;

#[inline(never)]
fn ping_pong(library: &mut Library, rounds: usize, bytes: usize) -> Result<(), CommError> {
    let (out, into) = (Part::new(0, bytes), Part::new(1 << 20, bytes));
    for _ in 0..rounds {
        if library.rank() == 0 {
            library.send(1, 1, out)?;
            library.recv(1, 1, into)?;
        } else {
            library.recv(0, 1, into)?;
            library.send(0, 1, out)?;
        }
    }
    Ok(())
}

#[inline(never)]
fn barrier(library: &mut Library, rounds: usize, _: usize) -> Result<(), CommError> {
    (0..rounds).try_for_each(|_| library.barrier())
}

#[inline(never)]
fn allreduce(library: &mut Library, rounds: usize, bytes: usize) -> Result<(), CommError> {
    let (term, sum) = (Part::new(0, bytes), Part::new(1 << 20, bytes));
    (0..rounds).try_for_each(|_| library.sum(term, sum))
}

#[inline(never)]
fn broadcast(library: &mut Library, rounds: usize, bytes: usize) -> Result<(), CommError> {
    (0..rounds).try_for_each(|round| library.broadcast(round & 1, Part::new(0, bytes)))
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let batches: usize = arguments.next().map_or(Ok(21), |batches| batches.parse())?;
    let named = arguments.next().map(PathBuf::from);
    let world = start(find(named.as_deref())?, false)?;
    let mut library = Library::new(Rc::clone(&world))?;
    library.resize(2 << 20);
    let loops: [(&str, Loop, usize, usize, f64); 5] = [
        ("latency", ping_pong, 4000, 8, 2.0),
        ("latency64k", ping_pong, 200, 64 << 10, 2.0),
        ("barrier", barrier, 4000, 0, 1.0),
        ("allreduce", allreduce, 4000, 8, 1.0),
        ("bcast", broadcast, 4000, 8, 1.0),
    ];
    for (name, run, rounds, bytes, parts) in loops {
        let mut times = Vec::new();
        for _ in 0..batches {
            library.barrier()?;
            let begin = Instant::now();
            run(&mut library, rounds, bytes)?;
            times.push(begin.elapsed().as_nanos() as f64 / rounds as f64 / parts);
        }
        times.sort_by(f64::total_cmp);
        if world.rank == 0 {
            println!("{name} {:.1}", times[batches / 2]);
        }
    }
    drop(library);
    Ok(world.finalize()?)
}
