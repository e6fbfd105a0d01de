//! Two ranks on the machine once more, without events: each picosecond is looked at. It shares no
//! code with the engine, and needs os, or and L of at least 1 ps.

use std::collections::VecDeque;

use bandgap_sim::{Machine, Op, Protocol, Schedule};

#[derive(Clone, Copy)]
enum Message {
    Request { replies: bool, bytes: Option<u32> },
    Get { bytes: u32 },
    Reply { bytes: Option<u32> },
    Bytes { tag: u32, bytes: u32 },
}

impl Message {
    fn bytes(self) -> Option<u32> {
        match self {
            Self::Bytes { bytes, .. } => Some(bytes),
            Self::Request { bytes, .. } | Self::Reply { bytes } => bytes,
            Self::Get { .. } => None,
        }
    }

    /// Those of one rank that keep their order have one number.
    fn order(self) -> Option<u8> {
        match self {
            Self::Bytes { .. } => Some(0),
            Self::Request { .. } | Self::Get { .. } => Some(1),
            Self::Reply { .. } => None,
        }
    }
}

#[derive(Default)]
struct Rank {
    program: VecDeque<Op>,
    busy_until: u64,
    /// Messages on their way from the processor to the interface, by time.
    leaving: VecDeque<(u64, Message)>,
    sending: VecDeque<Message>,
    send_from: u64,
    receiving: VecDeque<Message>,
    accept_from: u64,
    /// When each is whole.
    inbox: VecDeque<(u64, Message)>,
    /// Times of arrival here.
    wire: VecDeque<(u64, Message)>,
    /// Messages of bytes: when they are whole, their tag and their length.
    mail: Vec<(u64, u32, u32)>,
    completions: VecDeque<u64>,
    outstanding: u32,
    /// Messages in the inbox when the present request began, and not handled since.
    were_there: Option<usize>,
    handled: u64,
    marks: Vec<u64>,
}

struct Costs<'a>(&'a Machine);

impl Costs<'_> {
    fn protocol(&self, bytes: u32) -> &Protocol {
        self.0.protocols.iter().find(|protocol| u64::from(bytes) <= protocol.up_to).unwrap()
    }

    /// How long bytes follow the first, and how long that takes to the receiver.
    fn transfer_and_latency(&self, message: Message) -> (u64, u64) {
        let Some(bytes) = message.bytes() else { return (0, self.0.latency) };
        let protocol = self.protocol(bytes);
        let transfer = protocol.gap_per_byte as f64 * f64::from(bytes) / 1000.0;
        (transfer.round() as u64, protocol.latency)
    }

    fn send(&self, message: Message) -> u64 {
        message.bytes().map_or(self.0.send_overhead, |bytes| self.protocol(bytes).send_overhead)
    }

    fn recv(&self, message: Message) -> u64 {
        message.bytes().map_or(self.0.recv_overhead, |bytes| self.protocol(bytes).recv_overhead)
    }
}

/// The first of those whose time has come.
fn due<T: Copy>(queue: &mut VecDeque<(u64, T)>, now: u64) -> Option<T> {
    let index = queue.iter().position(|(time, _)| *time == now)?;
    queue.remove(index).map(|(_, what)| what)
}

