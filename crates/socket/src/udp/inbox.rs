//! What has arrived, and what the peer must be told about it.

use super::header::Flags;
use super::{MOST, Mishaps, charge};

/// The receiving half of one direction.
#[derive(Debug, Default)]
#[cfg_attr(test, derive(Clone, PartialEq))]
pub(super) struct Inbox {
    /// Number of the next datagram in order.
    pub(super) expected: u32,
    /// How much fits into the socket's buffer.
    pub(super) room: u32,
    /// Charge of what arrived since the last acknowledgement.
    charged: u32,
    owed: Owed,
    /// The peer has been told that the datagram that is expected is lost.
    complained: bool,
    /// The number at which the peer closed.
    end: Option<u32>,
}

/// What the peer waits for, and how urgently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Owed {
    /// Nothing.
    #[default]
    Nothing,
    /// An acknowledgement, since the last look.
    New,
    /// An acknowledgement, since before the last look.
    Old,
    /// An acknowledgement that is due now.
    Due,
    /// One that is due now and says that what is missing is lost. It must be a separate one.
    Complaint,
}

/// The place of a datagram in the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// It is the next one.
    Next,
    /// It has arrived before.
    Again,
    /// Others before it are missing.
    Early,
}

impl Inbox {
    pub(super) fn new(first: u32, room: u32) -> Self {
        Self { expected: first, room, ..Self::default() }
    }

    /// The place of a number; `None` if no peer can have got that far.
    #[inline]
    pub(super) fn place(&self, number: u32) -> Option<Place> {
        match number.wrapping_sub(self.expected) as i32 {
            0 => Some(Place::Next),
            behind if behind < 0 => Some(Place::Again),
            ahead => (ahead as u32 <= MOST).then_some(Place::Early),
        }
    }

    /// A datagram with a payload has arrived.
    #[inline]
    pub(super) fn arrived(&mut self, place: Place, len: usize, mishaps: &mut Mishaps) {
        self.charged += charge(len);
        // With half of it used, the peer may have no room left, or soon have none.
        let owed = if self.charged >= self.room / 2 { Owed::Due } else { Owed::New };
        self.owed = self.owed.max(owed);
        match place {
            Place::Next => {
                self.expected = self.expected.wrapping_add(1);
                self.complained = false;
            }
            Place::Again => mishaps.duplicates += 1,
            Place::Early => {
                mishaps.early += 1;
                self.complain();
            }
        }
    }

    /// Says that a datagram is missing, only once for each: before its repetition arrives, others
    /// that were under way come early as well.
    #[cold]
    fn complain(&mut self) {
        if !std::mem::replace(&mut self.complained, true) {
            self.owed = Owed::Complaint;
        }
    }

    /// The peer has asked what has arrived.
    #[cold]
    pub(super) fn asked(&mut self) {
        self.owed = Owed::Complaint;
    }

    /// The peer has closed before sending this number.
    #[cold]
    pub(super) fn closes(&mut self, number: u32, place: Place) {
        if place != Place::Again {
            self.end = Some(number);
        }
        if place == Place::Early {
            self.complain();
        }
    }

    /// Whether everything that will ever arrive has arrived.
    #[inline]
    pub(super) fn finished(&self) -> bool {
        self.end == Some(self.expected)
    }

    /// Whether a separate acknowledgement is due.
    #[inline]
    pub(super) fn due(&self) -> bool {
        self.owed >= Owed::Due
    }

    /// The flags of the separate acknowledgement.
    pub(super) fn flags(&self) -> Flags {
        if self.owed == Owed::Complaint { Flags::LOST } else { Flags::NONE }
    }

    /// An acknowledgement went out with a payload. It does not say what is lost.
    #[inline]
    pub(super) fn told(&mut self) {
        self.charged = 0;
        if self.owed != Owed::Complaint {
            self.owed = Owed::Nothing;
        }
    }

    /// A separate acknowledgement went out.
    pub(super) fn told_all(&mut self) {
        self.charged = 0;
        self.owed = Owed::Nothing;
    }

    /// Checks whether the peer has waited for longer than the time between two looks.
    pub(super) fn tend(&mut self) {
        match self.owed {
            Owed::New => self.owed = Owed::Old,
            Owed::Old => self.owed = Owed::Due,
            Owed::Nothing | Owed::Due | Owed::Complaint => {}
        }
    }

    /// Makes an acknowledgement that is owed due now.
    pub(super) fn hurry(&mut self) {
        if self.owes() {
            self.owed = self.owed.max(Owed::Due);
        }
    }

    /// Whether the peer waits for an acknowledgement.
    pub(super) fn owes(&self) -> bool {
        self.owed != Owed::Nothing
    }
}
