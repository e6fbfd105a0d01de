//! What handlers are given and return, and the table of them.

use crate::{Deliver, HandlerId, MAX_WORDS, Message, NoHandler, Rank, Tag, Word};

/// Where a request handler finds who asks, and leaves the words of its reply. In memory, since the
/// words of the request take the registers.
#[derive(Debug)]
struct Cell {
    from: Rank,
    tag: Tag,
    reply: Message,
}

/// What a request handler knows of its request, beside the words.
#[derive(Debug)]
pub struct Call<'a>(&'a mut Cell);

/// What a request handler returns: that there is a reply, or none.
#[derive(Debug)]
#[must_use]
pub struct Outcome(Option<Tag>);

impl Call<'_> {
    /// Who asks.
    #[inline(always)]
    pub fn from(&self) -> Rank {
        self.0.from
    }

    /// How many words were sent. A handler gets four; those behind have any value.
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

/// What a reply handler knows of its reply, beside the words: the sender in bits 16..64, the tag
/// below.
#[derive(Clone, Copy, Debug)]
pub struct Answer(u64);

impl Answer {
    #[inline(always)]
    fn new(from: Rank, tag: Tag) -> Self {
        Self((from as u64) << 16 | u64::from(tag.bits()))
    }

    /// Who replied.
    #[inline(always)]
    pub fn from(self) -> Rank {
        (self.0 >> 16) as usize
    }

    /// How many words were sent. A handler gets four; those behind have any value.
    #[inline(always)]
    pub fn words(self) -> usize {
        usize::from((self.0 >> 8) as u8)
    }
}

// Each word is an argument, because a processor passes six arguments in registers.

/// Runs for a request, with its four words; [`Call::words`] says how many of them were sent.
pub type RequestHandler<S> = fn(&mut S, Call<'_>, Word, Word, Word, Word) -> Outcome;
/// Runs for a reply, with its four words; [`Answer::words`] says how many of them were sent.
pub type ReplyHandler<S> = fn(&mut S, Answer, Word, Word, Word, Word);

/// Most handlers of a kind in a table: as many as a [`HandlerId`] can name.
const MAX_HANDLERS: usize = 256;

/// The table of handlers, the same on every rank of a run. `S` is the state that they work on.
#[derive(Debug)]
pub struct Handlers<S> {
    requests: Table<RequestHandler<S>>,
    replies: Table<ReplyHandler<S>>,
}

/// Handlers of one kind. An array in place: one load less leads to a handler than with a vector.
#[derive(Debug)]
struct Table<H> {
    len: usize,
    handlers: [H; MAX_HANDLERS],
}

impl<H: Copy> Table<H> {
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
            requests: Table { len: 0, handlers: [request; MAX_HANDLERS] },
            replies: Table { len: 0, handlers: [reply; MAX_HANDLERS] },
        }
    }
}

impl<S> Handlers<S> {
    /// Adds a request handler; handlers are numbered in the order of addition.
    ///
    /// # Panics
    /// The table already has 256 of them.
    pub fn request(&mut self, handler: RequestHandler<S>) -> HandlerId {
        self.requests.add(handler)
    }

    /// Adds a reply handler; handlers are numbered in the order of addition.
    ///
    /// # Panics
    /// The table already has 256 of them.
    pub fn reply(&mut self, handler: ReplyHandler<S>) -> HandlerId {
        self.replies.add(handler)
    }
}

/// The handlers and what they work on: where an endpoint delivers.
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

/// A request that a rank waits for in the call at hand, to be taken past the table: known by its
/// sender, its tag and its first word. Any other goes to its handler.
#[derive(Debug)]
pub(crate) struct Expected {
    from: Rank,
    tag: Tag,
    first: Word,
    /// Whether it came.
    pub(crate) came: bool,
    /// The words after the first, when it came.
    pub(crate) rest: [Word; MAX_WORDS - 1],
}

impl Expected {
    /// A request of `N` words to `handler`, of which the first is this.
    #[inline(always)]
    pub(crate) fn new<const N: usize>(from: Rank, handler: HandlerId, first: Word) -> Self {
        Self { from, tag: Tag::new::<N>(handler), first, came: false, rest: [0; MAX_WORDS - 1] }
    }

    /// No request.
    #[inline(always)]
    pub(crate) fn none() -> Self {
        let nobody = Rank::MAX;
        Self::new::<0>(nobody, HandlerId(0), 0)
    }
}

/// The handlers, and before them the request that is expected.
pub(super) struct Expecting<'a, S, T> {
    pub(super) dispatch: &'a mut Dispatch<S>,
    pub(super) expected: &'a mut Expected,
    /// Whether the state still waits for it, which then ends.
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
}
