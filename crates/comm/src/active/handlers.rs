//! What handlers receive and return, and the handler table.

use crate::{Deliver, HandlerId, MAX_WORDS, Message, NoHandler, Rank, Tag, Word};

/// Where a request handler finds the requester and leaves the words of its reply. It is in memory,
/// since the words of the request take the registers.
#[derive(Debug)]
struct Cell {
    from: Rank,
    tag: Tag,
    reply: Message,
}

/// A request as its handler sees it, apart from the words.
#[derive(Debug)]
pub struct Call<'a>(&'a mut Cell);

/// Return value of a request handler: with or without a reply.
#[derive(Debug)]
#[must_use]
pub struct Outcome(Option<Tag>);

impl Call<'_> {
    /// The requester.
    #[inline(always)]
    pub fn from(&self) -> Rank {
        self.0.from
    }

    /// Number of words sent. A handler always gets four; the rest are unspecified.
    #[inline(always)]
    pub fn words(&self) -> usize {
        self.0.tag.len()
    }

    /// Replies with up to four words to the requester's reply handler `handler`.
    #[inline(always)]
    pub fn reply<const N: usize>(self, handler: HandlerId, words: [Word; N]) -> Outcome {
        let tag = Tag::new::<N>(handler);
        self.0.reply.set_words(words);
        Outcome(Some(tag))
    }

    /// Completes the request without a reply.
    #[inline(always)]
    pub fn done(self) -> Outcome {
        Outcome(None)
    }
}

/// A reply as its handler sees it, apart from the words: the sender in bits 16..64, the tag below.
#[derive(Clone, Copy, Debug)]
pub struct Answer(u64);

impl Answer {
    #[inline(always)]
    fn new(from: Rank, tag: Tag) -> Self {
        Self((from as u64) << 16 | u64::from(tag.bits()))
    }

    /// The replier.
    #[inline(always)]
    pub fn from(self) -> Rank {
        (self.0 >> 16) as usize
    }

    /// Number of words sent. A handler always gets four; the rest are unspecified.
    #[inline(always)]
    pub fn words(self) -> usize {
        usize::from((self.0 >> 8) as u8)
    }
}

// Each word is an argument, because a processor passes six arguments in registers.

