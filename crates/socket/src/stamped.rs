//! A stream with stamps around the calls that send and receive.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::rc::Rc;
use std::time::Duration;

use bandgap_comm::{Stamper, Timer};

use crate::{Received, Stream};

/// A stream, and who takes the stamps at its border with the system.
#[derive(Debug)]
pub struct Stamped<S, T> {
    stream: S,
    stamper: Rc<Stamper<T>>,
}

impl<S: Stream, T: Timer> Stamped<S, T> {
    /// The stream, with these stamps around its calls.
    pub fn over(stream: S, stamper: Rc<Stamper<T>>) -> Self {
        Self { stream, stamper }
    }

    #[inline(always)]
    fn sending(&mut self, send: impl FnOnce(&mut S) -> io::Result<usize>) -> io::Result<usize> {
        self.stamper.before_send();
        let sent = send(&mut self.stream);
        self.stamper.after_send();
        sent
    }

    #[inline(always)]
    fn receiving(
        &mut self,
        receive: impl FnOnce(&mut S) -> io::Result<Received>,
    ) -> io::Result<Received> {
        self.stamper.before_receive();
        let received = receive(&mut self.stream);
        self.stamper.after_receive(match received {
            Ok(Received::Bytes(bytes)) => bytes,
            _ => 0,
        });
        received
    }
}

impl<S: Stream, T> AsFd for Stamped<S, T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

impl<S: Stream, T: Timer> Stream for Stamped<S, T> {
    const TENDED: bool = S::TENDED;
    const AT_ONCE: usize = S::AT_ONCE;

    #[inline(always)]
    fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.sending(|stream| stream.send(bytes))
    }

    #[inline]
    fn send_both(&mut self, first: &[u8], second: &[u8]) -> io::Result<usize> {
        self.sending(|stream| stream.send_both(first, second))
    }

    #[inline(always)]
    fn receive(&mut self, into: &mut [u8]) -> io::Result<Received> {
        self.receiving(|stream| stream.receive(into))
    }

    #[inline]
    fn receive_both(&mut self, first: &mut [u8], second: &mut [u8]) -> io::Result<Received> {
        self.receiving(|stream| stream.receive_both(first, second))
    }

    fn tend(&mut self) -> io::Result<()> {
        self.stream.tend()
    }

    fn rest(&mut self) -> io::Result<Option<Duration>> {
        self.stream.rest()
    }

    fn unsettled(&self) -> usize {
        self.stream.unsettled()
    }
}
