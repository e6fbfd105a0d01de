//! The floors of this machine and the layers beside them, and how a rank measures one.

use std::time::Duration;

use bandgap_comm::{CommError, Floor, FloorError, Measuring, Result, Role, Yields};
use bandgap_host::{CycleClock, floor as processor};
use bandgap_shm::Control;

use crate::Transport;
use crate::transports::OwnBareEnd;

/// Floors that a rank measures by itself.
const OWN: [Floor; 2] = [
    Floor::new("clock_read", "reading the clock once", Yields::Operation, 1),
    Floor::new("system_call", "the cheapest system call", Yields::Operation, 1),
];

/// All floors and layers, in the order of the tables, with the transport that each is of.
fn list() -> impl Iterator<Item = (Option<Transport>, Floor)> {
    let of = |transport: Transport| {
        transport.floors.iter().map(move |floor| (Some(transport), floor.clone()))
    };
    Transport::list().flat_map(of).chain(OWN.map(|floor| (None, floor)))
}

/// All floors and layers, in the order of the tables.
pub fn floors() -> Vec<Floor> {
    list().map(|(_, floor)| floor).collect()
}

/// The floor of this name, and its transport.
pub(crate) fn find(name: &str) -> Option<(Option<Transport>, Floor)> {
    list().find(|(_, floor)| floor.name == name)
}

/// One rank's ends of the bare mechanisms.
pub(crate) type Bares = Vec<(Transport, OwnBareEnd)>;

/// One batch of a floor: nanoseconds of each sample, or why this machine does not allow it.
///
/// # Errors
/// The other side is gone.
pub(crate) fn measure(
    bares: &mut Bares,
    transport: Option<Transport>,
    floor: &Floor,
    with: &Measuring<'_, CycleClock>,
) -> Result<Result<Vec<f64>, String>> {
    let Some(transport) = transport else {
        return Ok(Ok(own(floor, with.window.samples, with.role, with.timer)));
    };
    let Some((_, end)) = bares.iter_mut().find(|(of, _)| *of == transport) else {
        return Ok(Err(format!("{transport} is not connected")));
    };
    match end.measure(floor, with) {
        Ok(ticks) => Ok(Ok(timed(with.timer, &ticks))),
        Err(FloorError::Unavailable { reason, .. }) => Ok(Err(reason)),
        Err(FloorError::Failed(error)) => Err(CommError::Connect(error)),
    }
}

/// The nanoseconds of timed sections, the clock's cost removed.
pub(crate) fn timed(clock: &CycleClock, ticks: &[u64]) -> Vec<f64> {
    let cost = clock.cost().0;
    ticks.iter().map(|t| (clock.to_ns(*t).0 - cost).max(0.0)).collect()
}

/// Whether to stop waiting: when the run ends, or after the longest wait.
pub(crate) fn giving_up(control: &Control) -> impl Fn(Duration, Duration) -> bool {
    move |waited, patience| {
        std::thread::yield_now();
        waited > patience || control.stopped() || control.poisoned().is_some()
    }
}

/// A floor that one rank measures by itself.
fn own(floor: &Floor, samples: u32, role: Role, clock: &CycleClock) -> Vec<f64> {
    let samples = samples as usize;
    match (role, &*floor.name) {
        (Role::Responder, _) => Vec::new(),
        (Role::Initiator, "clock_read") => processor::clock_read(clock, samples),
        (Role::Initiator, _) => processor::system_call(clock, samples),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use bandgap_campaign::floors::{EXPOSED, kernel_order};
    use bandgap_kernels::{Order, Synch1, fact};

    use super::*;

    #[test]
    fn names_are_unlike_and_layers_stand_on_what_yields_the_same() {
        let all = floors();
        let names: BTreeSet<&str> = all.iter().map(|floor| &*floor.name).collect();
        assert_eq!(names.len(), all.len());
        for floor in &all {
            assert_eq!(floor.over.is_empty(), floor.kernel.is_none(), "{}", floor.name);
            for below in &*floor.over {
                let (_, below) = find(below).unwrap();
                assert_eq!(floor.yields.bytes(), below.yields.bytes(), "{}", floor.name);
            }
        }
    }

    #[test]
    fn layers_name_kernels_that_two_ranks_can_run() {
        for floor in floors().iter().filter(|floor| floor.kernel.is_some()) {
            let named = Order::of(&Synch1 { messages: 1, algorithm: Default::default() }, 20, 2);
            let order = kernel_order(floor, &named).unwrap().unwrap();
            (fact(&order.kernel).unwrap().check)(&order, 2).unwrap();
        }
    }

    #[test]
    fn layers_find_room_in_what_is_exposed() {
        for transport in Transport::list() {
            assert!(transport.can.tuning.memory(2) <= EXPOSED, "{transport}");
            for floor in transport.floors.iter().filter(|floor| floor.kernel.is_some()) {
                assert!(2 * floor.bytes() <= EXPOSED, "{}", floor.name);
            }
        }
    }

    #[test]
    fn results_are_compared_with_floors_of_their_own_transport() {
        for transport in Transport::list() {
            for yardstick in transport.yardsticks {
                let (of, floor) = find(yardstick.floor).unwrap();
                assert_eq!((of, floor.kernel), (Some(transport), None));
                let series = |name: &&&str| **name != "signature";
                for name in yardstick.results.iter().filter(series) {
                    bandgap_kernels::in_series(name).unwrap();
                }
            }
            // Each has one for half a round trip.
            let [beside] = &transport.beside(&["signature"])[..] else { panic!("{transport}") };
            assert_eq!(beside.floor.yields, Yields::HalfRoundTrip);
            assert_eq!(beside.results, ["signature"]);
            assert!(transport.beside(&["no such series"]).is_empty());
        }
    }
}
