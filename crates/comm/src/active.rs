//! Active Messages over an [`Endpoint`]: handler table, request, reply, poll.
//!
//! A request names a handler of its receiver. The handler runs in the receiver's `poll` and may
//! reply once; the reply names a handler of the requester. A request handler has no access to the
//! endpoint, and a reply handler cannot reply. So no chain of messages can grow, and no handler can
//! wait: together with the endpoint's flow control this rules out deadlock (von Eicken et al.,
//! "Active Messages", 1992; Culler et al., "Assessing Fast Network Interfaces", 1996, section
//! Active Messages).

use std::time::{Duration, Instant};

use crate::wait::{Waiting, Watch};
use crate::{
    Begun, Bulk, CommError, Deliver, Endpoint, HandlerId, Message, Posted, Rank, Result, Source,
    Word,
};

mod handlers;

pub(crate) use handlers::Expected;
pub use handlers::{Answer, Call, Handlers, Outcome, ReplyHandler, RequestHandler, RoomHandler};
use handlers::{Dispatch, Expecting};

/// Active Messages of one rank: an endpoint, the handler table, and the handlers' state.
///
/// ```
/// # use std::time::Duration;
/// # use bandgap_comm::{ActiveMessages, DeadlineWatch, Endpoint, HandlerId, Handlers, Result, Waiting};
/// // The table is the same on both ranks; the state is a number.
/// const STORE: HandlerId = HandlerId(0);
/// const DOUBLE: HandlerId = HandlerId(0);
///
/// fn twice_21(ends: [impl Endpoint; 2]) -> Result<u64> {
///     let [mut here, mut there] = ends.map(|end| {
///         let mut handlers = Handlers::<u64>::default();
///         handlers.reply(|state, _, word, _, _, _| *state = word);
///         handlers.request(|_, call, word, _, _, _| call.reply(STORE, [2 * word]));
///         let watch = DeadlineWatch(Duration::from_secs(10));
///         ActiveMessages::new(end, handlers, 0, Waiting::Yield, watch)
///     });
///     here.request(1, DOUBLE, [21])?;
///     there.poll()?;
///     here.await_replies()?;
///     Ok(*here.state())
/// }
/// ```
#[derive(Debug)]
pub struct ActiveMessages<E, S, W> {
    endpoint: E,
    dispatch: Dispatch<S>,
    waiting: Waiting,
    /// Fruitless polls between two pauses, which are a power of two, minus 1.
    spins: u32,
    watch: W,
}

/// Fruitless polls between two checks of the watch while spinning; a power of two.
const SPINS_PER_CHECK: u32 = 1 << 12;
/// Fruitless polls between two checks of the watch while yielding; a power of two. A yield takes
/// most of a microsecond.
const YIELDS_PER_CHECK: u32 = 1 << 6;
/// Yields before a rank that rests begins to sleep between polls; then the first sleep, by which
/// each sleep is longer than the one before, and the longest sleep.
const RESTLESS: u32 = 1 << 8;
const REST: Duration = Duration::from_micros(50);
const LONGEST_REST: Duration = Duration::from_millis(2);
/// Longest sleep between two checks of the watch while blocking.
const BLOCK: Duration = Duration::from_millis(50);

impl<E: Endpoint, S, W: Watch> ActiveMessages<E, S, W> {
    /// Active Messages over `endpoint`.
    pub fn new(endpoint: E, handlers: Handlers<S>, state: S, waiting: Waiting, watch: W) -> Self {
        let spins = match waiting {
            Waiting::Spin => SPINS_PER_CHECK - 1,
            Waiting::Yield | Waiting::Block => 0,
        };
        Self { endpoint, dispatch: Dispatch::new(handlers, state), waiting, spins, watch }
    }

    /// This rank.
    #[inline(always)]
    pub fn rank(&self) -> Rank {
        self.endpoint.rank()
    }

    /// Number of ranks.
    #[inline(always)]
    pub fn size(&self) -> usize {
        self.endpoint.size()
    }

    /// The endpoint below.
    pub fn endpoint(&self) -> &E {
        &self.endpoint
    }

    /// The handlers' state.
    #[inline(always)]
    pub fn state(&self) -> &S {
        &self.dispatch.state
    }

    /// The handlers' state.
    #[inline(always)]
    pub fn state_mut(&mut self) -> &mut S {
        &mut self.dispatch.state
    }

    /// The endpoint and the handlers' state, borrowed together.
    #[inline(always)]
    pub(crate) fn parts(&mut self) -> (&mut E, &mut S) {
        (&mut self.endpoint, &mut self.dispatch.state)
    }

    /// The watch.
    pub fn watch_mut(&mut self) -> &mut W {
        &mut self.watch
    }

