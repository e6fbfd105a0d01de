//! A [`Comm`] between the threads of a process, without Active Messages. It is for tests, and the
//! model for a library's own message passing.
//!
//! Each rank owns its memory and an inbox. A send copies its part into a [`Letter`], and is over. A
//! [`Hook`] sees every letter of a rank before it is posted, and may spoil it.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use bandgap_comm::{Comm, CommError, Part, Pending, Processor, Rank, Work, check_peer};

/// A message on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    /// Who sent it.
    pub from: Rank,
    /// Who gets it. A letter to a rank that does not exist is lost.
    pub to: Rank,
    /// Its tag.
    pub tag: u32,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Takes each letter that a rank sends, and returns the letters to post now, in this order. To
/// change nothing it returns the letter. To swap two, it keeps the first, and returns both when it
/// takes the second.
pub type Hook = Box<dyn FnMut(Letter) -> Vec<Letter> + Send>;

/// What comes into an inbox.
enum Parcel {
    Letter(Letter),
    /// This rank ended. Nothing from it follows.
    Gone(Rank),
}

/// A letter's sender, its tag, and how many of both came before it.
type Number = (Rank, u32, usize);

/// A message of [`Direct`] that was begun: for a receive, which letter it takes and where to.
#[derive(Debug)]
pub struct DirectId(Option<(Number, Part)>);

/// One rank.
pub struct Direct {
    rank: Rank,
    /// Its memory.
    pub memory: Vec<u8>,
    /// What spoils the letters that it sends.
    pub hook: Option<Hook>,
    /// How long a wait lasts in which nothing arrives, before it fails.
    pub patience: Duration,
    inboxes: Vec<Sender<Parcel>>,
    inbox: Receiver<Parcel>,
    /// Letters that no receive has taken.
    letters: HashMap<Number, Letter>,
    /// By sender and tag: letters that have arrived, and receives that were posted.
    counts: HashMap<(Rank, u32), (usize, usize)>,
    gone: Vec<bool>,
}

fn gone(peer: Rank) -> CommError {
    CommError::PeerGone { peer, detail: String::new() }
}

/// The ranks of a new run, each with so many bytes of memory, which are 0. Nothing spoils their
/// letters, and they wait for a minute.
pub fn ranks(size: usize, memory: usize) -> Vec<Direct> {
    let (inboxes, ends): (Vec<_>, Vec<_>) = (0..size).map(|_| channel()).unzip();
    let rank = |(rank, inbox)| Direct {
        rank,
        memory: vec![0; memory],
        hook: None,
        patience: Duration::from_secs(60),
        inboxes: inboxes.clone(),
        inbox,
        letters: HashMap::new(),
        counts: HashMap::new(),
        gone: vec![false; size],
    };
    ends.into_iter().enumerate().map(rank).collect()
}

impl Direct {
    /// Number of letters that have arrived and that no receive has taken.
    ///
    /// # Errors
    /// As [`Comm::progress`].
    pub fn untaken(&mut self) -> Result<usize, CommError> {
        self.progress()?;
        Ok(self.letters.len())
    }

    /// Number of receives that were posted with such tags.
    pub fn receives(&self, tags: impl Fn(u32) -> bool) -> u64 {
        let posted = self.counts.iter().filter(|((_, tag), _)| tags(*tag));
        posted.map(|(_, (_, posted))| *posted as u64).sum()
    }

    fn post(&self, letter: Letter) -> Result<(), CommError> {
        let to = letter.to;
        let Some(inbox) = self.inboxes.get(to) else { return Ok(()) };
        inbox.send(Parcel::Letter(letter)).map_err(|_| gone(to))
    }

    fn take(&mut self, parcel: Parcel) {
        match parcel {
            Parcel::Letter(letter) => {
                let Letter { from, tag, .. } = letter;
                let (arrived, _) = self.counts.entry((from, tag)).or_default();
                self.letters.insert((from, tag, *arrived), letter);
                *arrived += 1;
            }
            Parcel::Gone(rank) => self.gone[rank] = true,
        }
    }
}

impl Drop for Direct {
    fn drop(&mut self) {
        for inbox in &self.inboxes {
            // A rank that is gone too need not know.
            drop(inbox.send(Parcel::Gone(self.rank)));
        }
    }
}

impl Processor for Direct {
    fn rank(&self) -> Rank {
        self.rank
    }

    fn size(&self) -> usize {
        self.inboxes.len()
    }

    /// Nothing: it has no clock.
    fn mark(&mut self) {}

    fn compute(&mut self, work: Work) {
        for iteration in 0..work.delay().iterations {
            std::hint::black_box(iteration);
        }
    }
}

impl Direct {
    /// Takes what has arrived, without waiting.
    fn progress(&mut self) -> Result<(), CommError> {
        while let Ok(parcel) = self.inbox.try_recv() {
            self.take(parcel);
        }
        Ok(())
    }
}

impl Comm for Direct {
    type Pending = DirectId;

    fn isend(&mut self, peer: Rank, tag: u32, from: Part) -> Result<Pending<DirectId>, CommError> {
        check_peer(peer, self.rank, self.inboxes.len())?;
        let bytes = from.of(&self.memory)?.to_vec();
        let letter = Letter { from: self.rank, to: peer, tag, bytes };
        match &mut self.hook {
            None => self.post(letter)?,
            // One too many, or to another rank, may find that rank gone.
            Some(hook) => hook(letter).into_iter().for_each(|letter| drop(self.post(letter))),
        }
        Ok(Pending(DirectId(None)))
    }

    fn irecv(&mut self, peer: Rank, tag: u32, into: Part) -> Result<Pending<DirectId>, CommError> {
        check_peer(peer, self.rank, self.inboxes.len())?;
        into.of(&self.memory)?;
        let (_, posted) = self.counts.entry((peer, tag)).or_default();
        let number = (peer, tag, *posted);
        *posted += 1;
        Ok(Pending(DirectId(Some((number, into)))))
    }

    fn wait(&mut self, pending: Pending<DirectId>) -> Result<(), CommError> {
        let Pending(DirectId(Some((number, into)))) = pending else { return Ok(()) };
        let (from, tag, _) = number;
        loop {
            self.progress()?;
            if let Some(Letter { bytes, .. }) = self.letters.remove(&number) {
                let (bytes, expected) = (bytes.as_slice(), into.len);
                if bytes.len() != expected {
                    let bytes = bytes.len();
                    return Err(CommError::OtherLength { from, tag, bytes, expected });
                }
                into.of_mut(&mut self.memory)?.copy_from_slice(bytes);
                return Ok(());
            }
            if self.gone[from] {
                return Err(gone(from));
            }
            // It cannot be disconnected: this rank itself could send to it.
            let Ok(parcel) = self.inbox.recv_timeout(self.patience) else {
                let waited = self.patience;
                return Err(CommError::Deadline { waited, waiting_for: "a message" });
            };
            self.take(parcel);
        }
    }

    fn own(&mut self) -> Option<&mut [u8]> {
        Some(&mut self.memory)
    }
}
