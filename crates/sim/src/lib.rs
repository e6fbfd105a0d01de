//! Records rank programs, and replays them in virtual time on a LogGP machine.
//!
//! * [`record`] runs a program that is generic over [`bandgap_comm::Am`],
//!   [`bandgap_comm::Transfer`] or [`bandgap_comm::Comm`] once per rank, without threads or data,
//!   and returns a [`Schedule`]. [`record_for`] does so for a machine whose messages may move only
//!   where a program waits ([`Progress`]), and [`record_once`] for a single replay. Ranks that do
//!   the same except for their peers share one list of operations, so a million of them need little
//!   memory.
//! * [`Machine`] is the LogGP machine: os, or, g, L, a capacity, and G for bytes. Costs of bytes
//!   may depend on the length of the message ([`Protocol`]).
//! * [`replay`] runs the schedule on the machine, and returns the time stamps.
//!
//! Time is a count of picoseconds, and the replay is deterministic. So a kernel's results on a
//! simulated machine are the machine's parameters, not estimates of them.
//!
//! [`Network`] describes the hops between nodes, and which messages share a channel.
//!
//! [`observe`] returns what ranks did when, and the critical path; [`replay_with_sensitivity`]
//! returns how the end depends on the machine's parameters.
//!
//! [`read_goal`] reads schedules in GOAL, [`replay_goal`] replays them with LogGOPSim's arithmetic,
//! and [`write_goal`] writes a recorded schedule.
//!
//! There is no payload. In a crossbar and between hosts, messages do not contend; in the other
//! networks ([`Network`]) messages that share a channel do.
//!
//! ```
//! use bandgap_comm::{Am, CommError, HandlerId, Verb};
//! use bandgap_sim::{Machine, record, replay};
//!
//! const ECHO: Verb = Verb { handler: HandlerId(0), replies: true };
//!
//! fn round_trip(am: &mut impl Am) -> Result<(), CommError> {
//!     if am.rank() == 0 {
//!         am.mark();
//!         am.request(1, ECHO, 7)?;
//!         am.await_replies()?;
//!         am.mark();
//!         Ok(())
//!     } else {
//!         am.serve(1)
//!     }
//! }
//!
//! let schedule = record(2, |am| round_trip(am))?;
//! let replay = replay(&schedule, &Machine::load("paragon")?)?;
//! // 2(os + L + or) = 2 · (1.4 + 6.35 + 2.2) µs.
//! assert_eq!(replay.marks[0][1] - replay.marks[0][0], 19_900_000);
//! # Ok::<(), bandgap_sim::SimError>(())
//! ```
#![forbid(unsafe_code)]

mod engine;
mod error;
mod fold;
mod goal;
mod machine;
mod network;
mod observed;
mod perfetto;
mod recorder;
mod schedule;
mod slopes;
mod timeline;

pub use engine::{Replay, replay, replay_until};
pub use error::{SimError, Wait, WaitFor};
pub use goal::{
    ANY_PEER, ANY_TAG, Ambiguous, CriticalPath, Derivative, Detours, EAGER, Goal, GoalError,
    GoalReplay, LETTERS, Left, Loggops, Noise, Operation, OperationId, PathStep, Sensitivity, Verb,
    Wrong, observe_goal, read_goal, replay_goal, sensitivity, write_goal,
};
pub use machine::{Machine, Per, Progress, Protocol, Variation};
pub use network::Network;
pub use observed::observe;
pub use perfetto::write_perfetto;
pub use recorder::{Recorder, record, record_for, record_once};
pub use schedule::{Context, Op, Schedule};
pub use slopes::replay_with_sensitivity;
pub use timeline::{Seen, Span, Timeline, Window};
