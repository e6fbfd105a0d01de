//! The calls of MPI that serve as a library of tagged messages.

use std::ffi::c_int;

use bandgap_comm::collectives::Collective;
use bandgap_comm::{DOUBLE, MAX_FRAME, Pending, Rank, Result};
use bandgap_tagged::{Kept, Place, Tagged, Traffic};

use crate::api::count;
use crate::{Handle, World};

/// A message in flight.
pub struct Request(Handle);

/// What [`bandgap_tagged`] says of a [`Kept`] is what every call here needs: its bytes stay until the message has ended,
/// and nobody else uses them during a call.
impl Tagged for World {
    const COLLECTIVES: bool = true;
    /// A communicator.
    type Channel = Handle;
    type Request = Request;

    #[inline(always)]
    fn rank(&self) -> Rank {
        self.rank
    }

    #[inline(always)]
    fn size(&self) -> usize {
        self.size
    }

    fn channel(&self, _: Traffic, ranks: usize) -> Result<Handle> {
        let api = &self.api;
        let mut range = [0, ranks as c_int - 1, 1];
        let [mut all, mut some, mut comm] = [api.world; 3];
        // SAFETY: the arguments have the types of the functions; there is one range.
        unsafe {
            if ranks == self.size {
                api.comm_dup(api.world, &mut comm)?;
                return Ok(api.argument(comm));
            }
            api.comm_group(api.world, &mut all)?;
            api.group_range(api.argument(all), 1, &mut range, &mut some)?;
            api.create_group(api.world, api.argument(some), 0, &mut comm)?;
            comm = api.argument(comm);
            api.set_errhandler(comm, api.errors_return)?;
            api.group_free(&mut some)?;
            api.group_free(&mut all)?;
        }
        Ok(comm)
    }

    #[inline(always)]
    fn begin_send(&self, from: Kept, (comm, to, tag): Place<Self>) -> Result<Request> {
        let (api, len, mut request) = (&self.api, count(from.len())?, comm);
        let (at, to, tag) = (from.at().cast_const().cast(), to as c_int, tag as c_int);
        // SAFETY: the bytes stay until the request has ended.
        unsafe { api.isend(at, len, api.byte, to, tag, comm, &mut request)? };
        Ok(Request(request))
    }

    #[inline(always)]
    fn begin_recv(&self, into: Kept, (comm, of, tag): Place<Self>) -> Result<Request> {
        let (api, len, mut request) = (&self.api, count(into.len())?, comm);
        let (at, of, tag) = (into.at().cast(), of as c_int, tag as c_int);
        // SAFETY: as for a send; nobody else uses them meanwhile.
        unsafe { api.irecv(at, len, api.byte, of, tag, comm, &mut request)? };
        Ok(Request(request))
    }

    #[inline(always)]
    fn ended(&self, request: &mut Request) -> Result<bool> {
        let mut ended = 0;
        // SAFETY: a request of this library that has not ended before.
        unsafe { self.api.test(&mut request.0, &mut ended, self.api.ignore)? };
        Ok(ended != 0)
    }

    #[inline(always)]
    fn frame(&self, comm: Handle, tag: u32) -> Result<Option<(Rank, [u8; MAX_FRAME])>> {
        let (api, tag) = (&self.api, tag as c_int);
        let Some(source) = api.probe(comm, tag)? else { return Ok(None) };
        let mut bytes = [0; MAX_FRAME];
        let (at, room) = (bytes.as_mut_ptr().cast(), MAX_FRAME as c_int);
        // SAFETY: there is room for this many bytes.
        unsafe { api.recv(at, room, api.byte, source, tag, comm, api.ignore)? };
        Ok(Some((source as Rank, bytes)))
    }

    #[inline(always)]
    fn wait(&self, mut request: Request) -> Result<()> {
        // SAFETY: a request of this library, which is not used again.
        unsafe { Ok(self.api.wait(&mut request.0, self.api.ignore)?) }
    }

