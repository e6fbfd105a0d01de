//! GOAL schedules, and their replay with LogGOPSim's arithmetic.
//!
//! [`read_goal`] reads text and binary GOAL. [`Loggops`] holds the parameters. [`replay_goal`]
//! gives the times at which ranks end, and [`sensitivity`] how the last of them depends on the
//! parameters.

mod binary;
mod clock;
mod engine;
mod error;
mod labels;
mod loggops;
mod matching;
mod noise;
mod path;
mod schedule;
mod sensitivity;
mod text;
mod timeline;
mod write;

pub use error::{GoalError, Left, OperationId, Wrong};
pub use loggops::{EAGER, LETTERS, Loggops};
pub use matching::Ambiguous;
pub use noise::{Detours, Noise};
pub use path::{CriticalPath, PathStep};
pub use schedule::{ANY_PEER, ANY_TAG, Goal, Operation, Verb};
pub use sensitivity::{Derivative, Sensitivity, sensitivity};
pub(crate) use sensitivity::{Line, SlopeState};
pub use timeline::observe_goal;
pub use write::write_goal;

use std::io::{BufRead, BufReader, Read};
use std::sync::atomic::AtomicU64;

use error::Result;
use flate2::bufread::MultiGzDecoder;
use noise::Watched;

/// Result of a replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoalReplay {
    /// Number of ranks.
    pub ranks: usize,
    /// Time at which the last processor of a rank is free, in picoseconds, of each of
    /// [`Goal::active`]; all others end at 0.
    pub ends: Vec<(u32, i64)>,
    /// Number of messages sent.
    pub messages: u64,
    /// Time that detours took from the processors of all ranks, in picoseconds.
    pub lost: i64,
    /// Receives that another message would have matched too.
    pub ambiguous: Ambiguous,
}

impl GoalReplay {
    /// The latest of these times.
    pub fn end(&self) -> i64 {
        self.ends.iter().map(|of| of.1).max().unwrap_or_default()
    }

    /// When each rank ends.
    pub fn finish(&self) -> impl Iterator<Item = i64> {
        let mut ends = self.ends.iter().peekable();
        (0..self.ranks as u32).map(move |at| ends.next_if(|of| of.0 == at).map_or(0, |of| of.1))
    }
}

/// Replays a schedule as LogGOPSim does, to the nanosecond, except that simultaneous operations
/// always begin in the order of the file. Noise lengthens computations and o. `done` counts up to
/// [`Goal::steps`].
///
/// # Errors
/// Sends or receives have no match; ranks or operations wait for one another; or virtual time is
/// exhausted.
pub fn replay_goal(
    goal: &Goal,
    loggops: &Loggops,
    noise: Option<&Noise>,
    done: &AtomicU64,
) -> Result<GoalReplay> {
    let owners = noise.map_or(Vec::new(), |_| goal.owners());
    let clock = Watched { loggops, goal, noise, owners, done, lost: 0 };
    let replayed = engine::replay(goal, loggops, clock)?;
    let engine::Replayed { finish, messages, ambiguous, clock } = replayed;
    Ok(GoalReplay { ranks: goal.size(), ends: finish, messages, lost: clock.lost, ambiguous })
}

/// Bytes read at a time.
const AT_A_TIME: usize = 1 << 18;

/// Reads a schedule to its end. The first byte tells its format.
///
/// # Errors
/// It cannot be read, or is neither text nor binary GOAL.
pub fn read_goal(source: impl Read) -> Result<Goal> {
    let mut source = BufReader::with_capacity(AT_A_TIME, source);
    match source.fill_buf()?.first() {
        Some(0x1f) => plain(BufReader::with_capacity(AT_A_TIME, MultiGzDecoder::new(source))),
        _ => plain(source),
    }
}

fn plain(mut source: impl BufRead) -> Result<Goal> {
    let first = binary::COOKIE.to_le_bytes()[0];
    match source.fill_buf()?.first() == Some(&first) {
        true => binary::read(source),
        false => text::read(source),
    }
}