pub fn marks(schedule: &Schedule, machine: &Machine) -> Vec<Vec<u64>> {
    let costs = Costs(machine);
    let mut ranks: Vec<Rank> = (0..2)
        .map(|rank| Rank { program: schedule.operations(rank).collect(), ..Rank::default() })
        .collect();
    let mut now = 0;
    while ranks.iter().any(|rank| !rank.program.is_empty()) {
        assert!(now < 1_000_000, "the reference does not end");
        for me in 0..2 {
            while let Some(message) = due(&mut ranks[me].leaving, now) {
                ranks[me].sending.push_back(message);
            }
            if now >= ranks[me].send_from
                && let Some(message) = ranks[me].sending.pop_front()
            {
                let (transfer, latency) = costs.transfer_and_latency(message);
                ranks[me].send_from = now + transfer.max(machine.gap);
                let wire = &mut ranks[1 - me].wire;
                let mut reached = now + latency;
                if message.order().is_some() {
                    let before = wire.iter().filter(|(_, m)| m.order() == message.order());
                    reached = before.map(|(time, _)| *time).fold(reached, u64::max);
                }
                wire.push_back((reached, message));
            }
        }
        for me in 0..2 {
            let rank = &mut ranks[me];
            while let Some(message) = due(&mut rank.wire, now) {
                rank.receiving.push_back(message);
            }
            while rank.completions.front() == Some(&now) {
                rank.completions.pop_front();
                rank.outstanding -= 1;
            }
            if now >= rank.accept_from
                && let Some(message) = rank.receiving.pop_front()
            {
                let (transfer, _) = costs.transfer_and_latency(message);
                rank.accept_from = now + transfer.max(machine.gap);
                match message {
                    Message::Bytes { tag, bytes } => rank.mail.push((now + transfer, tag, bytes)),
                    _ => rank.inbox.push_back((now + transfer, message)),
                }
            }
            while ranks[me].busy_until <= now {
                match step(&mut ranks[me], now, &costs) {
                    Did::Nothing => break,
                    Did::Something => {}
                    Did::Complete(time) => ranks[1 - me].completions.push_back(time),
                }
            }
        }
        now += 1;
    }
    ranks.into_iter().map(|rank| rank.marks).collect()
}

enum Did {
    Nothing,
    Something,
    Complete(u64),
}

fn step(rank: &mut Rank, now: u64, costs: &Costs<'_>) -> Did {
    let Some(&op) = rank.program.front() else { return Did::Nothing };
    let done = match op {
        Op::Mark => {
            rank.marks.push(now);
            true
        }
        Op::Compute { picoseconds } => {
            rank.busy_until = now + picoseconds;
            true
        }
        Op::Request { .. } | Op::Get { .. } => {
            let message = match op {
                Op::Get { bytes, .. } => Message::Get { bytes },
                Op::Request { replies, bytes, .. } => Message::Request { replies, bytes },
                _ => unreachable!("matched above"),
            };
            let whole = rank.inbox.iter().filter(|(ready, _)| *ready <= now).count();
            let were_there = *rank.were_there.get_or_insert(whole);
            let free = were_there == 0 && rank.outstanding < costs.0.capacity;
            if were_there > 0 {
                rank.were_there = Some(were_there - 1);
            }
            if free {
                rank.were_there = None;
                rank.outstanding += 1;
                rank.busy_until = now + costs.send(message);
                rank.leaving.push_back((rank.busy_until, message));
            }
            free
        }
        Op::Send { tag, bytes, .. } => {
            rank.busy_until = now + costs.protocol(bytes).send_overhead;
            rank.leaving.push_back((rank.busy_until, Message::Bytes { tag, bytes }));
            true
        }
        Op::Recv { tag, bytes, .. } => {
            let first = rank.mail.iter().position(|(_, other, _)| *other == tag);
            let Some(index) = first.filter(|&index| rank.mail[index].0 <= now) else {
                return Did::Nothing;
            };
            assert_eq!(rank.mail.remove(index).2, bytes);
            rank.busy_until = now + costs.protocol(bytes).recv_overhead;
            true
        }
        Op::AwaitReplies => rank.outstanding == 0,
        Op::Serve { requests } => {
            let enough = rank.handled >= requests;
            if enough {
                rank.handled -= requests;
            }
            enough
        }
        Op::Repeat { .. } => panic!("operations come unfolded"),
    };
    if done {
        rank.program.pop_front();
        return Did::Something;
    }
    let Some(&(ready, message)) = rank.inbox.front() else { return Did::Nothing };
    if ready > now {
        return Did::Nothing;
    }
    rank.inbox.pop_front();
    rank.busy_until = now + costs.recv(message);
    let reply = match message {
        Message::Bytes { .. } => unreachable!("it is in the mail"),
        Message::Reply { .. } => {
            rank.outstanding -= 1;
            return Did::Something;
        }
        Message::Get { bytes } => Message::Reply { bytes: Some(bytes) },
        Message::Request { replies, .. } => {
            rank.handled += 1;
            if !replies {
                return Did::Complete(rank.busy_until + costs.0.latency);
            }
            Message::Reply { bytes: None }
        }
    };
    rank.busy_until += costs.send(reply);
    rank.leaving.push_back((rank.busy_until, reply));
    Did::Something
}
