//! Where a program's messages lie in a rank's memory.

use bandgap_comm::Part;

use crate::{Buffers, Refused};

/// Largest memory of a rank for one place per message, in bytes.
pub const MOST_PLACES: usize = 64 << 20;

/// Alignment of places, in bytes.
const ALIGNMENT: usize = 64;

/// Least distance between fresh places, in bytes: more than a page, so that no processor prefetches
/// the next one.
const APART: usize = 4096 + ALIGNMENT;

/// Memory that a rank needs for a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Length of each message that the rank sends or receives with message passing.
    pub bytes: usize,
    /// Messages that the rank sends in a sample.
    pub sends: u64,
    /// Messages that the rank receives in a sample.
    pub receives: u64,
    /// Working memory of the kernel, in bytes. Nothing is filled or compared there.
    pub scratch: usize,
    /// Where successive messages lie.
    pub buffers: Buffers,
    /// Least memory that the rank must expose for transfers, in bytes.
    pub exposed: usize,
    /// Elements of the longest vectors that it computes with ([`bandgap_comm::Work::Daxpy`]).
    pub doubles: usize,
    /// Words that it receives in Active Messages in a sample. A checked batch notes each of them.
    pub words: u64,
}

impl Needs {
    /// Needs of a rank that sends and receives `messages` messages of `bytes` bytes in a sample.
    pub fn both_ways(messages: u64, bytes: usize) -> Self {
        Self { bytes, sends: messages, receives: messages, ..Self::default() }
    }
}

/// A rank's places: a region to send from, a region to receive into, and working memory. In timed
/// batches all messages share one place in each region or go round a ring of places, or the two
/// regions are one ([`Buffers`]). In checked batches each message has its own place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Places {
    bytes: usize,
    /// Distance between places, in bytes; 0 if there is only one.
    stride: usize,
    /// Offset of the first place to receive into.
    incoming: usize,
    /// Places in each region; after the last the first is used again.
    count: u64,
    /// Offset of the region that the rank answers from.
    answering: usize,
    /// Working memory of the kernel.
    scratch: Part,
}

impl Places {
    /// Places for a timed batch, as the policy says.
    pub fn shared(needs: &Needs) -> Self {
        let Needs { bytes, sends, receives, buffers, .. } = *needs;
        let room = bytes.next_multiple_of(ALIGNMENT);
        let (stride, count) = match buffers {
            Buffers::Fresh { ring } => {
                let stride = room.max(APART);
                (stride, (ring / stride).max(1))
            }
            _ => (0, 1),
        };
        let region = room.max(stride * count);
        let [outgoing, incoming] = [sends, receives].map(|n| if n > 0 { region } else { 0 });
        let memory = match buffers {
            Buffers::Same => outgoing.max(incoming),
            _ => outgoing + incoming,
        };
        let (incoming, scratch) = (memory - incoming, Part::new(memory, needs.scratch));
        Self { bytes, stride, incoming, count: count as u64, answering: 0, scratch }
    }

    /// One place for each message of a sample.
    ///
    /// # Errors
    /// They would take more than [`MOST_PLACES`] bytes.
    pub fn own(needs: &Needs) -> Result<Self, Refused> {
        if needs.sends <= 1 && needs.receives <= 1 {
            let places = Self::shared(&Needs { buffers: Buffers::Separate, ..*needs });
            return Ok(places.answering(needs.buffers));
        }
        let room = needs.bytes.next_multiple_of(ALIGNMENT);
        let all = |places: u64| places.saturating_mul(room as u64);
        let incoming = all(needs.sends);
        let memory = incoming.saturating_add(all(needs.receives));
        if memory > MOST_PLACES as u64 {
            return Err(Refused::because(format!(
                "a checked batch needs a place for each of {} messages of {} bytes, which do not \
                 fit into {MOST_PLACES} bytes; order fewer messages in a sample, or a timed batch",
                needs.sends.saturating_add(needs.receives),
                needs.bytes
            )));
        }
        let scratch = Part::new(memory as usize, needs.scratch);
        let (bytes, incoming) = (needs.bytes, incoming as usize);
        let count = needs.sends.max(needs.receives);
        let places = Self { bytes, stride: room, incoming, count, answering: 0, scratch };
        Ok(places.answering(needs.buffers))
    }

    /// The same places with this policy for answers: a rank answers with the message that it
    /// received, or from its own place.
    fn answering(self, buffers: Buffers) -> Self {
        let answering = if buffers == Buffers::Same { self.incoming } else { 0 };
        Self { answering, ..self }
    }

    /// The part that message `index` of a batch is sent from.
    #[inline(always)]
    pub fn outgoing(&self, index: u64) -> Part {
        self.part(0, index)
    }

