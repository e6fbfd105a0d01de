//! MPI's own message passing and collectives, on parts of a rank's memory.

use std::ffi::c_int;
use std::rc::Rc;

use bandgap_comm::collectives::Collective;
use bandgap_comm::{CommError, DOUBLE, ExposedMemory, Part, Pending, Rank, Result, check_peer};

use crate::api::{Address, count};
use crate::{Handle, World};

/// The highest bit of a tag marks messages of collectives. MPI's tags are shorter, so these
/// messages have a communicator of their own.
const OWN_BIT: u32 = 1 << 31;
/// Requests for which there is room from the beginning: a window of 512 messages both ways.
const TOGETHER: usize = 1 << 10;

/// A message in flight.
pub struct Request(Handle);

/// The result of beginning a message.
type Begun = Result<Pending<Request>>;

/// Ranks that exchange messages.
#[derive(Clone, Copy)]
struct Team {
    /// Their number: the first ranks of the world.
    size: usize,
    /// The communicators of programs' messages, and of tags with [`OWN_BIT`].
    comms: [Handle; 2],
}

/// One rank's access to MPI's own message passing, and the memory that its messages come from and
/// go to.
///
/// The methods are those of [`bandgap_comm::Comm`]; peers and roots are numbered among the members
/// ([`Library::over`]), which are all ranks at first. A message must be received by a receive of
/// the same length. This is not checked here, and not all MPIs report a longer message; the caller
/// must compare what it received.
pub struct Library {
    world: Rc<World>,
    now: Team,
    teams: Vec<Team>,
    memory: ExposedMemory,
    /// Doubles of each member's block in a reduce-scatter.
    counts: Vec<c_int>,
    /// Requests that have not been waited for.
    under_way: usize,
    /// Requests that are being waited for together.
    together: Vec<Handle>,
}

impl Drop for Library {
    fn drop(&mut self) {
        if self.under_way > 0 {
            // MPI may still use it.
            std::mem::forget(std::mem::take(&mut self.memory));
        }
    }
}

impl Library {
    /// Message passing among all ranks; a collective call. The rank's memory is empty.
    ///
    /// # Errors
    /// MPI refused.
    pub fn new(world: Rc<World>) -> Result<Self> {
        let comms = [world.api.dup(world.api.world)?, world.api.dup(world.api.world)?];
        let all = Team { size: world.size, comms };
        // Not of length 0: Open MPI's MPI_IN_PLACE is the address of an empty slice.
        let memory = ExposedMemory::new(0);
        let (counts, together) = (Vec::with_capacity(world.size), Vec::with_capacity(TOGETHER));
        Ok(Self { world, now: all, teams: vec![all], memory, counts, under_way: 0, together })
    }

    /// From here on, messages pass among the first `ranks` ranks, including this one. The first
    /// call for a number of ranks makes the communicators, and every member must call it; later
    /// calls reuse them.
    ///
    /// # Errors
    /// There are fewer ranks, or this is not one of them; or MPI refused.
    pub fn over(&mut self, ranks: usize) -> Result<()> {
        if let Some(team) = self.teams.iter().find(|team| team.size == ranks) {
            self.now = *team;
            return Ok(());
        }
        let (world, api) = (&self.world, &self.world.api);
        for (peer, size) in [(world.rank, ranks), (ranks.saturating_sub(1), world.size)] {
            if peer >= size {
                return Err(CommError::NoSuchPeer { peer, size });
            }
        }
        let mut range = [0, ranks as c_int - 1, 1];
        let [mut all, mut some, mut comm] = [api.world; 3];
        // SAFETY: the arguments have the types of the functions; there is one range.
        unsafe {
            api.comm_group(api.world, &mut all)?;
            api.group_range(api.argument(all), 1, &mut range, &mut some)?;
            api.create_group(api.world, api.argument(some), 0, &mut comm)?;
            comm = api.argument(comm);
            api.set_errhandler(comm, api.errors_return)?;
            api.group_free(&mut some)?;
            api.group_free(&mut all)?;
        }
        self.now = Team { size: ranks, comms: [comm, api.dup(comm)?] };
        self.teams.push(self.now);
        Ok(())
    }

    /// The MPI library in use.
    pub fn world(&self) -> &Rc<World> {
        &self.world
    }

    /// This rank.
    #[inline(always)]
    pub fn rank(&self) -> Rank {
        self.world.rank
    }

    /// Number of members.
    #[inline(always)]
    pub fn size(&self) -> usize {
        self.now.size
    }

    /// This rank's memory.
    #[inline(always)]
    pub fn memory(&self) -> &[u8] {
        &self.memory
    }

    /// This rank's memory, for writing. A part must not change while a message from or to it is in
    /// flight; otherwise the message has wrong bytes.
    #[inline(always)]
    pub fn memory_mut(&mut self) -> &mut [u8] {
        &mut self.memory
    }

    /// Sets the size of this rank's memory. Existing bytes keep their values, new ones are 0.
    ///
    /// # Panics
    /// If a send or a receive is in flight.
    pub fn resize(&mut self, bytes: usize) {
        assert!(self.under_way == 0, "memory changes only while no message is under way");
        self.memory.resize(bytes);
    }