    /// Sends a request. If there is no room for `peer`, waits and handles arrivals; otherwise does
    /// not poll.
    ///
    /// # Errors
    /// `peer` is not another rank of the run, a peer is gone or sent garbage, or the deadline
    /// passed.
    #[inline(always)]
    pub fn request<const N: usize>(
        &mut self,
        peer: Rank,
        handler: HandlerId,
        words: [Word; N],
    ) -> Result<()> {
        match self.endpoint.try_request(peer, Message::new(handler, words))? {
            Posted::Yes => Ok(()),
            // Built again there, so that this path keeps the message in registers.
            Posted::Busy => self.request_when_room(peer, handler, words),
        }
    }

    #[cold]
    #[inline(never)]
    fn request_when_room<const N: usize>(
        &mut self,
        peer: Rank,
        handler: HandlerId,
        words: [Word; N],
    ) -> Result<()> {
        let message = Message::new(handler, words);
        self.wait_for_room("room for a request", |endpoint| {
            Ok(endpoint.try_request(peer, message)? == Posted::Yes)
        })
    }

    /// Handles what has arrived, and returns the number of requests and completions. Never waits.
    ///
    /// # Errors
    /// A peer is gone or sent garbage.
    #[inline(always)]
    pub fn poll(&mut self) -> Result<usize> {
        self.endpoint.progress(&mut self.dispatch)
    }

    /// As [`ActiveMessages::poll`], but the expected request bypasses the handlers. One call may
    /// deliver several requests that look like it, and before them one that ends the wait; so
    /// `take` says whether the state still waits for it, and notes its arrival.
    #[inline(always)]
    pub(crate) fn poll_for(
        &mut self,
        expected: &mut Expected,
        take: impl FnMut(&mut S) -> bool,
    ) -> Result<usize> {
        self.endpoint.progress(&mut Expecting { dispatch: &mut self.dispatch, expected, take })
    }

    /// Polls until every request of this rank has completed.
    ///
    /// # Errors
    /// As [`ActiveMessages::poll`]; or the deadline passed.
    #[inline]
    pub fn await_replies(&mut self) -> Result<()> {
        self.wait_until("replies", |am| am.endpoint.outstanding() == 0)
    }

    /// Polls until `done` accepts the state.
    ///
    /// # Errors
    /// As [`ActiveMessages::poll`]; or the deadline passed.
    #[inline]
    pub fn serve_until(&mut self, done: impl Fn(&S) -> bool) -> Result<()> {
        self.wait_until("requests", |am| done(&am.dispatch.state))
    }

    /// As [`ActiveMessages::serve_until`], for untimed waits that may be long. If ranks share
    /// processors ([`Waiting::Yield`]), this rank sleeps between polls, each time longer, for at
    /// most 2 ms. That leaves its processor to ranks that work.
    ///
    /// # Errors
    /// As [`ActiveMessages::serve_until`].
    pub fn rest_until(&mut self, done: impl Fn(&S) -> bool) -> Result<()> {
        let mut idle = 0_u32;
        let mut since = None;
        while !done(&self.dispatch.state) {
            if self.poll()? > 0 {
                (idle, since) = (0, None);
                continue;
            }
            idle = idle.saturating_add(1);
            match idle.checked_sub(RESTLESS) {
                Some(rests) if self.waiting == Waiting::Yield => {
                    std::thread::sleep(REST.saturating_mul(rests + 1).min(LONGEST_REST));
                    let since = *since.get_or_insert_with(Instant::now);
                    self.watch.check(since.elapsed(), "requests")?;
                }
                _ => self.idle(idle, &mut since, "requests")?,
            }
        }
        Ok(())
    }

    /// Polls until this rank has sent all replies and completions that it owes its peers. A rank
    /// calls this before it stops polling for a while or for good. Otherwise peers may wait for
    /// completions of requests that it has long handled.
    ///
    /// # Errors
    /// As [`ActiveMessages::poll`]; or the deadline passed.
    pub fn settle(&mut self) -> Result<()> {
        self.wait_until("room for replies", |am| am.endpoint.unsent() == 0)
    }

    #[inline(always)]
    fn wait_until(
        &mut self,
        waiting_for: &'static str,
        mut done: impl FnMut(&mut Self) -> bool,
    ) -> Result<()> {
        let mut idle = 0_u32;
        let mut since = None;
        while !done(self) {
            if self.poll()? == 0 {
                idle = idle.wrapping_add(1);
                if idle & self.spins == 0 {
                    // The poll may have sent what this rank owes, which does not count as an
                    // arrival.
                    if done(self) {
                        return Ok(());
                    }
                    self.pause(idle, &mut since, waiting_for)?;
                }
            } else {
                idle = 0;
                since = None;
            }
        }
        Ok(())
    }

