//! The rank that answers.

use bandgap_comm::CommError;
use bandgap_kernels::DONE;

use super::bench::Bench;
use super::command;
use crate::live::QUIT;
use bandgap_campaign::runner::Stop;

impl Bench {
    /// Carries out the leader's commands.
    pub(super) fn follow(&mut self) -> Result<(), Stop> {
        loop {
            let active = self.shm.executor().active();
            active.serve_until(|state| !state.as_ref().commands.is_empty())?;
            let Some(words) = active.state_mut().as_mut().commands.pop_front() else { continue };
            if words[0] == QUIT {
                return Ok(active.settle()?);
            }
            let Some(floor) = command::floor(words) else {
                let what = format!("the command {words:x?} is no floor");
                return Err(CommError::Garbage { peer: 0, what }.into());
            };
            let _answered = self.bracketed(floor)?;
            let active = self.shm.executor().active();
            active.request(0, DONE, [])?;
            active.await_replies()?;
        }
    }
}
