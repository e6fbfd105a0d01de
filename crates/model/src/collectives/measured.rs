//! Messages whose costs were measured length by length: LogGP with parameters that depend on it.

use bandgap_units::{Bytes, Ns};

use super::PointToPoint;
use crate::signature::Estimate;

/// A cost of a message over its length, as far as it was measured: a straight line between two
/// neighbouring lengths, and beyond the first and the last the line through the nearest two.
#[derive(Clone, Debug, PartialEq)]
pub struct CostCurve(Vec<MeasuredCost>);

/// A cost of one length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasuredCost {
    /// The length.
    pub bytes: Bytes,
    /// What was measured.
    pub time: Ns,
    /// Half of its interval's width, where it has one.
    pub half_width: Option<Ns>,
}

/// What two ranks spend on messages, by length.
///
/// *Formula*: m(n) = `message`(n), which is os + L + n·G + or; a sender sends one message per
/// max(os, g), and a rank passes one on per max(os + or, g).
/// *Assumes* that g(n), which was measured between one sender and one receiver, is that of the sender:
/// where a receiver takes longer than the sender and the network, it is or, and what follows an upper
/// bound.
/// *Source*: Alexandrov et al. 1995; Kielmann, Bal, Verstoep, "Fast Measurement of LogP Parameters for
/// Message Passing Platforms", 2000.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredMessages {
    /// Half of a round trip.
    pub message: CostCurve,
    /// os.
    pub send: CostCurve,
    /// or.
    pub receive: CostCurve,
    /// g: from one message of a stream to the next.
    pub gap: CostCurve,
}

impl CostCurve {
    /// Of the lengths that were measured; `None` if there are none.
    pub fn new(costs: impl IntoIterator<Item = MeasuredCost>) -> Option<Self> {
        let mut costs: Vec<MeasuredCost> = costs.into_iter().collect();
        costs.sort_by_key(|cost| cost.bytes);
        costs.dedup_by_key(|cost| cost.bytes);
        (!costs.is_empty()).then_some(Self(costs))
    }

    /// Which two lengths decide, by their places, and the share of the second; one where only one was
    /// measured.
    fn between(&self, bytes: Bytes) -> [(usize, f64); 2] {
        if let Ok(at) = self.0.binary_search_by_key(&bytes, |cost| cost.bytes) {
            return [(at, 1.0), (at, 0.0)];
        }
        let above = self.0.partition_point(|cost| cost.bytes < bytes);
        let above = above.clamp(1, (self.0.len() - 1).max(1));
        let (Some(first), Some(second)) = (self.0.get(above - 1), self.0.get(above)) else {
            return [(0, 1.0), (0, 0.0)];
        };
        let of = |bytes: Bytes| bytes.0 as f64;
        let share = (of(bytes) - of(first.bytes)) / (of(second.bytes) - of(first.bytes));
        [(above - 1, 1.0 - share), (above, share)]
    }
}

/// The curves, of which one value may be moved by so much.
pub struct MovedMessages<'a> {
    of: [&'a CostCurve; 4],
    moved: Option<(Place, f64)>,
}

/// A curve, and a place on it.
type Place = (usize, usize);

const MESSAGE: usize = 0;
const SEND: usize = 1;
const RECEIVE: usize = 2;
const GAP: usize = 3;

impl MovedMessages<'_> {
    fn at(&self, curve: usize, bytes: Bytes) -> Ns {
        let part = |(at, share): (usize, f64)| {
            let moved = self.moved.filter(|(moved, _)| *moved == (curve, at));
            let time = self.of[curve].0[at].time.0 + moved.map_or(0.0, |(_, by)| by);
            // Exactly what was measured, where it was.
            if share == 0.0 { 0.0 } else { time * share }
        };
        let [first, second] = self.of[curve].between(bytes);
        Ns(part(first) + part(second))
    }
}

impl PointToPoint for MovedMessages<'_> {
    fn message(&self, bytes: Bytes) -> Ns {
        self.at(MESSAGE, bytes)
    }

    fn send_interval(&self, bytes: Bytes) -> Ns {
        self.at(SEND, bytes).max(self.at(GAP, bytes))
    }

    fn relay_interval(&self, bytes: Bytes) -> Ns {
        (self.at(SEND, bytes) + self.at(RECEIVE, bytes)).max(self.at(GAP, bytes))
    }
}

