//! Orders of floors: plain loops on the bare machine, without messages.

use bandgap_comm::{CommError, Result, Window};
use serde::{Deserialize, Serialize};

use crate::{
    Expects, Failed, Kernel, Order, Outcome, Refused, Samples, Seat, Stamps, messages_in_range,
    ranks_at_least,
};

/// A plain loop between ranks 0 and 1, which the order's mechanism implements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BareLoop {
    /// The floor's name.
    pub floor: String,
    /// Bytes of a message.
    pub bytes: usize,
    /// Rounds per sample.
    pub rounds: u32,
    /// Blocks of a computation that each side does before it sends.
    #[serde(default)]
    pub turn: u32,
}

impl Kernel for BareLoop {
    const NAME: &'static str = "floor";

    fn check(&self, size: usize) -> Result<(), Refused> {
        ranks_at_least(2, size)?;
        messages_in_range(self.rounds, self.bytes)
    }

    fn expects(&self, _seat: &Seat) -> Expects {
        Expects::default()
    }

    fn samples(&self, _size: usize, stamps: &Stamps) -> Samples {
        Samples::of_borders(stamps, 0)
    }
}

/// Carries out this rank's part of a floor's order. `measure` returns the ticks of each sample.
///
/// # Errors
/// The order cannot be carried out, or the other side is gone. If this machine does not allow it,
/// that is an outcome and no error.
pub fn carry_out_bare(
    order: &Order,
    size: usize,
    measure: impl FnOnce(&BareLoop, Window) -> Result<Vec<u64>>,
) -> Result<Outcome, Failed> {
    let bare: BareLoop = order.kernel(size)?;
    let window = Window { samples: order.samples, rounds: bare.rounds };
    match measure(&bare, window) {
        // A sample ends where the next one begins.
        Ok(ticks) => {
            let ends = ticks.iter().scan(0, |end, ticks| {
                *end += ticks;
                Some(*end)
            });
            Ok(Outcome { stamps: [0].into_iter().chain(ends).collect(), ..Outcome::default() })
        }
        Err(CommError::Unavailable { reason }) => {
            Ok(Outcome { unavailable: Some(reason), ..Outcome::default() })
        }
        Err(error) => Err(error.into()),
    }
}
