//! A trace, row by row.

use super::acks::Acks;
use super::packet::{Direction, Kind, Numbers, Packet, Step, Succession};
use super::roles::{Given, Role, Roles};
use super::rounds::Rounds;
use crate::ModelError;

/// Rows that are kept until roles are known.
const LEARNT_FROM: usize = 1 << 16;

/// A trace that is being read.
#[derive(Debug)]
pub struct Trace {
    numbers: Numbers,
    given: Given,
    /// The first rows, until there are enough of them to tell roles apart.
    first: Vec<Packet>,
    reading: Option<Reading>,
    /// The lines of the first row, of the first post, and of the last row.
    lines: [u64; 3],
    cut: Option<u64>,
    rows: u64,
    last: u64,
}

#[derive(Debug)]
struct Reading {
    roles: Roles,
    down: Succession,
    up: Succession,
    /// Whether missing packets are known by the numbers of these directions.
    counts: [bool; 2],
    acks: Acks,
    rounds: Rounds,
    counted: Counted,
    payload_bytes: Option<u32>,
}

/// How many of what there were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Posts.
    pub posts: u64,
    /// Completions.
    pub completions: u64,
    /// Payloads.
    pub payloads: u64,
    /// Acknowledgements that go down.
    pub acknowledgements: u64,
    /// Other rows.
    pub others: u64,
}

/// A trace that was read.
#[derive(Clone, Debug)]
pub struct Read {
    /// Rows.
    pub rows: u64,
    /// From the first row to the last, in picoseconds.
    pub span: u64,
    /// What they are.
    pub counted: Counted,
    /// How they were told apart.
    pub roles: Roles,
    /// Completions and their acknowledgements.
    pub acks: Acks,
    /// Posts, pings and pongs.
    pub rounds: Rounds,
    /// What the numbers of packets are.
    pub numbers: Numbers,
    /// Packets that are not in the trace, by their numbers, so many at least; `None` where these do not tell.
    pub lost: Option<u64>,
    /// Packets that were sent again.
    pub again: u64,
    /// Bytes of the first payload.
    pub payload_bytes: Option<u32>,
    /// The line of a last row that was left out, since it may be cut.
    pub cut: Option<u64>,
}

impl Trace {
    /// A trace of which nothing is read yet.
    pub fn new(given: Given, numbers: Numbers) -> Trace {
        Trace {
            numbers,
            given,
            first: Vec::new(),
            reading: None,
            lines: [0; 3],
            cut: None,
            rows: 0,
            last: 0,
        }
    }

    /// Says that the row of this line, the last one, was left out, since it may be cut.
    pub fn leave_out(&mut self, line: u64) {
        self.cut = Some(line);
    }

    /// Takes the row of this line. Rows are in the order of time.
    pub fn take(&mut self, line: u64, packet: Packet) {
        if self.rows == 0 {
            self.lines[0] = line;
        }
        self.lines[2] = line;
        self.rows += 1;
        self.last = packet.time;
        let is_post = || {
            packet.kind == Kind::Write
                && packet.direction == Direction::Down
                && packet.bytes == super::roles::CHUNK
        };
        if self.lines[1] == 0 && is_post() {
            self.lines[1] = line;
        }
        match &mut self.reading {
            Some(reading) => reading.take(&packet),
            None => {
                self.first.push(packet);
                if self.first.len() == LEARNT_FROM {
                    self.begin();
                }
            }
        }
    }

    /// Learns from the first rows, and then reads them.
    fn begin(&mut self) -> &mut Reading {
        let first = std::mem::take(&mut self.first);
        let numbers = self.numbers;
        let given = std::mem::take(&mut self.given);
        let reading = self.reading.get_or_insert_with(|| Reading {
            roles: Roles::learn(given, first.iter()),
            down: Succession::default(),
            up: Succession::default(),
            counts: [Direction::Down, Direction::Up]
                .map(|direction| numbers == Numbers::Sequence && counts(&first, direction)),
            acks: Acks::new(numbers),
            rounds: Rounds::default(),
            counted: Counted::default(),
            payload_bytes: None,
        });
        first.iter().for_each(|packet| reading.take(packet));
        reading
    }

