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

/// Sequence numbers begin again after so many. Numbers from here on do not.
const ROUND: u64 = 4096;

/// What was sent again is at most so many numbers back.
const AGAIN: u64 = 64;

/// Whether numbers begin again, as far as two of them tell.
fn begin_again(one: u64, other: u64) -> bool {
    one.max(other) < ROUND
}

/// How far a sequence number is behind another; 0 of the same, `None` if it is ahead of it.
pub(super) fn behind(number: u64, of: u64) -> Option<u64> {
    if !begin_again(number, of) {
        return of.checked_sub(number);
    }
    let distance = of.wrapping_sub(number) % ROUND;
    (distance < ROUND / 2).then_some(distance)
}

/// How a packet follows the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing is missing between them, as far as numbers tell.
    Next,
    /// Packets are missing between them.
    Missing,
    /// So many are missing that numbers no longer tell which of two is ahead, or they were set back.
    Jump,
    /// It was sent before.
    Again,
}

/// Notices packets of one direction that are not in the trace.
#[derive(Clone, Debug, Default)]
pub(super) struct Succession {
    last: Option<u64>,
    /// Packets that are missing: so many at least.
    pub lost: u64,
    /// Packets that were sent again.
    pub again: u64,
    /// Steps from one packet to the next, and those by one.
    steps: [u64; 2],
}

impl Succession {
    /// Takes the number of the next packet.
    pub fn step(&mut self, number: Option<u64>) -> Step {
        let Some(number) = number else { return Step::Next };
        let Some(last) = self.last else {
            self.last = Some(number);
            return Step::Next;
        };
        self.steps[0] += 1;
        if behind(number, last).is_some_and(|back| back <= AGAIN) {
            self.again += 1;
            return Step::Again;
        }
        self.last = Some(number);
        let Some(step) = behind(last, number) else {
            // Where they begin again it is a gap of half a round or more; else they were set back.
            if begin_again(last, number) {
                self.lost = self.lost.saturating_add(number.wrapping_sub(last) % ROUND - 1);
            }
            return Step::Jump;
        };
        self.steps[1] += u64::from(step == 1);
        self.lost = self.lost.saturating_add(step - 1);
        if step > 1 { Step::Missing } else { Step::Next }
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
        // They are compared plainly.
        assert_eq!((behind(5000, 9096), behind(9096, 5000)), (Some(4096), None));
        assert_eq!((behind(4000, 8100), behind(8100, 4000)), (Some(4100), None));
    }

    #[test]
    fn what_is_missing_and_what_comes_again_is_counted() {
        let (found, numbers) = steps(&[5, 6, 9, 9, 8, 10, 11, 12, 13]);
        use Step::{Again, Missing, Next};
        assert_eq!(found, [Next, Next, Missing, Again, Again, Next, Next, Next, Next]);
        assert_eq!((numbers.lost, numbers.again), (2, 2));
        assert!(numbers.counts());
        assert!(!steps(&[1, 4, 9, 12, 13]).1.counts());
        // Pairs of the same number: something else is counted.
        assert!(!steps(&[1, 1, 2, 2, 3, 3, 4, 4]).1.counts());
    }

    #[test]
    fn long_gaps_are_gaps() {
        use Step::{Again, Jump, Missing, Next};
        // Of a round: half of it and more is a gap, not a packet sent again.
        for (number, step, lost) in [
            (100 + 2047, Missing, 2046),
            (100 + 2048, Jump, 2047),
            (100 + 3000, Jump, 2999),
            (35, Jump, 4030),
            (36, Again, 0),
        ] {
            let (found, numbers) = steps(&[99, 100, number]);
            assert_eq!((found[2], numbers.lost), (step, lost), "{number}");
            let after = [99, 100, number, number + 1];
            assert_eq!(steps(&after).0[3], if step == Again { Again } else { Next }, "{number}");
        }
        // Numbers that go on: any gap is one.
        for gap in [2, 2048, 3000, 4095, 4096, 4097, 8192, 1 << 40] {
            let (found, numbers) = steps(&[9999, 10_000, 10_000 + gap, 10_001 + gap]);
            assert_eq!((found, numbers.lost), (vec![Next, Next, Missing, Next], gap - 1), "{gap}");
        }
        // Set back: how many are missing is not known.
        let (found, numbers) = steps(&[9999, 10_000, 1, 2]);
        assert_eq!((found, numbers.lost), (vec![Next, Next, Jump, Next], 0));
    }

    /// How each follows the one before it, and what was counted.
    fn steps(of: &[u64]) -> (Vec<Step>, Succession) {
        let mut numbers = Succession::default();
        let steps = of.iter().map(|number| numbers.step(Some(*number))).collect();
        (steps, numbers)
    }
}
