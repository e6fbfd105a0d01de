//! A ring: every rank passes messages on to the next one.

use bandgap::kernel::*;

const TAG: u32 = 1;
/// The feature `wrong` sends each message from the place of the next, to show that this is found.
const MISTAKE: u64 = cfg!(feature = "wrong") as u64;

/// M times a message of n bytes goes from each rank to the next.
///
/// Marks of rank 0, in each sample: begin, end, end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(crate = "bandgap::kernel::serde", deny_unknown_fields)]
pub struct Ring {
    messages: u32,
    bytes: usize,
}

impl Kernel for Ring {
    const NAME: &'static str = "ring";
    const SERIES: &'static [Series] = &[Series::of_all("ring", |ranks| ranks as u64)];

    fn at(point: AtSize) -> Option<Self> {
        Some(Self { messages: point.messages, bytes: point.size })
    }

    fn check(&self, size: usize) -> Result<(), Refused> {
        ranks_at_least(2, size).and_then(|()| messages_in_range(self.messages, self.bytes))
    }

    fn needs(&self, _size: usize) -> Needs {
        Needs::both_ways(self.messages.into(), self.bytes)
    }

    fn expects(&self, seat: &Seat) -> Expects {
        let [next, before] = neighbours(seat.rank, seat.size);
        Expects::shifts(seat, self.messages, next, before)
    }
}

impl OverComm for Ring {
    fn run<C: Comm>(&self, comm: &mut C, places: &Places, round: Round) -> Result<(), CommError> {
        let ([next, before], places) = (neighbours(comm.rank(), comm.size()), *places);
        by_rank(comm, 0, round.samples, self.messages, |comm, message| {
            let receive = comm.irecv(before, TAG, places.incoming(message))?;
            comm.send(next, TAG, places.outgoing(message + MISTAKE))?;
            comm.wait(receive)
        })
    }
}

fn neighbours(rank: Rank, size: usize) -> [Rank; 2] {
    [(rank + 1) % size, (rank + size - 1) % size]
}