    /// `MPI_Waitall`.
    #[inline(always)]
    fn wait_all(&self, pending: &mut Vec<Pending<Request>>) -> Result<()> {
        let (api, all, statuses) = (&self.api, count(pending.len())?, self.api.ignore);
        let together = &mut self.room.borrow_mut().together;
        api.side_by_side(pending.drain(..).map(|pending| pending.0.0), together);
        // SAFETY: as many requests of this library, which are not used again. What ignores one
        // status ignores many.
        unsafe { Ok(api.waitall(all, together.as_mut_ptr(), statuses)?) }
    }

    #[inline(always)]
    fn send(&self, from: Kept, (comm, to, tag): Place<Self>) -> Result<()> {
        let (api, len, at) = (&self.api, count(from.len())?, from.at().cast_const().cast());
        // SAFETY: there are this many bytes.
        unsafe { Ok(api.send(at, len, api.byte, to as c_int, tag as c_int, comm)?) }
    }

    #[inline(always)]
    fn recv(&self, into: Kept, (comm, of, tag): Place<Self>) -> Result<()> {
        let (api, len, at) = (&self.api, count(into.len())?, into.at().cast());
        // SAFETY: there is room for this many bytes.
        unsafe { Ok(api.recv(at, len, api.byte, of as c_int, tag as c_int, comm, api.ignore)?) }
    }

    #[inline(always)]
    fn exchange(&self, from: Kept, into: Kept, (comm, peer, tag): Place<Self>) -> Result<()> {
        let (peer, tag) = (peer as c_int, tag as c_int);
        let (sent, room) = (count(from.len())?, count(into.len())?);
        let (from, into) = (from.at().cast_const().cast(), into.at().cast());
        let (api, byte, ignore) = (&self.api, self.api.byte, self.api.ignore);
        // SAFETY: there are this many bytes, and they do not overlap.
        unsafe {
            api.sendrecv(from, sent, byte, peer, tag, into, room, byte, peer, tag, comm, ignore)?;
        }
        Ok(())
    }

    /// `MPI_Bcast`.
    #[inline(always)]
    fn broadcast(&self, comm: Handle, root: Rank, bytes: Kept) -> Result<()> {
        let (api, len, at) = (&self.api, count(bytes.len())?, bytes.at().cast());
        // SAFETY: there are this many bytes.
        unsafe { Ok(api.bcast(at, len, api.byte, root as c_int, comm)?) }
    }

    /// `MPI_Allreduce`.
    #[inline(always)]
    fn sum(&self, comm: Handle, from: Kept, into: Kept) -> Result<()> {
        let (api, doubles, sums) = (&self.api, count(into.len() / DOUBLE)?, into.at().cast());
        let terms = from.at().cast_const().cast();
        // SAFETY: both are aligned, of this length, and do not overlap.
        unsafe { Ok(api.allreduce(terms, sums, doubles, api.double, api.sum, comm)?) }
    }

    /// The function of MPI of its name.
    #[inline(always)]
    fn collective(
        &self,
        comm: Handle,
        of: Collective,
        root: Rank,
        members: usize,
        from: Kept,
        into: Kept,
    ) -> Result<()> {
        let (doubles, each) = (count(from.len() / DOUBLE)?, from.len() / members);
        let counts = &mut self.room.borrow_mut().counts;
        if of == Collective::ReduceScatter {
            let block = count(each / DOUBLE)?;
            if counts.len() != members || counts[0] != block {
                counts.clear();
                counts.resize(members, block);
            }
        }
        let (api, root) = (&self.api, root as c_int);
        let (byte, double, sum, len) = (api.byte, api.double, api.sum, count(each)?);
        let (all, out) = (from.at().cast_const().cast(), into.at().cast());
        // SAFETY: both are aligned, of this length in whole blocks, and do not overlap. A member's own block is within
        // them.
        unsafe {
            let own = from.at().cast_const().add(self.rank * each).cast();
            let place = into.at().add(self.rank * each).cast();
            match of {
                Collective::ReduceScatter => {
                    api.reduce_scatter(all, place, counts.as_ptr(), double, sum, comm)?;
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

    /// `MPI_Barrier`.
    #[inline(always)]
    fn barrier(&self, comm: Handle) -> Result<()> {
        // SAFETY: the argument has the type of the function.
        unsafe { Ok(self.api.barrier(comm)?) }
    }
}
