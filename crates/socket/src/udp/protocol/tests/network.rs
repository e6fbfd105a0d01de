//! Two ends and a network that does anything to what is under way.

use std::collections::VecDeque;
use std::time::Duration;

use proptest::prelude::*;

use super::super::super::header::MAX_DATAGRAM;
use super::super::super::{LEAST_ROOM, MAX_ROOM};
use super::super::Protocol;
use super::{ends, flush, ms};

/// What happens next in a network.
#[derive(Clone, Debug)]
enum Event {
    /// The end is given so many bytes to send.
    Push(usize),
    /// The end sends what it has.
    Flush,
    /// The datagram that is longest under way to the end arrives.
    ArriveInOrder,
    /// The one at this place in the queue arrives.
    Arrive(prop::sample::Index),
    /// So does this, and stays in the queue.
    Copy(prop::sample::Index),
    /// This is lost.
    Lose(prop::sample::Index),
    /// A bit of this turns.
    Turn(prop::sample::Index, prop::sample::Index),
    /// The end looks what is late, so many milliseconds after the event before.
    Tend(u64),
    /// The end goes to sleep.
    Rest,
}

fn event() -> impl Strategy<Value = Event> {
    let place = any::<prop::sample::Index>;
    prop_oneof![
        6 => prop_oneof![Just(0_usize), 1..64_usize, 1..70_000_usize].prop_map(Event::Push),
        6 => Just(Event::Flush),
        8 => Just(Event::ArriveInOrder),
        3 => place().prop_map(Event::Arrive),
        1 => place().prop_map(Event::Copy),
        2 => place().prop_map(Event::Lose),
        1 => (place(), place()).prop_map(|(datagram, bit)| Event::Turn(datagram, bit)),
        3 => (0..30_u64).prop_map(Event::Tend),
        1 => Just(Event::Rest),
    ]
}

/// Two ends and what is under way between them.
struct Network {
    ends: [Protocol; 2],
    /// To each end.
    queues: [VecDeque<Vec<u8>>; 2],
    /// Bytes taken from each end, and brought to it.
    taken: [usize; 2],
    brought: [usize; 2],
    now: Duration,
}

/// The byte at this position of what an end sends: the period is prime, and the ends differ.
fn byte_at(end: usize, position: usize) -> u8 {
    (position % 251) as u8 ^ (0xA0 * end as u8)
}

impl Network {
    fn new(first: u32, room: u32) -> Self {
        let queues = [VecDeque::new(), VecDeque::new()];
        let (ends, now) = (ends(first, room), Duration::ZERO);
        Self { ends, queues, taken: [0; 2], brought: [0; 2], now }
    }

    fn push(&mut self, end: usize, bytes: usize) {
        let from = self.taken[end];
        let bytes: Vec<u8> = (from..from + bytes).map(|at| byte_at(end, at)).collect();
        self.taken[end] += self.ends[end].push([&bytes, &[], &[]]);
    }

    fn flush(&mut self, end: usize) {
        let sent = flush(&mut self.ends[end]);
        assert!(sent.iter().all(|datagram| datagram.len() <= MAX_DATAGRAM));
        self.queues[1 - end].extend(sent);
    }

    /// What arrives in order must be the next bytes that the other end sent.
    fn arrive(&mut self, end: usize, datagram: &[u8]) {
        if let Some(bytes) = self.ends[end].accept(datagram) {
            let from = self.brought[end];
            let right = |(at, &byte): (usize, &u8)| byte == byte_at(1 - end, from + at);
            assert!(bytes.iter().enumerate().all(right));
            self.brought[end] += bytes.len();
            assert!(self.brought[end] <= self.taken[1 - end]);
        }
    }

    fn happen(&mut self, end: usize, event: Event) {
        let len = self.queues[end].len();
        match event {
            Event::Push(bytes) => self.push(end, bytes),
            Event::Flush => self.flush(end),
            Event::Tend(later) => {
                self.now += ms(later);
                self.ends[end].tend(|| self.now);
            }
            Event::Rest => {
                self.ends[end].rest(self.now);
            }
            _ if len == 0 => {}
            Event::ArriveInOrder => {
                let datagram = self.queues[end].remove(0).unwrap();
                self.arrive(end, &datagram);
            }
            Event::Arrive(at) => {
                let datagram = self.queues[end].remove(at.index(len)).unwrap();
                self.arrive(end, &datagram);
            }
            Event::Copy(at) => {
                let datagram = self.queues[end][at.index(len)].clone();
                self.arrive(end, &datagram);
            }
            Event::Lose(at) => {
                self.queues[end].remove(at.index(len));
            }
            Event::Turn(at, bit) => {
                let datagram = &mut self.queues[end][at.index(len)];
                let bit = bit.index(8 * datagram.len());
                datagram[bit / 8] ^= 1 << (bit % 8);
            }
        }
    }

    /// From now on nothing goes wrong: everything must arrive, and both ends come to rest.
    fn settle(&mut self) {
        for _ in 0..2000 {
            for end in [0, 1] {
                self.flush(end);
                while let Some(datagram) = self.queues[end].pop_front() {
                    self.arrive(end, &datagram);
                }
                self.now += ms(20);
                self.ends[end].tend(|| self.now);
            }
            let quiet = self.ends.iter().all(|end| end.outbox.idle() && end.unsettled() == 0);
            if quiet && self.queues.iter().all(VecDeque::is_empty) {
                assert_eq!(self.brought, [self.taken[1], self.taken[0]]);
                return;
            }
        }
        panic!("{:?} of {:?} have arrived", self.brought, self.taken);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Whatever a network does to datagrams, bytes arrive once and in order.
    #[test]
    fn bytes_arrive_once_and_in_order(
        first in prop_oneof![any::<u32>(), 0..50_u32, u32::MAX - 50..=u32::MAX],
        room in prop_oneof![Just(MAX_ROOM), LEAST_ROOM..=MAX_ROOM],
        events in prop::collection::vec((0..2_usize, event()), 0..400),
    ) {
        let mut network = Network::new(first, room);
        for (end, event) in events {
            network.happen(end, event);
        }
        network.settle();
    }
}
