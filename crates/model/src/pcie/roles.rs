//! Which packets are posts, completions and payloads.

use super::packet::{Direction, Kind, Packet};

/// Bytes of a post by programmed I/O and of a completion.
/// *Source*: "Breaking Band", section 2 (Mellanox InfiniBand).
pub const CHUNK: u32 = 64;

/// Writes further apart than this belong to different places: four pages. Entries of a completion queue
/// follow one another without gaps.
const APART: u64 = 4 * 4096;

/// Addresses from one to another, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The least.
    pub from: u64,
    /// The greatest.
    pub to: u64,
}

impl Range {
    fn contains(&self, address: u64) -> bool {
        self.from <= address && address <= self.to
    }

    /// Whether the address is in it or next to it.
    fn reaches(&self, address: u64) -> bool {
        self.from.saturating_sub(APART) <= address && address <= self.to.saturating_add(APART)
    }
}

/// Addresses that the user gave, each empty where none were.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// Of posts.
    pub posts: Vec<Range>,
    /// Of completions.
    pub completions: Vec<Range>,
    /// Of payloads.
    pub payloads: Vec<Range>,
}

/// What a packet is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A message's descriptor, written to the network interface by the processor: down, 64 bytes.
    Post,
    /// An entry of a completion queue: up, 64 bytes.
    Completion,
    /// A message's data, or what else the network interface writes: up.
    Payload,
    /// Something else.
    Other,
}

/// How roles are told apart.
#[derive(Clone, Debug)]
pub struct Roles {
    given: Given,
    /// Where completions were found to go; empty where their size alone tells.
    found: Vec<Range>,
    /// Writes upstream without an address.
    unaddressed: u64,
}

/// Writes near one another.
struct Place {
    range: Range,
    chunks: u64,
    others: u64,
    /// Chunks that were the first write upstream after a post.
    first: u64,
}

impl Roles {
    /// From the first packets of a trace, as far as addresses were not given.
    ///
    /// Completions have 64 bytes. If there are writes of 64 bytes to several places, the places with writes
    /// of other sizes have payloads. Of the others those are completion queues where most writes are the
    /// first one upstream after a post: its completion comes back before an answer can.
    pub fn learn<'a>(given: Given, packets: impl Iterator<Item = &'a Packet>) -> Roles {
        let mut writes = Vec::new();
        let mut posted = false;
        for packet in packets.filter(|packet| packet.kind == Kind::Write) {
            match (packet.direction, packet.address) {
                (Direction::Down, _) => posted |= is_post(&given, packet),
                (Direction::Up, Some(address)) => {
                    writes.push((address, packet.bytes, std::mem::take(&mut posted)));
                }
                (Direction::Up, None) => posted = false,
            }
        }
        let said = !given.completions.is_empty() || !given.payloads.is_empty();
        let found = if said { Vec::new() } else { queues(places(writes)) };
        Roles { given, found, unaddressed: 0 }
    }

    /// What a packet is for.
    pub fn of(&mut self, packet: &Packet) -> Role {
        if packet.kind != Kind::Write {
            return Role::Other;
        }
        if packet.direction == Direction::Down {
            return if is_post(&self.given, packet) { Role::Post } else { Role::Other };
        }
        self.unaddressed += u64::from(packet.address.is_none());
        let within = |ranges: &[Range]| {
            packet.address.is_some_and(|at| ranges.iter().any(|range| range.contains(at)))
        };
        let Given { completions, payloads, .. } = &self.given;
        if within(payloads) {
            return Role::Payload;
        }
        if !completions.is_empty() {
            let rest = if payloads.is_empty() { Role::Payload } else { Role::Other };
            return if within(completions) { Role::Completion } else { rest };
        }
        if packet.bytes != CHUNK {
            return if payloads.is_empty() { Role::Payload } else { Role::Other };
        }
        let Some(address) = packet.address.filter(|_| !self.found.is_empty()) else {
            return Role::Completion;
        };
        match self.found.iter_mut().find(|range| range.reaches(address)) {
            Some(range) => {
                *range = Range { from: range.from.min(address), to: range.to.max(address) };
                Role::Completion
            }
            None => Role::Payload,
        }
    }

    /// Where completions were found to go; empty where their size alone tells, or addresses were given.
    pub fn found(&self) -> &[Range] {
        &self.found
    }

    /// Writes upstream without an address: of these the size alone tells.
    pub fn unaddressed(&self) -> u64 {
        self.unaddressed
    }

    /// What was given.
    pub fn given(&self) -> &Given {
        &self.given
    }
}

fn is_post(given: &Given, packet: &Packet) -> bool {
    let within = |at: u64| given.posts.iter().any(|range| range.contains(at));
    packet.bytes == CHUNK && (given.posts.is_empty() || packet.address.is_some_and(within))
}

/// Writes by where they go.
fn places(mut writes: Vec<(u64, u32, bool)>) -> Vec<Place> {
    writes.sort_unstable();
    let mut places: Vec<Place> = Vec::new();
    for (address, bytes, first) in writes {
        if places.last().is_none_or(|last| !last.range.reaches(address)) {
            let range = Range { from: address, to: address };
            places.push(Place { range, chunks: 0, others: 0, first: 0 });
        }
        if let Some(place) = places.last_mut() {
            place.range.to = address;
            let is_chunk = bytes == CHUNK;
            place.chunks += u64::from(is_chunk);
            place.others += u64::from(!is_chunk);
            place.first += u64::from(is_chunk && first);
        }
    }
    places
}

/// The completion queues among places; none where size alone tells.
fn queues(mut places: Vec<Place>) -> Vec<Range> {
    places.retain(|place| place.chunks > 0);
    if places.len() < 2 {
        return Vec::new();
    }
    let plain = places.iter().filter(|place| place.others == 0).count();
    if plain > 0 {
        places.retain(|place| place.others == 0);
    }
    let mostly = |place: &Place| 2 * place.first > place.chunks;
    if places.iter().any(mostly) {
        places.retain(mostly);
    }
    places.into_iter().map(|place| place.range).collect()
}
