//! A [`Comm`] between the threads of a process, without Active Messages. It is for tests, and the
//! model for a library's own message passing.
//!
//! Each rank owns its memory and an inbox. A send copies its part into a [`Letter`], and is over. A
//! [`Hook`] sees every letter of a rank before it is posted, and may spoil it.

use std::collections::VecDeque;
use std::fmt;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use slab::Slab;

use crate::{Combine, Comm, CommError, Group, Members, Part, Pending, Processor, Rank, Work};

#[cfg(test)]
mod tests;

/// How long a wait without any arrival lasts before it fails, unless [`Direct::with_patience`]
/// says otherwise.
const PATIENCE: Duration = Duration::from_secs(60);

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

/// A receive that was posted.
#[derive(Debug)]
struct Receive {
    from: Rank,
    tag: u32,
    into: Part,
    outcome: Option<Result<(), CommError>>,
}

/// A message of [`Direct`] that was begun.
#[derive(Debug)]
pub struct DirectId(Option<usize>);

/// One rank.
pub struct Direct {
    rank: Rank,
    memory: Vec<u8>,
    inboxes: Vec<Sender<Parcel>>,
    inbox: Receiver<Parcel>,
    /// Letters that no receive has taken, in order of arrival.
    arrived: VecDeque<Letter>,
    /// Receives that no letter has matched, in order of posting.
    posted: VecDeque<usize>,
    receives: Slab<Receive>,
    gone: Vec<bool>,
    hook: Option<Hook>,
    patience: Duration,
    marks: Vec<Instant>,
}

/// The ranks of a new run, each with so many bytes of memory, which are 0.
pub fn ranks(size: usize, memory: usize) -> Vec<Direct> {
    let (inboxes, ends): (Vec<_>, Vec<_>) = (0..size).map(|_| channel()).unzip();
    let rank = |(rank, inbox)| Direct {
        rank,
        memory: vec![0; memory],
        inboxes: inboxes.clone(),
        inbox,
        arrived: VecDeque::new(),
        posted: VecDeque::new(),
        receives: Slab::new(),
        gone: vec![false; size],
        hook: None,
        patience: PATIENCE,
        marks: Vec::new(),
    };
    ends.into_iter().enumerate().map(rank).collect()
}

/// Runs `program` on each rank, every rank a thread. Returns the outcomes by rank.
///
/// # Panics
/// A rank panics.
pub fn run<T: Send>(
    ranks: Vec<Direct>,
    program: impl Fn(&mut Direct) -> Result<T, CommError> + Sync,
) -> Vec<Result<T, CommError>> {
    let program = &program;
    thread::scope(|scope| {
        let start = |mut rank: Direct| scope.spawn(move || program(&mut rank));
        let threads: Vec<_> = ranks.into_iter().map(start).collect();
        threads.into_iter().map(|thread| thread.join().expect("no rank panics")).collect()
    })
}

impl Direct {
    /// The same rank with a hook on what it sends.
    #[must_use]
    pub fn with_hook(mut self, hook: impl FnMut(Letter) -> Vec<Letter> + Send + 'static) -> Self {
        self.hook = Some(Box::new(hook));
        self
    }

    /// The same rank with another limit to how long it waits while nothing arrives.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// This rank's memory.
    pub fn memory(&self) -> &[u8] {
        &self.memory
    }

    /// This rank's memory, to write.
    pub fn memory_mut(&mut self) -> &mut [u8] {
        &mut self.memory
    }

    /// Gives this rank so many bytes of memory; new ones are 0.
    ///
    /// # Panics
    /// A receive is under way.
    pub fn resize(&mut self, bytes: usize) {
        assert!(self.receives.is_empty(), "memory changes its length only between messages");
        self.memory.resize(bytes, 0);
    }

    /// The time stamps since this was last called.
    pub fn take_marks(&mut self) -> Vec<Instant> {
        std::mem::take(&mut self.marks)
    }

    /// Number of letters that have arrived and that no receive has taken.
    ///
    /// # Errors
    /// As [`Comm::progress`].
    pub fn untaken(&mut self) -> Result<usize, CommError> {
        self.progress()?;
        Ok(self.arrived.len())
    }

    fn is_peer(&self, peer: Rank) -> Result<(), CommError> {
        let size = self.inboxes.len();
        let is = peer < size && peer != self.rank;
        if is { Ok(()) } else { Err(CommError::NoSuchPeer { peer, size }) }
    }

