//! What has arrived, and what the peer must be told about it.

use super::header::Flags;
use super::{MOST, charge};

/// The receiving half of one direction.
#[derive(Debug)]
#[cfg_attr(test, derive(Clone, PartialEq))]
pub(super) struct Inbox {
    /// Number of the next datagram in order.
    expected: u32,
    /// How much fits into the socket's buffer.
    room: u32,
    /// Charge of what arrived since the last acknowledgement.
    charged: u32,
    /// Something has arrived since the last acknowledgement.
    owes: bool,
    /// That was already so at the last look.
    waited: bool,
    /// An acknowledgement is due now.
    due: bool,
    /// It must say that what is missing is lost.
    lost: bool,
    /// That has been said about the datagram that is expected.
    complained: bool,
    /// The number at which the peer closed.
    end: Option<u32>,
    /// Datagrams that had arrived before.
    pub(super) duplicates: u64,
    /// Datagrams that arrived before their turn.
    pub(super) early: u64,
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
        Self {
            expected: first,
            room,
            charged: 0,
            owes: false,
            waited: false,
            due: false,
            lost: false,
            complained: false,
            end: None,
            duplicates: 0,
            early: 0,
        }
    }

    #[inline]
    pub(super) fn expected(&self) -> u32 {
        self.expected
    }

    #[inline]
    pub(super) fn room(&self) -> u32 {
        self.room
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
    pub(super) fn arrived(&mut self, place: Place, len: usize) {
        self.owes = true;
        self.charged += charge(len);
        // The peer may have no room left, or soon have none.
        self.due |= self.charged >= self.room / 2;
        match place {
            Place::Next => {
                self.expected = self.expected.wrapping_add(1);
                self.complained = false;
            }
            Place::Again => self.duplicates += 1,
            Place::Early => {
                self.early += 1;
                self.complain();
            }
        }
    }

    /// Says that a datagram is missing, only once for each: before its repetition arrives, others
    /// that were under way come early as well.
    #[cold]
    fn complain(&mut self) {
        if !std::mem::replace(&mut self.complained, true) {
            (self.due, self.lost) = (true, true);
        }
    }

    /// The peer has asked what has arrived.
    #[cold]
    pub(super) fn asked(&mut self) {
        (self.due, self.lost) = (true, true);
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
        self.due
    }

    /// The flags of the separate acknowledgement.
    pub(super) fn flags(&self) -> Flags {
        if self.lost { Flags::LOST } else { Flags::NONE }
    }

    /// An acknowledgement went out with a payload. It does not say what is lost.
    #[inline]
    pub(super) fn told(&mut self) {
        self.charged = 0;
        self.owes = self.lost;
        self.waited = false;
        self.due = self.lost;
    }

    /// A separate acknowledgement went out.
    pub(super) fn told_all(&mut self) {
        self.lost = false;
        self.told();
    }

    /// Checks whether the peer has waited for longer than the time between two looks.
    pub(super) fn tend(&mut self) {
        self.due |= self.owes && self.waited;
        self.waited = self.owes;
    }

    /// Makes an acknowledgement that is owed due now.
    pub(super) fn hurry(&mut self) {
        self.due |= self.owes;
    }

    /// Whether the peer waits for an acknowledgement.
    pub(super) fn owes(&self) -> bool {
        self.owes || self.due
    }
}
