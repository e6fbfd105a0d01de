//! The LogP machine, replayed message by message.

/// The parameters of a LogP machine, send and receive overhead told apart, with the network's
/// capacity.
///
/// *Units*: nanoseconds; the capacity counts requests.
/// *Source*: the LogP paper, sections "LogP model" and "Communication microbenchmark".
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// os: the processor's time to issue a message.
    pub send_overhead: f64,
    /// or: the processor's time to take a message.
    pub recv_overhead: f64,
    /// g: the network's least time between messages.
    pub gap: f64,
    /// L: the time between a message's overheads.
    pub latency: f64,
    /// Requests that may be outstanding before the sender stalls.
    pub capacity: u64,
}

impl Params {
    /// Intel Paragon: table 4 of the LogP paper, with the L of its text (RTT/2 − os − or). The
    /// paper gives no capacity; 16 is bandgap's choice, as for the next.
    pub const PARAGON: Params = Params {
        send_overhead: 1400.0,
        recv_overhead: 2200.0,
        gap: 7600.0,
        latency: 6300.0,
        capacity: 16,
    };

    /// Myrinet: table 4 of the LogP paper.
    pub const MYRINET: Params = Params {
        send_overhead: 2000.0,
        recv_overhead: 2600.0,
        gap: 12_400.0,
        latency: 11_100.0,
        capacity: 16,
    };

    /// The time of one request with its reply, alone on the network.
    ///
    /// *Formula*: RTT = 2(os + or + L), the LogP paper's table 3.
    #[must_use]
    pub fn rtt(&self) -> f64 {
        2.0 * (self.send_overhead + self.recv_overhead + self.latency)
    }
}

/// The time of the issue phase: `messages` times {issue a request, compute for `delay`}.
///
/// *Formula*: before each request the sender polls once. If a reply has arrived it takes it, which
/// takes or; with `capacity` requests outstanding it waits for one first. Then it issues the request,
/// which takes os, and computes. The reply to a request begun at s arrives at s + RTT − or, but at
/// least one gap after the reply before it.
/// *Units*: nanoseconds.
/// *Assumes* a network that delays messages by L and g only, and a capacity of at least one (zero
/// counts as one).
/// *Source*: the LogP paper, figure 3.
///
/// ```
/// use bandgap_model::logp::{Params, issue_time};
/// // Three requests fit into the round trip: nothing but send overhead.
/// assert_eq!(issue_time(&Params::PARAGON, 3, 0.0), 3.0 * 1400.0);
/// ```
#[must_use]
pub fn issue_time(params: &Params, messages: u64, delay: f64) -> f64 {
    let flight = params.rtt() - params.recv_overhead;
    let capacity = params.capacity.max(1) as usize;
    let mut arrivals = std::collections::VecDeque::new();
    let mut last_arrival = f64::NEG_INFINITY;
    let mut now = 0.0;
    for _ in 0..messages {
        if let Some(&arrival) = arrivals.front()
            && (arrival <= now || arrivals.len() >= capacity)
        {
            now = f64::max(now, arrival) + params.recv_overhead;
            arrivals.pop_front();
        }
        last_arrival = f64::max(now + flight, last_arrival + params.gap);
        arrivals.push_back(last_arrival);
        now += params.send_overhead + delay;
    }
    now
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn slope(params: &Params, from: u64, to: u64, delay: f64) -> f64 {
        (issue_time(params, to, delay) - issue_time(params, from, delay)) / (to - from) as f64
    }

    #[test]
    fn paragon_with_delay_16() {
        // The paper's text: g' = os + or + 16 = 19.6 µs.
        assert!((slope(&Params::PARAGON, 100, 200, 16_000.0) - 19_600.0).abs() < 1e-6);
    }

    #[test]
    fn steady_state_is_the_gap() {
        for params in [Params::PARAGON, Params::MYRINET] {
            assert!((slope(&params, 200, 400, 0.0) - params.gap).abs() < 1e-6);
        }
    }

    #[test]
    fn asymptote_tells_the_capacity() {
        // Reply k is taken at RTT + (k − 1)g, and request M waits for reply M − C, so
        // elapsed(M) = RTT + (M − C − 1)g + os.
        let params = Params::MYRINET;
        let expected = params.rtt() + (300.0 - 16.0 - 1.0) * params.gap + params.send_overhead;
        assert!((issue_time(&params, 300, 0.0) - expected).abs() < 1e-6);
    }

    #[test]
    fn processor_bound_costs_both_overheads() {
        let params = Params { gap: 1000.0, ..Params::PARAGON };
        assert!((slope(&params, 200, 400, 0.0) - 3600.0).abs() < 1e-6);
    }

    proptest! {
        #[test]
        fn cost_lies_between_send_overhead_and_the_slowest_stage(
            messages in 1u64..400, delay in 0.0..30_000.0f64, capacity in 1u64..64,
        ) {
            let params = Params { capacity, ..Params::PARAGON };
            let elapsed = issue_time(&params, messages, delay);
            let least = messages as f64 * (params.send_overhead + delay);
            prop_assert!(elapsed >= least * (1.0 - 1e-12));
            // With room for a whole round trip at full rate nothing is slower than the bottleneck.
            let busy = params.send_overhead + params.recv_overhead + delay;
            let stalled = params.rtt() / capacity as f64 + params.recv_overhead;
            let bottleneck = params.gap.max(busy).max(stalled + busy);
            prop_assert!(elapsed <= messages as f64 * bottleneck);
        }
    }
}
