//! The LogP machine, replayed message by message: what tests of several crates observe.

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