    /// Polls until `attempt` finds room.
    #[inline(always)]
    fn wait_for_room(
        &mut self,
        waiting_for: &'static str,
        mut attempt: impl FnMut(&mut E) -> Result<bool>,
    ) -> Result<()> {
        let mut found = Ok(false);
        self.wait_until(waiting_for, |am| {
            found = attempt(&mut am.endpoint);
            !matches!(found, Ok(false))
        })?;
        found.map(drop)
    }

    /// Pauses if it is time to, after the `idle`th fruitless poll in a row.
    #[inline(always)]
    pub(crate) fn idle(
        &mut self,
        idle: u32,
        since: &mut Option<Instant>,
        waiting_for: &'static str,
    ) -> Result<()> {
        if idle & self.spins == 0 { self.pause(idle, since, waiting_for) } else { Ok(()) }
    }

    #[cold]
    #[inline(never)]
    fn pause(
        &mut self,
        idle: u32,
        since: &mut Option<Instant>,
        waiting_for: &'static str,
    ) -> Result<()> {
        match self.waiting {
            // The awaited rank may have lost its core: offer it this one.
            Waiting::Spin => std::thread::yield_now(),
            Waiting::Yield => {
                std::thread::yield_now();
                if !idle.is_multiple_of(YIELDS_PER_CHECK) {
                    return Ok(());
                }
            }
            // A rank that wakes has something to do at once. A yield would cost it a time slice for
            // each arrival if other programs want the processor.
            Waiting::Block => self.endpoint.block(BLOCK)?,
        }
        let since = *since.get_or_insert_with(Instant::now);
        self.watch.check(since.elapsed(), waiting_for)
    }
}

/// Transfers of any length between memories (Culler et al., "Assessing Fast Network Interfaces",
/// 1996, section Bulk transfers).
impl<E: Bulk, S, W: Watch> ActiveMessages<E, S, W> {
    /// Stores `from` in the exposed memory of `peer` from offset `into` on, then sends a request.
    /// The bytes are there when the request's handler runs. The source may change when this
    /// returns.
    ///
    /// # Errors
    /// As [`ActiveMessages::request`]; or a range is not exposed.
    #[inline]
    pub fn store<const N: usize>(
        &mut self,
        peer: Rank,
        into: usize,
        from: Source<'_>,
        handler: HandlerId,
        words: [Word; N],
    ) -> Result<()> {
        let mut done = 0;
        let message = Message::new(handler, words);
        match self.endpoint.try_store_then(peer, into, from, &mut done, message)? {
            Posted::Yes => Ok(()),
            Posted::Busy => self.store_when_room(peer, into, from, done, handler, words),
        }
    }

    #[cold]
    #[inline(never)]
    fn store_when_room<const N: usize>(
        &mut self,
        peer: Rank,
        into: usize,
        from: Source<'_>,
        mut done: usize,
        handler: HandlerId,
        words: [Word; N],
    ) -> Result<()> {
        let message = Message::new(handler, words);
        self.wait_for_room("room for a store", |endpoint| {
            Ok(endpoint.try_store_then(peer, into, from, &mut done, message)? == Posted::Yes)
        })
    }

    /// Begins to get `len` bytes from offset `at` of `peer`'s exposed memory, to offset `into` of
    /// this rank's. When they have arrived, this rank's reply handler `handler` runs, at the latest
    /// in [`ActiveMessages::await_replies`].
    ///
    /// # Errors
    /// As [`ActiveMessages::request`]; or a range is not exposed.
    #[inline]
    pub fn get<const N: usize>(
        &mut self,
        peer: Rank,
        at: usize,
        into: usize,
        len: usize,
        handler: HandlerId,
        words: [Word; N],
    ) -> Result<()> {
        let message = Message::new(handler, words);
        let mut begun = Begun::Busy;
        self.wait_for_room("room for a get", |endpoint| {
            begun = endpoint.try_get(peer, at, into, len, message)?;
            Ok(begun != Begun::Busy)
        })?;
        if begun == Begun::Done {
            self.dispatch.reply(peer, message).map_err(|unknown| CommError::Garbage {
                peer: self.endpoint.rank(),
                what: unknown.to_string(),
            })?;
        }
        Ok(())
    }

    /// Copies into this rank's exposed memory.
    ///
    /// # Errors
    /// The range is not exposed.
    pub fn write_exposed(&mut self, at: usize, from: &[u8]) -> Result<()> {
        self.endpoint.write_exposed(at, from)
    }
}

#[cfg(test)]
mod tests;
