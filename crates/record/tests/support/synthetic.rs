//! Traces of a PCIe analyser whose answers are known.
//!
//! A root complex, a network interface with the analyser just before it, a wire, perhaps a switch, and a peer
//! of the same make. Every packet of the transaction layer has a sequence number of its direction and is
//! acknowledged; the network interface at once, the root complex after the way there and back.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::fmt::Write as _;
use std::io::{self, Write};

use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Normal};
use rand_xoshiro::Xoshiro256PlusPlus;

/// What the machines do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Traffic {
    /// Posts one after another, several of them under way.
    Injection,
    /// Each post answers a payload.
    PingPong,
}

/// The machines. Times are in nanoseconds.
#[derive(Clone, Debug)]
pub struct Machine {
    pub traffic: Traffic,
    pub messages: u64,
    pub pcie: f64,
    pub wire: f64,
    /// 0 without a switch.
    pub switch: f64,
    pub rc_to_mem: f64,
    pub llp_post: f64,
    pub llp_prog: f64,
    /// From one post to the next.
    pub injection: f64,
    /// The standard deviation of each time that passes.
    pub jitter: f64,
    /// The share of rows that are not in the trace.
    pub lost: f64,
    /// Bytes of a message's payload.
    pub payload: u32,
    /// Whether a received message has a completion beside its payload.
    pub receive_completions: bool,
    /// Acknowledgements by the root complex hold for two packets now and then.
    pub shared_acks: bool,
    pub numbers: &'static str,
    pub addresses: bool,
    pub seed: u64,
}

/// "Breaking Band", table 1; the observed injection overhead is that of section 4.2.
pub const PAPER: Machine = Machine {
    traffic: Traffic::PingPong,
    messages: 2000,
    pcie: 137.49,
    wire: 274.81,
    switch: 108.0,
    rc_to_mem: 240.96,
    llp_post: 175.42,
    llp_prog: 61.63,
    injection: 282.33,
    jitter: 0.0,
    lost: 0.0,
    payload: 8,
    receive_completions: true,
    shared_acks: false,
    numbers: "sequence",
    addresses: true,
    seed: 1,
};

/// A packet before it has its number.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    /// In picoseconds.
    time: u64,
    id: u64,
    down: bool,
    /// The packet that it acknowledges.
    of: Option<u64>,
    bytes: u32,
    address: u64,
}

struct Generator<W> {
    machine: Machine,
    random: Xoshiro256PlusPlus,
    events: BinaryHeap<Reverse<Event>>,
    ids: u64,
    /// The next sequence number of each direction, up and down.
    next: [u64; 2],
    numbers: HashMap<u64, u64>,
    out: W,
    line: String,
}

/// Where things lie.
const QUEUE: u64 = 0x7f10_0000_0000;
const RECEIVE_QUEUE: u64 = 0x7f10_0100_0000;
const BUFFERS: u64 = 0x7f20_0000_0000;
const DEVICE: u64 = 0x38_0000_0800;

impl Machine {
    /// Writes the trace as CSV.
    pub fn write(&self, out: impl Write) -> io::Result<()> {
        let mut generator = Generator {
            machine: self.clone(),
            random: Xoshiro256PlusPlus::seed_from_u64(self.seed),
            events: BinaryHeap::new(),
            ids: 0,
            next: [4000, 17],
            numbers: HashMap::new(),
            out,
            line: String::new(),
        };
        generator.header()?;
        match self.traffic {
            Traffic::Injection => generator.injection()?,
            Traffic::PingPong => generator.ping_pong()?,
        }
        generator.flush(u64::MAX)
    }

    /// The trace as text.
    #[allow(dead_code)]
    pub fn text(&self) -> String {
        let mut text = Vec::new();
        self.write(&mut text).expect("a vector takes all");
        String::from_utf8(text).expect("it is text")
    }
}

impl<W: Write> Generator<W> {
    /// A time that passes, in picoseconds.
    fn passes(&mut self, ns: f64) -> u64 {
        let time = match self.machine.jitter {
            0.0 => ns,
            // The jitter of a short way is that of a long one at most.
            jitter => {
                let jitter = jitter.min(ns / 5.0);
                ns + Normal::new(0.0, jitter).expect("it is finite").sample(&mut self.random)
            }
        };
        (time.max(0.0) * 1e3).round() as u64
    }

