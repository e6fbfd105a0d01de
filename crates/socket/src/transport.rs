//! Transports over sockets: all that does not depend on the kind of socket.

use std::marker::PhantomData;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use bandgap_comm::passing::Tuning;
use bandgap_comm::{
    Can, CommError, Credited, DEFAULT_CREDITS, Division, Rendezvous, Stamping, Timer, Transport,
};

use crate::connect::mesh;
use crate::division::DIVISION;
use crate::{Socket, SocketKind, SocketLink, Stamped, Stamper};

/// How message passing cuts messages. Requests carry the bytes, so that these are copied only into
/// the socket and out of it. What is longer than a piece waits for its receive.
const TUNING: Tuning = Tuning { chunk: 1 << 20, slots: 0, request: 1 << 20 };

/// The transport over a kind of socket.
pub struct Over<K>(PhantomData<K>);

impl<K: SocketKind> Over<K> {
    /// Connects this rank with all others: a socket for each peer, in the order of ranks.
    ///
    /// # Errors
    /// A peer did not come before the deadline, or the operating system refused.
    pub fn sockets(meeting: &mut Rendezvous<'_>) -> Result<Vec<Socket>, CommError> {
        mesh::<K>(meeting)
    }
}

impl<K: SocketKind> Transport for Over<K> {
    type Endpoint = Credited<SocketLink<Socket>>;

    const NAME: &'static str = K::NAME;
    const MEANING: &'static str = K::MEANING;
    const CAN: Can =
        Can { block: true, tuning: TUNING, compared: true, hosts: K::HOSTS, ..Can::USUAL };

    fn connect(
        _inherited: Vec<OwnedFd>,
        exposed: usize,
        meeting: &mut Rendezvous<'_>,
    ) -> Result<Self::Endpoint, CommError> {
        let link = SocketLink::over(meeting.rank, Self::sockets(meeting)?)?;
        Ok(Credited::new(link.exposing(exposed), DEFAULT_CREDITS))
    }
}

impl<K: SocketKind> bandgap_comm::Stamped for Over<K> {
    const DIVISION: &'static Division = DIVISION;
    type Stamped<T: Timer> = Credited<SocketLink<Stamped<Socket, T>>>;

    fn stamped<T: Timer>(
        meeting: &mut Rendezvous<'_>,
        timer: T,
    ) -> Result<(Self::Stamped<T>, Rc<dyn Stamping>), CommError> {
        let stamper = Rc::new(Stamper::new(timer));
        let stream = |stream| Stamped::over(stream, Rc::clone(&stamper));
        let streams = Self::sockets(meeting)?.into_iter().map(stream).collect();
        let link = SocketLink::over(meeting.rank, streams)?;
        Ok((Credited::new(link, DEFAULT_CREDITS), stamper))
    }
}
