//! Where the messages of a program lie in a rank's memory.

use bandgap_comm::Part;

use crate::Refused;

/// Memory for a place of each message, at most, in bytes of a rank.
pub const MOST_PLACES: usize = 64 << 20;

/// Places begin at multiples of this.
const ALIGNMENT: usize = 64;

/// Memory that a rank needs for a kernel, beside code and clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Length of each message that the rank sends or receives with message passing.
    pub bytes: usize,
    /// Messages that it sends in a sample.
    pub sends: u64,
    /// Messages that it receives in a sample.
    pub receives: u64,
    /// Memory that it must expose for transfers, at least.
    pub exposed: usize,
    /// Elements of the longest vectors that it computes with ([`bandgap_comm::Work::Daxpy`]).
    pub doubles: usize,
    /// Words that it receives in Active Messages in a sample, which a checked batch notes.
    pub words: u64,
}

impl Needs {
    /// Of a rank that sends and receives so many messages in a sample.
    pub fn both_ways(messages: u64, bytes: usize) -> Self {
        Self { bytes, sends: messages, receives: messages, ..Self::default() }
    }
}

/// The places of a rank: regions that messages are sent from and received into. In timed batches
/// each region has one place, which all messages share; in checked batches each message has its
/// own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Places {
    bytes: usize,
    /// From one place to the next; 0 where there is one.
    stride: usize,
    /// The first place received into.
    incoming: usize,
    memory: usize,
}

impl Places {
    /// One place to send from and one to receive into.
    pub fn shared(needs: &Needs) -> Self {
        let room = needs.bytes.next_multiple_of(ALIGNMENT);
        let rooms = [needs.sends, needs.receives].map(|n| if n > 0 { room } else { 0 });
        Self { bytes: needs.bytes, stride: 0, incoming: rooms[0], memory: rooms[0] + rooms[1] }
    }

    /// A place of its own for each message of a sample.
    ///
    /// # Errors
    /// They would take more than [`MOST_PLACES`].
    pub fn own(needs: &Needs) -> Result<Self, Refused> {
        if needs.sends <= 1 && needs.receives <= 1 {
            return Ok(Self::shared(needs));
        }
        let room = needs.bytes.next_multiple_of(ALIGNMENT);
        let all = |places: u64| places.saturating_mul(room as u64);
        let incoming = all(needs.sends);
        let memory = incoming.saturating_add(all(needs.receives));
        if memory > MOST_PLACES as u64 {
            return Err(Refused::because(format!(
                "a checked batch has a place for each of {} messages of {} bytes, and these may \
                 take {MOST_PLACES} bytes; order fewer messages a sample, or a timed batch",
                needs.sends.saturating_add(needs.receives),
                needs.bytes
            )));
        }
        let (incoming, memory) = (incoming as usize, memory as usize);
        Ok(Self { bytes: needs.bytes, stride: room, incoming, memory })
    }

    /// The part that message `index` of a sample is sent from.
    #[inline(always)]
    pub fn outgoing(&self, index: u64) -> Part {
        Part::new(index as usize * self.stride, self.bytes)
    }

    /// The part that message `index` of a sample is received into.
    #[inline(always)]
    pub fn incoming(&self, index: u64) -> Part {
        Part::new(self.incoming + index as usize * self.stride, self.bytes)
    }

    /// Bytes of all places.
    pub fn memory(&self) -> usize {
        self.memory
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
    }

    #[test]
    fn more_memory_than_is_allotted_is_refused_unless_a_timed_batch_needs_it_too() {
        // 64 MiB hold 2²⁰ places of 64 bytes.
        let most = 1 << 19;
        assert!(Places::own(&needs(64, most, most)).is_ok());
        let error = Places::own(&needs(64, most, most + 1)).unwrap_err().to_string();
        assert!(error.contains("1048577 messages of 64 bytes"), "{error}");
        assert!(Places::own(&needs(1 << 30, 1, 1)).is_ok());
        assert!(Places::own(&needs(1 << 30, u64::MAX, u64::MAX)).is_err());
    }
}