    fn event(&mut self, time: u64, down: bool, of: Option<u64>, bytes: u32, address: u64) -> u64 {
        self.ids += 1;
        self.events.push(Reverse(Event { time, id: self.ids, down, of, bytes, address }));
        self.ids
    }

    /// A post, and the interface's own acknowledgement; its completion. When that comes.
    fn post(&mut self, time: u64, at: u64, completed: u64) {
        let post = self.event(time, true, None, 64, DEVICE + 0x100 * (at % 2));
        self.event(time + 6_000, false, Some(post), 0, 0);
        self.up(completed, 64, QUEUE + 64 * (at % 4096));
    }

    /// A write upstream, and the root complex's acknowledgement.
    fn up(&mut self, time: u64, bytes: u32, address: u64) {
        let write = self.event(time, false, None, bytes, address);
        let way = self.passes(2.0 * self.machine.pcie);
        if self.machine.shared_acks && self.random.random_bool(0.2) {
            return;
        }
        self.event(time + way, true, Some(write), 0, 0);
    }

    fn injection(&mut self) -> io::Result<()> {
        let mut time = 0;
        for at in 0..self.machine.messages {
            let there_and_back = self.passes(2.0 * (self.machine.wire + self.machine.switch));
            self.post(time, at, time + there_and_back);
            self.flush(time)?;
            time += self.passes(self.machine.injection);
        }
        Ok(())
    }

    fn ping_pong(&mut self) -> io::Result<()> {
        let machine = self.machine.clone();
        let network = machine.wire + machine.switch;
        let turn = 2.0 * machine.pcie + machine.rc_to_mem + machine.llp_prog + machine.llp_post;
        let mut time = 0;
        for at in 0..machine.messages {
            let completed = time + self.passes(2.0 * network);
            self.post(time, at, completed);
            let pong = time + self.passes(2.0 * network) + self.passes(turn);
            self.up(pong, machine.payload, BUFFERS + 8192 * (at % 512));
            if machine.receive_completions {
                self.up(pong + 4_000, 64, RECEIVE_QUEUE + 64 * (at % 4096));
            }
            if at % 10 == 0 {
                self.event(pong + 40_000, true, None, 0, u64::MAX);
            }
            self.flush(time)?;
            time = pong + self.passes(turn);
        }
        Ok(())
    }

    fn header(&mut self) -> io::Result<()> {
        let addresses = if self.machine.addresses { ",address" } else { "" };
        let numbers = match self.machine.numbers {
            "" => String::new(),
            name => format!(",{name}"),
        };
        writeln!(self.out, "time_ns,direction,type,bytes{addresses}{numbers}")
    }

    /// Writes what happens before a time.
    fn flush(&mut self, until: u64) -> io::Result<()> {
        while self.events.peek().is_some_and(|Reverse(event)| event.time < until) {
            let Some(Reverse(event)) = self.events.pop() else { break };
            self.row(&event)?;
        }
        Ok(())
    }

    fn row(&mut self, event: &Event) -> io::Result<()> {
        let is_credit = event.address == u64::MAX;
        let number = match event.of {
            None if is_credit => None,
            None => {
                let next = &mut self.next[usize::from(event.down)];
                let number = *next;
                *next = (number + 1) % 4096;
                self.numbers.insert(event.id, number);
                Some(number)
            }
            Some(of) => self.numbers.remove(&of),
        };
        if self.machine.lost > 0.0 && self.random.random_bool(self.machine.lost) {
            return Ok(());
        }
        self.line.clear();
        let kind = match event.of {
            _ if is_credit => "UpdateFC-P",
            Some(_) => "ACK",
            None => "MWr",
        };
        let direction = if event.down { "down" } else { "up" };
        let (ns, ps) = (event.time / 1000, event.time % 1000);
        let line = &mut self.line;
        let _ = write!(line, "{ns}.{ps:03},{direction},{kind},");
        if kind == "MWr" {
            let _ = write!(line, "{}", event.bytes);
        }
        if self.machine.addresses {
            line.push(',');
            if kind == "MWr" {
                let _ = write!(line, "0x{:x}", event.address);
            }
        }
        if !self.machine.numbers.is_empty() {
            line.push(',');
            if let Some(number) = number {
                let _ = write!(line, "{number}");
            }
        }
        line.push('\n');
        self.out.write_all(line.as_bytes())
    }
}
