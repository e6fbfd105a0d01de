//! Waiting for a library.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use bandgap_comm::{CommError, Measuring, Result, Timer};

/// Fruitless looks at a message between two readings of the clock.
const PATIENCE: u32 = 1 << 10;
/// Longest wait to begin a message.
const LONGEST: Duration = Duration::from_secs(30);

/// What a waiting rank does, and after how many fruitless looks at a message.
pub struct Look {
    patience: u32,
    /// Gets the time that the wait has lasted.
    call: RefCell<Box<dyn FnMut(Duration) -> Result<()>>>,
}

impl Look {
    /// Calls this after so many fruitless looks. An error ends the wait.
    pub fn new(patience: u32, call: impl FnMut(Duration) -> Result<()> + 'static) -> Self {
        Self { patience, call: RefCell::new(Box::new(call)) }
    }

    /// That of a floor, which nobody watches.
    pub fn of_floor() -> Self {
        Self::new(PATIENCE, |waited| {
            let waiting_for = "a message that cannot be begun";
            if waited < LONGEST { Ok(()) } else { Err(CommError::Deadline { waited, waiting_for }) }
        })
    }

    /// Waits until something has happened.
    ///
    /// # Errors
    /// Those of `has_happened`, or the wait is over.
    #[inline(always)]
    pub fn until(&self, has_happened: impl FnMut() -> Result<bool>) -> Result<()> {
        until(self.patience, |waited| self.look(waited), has_happened)
    }

    #[cold]
    fn look(&self, waited: Duration) -> Result<()> {
        (self.call.borrow_mut())(waited)
    }
}

/// Waits in a floor until something has happened.
#[inline(always)]
pub(crate) fn wait(
    with: &Measuring<'_, impl Timer>,
    has_happened: impl FnMut() -> Result<bool>,
) -> Result<()> {
    let look = |waited| match (with.give_up)(waited, with.patience) {
        true => Err(CommError::Deadline { waited, waiting_for: "the other side of a floor" }),
        false => Ok(()),
    };
    until(PATIENCE, look, has_happened)
}

#[inline(always)]
fn until(
    patience: u32,
    look: impl Fn(Duration) -> Result<()>,
    mut has_happened: impl FnMut() -> Result<bool>,
) -> Result<()> {
    let (mut looks, mut since) = (0, None);
    while !has_happened()? {
        looks += 1;
        if looks == patience {
            looks = 0;
            look(since.get_or_insert_with(Instant::now).elapsed())?;
        }
    }
    Ok(())
}
