//! A trace, row by row.

use super::acks::Acks;
use super::roles::{PacketRole, Roles};
use super::rounds::Rounds;
use super::{Direction, Packet, PacketKind, ROUND, ahead};

/// Number of rows that are kept until the roles are known.
const LEARNT_FROM: usize = 1 << 16;

/// A packet that is sent again is at most this many numbers back.
const AGAIN: u64 = 64;

/// A trace, during and after reading.
#[derive(Debug, Default)]
pub struct Trace {
    /// The first rows, until there are enough to tell roles apart.
    first: Vec<Packet>,
    reading: Option<Reading>,
    /// Number of rows.
    pub rows: u64,
    /// Time from the first row to the last, in picoseconds.
    pub span: u64,
    /// Number of packets in each role.
    pub counted: Counted,
}

/// Number of packets in each role.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Posts.
    pub posts: u64,
    /// Completions.
    pub completions: u64,
    /// Payloads.
    pub payloads: u64,
    /// Downstream acknowledgements.
    pub acknowledgements: u64,
    /// Least number of packets that are missing from the trace; `None` if numbers do not show it.
    pub lost: Option<u64>,
}

#[derive(Debug)]
struct Reading {
    roles: Roles,
    /// Sequence numbers of downstream and upstream packets; `None` if they do not count packets.
    numbers: [Option<Succession>; 2],
    acks: Acks,
    rounds: Rounds,
}

/// Detects packets of one direction that are missing from the trace or were sent again.
#[derive(Clone, Copy, Debug, Default)]
struct Succession {
    last: Option<u64>,
}

impl Succession {
    /// Takes the number of the next packet. Returns how many packets are missing before it, or
    /// `None` if it was sent again.
    fn step(&mut self, number: Option<u64>) -> Option<u64> {
        let Some(number) = number else { return Some(0) };
        let Some(last) = self.last.replace(number) else { return Some(0) };
        if ahead(last, number) <= AGAIN {
            self.last = Some(last);
            return None;
        }
        Some(ahead(number, last) - 1)
    }

    /// For a direction whose numbers count packets: most steps are by one.
    fn of(packets: &[Packet], direction: Direction) -> Option<Succession> {
        let counted = |packet: &&Packet| packet.direction == direction && is_counted(packet);
        let numbers: Vec<u64> =
            packets.iter().filter(counted).filter_map(|packet| packet.number).collect();
        let by_one = numbers.windows(2).filter(|pair| ahead(pair[1], pair[0]) == 1).count();
        (2 * by_one >= numbers.len() && by_one > 0).then(Succession::default)
    }
}

fn is_counted(packet: &Packet) -> bool {
    matches!(packet.kind, PacketKind::Write | PacketKind::Transaction)
}

impl Trace {
    /// Takes the next row. Rows must be in order of time.
    pub fn take(&mut self, packet: Packet) {
        self.rows += 1;
        self.span = packet.time;
        match &mut self.reading {
            Some(reading) => reading.take(&packet, &mut self.counted),
            None => {
                self.first.push(packet);
                if self.first.len() == LEARNT_FROM {
                    self.finish();
                }
            }
        }
    }

    /// Processes the kept rows: after the last row, or once there are enough to learn from.
    pub fn finish(&mut self) {
        let first = std::mem::take(&mut self.first);
        let numbers = [Direction::Down, Direction::Up].map(|way| Succession::of(&first, way));
        if self.reading.is_none() && numbers.iter().any(Option::is_some) {
            self.counted.lost = Some(0);
        }
        let reading = self.reading.get_or_insert_with(|| Reading {
            roles: Roles::learn(&first),
            numbers,
            acks: Acks::default(),
            rounds: Rounds::default(),
        });
        first.iter().for_each(|packet| reading.take(packet, &mut self.counted));
    }

    /// Acknowledgement times and rounds; `None` before [`Trace::finish`].
    pub(super) fn times(&self) -> Option<(&Acks, &Rounds)> {
        self.reading.as_ref().map(|reading| (&reading.acks, &reading.rounds))
    }
}

impl Reading {
    fn take(&mut self, packet: &Packet, counted: &mut Counted) {
        let Packet { time, direction, kind, .. } = *packet;
        let way = usize::from(direction == Direction::Up);
        // If upstream packets have numbers, so do their acknowledgements.
        let number =
            packet.number.filter(|_| self.numbers[1].is_some()).map(|number| number % ROUND);
        if !is_counted(packet) {
            if kind == PacketKind::Ack && direction == Direction::Down {
                counted.acknowledgements += 1;
                self.acks.acknowledged(time, number);
            }
            return;
        }
        let missing =
            self.numbers[way].as_mut().map_or(Some(0), |numbers| numbers.step(packet.number));
        if missing != Some(0) {
            let lost = counted.lost.unwrap_or(0).saturating_add(missing.unwrap_or(0));
            counted.lost = Some(lost);
            self.rounds.missing();
            if direction == Direction::Up {
                self.acks.forget();
            }
        }
        let role = self.roles.of(packet);
        if direction == Direction::Up && missing.is_some() {
            self.acks.sent(time, number, role == PacketRole::Completion);
        }
        // It is unknown which copy of a packet arrived if it was sent again.
        let rounds = missing.is_some().then_some(&mut self.rounds);
        let (count, take): (_, fn(&mut Rounds, u64)) = match role {
            PacketRole::Post => (&mut counted.posts, Rounds::post),
            PacketRole::Completion => (&mut counted.completions, Rounds::completion),
            PacketRole::Payload => (&mut counted.payloads, Rounds::payload),
            PacketRole::Other => return,
        };
        *count += 1;
        if let Some(rounds) = rounds {
            take(rounds, time);
        }
    }
}