/// Runs for a request, with four words; [`Call::words`] says how many were sent.
pub type RequestHandler<S> = fn(&mut S, Call<'_>, Word, Word, Word, Word) -> Outcome;
/// Runs for a reply, with four words; [`Answer::words`] says how many were sent.
pub type ReplyHandler<S> = fn(&mut S, Answer, Word, Word, Word, Word);
/// Finds memory for the bytes that a request carries, as [`Deliver::room`].
pub type RoomHandler<S> = fn(&mut S, Rank, usize) -> Option<&mut [u8]>;

/// Largest number of handlers of a kind in a table: as many as a [`HandlerId`] can name.
const MAX_HANDLERS: usize = 256;

/// The handler table, which is the same on every rank of a run. `S` is the handlers' state.
#[derive(Debug)]
pub struct Handlers<S> {
    requests: HandlerTable<RequestHandler<S>>,
    replies: HandlerTable<ReplyHandler<S>>,
    room: RoomHandler<S>,
}

/// Handlers of one kind. The array is in place, which saves the load that a vector would need.
#[derive(Debug)]
struct HandlerTable<H> {
    len: usize,
    handlers: [H; MAX_HANDLERS],
}

impl<H: Copy> HandlerTable<H> {
    fn add(&mut self, handler: H) -> HandlerId {
        let id = u8::try_from(self.len).expect("at most 256 handlers of a kind");
        self.handlers[self.len] = handler;
        self.len += 1;
        HandlerId(id)
    }

    #[inline(always)]
    fn get(&self, id: HandlerId) -> Result<H, NoHandler> {
        let index = usize::from(id.0);
        if index < self.len { Ok(self.handlers[index]) } else { Err(NoHandler(id)) }
    }
}

impl<S> Default for Handlers<S> {
    /// An empty table.
    fn default() -> Self {
        let request: RequestHandler<S> = |_, call, _, _, _, _| call.done();
        let reply: ReplyHandler<S> = |_, _, _, _, _, _| ();
        Self {
            requests: HandlerTable { len: 0, handlers: [request; MAX_HANDLERS] },
            replies: HandlerTable { len: 0, handlers: [reply; MAX_HANDLERS] },
            room: |_, _, _| None,
        }
    }
}

impl<S> Handlers<S> {
    /// Adds a request handler; handlers are numbered in the order of addition.
    ///
    /// # Panics
    /// The table already has 256 request handlers.
    pub fn request(&mut self, handler: RequestHandler<S>) -> HandlerId {
        self.requests.add(handler)
    }

    /// Adds a reply handler; handlers are numbered in the order of addition.
    ///
    /// # Panics
    /// The table already has 256 reply handlers.
    pub fn reply(&mut self, handler: ReplyHandler<S>) -> HandlerId {
        self.replies.add(handler)
    }

    /// Sets the handler for the bytes that requests carry. Without one, no request may carry any.
    pub fn room(&mut self, handler: RoomHandler<S>) {
        self.room = handler;
    }
}

/// The handlers and their state: the target of an endpoint's deliveries.
#[derive(Debug)]
pub(super) struct Dispatch<S> {
    pub(super) state: S,
    cell: Cell,
    handlers: Handlers<S>,
}

impl<S> Dispatch<S> {
    pub(super) fn new(handlers: Handlers<S>, state: S) -> Self {
        let reply = Message::new(HandlerId(0), []);
        let cell = Cell { from: 0, tag: reply.tag(), reply };
        Self { state, cell, handlers }
    }
}

/// A request that the current call waits for, which bypasses the table. It is recognised by its
/// sender, its tag and its first word. Any other request goes to its handler.
#[derive(Debug)]
pub(crate) struct Expected {
    from: Rank,
    tag: Tag,
    first: Word,
    /// Whether it has arrived.
    pub(crate) came: bool,
    /// The words after the first, once it has arrived.
    pub(crate) rest: [Word; MAX_WORDS - 1],
}

impl Expected {
    /// A request of `N` words to `handler` that begins with the word `first`.
    #[inline(always)]
    pub(crate) fn new<const N: usize>(from: Rank, handler: HandlerId, first: Word) -> Self {
        Self { from, tag: Tag::new::<N>(handler), first, came: false, rest: [0; MAX_WORDS - 1] }
    }

    /// Matches no request.
    #[inline(always)]
    pub(crate) fn none() -> Self {
        let nobody = Rank::MAX;
        Self::new::<0>(nobody, HandlerId(0), 0)
    }
}

/// The handlers, with an expected request that bypasses them.
pub(super) struct Expecting<'a, S, T> {
    pub(super) dispatch: &'a mut Dispatch<S>,
    pub(super) expected: &'a mut Expected,
    /// Whether the state still waits for the request; if so, ends that wait.
    pub(super) take: T,
}

impl<S, T: FnMut(&mut S) -> bool> Deliver for Expecting<'_, S, T> {
    #[inline(always)]
    fn request(&mut self, from: Rank, message: Message) -> Result<Option<&Message>, NoHandler> {
        let Self { dispatch, expected, take } = self;
        let [first, rest @ ..] = *message.all_words();
        let is_it = message.tag() == expected.tag && first == expected.first;
        if is_it && from == expected.from && !expected.came && take(&mut dispatch.state) {
            expected.came = true;
            expected.rest = rest;
            return Ok(None);
        }
        dispatch.request(from, message)
    }

    #[inline(always)]
    fn reply(&mut self, from: Rank, message: Message) -> Result<(), NoHandler> {
        self.dispatch.reply(from, message)
    }

    fn room(&mut self, from: Rank, done: usize) -> Option<&mut [u8]> {
        self.dispatch.room(from, done)
    }
}

impl<S> Deliver for Dispatch<S> {
    #[inline(always)]
    fn request(&mut self, from: Rank, message: Message) -> Result<Option<&Message>, NoHandler> {
        self.cell.from = from;
        self.cell.tag = message.tag();
        let handler = self.handlers.requests.get(message.handler())?;
        let [a, b, c, d] = *message.all_words();
        let Outcome(reply) = handler(&mut self.state, Call(&mut self.cell), a, b, c, d);
        Ok(reply.map(|tag| {
            self.cell.reply.set_tag(tag);
            &self.cell.reply
        }))
    }

    #[inline(always)]
    fn reply(&mut self, from: Rank, message: Message) -> Result<(), NoHandler> {
        let handler = self.handlers.replies.get(message.handler())?;
        let [a, b, c, d] = *message.all_words();
        handler(&mut self.state, Answer::new(from, message.tag()), a, b, c, d);
        Ok(())
    }

    fn room(&mut self, from: Rank, done: usize) -> Option<&mut [u8]> {
        (self.handlers.room)(&mut self.state, from, done)
    }
}