impl MeasuredMessages {
    /// What `time` makes of the messages' costs, with the interval that follows from theirs, and whether
    /// each that counts has one.
    ///
    /// *Formula*: the half-width is √Σ(∂h)², with h the half-width of each cost and ∂ the derivative by it, by central
    /// differences of h. A cost without a half-width counts as exact, and is not known.
    /// *Assumes* that errors of different lengths and kinds are independent of each other.
    pub fn estimate(&self, time: impl Fn(&MovedMessages<'_>) -> Ns) -> (Estimate, bool) {
        let of = [&self.message, &self.send, &self.receive, &self.gap];
        let value = time(&MovedMessages { of, moved: None }).0;
        let (mut squares, mut samples, mut known) = (0.0, 0, true);
        for (curve, costs) in of.iter().enumerate() {
            for (at, cost) in costs.0.iter().enumerate() {
                let by = cost.half_width.map_or(cost.time.0 * 1e-3, |half| half.0);
                let moved = |by: f64| time(&MovedMessages { of, moved: Some(((curve, at), by)) }).0;
                let change = (moved(by) - moved(-by)) / 2.0;
                if change != 0.0 {
                    samples += 1;
                    match cost.half_width {
                        Some(_) => squares += change * change,
                        None => known = false,
                    }
                }
            }
        }
        let (half, estimator) =
            (squares.sqrt(), "cost of the algorithm by os, or, g and t of messages");
        (Estimate { value, low: value - half, high: value + half, samples, estimator }, known)
    }
}

#[cfg(test)]
mod tests {
    use bandgap_comm::collectives::Broadcast;

    use super::super::broadcast;
    use super::*;

    fn curve(half_width: f64, costs: &[(u64, f64)]) -> CostCurve {
        let cost = |&(bytes, time): &(u64, f64)| MeasuredCost {
            bytes: Bytes(bytes),
            time: Ns(time),
            half_width: (half_width >= 0.0).then_some(Ns(half_width)),
        };
        CostCurve::new(costs.iter().map(cost)).unwrap()
    }

    /// os = 20 + n/10, or = 30, g = max(25, n), t = 150 + n.
    fn messages(half_width: f64) -> MeasuredMessages {
        MeasuredMessages {
            message: curve(half_width, &[(0, 150.0), (100, 250.0), (1000, 1150.0)]),
            send: curve(half_width, &[(0, 20.0), (1000, 120.0)]),
            receive: curve(half_width, &[(0, 30.0)]),
            gap: curve(half_width, &[(0, 25.0), (100, 100.0), (1000, 1000.0)]),
        }
    }

    #[test]
    fn costs_are_those_measured_and_lines_between_them_and_beyond() {
        let messages = messages(0.0);
        let of = [&messages.message, &messages.send, &messages.receive, &messages.gap];
        let on = MovedMessages { of, moved: None };
        let time = |bytes| on.message(Bytes(bytes)).0;
        assert_eq!([0, 100, 1000].map(time), [150.0, 250.0, 1150.0]);
        assert!((time(40) - 190.0).abs() < 1e-9 && (time(2000) - 2150.0).abs() < 1e-9);
        // What has one length has it everywhere: or = 30. os + or is 150, less than g.
        assert_eq!(on.relay_interval(Bytes(1000)), Ns(1000.0));
        assert_eq!(on.relay_interval(Bytes(0)), Ns(50.0));
        assert_eq!(on.send_interval(Bytes(0)), Ns(25.0));
    }

    #[test]
    fn the_interval_is_that_of_the_costs_that_count_in_quadrature() {
        // On five ranks a sender sends 3 messages at its gap before the last one: 3·100 + 250.
        let messages = messages(4.0);
        let linear = |of: &MeasuredMessages| {
            of.estimate(|on| broadcast(Broadcast::Linear, on, 5, Bytes(100)))
        };
        let (found, known) = linear(&messages);
        assert_eq!((found.value, known), (550.0, true));
        // Three times the gap's half-width, and once the message's; os is not the larger one.
        let half = (12.0_f64.powi(2) + 4.0_f64.powi(2)).sqrt();
        assert!(((found.high - found.low) / 2.0 - half).abs() < 1e-9, "{found:?}");
        // A negative width stands for none here.
        let gap = curve(-1.0, &[(100, 100.0)]);
        assert!(!linear(&MeasuredMessages { gap, ..messages }).1);
    }
}