    #[inline(always)]
    fn place(&self, peer: Rank, tag: u32) -> Result<Address> {
        check_peer(peer, self.rank(), self.size())?;
        let comm = self.now.comms[usize::from(tag >= OWN_BIT)];
        Ok((comm, peer as c_int, (tag & !OWN_BIT) as c_int))
    }

    /// Sends `from` to `peer`; returns once the part may change.
    ///
    /// # Errors
    /// There is no such peer, the part is not in memory, or MPI refused.
    #[inline(always)]
    pub fn send(&mut self, peer: Rank, tag: u32, from: Part) -> Result<()> {
        let place = self.place(peer, tag)?;
        Ok(self.world.api.send_bytes(from.of(&self.memory)?, place)?)
    }

    /// Receives the message from `peer` with this tag into `into`.
    ///
    /// # Errors
    /// As [`Library::send`].
    #[inline(always)]
    pub fn recv(&mut self, peer: Rank, tag: u32, into: Part) -> Result<()> {
        let place = self.place(peer, tag)?;
        Ok(self.world.api.recv_bytes(into.of_mut(&mut self.memory)?, place)?)
    }

    /// Sends `from` to `peer` and receives a message with the same tag from it into `into`, both at
    /// the same time.
    ///
    /// # Errors
    /// As [`Library::send`]; or the parts overlap.
    #[inline(always)]
    pub fn exchange(&mut self, peer: Rank, tag: u32, from: Part, into: Part) -> Result<()> {
        let (comm, peer, tag) = self.place(peer, tag)?;
        from.apart(into)?;
        let (sent, room) = (count(from.len)?, count(into.len)?);
        let from = from.of(&self.memory)?.as_ptr().cast();
        let into = into.of_mut(&mut self.memory)?.as_mut_ptr().cast();
        let (api, byte, ignore) = (&self.world.api, self.world.api.byte, self.world.api.ignore);
        // SAFETY: both parts are in memory, and they do not overlap.
        unsafe {
            api.sendrecv(from, sent, byte, peer, tag, into, room, byte, peer, tag, comm, ignore)?;
        }
        Ok(())
    }

    /// Begins to send `from` to `peer`.
    ///
    /// # Errors
    /// As [`Library::send`].
    #[inline(always)]
    pub fn isend(&mut self, peer: Rank, tag: u32, from: Part) -> Begun {
        let place = self.place(peer, tag)?;
        let bytes = from.of(&self.memory)?;
        // SAFETY: memory moves or ends only while no message is in flight.
        let request = unsafe { self.world.api.begin_send(bytes, place)? };
        self.under_way += 1;
        Ok(Pending(Request(request)))
    }

    /// Posts a receive for the next message with this tag from `peer`, of the length of `into`.
    ///
    /// # Errors
    /// As [`Library::send`].
    #[inline(always)]
    pub fn irecv(&mut self, peer: Rank, tag: u32, into: Part) -> Begun {
        let place = self.place(peer, tag)?;
        let bytes = into.of_mut(&mut self.memory)?;
        // SAFETY: memory moves or ends only while no message is in flight, and no reference into it
        // outlives a call.
        let request = unsafe { self.world.api.begin_recv(bytes, place)? };
        self.under_way += 1;
        Ok(Pending(Request(request)))
    }

    /// Waits until the part of a send may change, or a receive has its message.
    ///
    /// # Errors
    /// MPI refused.
    #[inline(always)]
    pub fn wait(&mut self, pending: Pending<Request>) -> Result<()> {
        let mut request = pending.0.0;
        // SAFETY: a request of this library, which is not used again.
        unsafe { self.world.api.wait(&mut request, self.world.api.ignore)? };
        self.under_way -= 1;
        Ok(())
    }

    /// Waits as [`Library::wait`] for all of them, and leaves none: `MPI_Waitall`.
    ///
    /// # Errors
    /// MPI refused.
    #[inline(always)]
    pub fn wait_all(&mut self, pending: &mut Vec<Pending<Request>>) -> Result<()> {
        let (api, all, statuses) = (&self.world.api, pending.len(), self.world.api.ignore);
        api.side_by_side(pending.drain(..).map(|pending| pending.0.0), &mut self.together);
        // SAFETY: as many requests of this library, which are not used again. What ignores one
        // status ignores many.
        unsafe { api.waitall(count(all)?, self.together.as_mut_ptr(), statuses)? };
        self.under_way -= all;
        Ok(())
    }

    /// Copies `part` of member `root` to every member: `MPI_Bcast`.
    ///
    /// # Errors
    /// As [`Library::send`]; or there is no member `root`.
    #[inline(always)]
    pub fn broadcast(&mut self, root: Rank, part: Part) -> Result<()> {
        let (at, size) = (part.of_mut(&mut self.memory)?.as_mut_ptr().cast(), self.size());
        if root >= size {
            return Err(CommError::NoSuchPeer { peer: root, size });
        }
        let (api, comm, len) = (&self.world.api, self.now.comms[0], count(part.len)?);
        // SAFETY: the part has this many bytes.
        unsafe { Ok(api.bcast(at, len, api.byte, root as c_int, comm)?) }
    }

