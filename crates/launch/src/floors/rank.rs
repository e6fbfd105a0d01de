//! A rank of the floors.

use std::sync::Arc;

use bandgap_shm::floor::FloorArea;
use bandgap_shm::{Control, Exposed, Segment};

use super::bench::Bench;
use super::leader::Leader;
use crate::message::{Assignment, Channel};
use crate::rank::{Failure, farewell};
use bandgap_campaign::floors::FloorPlan;

/// A rank of the floors: the leader measures and decides, the other answers.
///
/// # Errors
/// The ranks could not be connected, or communication failed.
pub fn rank(
    assignment: &Assignment,
    plan: &FloorPlan,
    channel: &mut Channel,
    control: &Arc<Control>,
    segment: &Segment,
    exposed: Exposed,
    area: FloorArea,
) -> Result<(), Failure> {
    let mut bench = Bench::connect(assignment, channel, control, segment, exposed, area)?;
    if assignment.rank == 0 {
        Leader { bench: &mut bench, channel, plan, launch: assignment.launch }.measure()?;
    } else {
        bench.follow()?;
    }
    farewell(channel)
}
