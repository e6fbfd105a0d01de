//! From events to messages between two threads.

use std::collections::VecDeque;

use super::event::{Call, Event, KernelEvent, What, event};

/// Messages of one direction that may be under way: more are none that anybody receives.
const UNDER_WAY: usize = 1 << 10;
/// Moments of a call that are kept.
const MOMENTS: usize = 64;
/// Messages that are kept.
const KEPT: usize = 1 << 18;

/// An event of a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// Which.
    pub event: &'static KernelEvent,
    /// When, in nanoseconds.
    pub ns: f64,
}

/// A message that was seen from the beginning of the call that sent it to the end of the one that received it.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Which of the two threads sent it.
    pub sender: usize,
    /// Its bytes, with what the transport adds.
    pub bytes: u64,
    /// The events of the call that sent it, from its beginning to its end.
    pub sending: Vec<Moment>,
    /// The events of the call that received it.
    pub receiving: Vec<Moment>,
}

/// Cuts events into messages as they come, in the order of time. Its memory does not grow with the trace, but by the
/// messages that are kept, to a limit.
///
/// What a thread passes between the beginning and the end of a call belongs to that call: over the loopback device the
/// sender's call does everything up to the receiver's socket. A call that received as many bytes as the oldest message
/// under way has, received that one.
#[derive(Debug)]
pub struct Messages {
    threads: [u32; 2],
    open: [Option<Open>; 2],
    under_way: [VecDeque<Sent>; 2],
    /// The messages, in the order of their sending.
    pub kept: Vec<Message>,
    /// Messages that came with others in one call, or in pieces, or whose sending was not seen.
    pub unpaired: u64,
    /// Events that the kernel lost: its memory for them was full.
    pub lost: u64,
}

/// A call that has begun.
#[derive(Debug)]
struct Open {
    call: Call,
    moments: Vec<Moment>,
}

/// A message that was sent, or is being sent.
#[derive(Debug)]
struct Sent {
    bytes: u64,
    /// Of the whole call; not there before it ends.
    sending: Option<Vec<Moment>>,
    receiving: Option<Vec<Moment>>,
}

impl Messages {
    /// Between these two threads; what others do is left out.
    pub fn between(threads: [u32; 2]) -> Self {
        let (open, under_way, kept) = Default::default();
        Self { threads, open, under_way, kept, unpaired: 0, lost: 0 }
    }

    /// Takes the next event.
    pub fn take(&mut self, next: &Event) {
        match next.what {
            What::Batch => return self.forget(),
            What::Lost(events) => {
                self.lost = self.lost.saturating_add(events);
                return self.forget();
            }
            What::Enters(..) | What::Returns(..) | What::Passes(_) => {}
        }
        let Some(at) = self.threads.iter().position(|thread| *thread == next.thread) else {
            return;
        };
        match next.what {
            What::Enters(call, bytes) => self.enters(at, call, bytes, next.ns),
            What::Returns(call, bytes) => self.returns(at, call, bytes, next.ns),
            What::Passes(event) => {
                let room = self.open[at].as_mut().filter(|open| open.moments.len() < MOMENTS);
                if let Some(open) = room {
                    open.moments.push(Moment { event, ns: next.ns });
                }
            }
            What::Batch | What::Lost(_) => {}
        }
    }

    /// What was under way is not seen to its end.
    fn forget(&mut self) {
        self.open = Default::default();
        self.under_way = Default::default();
    }

    fn enters(&mut self, at: usize, call: Call, bytes: u64, ns: f64) {
        // A call whose end was not seen: nothing is known of its message.
        if self.open[at].take().is_some_and(|open| open.call == Call::Send) {
            self.under_way[at].pop_back();
        }
        if call == Call::Send {
            let queue = &mut self.under_way[at];
            if queue.len() >= UNDER_WAY {
                queue.clear();
            }
            queue.push_back(Sent { bytes, sending: None, receiving: None });
        }
        let [begins, _] = call.events().map(event);
        let moments = begins.map(|event| Moment { event, ns }).into_iter().collect();
        self.open[at] = Some(Open { call, moments });
    }

    fn returns(&mut self, at: usize, call: Call, bytes: i64, ns: f64) {
        // The trace may begin within a call.
        let Some(open) = self.open[at].take_if(|open| open.call == call) else {
            if let (Call::Receive, 1..) = (call, bytes) {
                self.unpaired += 1;
                self.under_way[1 - at].clear();
            }
            return;
        };
        let mut moments = open.moments;
        let [_, ends] = call.events().map(event);
        moments.extend(ends.map(|event| Moment { event, ns }));
        match (call, u64::try_from(bytes)) {
            (Call::Send, Ok(bytes @ 1..)) => {
                if let Some(sent) = self.under_way[at].back_mut() {
                    sent.bytes = bytes;
                    sent.sending = Some(moments);
                }
                self.finish(at);
            }
            (Call::Send, _) => {
                self.under_way[at].pop_back();
            }
            (Call::Receive, Ok(bytes @ 1..)) => self.received(1 - at, bytes, moments),
            (Call::Receive, _) => {}
        }
    }

    /// So many bytes of this sender's came in one call.
    fn received(&mut self, sender: usize, bytes: u64, moments: Vec<Moment>) {
        let queue = &mut self.under_way[sender];
        let first = queue.iter().position(|sent| sent.receiving.is_none()).unwrap_or(queue.len());
        if let Some(sent) = queue.get_mut(first).filter(|sent| sent.bytes == bytes) {
            sent.receiving = Some(moments);
            return self.finish(sender);
        }
        let (mut sum, mut count) = (0, 0);
        while let Some(sent) = queue.get(first + count).filter(|_| sum < bytes) {
            (sum, count) = (sum + sent.bytes, count + 1);
        }
        if sum == bytes {
            self.unpaired += count as u64;
            // The last of them may still be in its call.
            queue.drain(first..first + count);
        } else {
            // Pieces, or what was sent before the trace began: which message is whose is not known any more.
            self.unpaired += 1;
            queue.clear();
        }
    }

    /// Keeps the messages of which everything was seen.
    fn finish(&mut self, sender: usize) {
        let queue = &mut self.under_way[sender];
        while let Some(Sent { bytes, sending: Some(sending), receiving: Some(receiving) }) =
            queue.front_mut()
        {
            let [sending, receiving] = [sending, receiving].map(std::mem::take);
            if self.kept.len() < KEPT {
                self.kept.push(Message { sender, bytes: *bytes, sending, receiving });
            }
            queue.pop_front();
        }
    }
}