    /// The part that message `index` of a batch is received into.
    #[inline(always)]
    pub fn incoming(&self, index: u64) -> Part {
        self.part(self.incoming, index)
    }

    /// The part that a rank sends from when it answers message `index` of a batch:
    /// [`Places::outgoing`], or under [`Buffers::Same`] the place where it received the message.
    #[inline(always)]
    pub fn answer(&self, index: u64) -> Part {
        self.part(self.answering, index)
    }

    #[inline(always)]
    fn part(&self, region: usize, index: u64) -> Part {
        let index = if self.stride == 0 { 0 } else { index % self.count };
        Part::new(region + index as usize * self.stride, self.bytes)
    }

    /// Places in a region, which messages use in turn.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The kernel's working memory, the same in every sample.
    #[inline(always)]
    pub fn scratch(&self) -> Part {
        self.scratch
    }

    /// Bytes of memory that all places take.
    pub fn memory(&self) -> usize {
        self.scratch.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needs(bytes: usize, sends: u64, receives: u64) -> Needs {
        Needs { bytes, sends, receives, ..Needs::default() }
    }

    #[test]
    fn places_of_messages_are_apart_and_shared_ones_the_same() {
        let own = Places::own(&needs(65, 3, 2)).unwrap();
        let parts: Vec<Part> =
            (0..3).map(|i| own.outgoing(i)).chain((0..2).map(|i| own.incoming(i))).collect();
        let expected = [0, 128, 256, 384, 512].map(|at| Part::new(at, 65));
        assert_eq!((parts, own.memory()), (expected.to_vec(), 640));
        let shared = Places::shared(&needs(65, 3, 2));
        assert_eq!([0, 9].map(|i| shared.outgoing(i)), [Part::new(0, 65); 2]);
        assert_eq!([0, 9].map(|i| shared.incoming(i)), [Part::new(128, 65); 2]);
        assert_eq!(shared.memory(), 256);
        assert_eq!(Places::shared(&needs(0, 0, 0)).memory(), 0);
        for (places, begin) in [(own, 640), (shared, 256)] {
            assert_eq!(places.scratch(), Part::new(begin, 0));
        }
        let works = Needs { scratch: 65, ..needs(65, 3, 2) };
        let places = Places::own(&works).unwrap();
        assert_eq!((places.scratch(), places.memory()), (Part::new(640, 65), 705));
    }

    #[test]
    fn one_array_travels_or_each_message_has_the_next_place_of_a_ring() {
        let lying = |buffers| Needs { buffers, ..needs(65, 3, 3) };
        let same = Places::shared(&lying(Buffers::Same));
        let array = Part::new(0, 65);
        assert_eq!([same.outgoing(0), same.incoming(1), same.answer(2)], [array; 3]);
        assert_eq!(same.memory(), 128);
        // In a checked batch only who answers has one array.
        let own = Places::own(&lying(Buffers::Same)).unwrap();
        assert!((0..3).all(|i| own.answer(i) == own.incoming(i) && own.outgoing(i).at == 128 * i as usize));
        let one = Places::own(&Needs { buffers: Buffers::Same, ..needs(65, 1, 1) }).unwrap();
        assert_eq!((one.answer(0), one.outgoing(0)), (one.incoming(0), array));
        assert_ne!(one.incoming(0), array);
        // 20000 bytes hold 4 places of a page and a line.
        let fresh = Places::shared(&lying(Buffers::Fresh { ring: 20_000 }));
        let at = [0, 1, 3, 4].map(|i| fresh.outgoing(i).at);
        assert_eq!(at, [0, 4160, 3 * 4160, 0]);
        assert_eq!((fresh.incoming(0).at, fresh.answer(1).at), (4 * 4160, 4160));
        assert_eq!(fresh.memory(), 8 * 4160);
        let long =
            Places::shared(&Needs { bytes: 30_000, ..lying(Buffers::Fresh { ring: 20_000 }) });
        assert_eq!((long.outgoing(1).at, long.incoming(1).at, long.memory()), (0, 30_016, 60_032));
    }

    #[test]
    fn more_memory_than_is_allotted_is_refused_unless_a_timed_batch_needs_it_too() {
        // 64 MiB hold 2²⁰ places of 64 bytes.
        let most = 1 << 19;
        assert!(Places::own(&needs(64, most, most)).is_ok());
        let error = Places::own(&needs(64, most, most + 1)).unwrap_err().to_string();
        assert!(error.contains("1048577"), "{error}");
        assert!(Places::own(&needs(1 << 30, 1, 1)).is_ok());
        assert!(Places::own(&needs(1 << 30, u64::MAX, u64::MAX)).is_err());
    }
}
