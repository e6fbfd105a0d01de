//! A stream with stamps around the calls that send and receive.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::rc::Rc;

use bandgap_comm::Timer;

use crate::{Received, Stamper, Stream};

/// A stream, and who takes the stamps at its border with the system.
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
    #[inline(always)]
    fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.sending(|stream| stream.send(bytes))
    }

    fn send_parts(&mut self, parts: [&[u8]; 3]) -> io::Result<usize> {
        self.sending(|stream| stream.send_parts(parts))
    }

    #[inline(always)]
    fn receive(&mut self, into: &mut [u8]) -> io::Result<Received> {
        self.receiving(|stream| stream.receive(into))
    }

    fn receive_both(&mut self, first: &mut [u8], second: &mut [u8]) -> io::Result<Received> {
        self.receiving(|stream| stream.receive_both(first, second))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::os::unix::net::UnixStream;

    use bandgap_comm::{AtBorder, Stamp, Stamping, Transport};

    use super::*;
    use crate::Socket;
    use crate::stamper::point;
    use crate::tcp::Tcp;
    use crate::unix::Unix;

    /// Every stamp is one later than the last one, and an iteration takes a thousand.
    #[derive(Clone, Debug, Default)]
    struct Steps(Rc<Cell<u64>>);

    impl Timer for Steps {
        fn stamp(&self) -> Stamp {
            self.0.set(self.0.get() + 1);
            Stamp::from_ticks(self.0.get())
        }

        fn work(&self, iterations: u32) {
            self.0.set(self.0.get() + 1000 * u64::from(iterations));
        }
    }

    /// Sends 5 bytes to and fro, with a poll before they are there, and says what one side timed.
    fn timed(at: AtBorder) -> bandgap_comm::Timed {
        let (near, far) = UnixStream::pair().unwrap();
        let [near, mut far] = [near, far].map(|end| Socket::of(end).unwrap());
        let stamper = Rc::new(Stamper::new(Steps::default()));
        let mut near = Stamped::over(near, Rc::clone(&stamper));
        stamper.begin(at);
        let mut into = [0; 16];
        assert_eq!(near.receive(&mut into).unwrap(), Received::Nothing);
        assert_eq!(near.send(b"there").unwrap(), 5);
        assert_eq!(far.receive(&mut into).unwrap(), Received::Bytes(5));
        assert_eq!(far.send_parts([b"ba", b"ck", b"!"]).unwrap(), 5);
        let (mut one, mut other) = ([0; 2], [0; 3]);
        let both = near.receive_both(&mut one, &mut other).unwrap();
        assert_eq!((both, &one, &other), (Received::Bytes(5), b"ba", b"ck!"));
        assert_eq!(near.send_parts([b"and", b" on", b""]).unwrap(), 6);
        stamper.end()
    }

    #[test]
    fn each_call_is_stamped_and_moves_its_bytes() {
        for (stamping, ticks, count) in [
            (point::NOTHING, 0, 0),
            (point::SEND, 2, 2),
            (point::RECEIVE, 1, 1),
            (point::FAILING, 1, 1),
            (point::TURN, 1, 1),
            (point::OWN, 4, 4),
        ] {
            let timed = timed(AtBorder::point(stamping));
            assert_eq!((timed.ticks, timed.count), (ticks, count), "{stamping}");
        }
    }

    #[test]
    fn ordinary_connections_have_no_stamps_in_their_types() {
        fn name<T>() -> &'static str {
            std::any::type_name::<T>()
        }
        let ordinary =
            [name::<<Tcp as Transport>::Endpoint>(), name::<<Unix as Transport>::Endpoint>()];
        let stamped = name::<<Tcp as bandgap_comm::Stamped>::Stamped<Steps>>();
        assert!(ordinary.iter().all(|name| !name.contains("Stamp")), "{ordinary:?}");
        assert!(stamped.contains("Stamped"), "{stamped}");
    }
}