    /// What the trace says.
    ///
    /// # Errors
    /// It has posts but no completion, although it has payloads, or acknowledgements that go down; or it has neither
    /// posts nor completions.
    pub fn finish(mut self) -> Result<Read, ModelError> {
        if self.reading.is_none() {
            self.begin();
        }
        let [first, post, last] = self.lines;
        let (rows, span, numbers, cut) = (self.rows, self.last, self.numbers, self.cut);
        let Some(Reading { roles, down, up, counts, acks, rounds, counted, payload_bytes }) =
            self.reading
        else {
            return Err(ModelError::Trace { line: first, why: "it has no rows".to_owned() });
        };
        let place = match roles.given().completions.is_empty() {
            true => "",
            false => " to the addresses given",
        };
        // Then more than the posts and what answers them was recorded.
        let went_up = counted.payloads > 0 || counted.acknowledgements > 0;
        if counted.completions == 0 && counted.posts > 0 && went_up {
            let why = format!(
                "the post there and those after it have no completion: from there to line {last} no \
                 MWr of 64 bytes goes up{place}"
            );
            return Err(ModelError::Trace { line: post, why });
        }
        if counted.completions == 0 && counted.posts == 0 {
            let why = format!(
                "from there to line {last} there is no post (MWr of 64 bytes down) and no completion \
                 (MWr of 64 bytes up{place})"
            );
            return Err(ModelError::Trace { line: first, why });
        }
        Ok(Read {
            rows,
            span,
            counted,
            roles,
            acks,
            rounds,
            numbers,
            lost: counts
                .contains(&true)
                .then_some(u64::from(counts[0]) * down.lost + u64::from(counts[1]) * up.lost),
            again: u64::from(counts[0]) * down.again + u64::from(counts[1]) * up.again,
            payload_bytes,
            cut,
        })
    }
}

/// Whether the numbers of a direction's packets count them.
fn counts(packets: &[Packet], direction: Direction) -> bool {
    let mut numbers = Succession::default();
    let transactions = packets.iter().filter(|packet| {
        packet.direction == direction && matches!(packet.kind, Kind::Write | Kind::Transaction)
    });
    transactions.for_each(|packet| {
        numbers.step(packet.number);
    });
    numbers.counts()
}

