//! A library's own message passing and collectives, on parts of a rank's memory.

use std::rc::Rc;

use bandgap_comm::collectives::Collective;
use bandgap_comm::{CommError, DOUBLE, Part, Pending, Rank, Result, check_peer};

use crate::{Kept, Memory, Place, Tagged, Traffic};

/// The highest bit of a tag marks messages of collectives. Libraries' tags may be shorter, so these messages have a
/// channel of their own.
const OWN_BIT: u32 = 1 << 31;

/// The result of beginning a message.
type Begun<T> = Result<Pending<<T as Tagged>::Request>>;

/// Ranks that exchange messages.
struct Team<T: Tagged> {
    /// Their number: the first ranks of the run.
    size: usize,
    /// The channels of programs' messages, and of tags with [`OWN_BIT`].
    channels: [T::Channel; 2],
}

impl<T: Tagged> Clone for Team<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Tagged> Copy for Team<T> {}

impl<T: Tagged> Team<T> {
    fn of(world: &T, size: usize) -> Result<Self> {
        let programs = world.channel(Traffic::Programs, size)?;
        Ok(Self { size, channels: [programs, world.channel(Traffic::Collectives, size)?] })
    }
}

/// One rank's access to a library's own message passing, and the memory that its messages come from and go to.
///
/// The methods are those of [`bandgap_comm::Comm`]; peers and roots are numbered among the members
/// ([`Library::over`]), which are all ranks at first. A message must be received by a receive of
/// the same length. This is not checked here, and not all libraries report a longer message; the caller
/// must compare what it received.
pub struct Library<T: Tagged> {
    world: Rc<T>,
    now: Team<T>,
    teams: Vec<Team<T>>,
    memory: Memory,
}

impl<T: Tagged> Library<T> {
    /// Message passing among all ranks; a collective call. The rank's memory is empty.
    ///
    /// # Errors
    /// The library refused.
    pub fn new(world: Rc<T>) -> Result<Self> {
        let all = Team::of(&*world, world.size())?;
        // Not of length 0: Open MPI's MPI_IN_PLACE is the address of an empty slice.
        Ok(Self { world, now: all, teams: vec![all], memory: Memory::new(0) })
    }

    /// From here on, messages pass among the first `ranks` ranks, including this one. The first
    /// call for a number of ranks makes the channels, and every member must call it; later
    /// calls reuse them.
    ///
    /// # Errors
    /// There are fewer ranks, or this is not one of them; or the library refused.
    pub fn over(&mut self, ranks: usize) -> Result<()> {
        if let Some(team) = self.teams.iter().find(|team| team.size == ranks) {
            self.now = *team;
            return Ok(());
        }
        let all = self.world.size();
        for (peer, size) in [(self.rank(), ranks), (ranks.saturating_sub(1), all)] {
            if peer >= size {
                return Err(CommError::NoSuchPeer { peer, size });
            }
        }
        self.now = Team::of(&*self.world, ranks)?;
        self.teams.push(self.now);
        Ok(())
    }

    /// The library in use.
    pub fn world(&self) -> &Rc<T> {
        &self.world
    }

    /// This rank.
    #[inline(always)]
    pub fn rank(&self) -> Rank {
        self.world.rank()
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
        self.memory.resize(bytes);
    }

    #[inline(always)]
    fn place(&self, peer: Rank, tag: u32) -> Result<Place<T>> {
        check_peer(peer, self.rank(), self.size())?;
        Ok((self.now.channels[usize::from(tag >= OWN_BIT)], peer, tag & !OWN_BIT))
    }

    /// Sends `from` to `peer`; returns once the part may change.
    ///
    /// # Errors
    /// There is no such peer, the part is not in memory, or the library refused.
    #[inline(always)]
    pub fn send(&mut self, peer: Rank, tag: u32, from: Part) -> Result<()> {
        let (to, from) = (self.place(peer, tag)?, self.memory.kept(from)?);
        self.world.send(from, to).map_err(|error| self.memory.failed(error))
    }

    /// Receives the message from `peer` with this tag into `into`.
    ///
    /// # Errors
    /// As [`Library::send`].
    #[inline(always)]
    pub fn recv(&mut self, peer: Rank, tag: u32, into: Part) -> Result<()> {
        let (of, into) = (self.place(peer, tag)?, self.memory.kept(into)?);
        self.world.recv(into, of).map_err(|error| self.memory.failed(error))
    }

    /// Sends `from` to `peer` and receives a message with the same tag from it into `into`, both at
    /// the same time.
    ///
    /// # Errors
    /// As [`Library::send`]; or the parts overlap.
    #[inline(always)]
    pub fn exchange(&mut self, peer: Rank, tag: u32, from: Part, into: Part) -> Result<()> {
        let with = self.place(peer, tag)?;
        from.apart(into)?;
        let (from, into) = (self.memory.kept(from)?, self.memory.kept(into)?);
        self.world.exchange(from, into, with).map_err(|error| self.memory.failed(error))
    }

    /// Begins to send `from` to `peer`.
    ///
    /// # Errors
    /// As [`Library::send`].
    #[inline(always)]
    pub fn isend(&mut self, peer: Rank, tag: u32, from: Part) -> Begun<T> {
        let to = self.place(peer, tag)?;
        self.memory.begin_send(&*self.world, from, to).map(Pending)
    }

    /// Posts a receive for the next message with this tag from `peer`, of the length of `into`.
    ///
    /// # Errors
    /// As [`Library::send`].
    #[inline(always)]
    pub fn irecv(&mut self, peer: Rank, tag: u32, into: Part) -> Begun<T> {
        let of = self.place(peer, tag)?;
        self.memory.begin_recv(&*self.world, into, of).map(Pending)
    }

