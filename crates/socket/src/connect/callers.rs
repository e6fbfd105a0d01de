//! The side that is called: it lets in the higher ranks and nobody else.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::ops::Range;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use bandgap_comm::Rank;
use rustix::event::PollFd;
use rustix::net::{SocketFlags, accept_with};

use super::hello::{Hello, Known, Nonce, Reading, SILENCE, Step, nonce, say};
use super::{SocketKind, left, readable, wait};
use crate::call::at_once;
use crate::error::system;
use crate::{Result, Socket, SocketError};

/// Between two looks whether those that are expected are gone.
const LOOK: Duration = Duration::from_millis(100);
/// Unknown callers to keep, beyond one for each expected rank. When there are more, the oldest is
/// dropped: a rank's greeting comes with its call, so a caller that stays silent is not a rank.
const STRANGERS: usize = 32;

/// The callers at a listener.
pub(super) struct Callers<K: SocketKind> {
    listener: K,
    rank: Rank,
    here: Known,
    expected: Range<Rank>,
    /// The ranks that were let in, from the first expected rank on.
    known: Vec<Option<Socket>>,
    /// Callers whose call is not complete yet.
    unknown: VecDeque<(Socket, Reading)>,
    /// Callers that were answered and have not confirmed yet, with their ranks and the nonces of the answers.
    answered: VecDeque<(Socket, Reading, Rank, Nonce)>,
}

impl<K: SocketKind> Callers<K> {
    /// Those at the listener of `rank`.
    pub(super) fn new(listener: K, rank: Rank, here: Known, expected: Range<Rank>) -> Self {
        let known = expected.clone().map(|_| None).collect();
        let (unknown, answered) = Default::default();
        Self { listener, rank, here, expected, known, unknown, answered }
    }

    /// The connections to the expected ranks, in order, unless those are `gone`. The listener and all others are closed.
    pub(super) fn wait(
        mut self,
        deadline: Instant,
        gone: &dyn Fn() -> bool,
    ) -> Result<Vec<Socket>> {
        loop {
            self.admit()?;
            self.listen();
            let ranks = self.expected.clone().zip(&self.known);
            let missing = ranks.filter_map(|(rank, stream)| stream.is_none().then_some(rank));
            let missing: Vec<Rank> = missing.collect();
            if missing.is_empty() {
                return Ok(self.known.into_iter().flatten().collect());
            }
            let listener = std::iter::once(self.listener.as_fd());
            let unknown = self.unknown.iter().map(|(stream, _)| stream.as_fd());
            let answered = self.answered.iter().map(|(stream, ..)| stream.as_fd());
            let sockets = listener.chain(unknown).chain(answered);
            let mut awaited = sockets.map(readable).collect::<Vec<PollFd<'_>>>();
            if gone() {
                return Err(SocketError::Missing(missing));
            }
            left(deadline, &missing)?;
            wait(&mut awaited, deadline.min(Instant::now() + LOOK), &missing)?;
        }
    }

    /// Accepts new callers.
    fn admit(&mut self) -> Result<()> {
        // Not more at a time, so that a crowd cannot push out callers that nobody has heard.
        for _ in 0..STRANGERS {
            match at_once(|| accept_with(&self.listener, SocketFlags::CLOEXEC)) {
                Ok(Some(socket)) => {
                    if K::admit(&socket).unwrap_or(false)
                        && let Ok(socket) = Socket::of(socket)
                    {
                        self.unknown.push_back((socket, Reading::BEGUN));
                    }
                }
                Ok(None) => break,
                // A caller that left before it was let in does not matter.
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
                Err(error) => return Err(system("accept a connection")(error)),
            }
        }
        Ok(())
    }

    /// Reads from every caller; lets in the ranks of the run, and drops strangers.
    fn listen(&mut self) {
        for (stream, mut reading) in std::mem::take(&mut self.unknown) {
            match reading.go_on(&stream) {
                Ok(None) => self.unknown.push_back((stream, reading)),
                Ok(Some(hello)) => self.answer(stream, &hello),
                Err(_) => {}
            }
        }
        for (stream, mut reading, caller, said) in std::mem::take(&mut self.answered) {
            match reading.go_on(&stream) {
                Ok(None) => self.answered.push_back((stream, reading, caller, said)),
                Ok(Some(hello)) if self.here.proves(&hello, Step::Confirm, self.rank, &said) => {
                    // The first to confirm is the rank.
                    self.known[caller - self.expected.start].get_or_insert(stream);
                }
                _ => {}
            }
        }
        let bound = self.known.len() + STRANGERS;
        self.unknown.drain(..self.unknown.len().saturating_sub(bound));
        self.answered.drain(..self.answered.len().saturating_sub(bound));
    }

    /// Answers a rank of the run that is not in yet, with a nonce to confirm.
    fn answer(&mut self, stream: Socket, hello: &Hello) {
        let caller = hello.rank() as Rank;
        if self.expected.contains(&caller)
            && self.known[caller - self.expected.start].is_none()
            && self.here.proves(hello, Step::Call, self.rank, &SILENCE)
            && let Ok(own) = nonce()
        {
            let pair = [self.rank, caller];
            let answer = self.here.greeting(Step::Answer, pair, &own, &hello.nonce());
            if say(&answer, &stream).is_ok() {
                self.answered.push_back((stream, Reading::BEGUN, caller, own));
            }
        }
    }
}