impl Reading {
    fn take(&mut self, packet: &Packet) {
        let Packet { time, direction, kind, number, .. } = *packet;
        match kind {
            Kind::Write | Kind::Transaction => {}
            Kind::Ack if direction == Direction::Down => {
                self.counted.acknowledgements += 1;
                self.acks.acknowledged(time, number);
                return;
            }
            Kind::Ack | Kind::Other => {
                self.counted.others += 1;
                return;
            }
        }
        let (numbers, counts) = match direction {
            Direction::Down => (&mut self.down, self.counts[0]),
            Direction::Up => (&mut self.up, self.counts[1]),
        };
        let step = if counts { numbers.step(number) } else { Step::Next };
        if step == Step::Jump && direction == Direction::Up {
            self.acks.forget();
        }
        let role = self.roles.of(packet);
        if direction == Direction::Up {
            self.acks.sent(time, number, role == Role::Completion);
        }
        match role {
            Role::Post => self.counted.posts += 1,
            Role::Completion => self.counted.completions += 1,
            Role::Payload => {
                self.counted.payloads += 1;
                self.payload_bytes.get_or_insert(packet.bytes);
            }
            Role::Other => self.counted.others += 1,
        }
        if step != Step::Next {
            self.rounds.missing();
        }
        match role {
            // Which of the two arrived is not known.
            _ if step == Step::Again => {}
            Role::Post => self.rounds.post(time),
            Role::Completion => self.rounds.completion(time),
            Role::Payload => self.rounds.payload(time),
            Role::Other => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(time: u64, direction: Direction, kind: Kind, number: u64) -> Packet {
        Packet { time, direction, kind, bytes: 64, address: None, number: Some(number) }
    }

    /// Completions every µs, acknowledged after 300 ps, and posts with them. Rows of numbers in `gap` are
    /// missing.
    fn across(gap: std::ops::Range<u64>, modulo: u64) -> Read {
        let mut trace = Trace::new(Given::default(), Numbers::Sequence);
        for number in (1..=16_000).filter(|number| !gap.contains(number)) {
            let time = 1_000_000 * number;
            let (line, wrapped) = (3 * number, number % modulo);
            trace.take(line, packet(time, Direction::Down, Kind::Write, wrapped));
            trace.take(line + 1, packet(time + 100, Direction::Up, Kind::Write, wrapped));
            // The last one before the gap is never acknowledged.
            if number + 1 != gap.start {
                trace.take(line + 2, packet(time + 400, Direction::Down, Kind::Ack, wrapped));
            }
        }
        trace.finish().unwrap()
    }

    /// Rows, roles and packets that are kept.
    fn kept(trace: &Trace) -> usize {
        let of = |reading: &Reading| reading.acks.waiting() + reading.roles.found().len();
        trace.first.len() + trace.reading.as_ref().map_or(0, of)
    }

    #[test]
    fn what_comes_after_the_rows_that_roles_are_learnt_from_counts_as_well_and_is_not_kept() {
        const MESSAGES: u64 = 50_000;
        let (queue, buffers) = (0x10_0000, 0x90_0000);
        let mut trace = Trace::new(Given::default(), Numbers::Sequence);
        let (mut time, mut rows, mut short) = (0, 0, 0);
        for at in 0..MESSAGES {
            let [down, up] = [at, 2 * at].map(|number| number % 4096);
            // A completion goes up 400 ps after each post, and an answer of 64 bytes elsewhere 300 ps after that.
            for (after, direction, kind, number, address) in [
                (0, Direction::Down, Kind::Write, down, 8),
                (400, Direction::Up, Kind::Write, up, queue + 64 * (at % 4096)),
                (700, Direction::Up, Kind::Write, up + 1, buffers + 0x4000 * (at % 8)),
                (900, Direction::Down, Kind::Ack, up + 1, 0),
            ] {
                let address = (kind == Kind::Write).then_some(address);
                let row = packet(time + after, direction, kind, number % 4096);
                rows += 1;
                trace.take(rows + 1, Packet { address, ..row });
                assert!(kept(&trace) < LEARNT_FROM, "{rows}");
            }
            if at == 2 * MESSAGES / 3 {
                assert_eq!((trace.first.capacity(), trace.reading.is_some()), (0, true));
            }
            // Behind these rows messages follow one another more slowly.
            let learns = rows < LEARNT_FROM as u64;
            short += u64::from(learns);
            time += if learns { 1000 } else { 1600 };
        }
        // Where completions go, and the last few packets.
        assert!(kept(&trace) < 10, "{}", kept(&trace));
        let read = trace.finish().unwrap();
        assert_eq!((read.rows, read.lost, read.again), (4 * MESSAGES, Some(0), 0));
        let Counted { posts, completions, payloads, acknowledgements, others } = read.counted;
        assert_eq!([posts, completions, payloads, acknowledgements], [MESSAGES; 4]);
        assert_eq!((others, read.rounds.answers), (0, MESSAGES - 1));
        // From a pong to the next ping 300 ps, and then 900.
        let pongs = &read.rounds.pongs;
        let (first, rest) = (short as f64, (MESSAGES - 1 - short) as f64);
        assert_eq!((pongs.count(), short), (MESSAGES - 1, LEARNT_FROM as u64 / 4 - 1));
        let mean = (300.0 * first + 900.0 * rest) / (first + rest);
        assert!((pongs.mean().unwrap() / mean - 1.0).abs() < 1e-9, "{:?} {mean}", pongs.mean());
        assert_eq!((pongs.min(), pongs.max()), (Some(300.0), Some(900.0)));
        assert_eq!(read.rounds.pings.count(), MESSAGES - 1);
    }

    #[test]
    fn no_time_spans_a_gap_however_long() {
        for (modulo, lost) in [
            (4096, [1, 2047, 2048, 3000, 4040, 4095].as_slice()),
            (u64::MAX, &[1, 2047, 2048, 3000, 4095, 4096, 8192]),
        ] {
            for lost in lost {
                let read = across(5000..5000 + lost, modulo);
                let whence = format!("{lost} lost, modulo {modulo}");
                assert_eq!(read.rounds.posts.max(), Some(1_000_000.0), "{whence}");
                assert_eq!(read.acks.round_trips.max(), Some(300.0), "{whence}");
                // Both directions have one, with a post between.
                assert!((1..=2).contains(&read.rounds.apart), "{whence}");
                // Almost all others are timed.
                assert!(read.rounds.posts.count() + 70 > 15_998 - lost, "{whence}");
                assert!(read.acks.round_trips.count() + 70 > 15_998 - lost, "{whence}");
            }
        }
    }
}
