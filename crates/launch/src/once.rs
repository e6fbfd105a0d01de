//! A kernel replayed once in virtual time, on any number of ranks.

use bandgap_campaign::Stop;
use bandgap_kernels::{Order, Samples, fact, program};
use bandgap_sim::{Machine, Recorder, SimError, record_once, replay};

/// What one replay of a kernel brought. Times are in picoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Once {
    /// When the last rank ended.
    pub end: u64,
    /// When each rank ended.
    pub finish: Vec<u64>,
    /// Operations of all ranks, and Active Messages that they handled.
    pub operations: u64,
    /// Messages: requests, replies, and messages of bytes.
    pub messages: u64,
    /// What the kernel makes of its time stamps.
    pub samples: Samples,
}

/// Records an order's program and replays it, on as many of the machine's ranks as it says. All
/// ranks begin at time 0, so a barrier that the program begins with is left out.
///
/// # Errors
/// Nobody can carry out the order, or not this machine: it has fewer ranks, or no time for bytes.
pub fn once(machine: &Machine, order: &Order) -> Result<Once, Stop> {
    let refused = |error: SimError| Stop::Sim(Box::new(error));
    let most = machine.ranks;
    if order.ranks > most {
        let (ranks, machine) = (order.ranks, machine.name.clone());
        return Err(refused(SimError::Ranks { ranks, machine, most }));
    }
    let fact = fact(&order.kernel)?;
    let rank = program::<Recorder>(order)?;
    let schedule = record_once(machine, order.ranks, |recorder| rank(recorder)).map_err(refused)?;
    let replayed = replay(&schedule, machine).map_err(refused)?;
    let samples = (fact.samples)(order, order.ranks, &replayed.marks)?;
    Ok(Once {
        end: replayed.ends.iter().copied().max().unwrap_or(0),
        finish: replayed.ends,
        operations: replayed.events,
        messages: replayed.messages,
        samples,
    })
}

#[cfg(test)]
mod tests {
    use bandgap_kernels::{AtSize, ISSUE, WHOLE, facts, in_series};

    use super::*;

    const PARAGON: &str = "name = 'm'\nsend_overhead_ns = 1400\nrecv_overhead_ns = 2200\n\
        gap_ns = 7600\nlatency_ns = 6350\ngap_per_byte_ns = 1";

    fn order(name: &str, size: usize, ranks: usize, variant: Option<&'static str>) -> Order {
        let point = AtSize { variant, ..AtSize::of(size, 1, ranks) };
        (in_series(name).unwrap().0.at)(point, 1, ranks).unwrap()
    }

    #[test]
    fn operations_of_all_ranks_take_what_the_closed_forms_say() {
        let machine = Machine::parse(PARAGON, "m").unwrap();
        for bits in [1, 10, 16] {
            let ranks = 1 << bits;
            // log₂ P · (os + L + or).
            let barrier = once(&machine, &order("barrier", 0, ranks, None)).unwrap();
            assert_eq!(barrier.end, bits * 9_950_000);
            assert_eq!(barrier.finish, vec![barrier.end; ranks]);
            assert_eq!(barrier.messages, bits * ranks as u64);
            // One operation and its mark; three marks of rank 0.
            assert_eq!(barrier.operations, 2 * barrier.messages + 3);
            assert_eq!(barrier.samples.column(WHOLE), [barrier.end]);
            // There and back, each log₂ P messages one after the other where os + n·G > g.
            let there = order("broadcast", 10_000, ranks, Some("binomial"));
            let broadcast = once(&machine, &there).unwrap();
            assert_eq!(broadcast.messages, 2 * (ranks as u64 - 1));
            assert_eq!(broadcast.samples.column(ISSUE), [2 * bits * (9_950_000 + 10_000_000)]);
        }
    }

    #[test]
    fn every_series_is_replayed_on_many_ranks() {
        let machine = Machine::parse(PARAGON, "m").unwrap();
        let ranks = 1 << 10;
        for series in facts().iter().flat_map(|fact| fact.series) {
            let order = order(series.name, 4096, ranks, None);
            let once = once(&machine, &order).unwrap();
            assert_eq!(once.finish.len(), ranks, "{}", series.name);
            assert!(once.messages > 0 && once.end > 0, "{}", series.name);
            let whole = once.samples.column(WHOLE);
            assert!(whole.len() == 1 && whole[0] <= once.end, "{}", series.name);
        }
    }

    #[test]
    fn a_machine_of_fewer_ranks_is_refused() {
        let machine = Machine::load("ipsc860").unwrap();
        let error = once(&machine, &order("barrier", 0, 129, None)).unwrap_err();
        let Stop::Sim(error) = error else { panic!("{error}") };
        let error = error.downcast_ref().unwrap();
        assert!(matches!(error, SimError::Ranks { ranks: 129, most: 128, .. }), "{error}");
    }
}
