//! What has arrived, and what the peer has to be told of it.

use super::header::Flags;
use super::{MOST, charge};

/// The receiving half of one direction.
#[derive(Debug)]
#[cfg_attr(test, derive(Clone, PartialEq))]
pub(super) struct Inbox {
    /// Number of the datagram that comes next.
    expected: u32,
    /// What fits into the socket's buffer.
    room: u32,
    /// Cost of what arrived since the last acknowledgement.
    charged: u32,
    /// Something arrived since the last acknowledgement.
    owes: bool,
    /// And that was so at the last look.
    waited: bool,
    /// An acknowledgement is due now.
    due: bool,
    /// And it shall say that what is missing is lost.
    lost: bool,
    /// That has been said of what is expected.
    complained: bool,
    /// The number at which the peer closed.
    end: Option<u32>,
    /// Datagrams that had come before.
    pub(super) duplicates: u64,
    /// Datagrams that came before their turn.
    pub(super) early: u64,
}

/// What to make of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The next one.
    Next,
    /// It came before.
    Again,
    /// Others are missing before it.
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

    /// Where a number belongs; none if no peer can have got that far.
    #[inline]
    pub(super) fn place(&self, number: u32) -> Option<Place> {
        match number.wrapping_sub(self.expected) as i32 {
            0 => Some(Place::Next),
            behind if behind < 0 => Some(Place::Again),
            ahead => (ahead as u32 <= MOST).then_some(Place::Early),
        }
    }

    /// A datagram with a payload came.
    #[inline]
    pub(super) fn arrived(&mut self, place: Place, len: usize) {
        self.owes = true;
        self.charged += charge(len);
        // The peer may have no room left by now, or soon.
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

    /// Says that something is missing, once for each thing missing: repetitions follow, and what
    /// was under way before them comes early as well.
    #[cold]
    fn complain(&mut self) {
        if !std::mem::replace(&mut self.complained, true) {
            (self.due, self.lost) = (true, true);
        }
    }

    /// The peer asks what has arrived.
    #[cold]
    pub(super) fn asked(&mut self) {
        (self.due, self.lost) = (true, true);
    }

    /// The peer closed before it sent this number.
    #[cold]
    pub(super) fn closes(&mut self, number: u32, place: Place) {
        if place != Place::Again {
            self.end = Some(number);
        }
        if place == Place::Early {
            self.complain();
        }
    }

    /// Whether all has arrived that will.
    #[inline]
    pub(super) fn finished(&self) -> bool {
        self.end == Some(self.expected)
    }

    /// Whether an acknowledgement of its own is due.
    #[inline]
    pub(super) fn due(&self) -> bool {
        self.due
    }

    /// The flags of that acknowledgement.
    pub(super) fn flags(&self) -> Flags {
        if self.lost { Flags::LOST } else { Flags::NONE }
    }

    /// An acknowledgement went out with a payload. What is lost it does not say.
    #[inline]
    pub(super) fn told(&mut self) {
        self.charged = 0;
        self.owes = self.lost;
        self.waited = false;
        self.due = self.lost;
    }

    /// An acknowledgement of its own went out.
    pub(super) fn told_all(&mut self) {
        self.lost = false;
        self.told();
    }

    /// Looks whether the peer has waited for long: for as long as lies between two looks.
    pub(super) fn tend(&mut self) {
        self.due |= self.owes && self.waited;
        self.waited = self.owes;
    }

    /// What is owed is due now.
    pub(super) fn hurry(&mut self) {
        self.due |= self.owes;
    }

    /// Whether the peer waits for an acknowledgement.
    pub(super) fn owes(&self) -> bool {
        self.owes || self.due
    }
}
