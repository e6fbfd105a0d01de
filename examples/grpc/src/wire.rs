//! A connected socket that gRPC uses while its rank polls.
//!
//! The rank itself looks for bytes, and wakes the task that reads them. So a poll that finds nothing costs one system
//! call, and needs no turn of the runtime and no queue of events (epoll). What tasks write in a turn leaves in one call.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::ops::Range;
use std::os::fd::AsFd;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bandgap::transport::Rank;
use rustix::event::{PollFd, PollFlags};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tonic::transport::server::Connected;

/// Bytes that the rank takes when it looks, and that wait for the end of a turn.
const HELD: usize = 64 << 10;

/// A rank's end of a connection to a peer.
pub struct Wire {
    pub peer: Rank,
    socket: TcpStream,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    input: Vec<u8>,
    /// What of it gRPC has not read.
    unread: Range<usize>,
    output: Vec<u8>,
    ended: bool,
    /// The task that waits for bytes.
    reader: Option<Waker>,
    /// The task that waits for room.
    writer: Option<Waker>,
}

impl Wire {
    /// A wire, and what gRPC reads and writes.
    pub fn over(peer: Rank, socket: TcpStream) -> (Arc<Self>, Io) {
        let state = State { input: vec![0; HELD], ..State::default() };
        let wire = Arc::new(Self { peer, socket, state: Mutex::new(state) });
        (Arc::clone(&wire), Io(wire))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether bytes have arrived, or the end. Adds the tasks that can go on.
    pub fn look(&self, wake: &mut Vec<Waker>) -> bool {
        let mut state = self.state();
        let state = &mut *state;
        if state.writer.is_some() && self.sends(state) {
            wake.extend(state.writer.take());
        }
        if state.ended {
            return false;
        }
        if state.unread.is_empty() {
            match at_once((&self.socket).read(&mut state.input)) {
                Ok(None) => return false,
                Ok(Some(bytes)) if bytes > 0 => state.unread = 0..bytes,
                Ok(_) | Err(_) => state.ended = true,
            }
        }
        wake.extend(state.reader.take());
        true
    }

    /// Sends what tasks have written. Returns whether there is room for more.
    fn sends(&self, state: &mut State) -> bool {
        while !state.output.is_empty() && !state.ended {
            match at_once((&self.socket).write(&state.output)) {
                Ok(Some(bytes)) => drop(state.output.drain(..bytes)),
                Ok(None) => break,
                Err(_) => state.ended = true,
            }
        }
        state.output.len() < HELD
    }

    /// The same, after a turn.
    pub fn send(&self) {
        self.sends(&mut self.state());
    }

    /// Whether the peer has closed the connection, or gRPC has.
    pub fn ended(&self) -> bool {
        self.state().ended
    }

    /// Whether bytes wait for room: all others are with the system.
    pub fn blocked(&self) -> bool {
        !self.state().output.is_empty()
    }

    /// What to wait for if the rank sleeps.
    pub fn awaited(&self) -> PollFd<'_> {
        let room = if self.blocked() { PollFlags::OUT } else { PollFlags::empty() };
        PollFd::from_borrowed_fd(self.socket.as_fd(), PollFlags::IN | room)
    }
}

/// `None` if the call would have waited.
fn at_once(done: io::Result<usize>) -> io::Result<Option<usize>> {
    match done {
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
            Ok(None)
        }
        done => done.map(Some),
    }
}

/// The wire as gRPC sees it.
pub struct Io(Arc<Wire>);

impl Drop for Io {
    fn drop(&mut self) {
        self.0.state().ended = true;
    }
}

impl Connected for Io {
    type ConnectInfo = ();
    fn connect_info(&self) {}
}

impl AsyncRead for Io {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut state = self.0.state();
        let taken = state.unread.len().min(into.remaining());
        if taken > 0 || state.ended {
            into.put_slice(&state.input[state.unread.start..][..taken]);
            state.unread.start += taken;
            return Poll::Ready(Ok(()));
        }
        state.reader = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl AsyncWrite for Io {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut state = self.0.state();
        if state.output.len() >= HELD && !self.0.sends(&mut state) {
            state.writer = Some(cx.waker().clone());
            return Poll::Pending;
        }
        if state.ended {
            return Poll::Ready(Err(ErrorKind::BrokenPipe.into()));
        }
        let taken = &bytes[..bytes.len().min(HELD)];
        state.output.extend_from_slice(taken);
        Poll::Ready(Ok(taken.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.send();
        Poll::Ready(self.0.socket.shutdown(Shutdown::Write))
    }
}
