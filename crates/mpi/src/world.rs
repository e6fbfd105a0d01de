//! An initialised MPI.

use std::ffi::c_int;
use std::rc::Rc;

use bandgap_comm::Rank;

use crate::api::Api;
use crate::{Loaded, MpiError};

/// An MPI that was initialised, with all ranks of the run.
///
/// It is not finalised when it is dropped: that would wait for the other ranks, and a rank whose run failed waits for
/// nobody.
pub struct World {
    pub(crate) api: Api,
    /// The library.
    pub loaded: Loaded,
    rank: Rank,
    size: usize,
}

impl World {
    /// Initialises MPI for one thread. More than that costs Open MPI 4 half as much time again.
    pub(crate) fn init(loaded: Loaded) -> Result<Self, MpiError> {
        const SINGLE: c_int = 0;
        let api = Api::of(&loaded)?;
        let (mut already, mut given, mut rank, mut size) = (0, 0, 0, 0);
        // SAFETY: null pointers stand for the arguments of main.
        unsafe {
            api.initialized(&mut already)?;
            if already != 0 {
                return Err(MpiError::Again);
            }
            let nothing = std::ptr::null_mut();
            api.init_thread(nothing, nothing.cast(), SINGLE, &mut given)?;
            api.set_errhandler(api.world, api.errors_return)?;
            api.comm_rank(api.world, &mut rank)?;
            api.comm_size(api.world, &mut size)?;
        }
        Ok(Self { api, loaded, rank: rank as Rank, size: size as usize })
    }

    /// This process's rank.
    pub fn rank(&self) -> Rank {
        self.rank
    }

    /// Number of ranks.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Ends MPI in order. Every rank calls it, and it may wait for them. Nothing of MPI can be used in this process
    /// afterwards.
    ///
    /// # Errors
    /// [`MpiError::InUse`] while there are libraries or links; [`MpiError::Refused`].
    pub fn finalize(self: Rc<Self>) -> Result<(), MpiError> {
        let others = Rc::strong_count(&self) - 1;
        let world = Rc::into_inner(self).ok_or(MpiError::InUse(others))?;
        // SAFETY: the type of the function. Nothing of MPI is left to use.
        unsafe { world.api.finalize() }
    }
}