    /// Adds up the doubles in `from` over all members, and gives every member the sum in `into`:
    /// `MPI_Allreduce`. The two have the same length and may overlap.
    ///
    /// # Errors
    /// As [`Library::send`]; [`CommError::Lengths`] if the lengths differ or are not multiples of
    /// 8.
    #[inline(always)]
    pub fn sum(&mut self, from: Part, into: Part) -> Result<()> {
        let terms = from.of(&self.memory)?.as_ptr().cast::<f64>();
        let sums = into.of_mut(&mut self.memory)?.as_mut_ptr().cast::<f64>();
        if from.len != into.len || !from.len.is_multiple_of(size_of::<f64>()) {
            return Err(CommError::Lengths { parts: [from, into].into() });
        }
        if !terms.is_aligned() || !sums.is_aligned() || from.overlaps(into) {
            return self.sum_aside(from, into);
        }
        let (api, comm, doubles) = (&self.world.api, self.now.comms[0], count(from.len / 8)?);
        // SAFETY: both parts are in memory, aligned, of this length, and do not overlap.
        unsafe { api.allreduce(terms.cast(), sums.cast(), doubles, api.double, api.sum, comm)? };
        Ok(())
    }

    /// The sum by way of aligned memory.
    #[cold]
    #[inline(never)]
    fn sum_aside(&mut self, from: Part, into: Part) -> Result<()> {
        let terms = from.of(&self.memory)?.as_chunks().0;
        let mut sums: Vec<_> = terms.iter().map(|&bytes| f64::from_ne_bytes(bytes)).collect();
        let (api, comm, doubles) = (&self.world.api, self.now.comms[0], count(sums.len())?);
        let at = sums.as_mut_ptr().cast();
        // SAFETY: the vector has this many doubles.
        unsafe { api.allreduce(api.in_place, at, doubles, api.double, api.sum, comm)? };
        let places = into.of_mut(&mut self.memory)?.as_chunks_mut().0;
        places.iter_mut().zip(&sums).for_each(|(place, sum)| *place = sum.to_ne_bytes());
        Ok(())
    }

    /// An operation of all members on the vectors `from` and `into`, by the function of MPI of its name, as
    /// [`bandgap_comm::Comm::collective`] describes it.
    ///
    /// # Errors
    /// As [`Library::broadcast`]; [`CommError::Lengths`] if the lengths differ or are not whole doubles in
    /// blocks of one length; or the parts overlap.
    #[inline(always)]
    pub fn collective(&mut self, of: Collective, root: Rank, from: Part, into: Part) -> Result<()> {
        let (rank, size) = (self.rank(), self.size());
        from.apart(into)?;
        if root >= size {
            return Err(CommError::NoSuchPeer { peer: root, size });
        }
        let given = from.of(&self.memory)?.as_ptr();
        let got = into.of_mut(&mut self.memory)?.as_mut_ptr();
        let (doubles, each) = (count(from.len / DOUBLE)?, from.len / size);
        let (unit, units) = if of == Collective::Reduce { (from.len, 1) } else { (each, size) };
        let is_aligned = given.cast::<f64>().is_aligned() && got.cast::<f64>().is_aligned();
        let divides = unit.is_multiple_of(DOUBLE) && [unit * units, into.len] == [from.len; 2];
        if !is_aligned || !divides {
            return Err(CommError::Lengths { parts: [from, into].into() });
        }
        if of == Collective::ReduceScatter {
            let block = count(each / DOUBLE)?;
            if self.counts.len() != size || self.counts[0] != block {
                self.counts.clear();
                self.counts.resize(size, block);
            }
        }
        let (api, comm, root) = (&self.world.api, self.now.comms[0], root as c_int);
        let (byte, double, sum, len) = (api.byte, api.double, api.sum, count(each)?);
        let (all, out) = (given.cast(), got.cast());
        // SAFETY: both parts are in memory, aligned, of this length in whole blocks, and do not overlap. A
        // member's own block is within them.
        unsafe {
            let own = given.add(rank * each).cast();
            let place = got.add(rank * each).cast();
            match of {
                Collective::ReduceScatter => {
                    api.reduce_scatter(all, place, self.counts.as_ptr(), double, sum, comm)?;
                }
                Collective::AllGather => api.allgather(own, len, byte, out, len, byte, comm)?,
                Collective::AllToAll => api.alltoall(all, len, byte, out, len, byte, comm)?,
                Collective::Reduce => api.reduce(all, out, doubles, double, sum, root, comm)?,
                Collective::Gather => api.gather(own, len, byte, out, len, byte, root, comm)?,
                Collective::Scatter => api.scatter(all, len, byte, place, len, byte, root, comm)?,
            }
        }
        Ok(())
    }

    /// Waits until every member has called it: `MPI_Barrier`.
    ///
    /// # Errors
    /// MPI refused.
    #[inline(always)]
    pub fn barrier(&mut self) -> Result<()> {
        // SAFETY: the argument has the type of the function.
        unsafe { Ok(self.world.api.barrier(self.now.comms[0])?) }
    }
}
