//! An initialised MPI.

use std::fmt;
use std::rc::Rc;

use bandgap_comm::{CommError, Rank};

use crate::api::Api;
use crate::{Abi, Loaded, MpiError};

/// An MPI that was initialised, with all ranks of the run.
///
/// It is not finalised when it is dropped: that would wait for the other ranks, and a rank whose run failed waits for
/// nobody.
pub struct World<A: Abi> {
    pub(crate) api: Api<A>,
    loaded: Loaded,
    rank: Rank,
    size: usize,
}

impl<A: Abi> fmt::Debug for World<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} of {} of {}", self.rank, self.size, self.loaded.name())
    }
}

impl<A: Abi> World<A> {
    pub(crate) fn init(loaded: Loaded) -> Result<Self, MpiError> {
        let api = Api::<A>::of(&loaded)?;
        api.init()?;
        let (rank, size) = (api.rank(api.world)?, api.size(api.world)?);
        Ok(Self { api, loaded, rank, size })
    }

    /// This process's rank.
    pub fn rank(&self) -> Rank {
        self.rank
    }

    /// Number of ranks.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The library.
    pub fn loaded(&self) -> &Loaded {
        &self.loaded
    }

    /// The name of the processor, which is that of the host in most MPIs.
    pub fn processor(&self) -> String {
        self.api.processor()
    }

    /// Whether all ranks share a host. Every rank calls it.
    ///
    /// # Errors
    /// [`MpiError::Refused`].
    pub fn is_on_one_host(&self) -> Result<bool, MpiError> {
        Ok(self.api.on_this_host()? == self.size)
    }

    /// Gives every rank the bytes of `root`. Every rank calls it, with as many bytes.
    ///
    /// # Errors
    /// [`MpiError::Refused`]; [`CommError::NoSuchPeer`] where there is no such rank.
    pub fn broadcast(&self, root: Rank, bytes: &mut [u8]) -> Result<(), CommError> {
        let root = root_of(root, self.size)?;
        Ok(self.api.bcast(bytes, root, self.api.world)?)
    }

    /// Waits until every rank has called it.
    ///
    /// # Errors
    /// [`MpiError::Refused`].
    pub fn barrier(&self) -> Result<(), MpiError> {
        self.api.barrier(self.api.world)
    }

    /// Ends MPI in order. Every rank calls it, and it may wait for them. Nothing of MPI can be used in this process
    /// afterwards.
    ///
    /// # Errors
    /// [`MpiError::InUse`] while there are libraries or links; [`MpiError::Refused`].
    pub fn finalize(self: Rc<Self>) -> Result<(), MpiError> {
        let world = Rc::try_unwrap(self);
        world.map_err(|world| MpiError::InUse { holders: Rc::strong_count(&world) - 1 })?.end()
    }

    pub(crate) fn end(self) -> Result<(), MpiError> {
        self.api.finalize()
    }
}

/// The root of a collective of `size` ranks, as MPI takes it.
#[inline(always)]
pub(crate) fn root_of(root: Rank, size: usize) -> Result<i32, CommError> {
    if root < size { Ok(root as i32) } else { Err(CommError::NoSuchPeer { peer: root, size }) }
}