    fn post(&self, letter: Letter) -> Result<(), CommError> {
        let to = letter.to;
        let Some(inbox) = self.inboxes.get(to) else { return Ok(()) };
        inbox.send(Parcel::Letter(letter)).map_err(|_| gone(to))
    }

    fn take(&mut self, parcel: Parcel) {
        let letter = match parcel {
            Parcel::Letter(letter) => letter,
            Parcel::Gone(rank) => return self.gone[rank] = true,
        };
        let takes = |&key: &usize| {
            let receive = &self.receives[key];
            (receive.from, receive.tag) == (letter.from, letter.tag)
        };
        match self.posted.iter().position(takes).and_then(|at| self.posted.remove(at)) {
            Some(key) => {
                let Receive { into, outcome, .. } = &mut self.receives[key];
                *outcome = Some(put(&mut self.memory, &letter, *into));
            }
            None => self.arrived.push_back(letter),
        }
    }
}

/// Puts a letter where its receive wants it.
fn put(memory: &mut [u8], letter: &Letter, into: Part) -> Result<(), CommError> {
    let (bytes, expected) = (letter.bytes.len(), into.len);
    if bytes != expected {
        let Letter { from, tag, .. } = *letter;
        return Err(CommError::OtherLength { from, tag, bytes, expected });
    }
    into.of_mut(memory)?.copy_from_slice(&letter.bytes);
    Ok(())
}

fn gone(peer: Rank) -> CommError {
    CommError::PeerGone { peer, detail: String::new() }
}

impl Drop for Direct {
    fn drop(&mut self) {
        for inbox in &self.inboxes {
            // A rank that is gone too need not know.
            drop(inbox.send(Parcel::Gone(self.rank)));
        }
    }
}

impl fmt::Debug for Direct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Direct").field("rank", &self.rank).finish_non_exhaustive()
    }
}

impl Processor for Direct {
    fn rank(&self) -> Rank {
        self.rank
    }

    fn size(&self) -> usize {
        self.inboxes.len()
    }

    fn mark(&mut self) {
        self.marks.push(Instant::now());
    }

    fn compute(&mut self, work: Work) {
        for iteration in 0..work.delay().iterations {
            std::hint::black_box(iteration);
        }
    }
}

impl Comm for Direct {
    type Pending = DirectId;
    type Group<'a> = Group<'a, Self>;

    fn group(&mut self, members: Members) -> Result<Group<'_, Self>, CommError> {
        Group::new(self, members)
    }

    fn isend(&mut self, peer: Rank, tag: u32, from: Part) -> Result<Pending<DirectId>, CommError> {
        self.is_peer(peer)?;
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
        self.is_peer(peer)?;
        into.of(&self.memory)?;
        self.progress()?;
        let is_it = |letter: &Letter| (letter.from, letter.tag) == (peer, tag);
        let found = self.arrived.iter().position(is_it).and_then(|at| self.arrived.remove(at));
        let outcome = found.map(|letter| put(&mut self.memory, &letter, into));
        let is_posted = outcome.is_none();
        let key = self.receives.insert(Receive { from: peer, tag, into, outcome });
        if is_posted {
            self.posted.push_back(key);
        }
        Ok(Pending(DirectId(Some(key))))
    }

    fn wait(&mut self, pending: Pending<DirectId>) -> Result<(), CommError> {
        let Pending(DirectId(Some(key))) = pending else { return Ok(()) };
        loop {
            self.progress()?;
            let Receive { from, outcome, .. } = &mut self.receives[key];
            let (from, outcome) = (*from, outcome.take());
            let ended = outcome.or_else(|| self.gone[from].then(|| Err(gone(from))));
            if let Some(outcome) = ended {
                self.receives.remove(key);
                self.posted.retain(|&posted| posted != key);
                return outcome;
            }
            match self.inbox.recv_timeout(self.patience) {
                Ok(parcel) => self.take(parcel),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    let waited = self.patience;
                    return Err(CommError::Deadline { waited, waiting_for: "a message" });
                }
            }
        }
    }

    fn progress(&mut self) -> Result<(), CommError> {
        while let Ok(parcel) = self.inbox.try_recv() {
            self.take(parcel);
        }
        Ok(())
    }

    fn copy(&mut self, from: Part, into: Part) -> Result<(), CommError> {
        from.copy(&mut self.memory, into)
    }

    fn combine(&mut self, how: Combine, into: Part, a: Part, b: Part) -> Result<(), CommError> {
        how.apply(&mut self.memory, into, a, b)
    }
}
