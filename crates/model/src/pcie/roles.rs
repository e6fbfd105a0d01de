//! Which packets are posts, completions and payloads.

use super::{Direction, Packet, PacketKind};

/// Bytes of a post by programmed I/O and of a completion.
/// *Source*: "Breaking Band", section 2 (Mellanox InfiniBand).
const CHUNK: u32 = 64;

/// Writes further apart than this belong to different regions: four pages. Entries of a completion
/// queue follow one another without gaps.
const APART: u64 = 4 * 4096;

/// The purpose of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PacketRole {
    /// A message's descriptor, written to the network interface by the processor: down, 64 bytes.
    Post,
    /// An entry of a completion queue: up, 64 bytes.
    Completion,
    /// A message's data, or something else that the network interface writes: up.
    Payload,
    /// Any other packet.
    Other,
}

/// An area of memory whose writes lie near one another.
#[derive(Clone, Copy, Debug)]
struct Area {
    from: u64,
    to: u64,
    chunks: u64,
    others: u64,
    /// Chunks that were the first upstream write after a post.
    first: u64,
}

impl Area {
    fn reaches(&self, address: u64) -> bool {
        self.from.saturating_sub(APART) <= address && address <= self.to.saturating_add(APART)
    }
}

/// Areas of completion queues; empty if the size alone identifies completions.
#[derive(Clone, Debug)]
pub(super) struct Roles(Vec<Area>);

fn is_post(packet: &Packet) -> bool {
    (packet.kind, packet.direction, packet.bytes) == (PacketKind::Write, Direction::Down, CHUNK)
}

impl Roles {
    /// Learns the roles from the first packets of a trace.
    ///
    /// Completions have 64 bytes. If writes of 64 bytes go to several regions, the regions that
    /// also have writes of other sizes hold payloads. Among the others, completion queues are the
    /// regions in which most writes are the first upstream write after a post, since a post's
    /// completion returns before an answer can.
    pub fn learn(packets: &[Packet]) -> Roles {
        let mut writes = Vec::new();
        let mut posted = false;
        for packet in packets.iter().filter(|packet| packet.kind == PacketKind::Write) {
            match (packet.direction, packet.address) {
                (Direction::Down, _) => posted |= is_post(packet),
                (Direction::Up, Some(address)) => {
                    writes.push((address, packet.bytes, std::mem::take(&mut posted)));
                }
                (Direction::Up, None) => posted = false,
            }
        }
        writes.sort_unstable();
        let mut places: Vec<Area> = Vec::new();
        for (address, bytes, first) in writes {
            if places.last().is_none_or(|last| !last.reaches(address)) {
                places.push(Area { from: address, to: address, chunks: 0, others: 0, first: 0 });
            }
            if let Some(place) = places.last_mut() {
                place.to = address;
                let is_chunk = bytes == CHUNK;
                place.chunks += u64::from(is_chunk);
                place.others += u64::from(!is_chunk);
                place.first += u64::from(is_chunk && first);
            }
        }
        places.retain(|place| place.chunks > 0);
        if places.len() < 2 {
            return Roles(Vec::new());
        }
        for likely in
            [|place: &Area| place.others == 0, |place: &Area| 2 * place.first > place.chunks]
        {
            if places.iter().any(likely) {
                places.retain(likely);
            }
        }
        Roles(places)
    }

    /// The purpose of a packet.
    pub fn of(&mut self, packet: &Packet) -> PacketRole {
        if packet.kind != PacketKind::Write || packet.direction == Direction::Down {
            return if is_post(packet) { PacketRole::Post } else { PacketRole::Other };
        }
        if packet.bytes != CHUNK {
            return PacketRole::Payload;
        }
        let Some(address) = packet.address.filter(|_| !self.0.is_empty()) else {
            return PacketRole::Completion;
        };
        // A queue's region grows as the trace goes on.
        match self.0.iter_mut().find(|place| place.reaches(address)) {
            Some(place) => {
                (place.from, place.to) = (place.from.min(address), place.to.max(address));
                PacketRole::Completion
            }
            None => PacketRole::Payload,
        }
    }
}
