//! A row of a trace: a packet that the analyser saw.

use derive_more::Display;

/// Where a packet goes.
#[derive(Clone, Copy, Debug, Display, PartialEq, Eq)]
pub enum Direction {
    /// From the root complex to the network interface.
    #[display("down")]
    Down,
    /// From the network interface to the root complex.
    #[display("up")]
    Up,
}

/// What a packet is, as far as that matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A memory write (MWr).
    Write,
    /// Another packet of the transaction layer: it has a sequence number, and is acknowledged.
    Transaction,
    /// The acknowledgement (ACK) of packets that went the other way.
    Ack,
    /// Anything else: credits, power management, ordered sets.
    Other,
}

/// A packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// When the analyser saw it: picoseconds since the first row.
    pub time: u64,
    /// Where it goes.
    pub direction: Direction,
    /// What it is.
    pub kind: Kind,
    /// Bytes of data; 0 of a packet without any.
    pub bytes: u32,
    /// Where its data go.
    pub address: Option<u64>,
    /// Its number; of an acknowledgement that of the packet that it acknowledges.
    pub number: Option<u64>,
}

/// What the numbers of a trace are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// There are none.
    None,
    /// Those of the data link layer: they count the packets of a direction, by themselves, modulo 4096. An
    /// acknowledgement holds for all packets up to its number.
    Sequence,
    /// Whatever a packet and its acknowledgement share.
    Tag,
}

/// Sequence numbers begin again after so many.
const ROUND: u64 = 4096;

/// How far a sequence number is behind another; 0 of the same, `None` if it is ahead of it.
pub(super) fn behind(number: u64, of: u64) -> Option<u64> {
    let distance = of.wrapping_sub(number) % ROUND;
    (distance < ROUND / 2).then_some(distance)
}

/// Notices packets of one direction that are not in the trace.
#[derive(Clone, Debug, Default)]
pub(super) struct Succession {
    last: Option<u64>,
    /// Packets that are missing.
    pub lost: u64,
    /// Packets that were sent again.
    pub again: u64,
    /// Steps from one packet to the next, and those by one.
    steps: [u64; 2],
}

impl Succession {
    /// Takes the number of the next packet; whether others are missing before it.
    pub fn breaks(&mut self, number: Option<u64>) -> bool {
        let Some(number) = number else { return false };
        let Some(last) = self.last else {
            self.last = Some(number);
            return false;
        };
        match behind(last, number) {
            Some(0) | None => {
                self.again += 1;
                false
            }
            Some(step) => {
                self.last = Some(number);
                self.steps[0] += 1;
                self.steps[1] += u64::from(step == 1);
                self.lost += step - 1;
                step > 1
            }
        }
    }

    /// Whether the numbers count packets at all: most steps are by one.
    pub fn counts(&self) -> bool {
        2 * self.steps[1] > self.steps[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequence_numbers_begin_again() {
        assert_eq!(behind(4095, 0), Some(1));
        assert_eq!(behind(7, 7), Some(0));
        assert_eq!(behind(8, 7), None);
        // Numbers that an analyser counts on without beginning again mean the same.
        assert_eq!(behind(4095, 4096), Some(1));
    }

    #[test]
    fn what_is_missing_and_what_comes_again_is_counted() {
        let mut numbers = Succession::default();
        let breaks: Vec<bool> =
            [5, 6, 9, 9, 8, 10].map(|number| numbers.breaks(Some(number))).to_vec();
        assert_eq!(breaks, [false, false, true, false, false, false]);
        assert_eq!((numbers.lost, numbers.again), (2, 2));
        assert!(numbers.counts());
        let mut others = Succession::default();
        for number in [1, 4, 9, 12, 13] {
            others.breaks(Some(number));
        }
        assert!(!others.counts());
    }
}