    /// Waits until the part of a send may change, or a receive has its message.
    ///
    /// # Errors
    /// The library refused.
    #[inline(always)]
    pub fn wait(&mut self, pending: Pending<T::Request>) -> Result<()> {
        self.world.wait(pending.0)?;
        self.memory.ended(1);
        Ok(())
    }

    /// Waits as [`Library::wait`] for all of them, and leaves none.
    ///
    /// # Errors
    /// As [`Library::wait`].
    #[inline(always)]
    pub fn wait_all(&mut self, pending: &mut Vec<Pending<T::Request>>) -> Result<()> {
        let all = pending.len();
        self.world.wait_all(pending)?;
        self.memory.ended(all);
        Ok(())
    }

    /// Copies `part` of member `root` to every member.
    ///
    /// # Errors
    /// As [`Library::send`]; or there is no member `root`.
    #[inline(always)]
    pub fn broadcast(&mut self, root: Rank, part: Part) -> Result<()> {
        let bytes = self.memory.kept(part)?;
        self.member(root)?;
        self.world
            .broadcast(self.now.channels[0], root, bytes)
            .map_err(|error| self.memory.failed(error))
    }

    #[inline(always)]
    fn member(&self, root: Rank) -> Result<()> {
        let size = self.size();
        if root < size { Ok(()) } else { Err(CommError::NoSuchPeer { peer: root, size }) }
    }

    /// The bytes of two vectors of doubles, in this many blocks of one length.
    #[inline(always)]
    fn vectors(&mut self, from: Part, into: Part, blocks: usize) -> Result<[Kept; 2]> {
        from.apart(into)?;
        let kept = [self.memory.kept(from)?, self.memory.kept(into)?];
        let is_whole = from.len == into.len && from.len.is_multiple_of(blocks * DOUBLE);
        if !is_whole || !kept.iter().all(|vector| vector.is_aligned()) {
            return Err(CommError::Lengths { parts: [from, into].into() });
        }
        Ok(kept)
    }

    /// Adds up the doubles in `from` over all members, and gives every member the sum in `into`.
    ///
    /// # Errors
    /// As [`Library::send`]; [`CommError::Lengths`] if the lengths differ or are not whole doubles, or the doubles are not
    /// aligned; or the parts overlap.
    #[inline(always)]
    pub fn sum(&mut self, from: Part, into: Part) -> Result<()> {
        let ([terms, sums], on) = (self.vectors(from, into, 1)?, self.now.channels[0]);
        self.world.sum(on, terms, sums).map_err(|error| self.memory.failed(error))
    }

    /// An operation of all members on the vectors `from` and `into`, by the library's own, as
    /// [`bandgap_comm::Comm::collective`] describes it.
    ///
    /// # Errors
    /// As [`Library::broadcast`] and [`Library::sum`]; [`CommError::Lengths`] also if there are no blocks of one length.
    #[inline(always)]
    pub fn collective(&mut self, of: Collective, root: Rank, from: Part, into: Part) -> Result<()> {
        let size = self.size();
        self.member(root)?;
        let blocks = if of == Collective::Reduce { 1 } else { size };
        let [given, got] = self.vectors(from, into, blocks)?;
        let done = self.world.collective(self.now.channels[0], of, root, size, given, got);
        done.map_err(|error| self.memory.failed(error))
    }

    /// Waits until every member has called it.
    ///
    /// # Errors
    /// The library refused.
    #[inline(always)]
    pub fn barrier(&mut self) -> Result<()> {
        self.world.barrier(self.now.channels[0])
    }
}

#[cfg(test)]
mod tests {
    use bandgap_comm::MAX_FRAME;

    use super::*;

    /// One rank, whose library refuses all collectives but those that it lacks.
    struct Refuses;

    impl Tagged for Refuses {
        type Channel = ();
        type Request = ();

        fn rank(&self) -> Rank {
            0
        }

        fn size(&self) -> usize {
            1
        }

        fn channel(&self, _: Traffic, _: usize) -> Result<()> {
            Ok(())
        }

        fn begin_send(&self, _: Kept, _: Place<Self>) -> Result<()> {
            Ok(())
        }

        fn begin_recv(&self, _: Kept, _: Place<Self>) -> Result<()> {
            Ok(())
        }

        fn ended(&self, (): &mut ()) -> Result<bool> {
            Ok(true)
        }

        fn wait(&self, (): ()) -> Result<()> {
            Ok(())
        }

        fn frame(&self, (): (), _: u32) -> Result<Option<(Rank, [u8; MAX_FRAME])>> {
            Ok(None)
        }

        fn broadcast(&self, (): (), _: Rank, _: Kept) -> Result<()> {
            Err(CommError::SetUp("refused".into()))
        }

        fn sum(&self, (): (), _: Kept, _: Kept) -> Result<()> {
            Err(CommError::SetUp("refused".into()))
        }
    }

    #[test]
    fn what_a_failed_collective_may_still_use_stays() {
        let mut library = Library::new(Rc::new(Refuses)).unwrap();
        library.resize(16);
        let [from, into] = [0, 8].map(|at| Part::new(at, 8));
        // What is refused before the call leaves nothing in flight.
        assert!(library.broadcast(1, from).is_err() && library.memory.under_way() == 0);
        assert!(library.collective(Collective::Reduce, 0, from, into).is_err());
        assert_eq!(library.memory.under_way(), 0);
        let calls: [&dyn Fn(&mut Library<Refuses>) -> Result<()>; 2] =
            [&|library| library.broadcast(0, from), &|library| library.sum(from, into)];
        for (before, call) in calls.into_iter().enumerate() {
            assert!(call(&mut library).is_err());
            assert_eq!(library.memory.under_way(), before + 1);
        }
    }
}
