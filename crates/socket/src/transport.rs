//! What the socket transports have in common.

use bandgap_comm::{
    Bare, Can, CommError, Connected, Credited, Floor, FloorError, Measuring, Timer,
};

use crate::floor::{Pipe, ping_pong, stream};
use crate::{SocketError, SocketLink, Stream, TUNING};

/// Requests that may be outstanding toward one peer: several round trips' worth.
const CREDITS: u16 = 32;
/// Most ranks: each has a connection to every other.
const RANKS: usize = 256;

/// What a transport over sockets can do.
pub(crate) const fn can(floor: &'static str, compared: bool) -> Can {
    Can { block: true, ranks: RANKS, tuning: TUNING, compared, floor }
}

/// Hands on the link of a connected rank.
pub(crate) fn finish<S: Stream + 'static, C: Connected>(
    link: SocketLink<S>,
    exposed: usize,
    then: C,
) -> C::Output {
    then.endpoint(Credited::new(link.exposing(exposed), CREDITS))
}

pub(crate) fn unconnected(error: SocketError) -> CommError {
    CommError::Connect(Box::new(error))
}

/// One rank's bare socket to the other.
pub(crate) struct BareSocket<P>(P);

/// The same of a socket that loses nothing, over which a stream can be measured too.
pub(crate) struct BareStream<P>(P);

impl<P> BareSocket<P> {
    /// A socket that is connected to the other rank's.
    pub(crate) fn of(socket: P) -> Self {
        Self(socket)
    }
}

impl<P> BareStream<P> {
    /// The only socket of one of two ranks.
    pub(crate) fn of(sockets: Vec<P>) -> Result<Self, CommError> {
        let socket = sockets.into_iter().next();
        let missing = || unconnected(SocketError::Missing { missing: vec![1] });
        socket.map(Self).ok_or_else(missing)
    }
}

impl<P: Pipe, T: Timer> Bare<T> for BareSocket<P> {
    fn measure(&mut self, _: &Floor, with: &Measuring<'_, T>) -> Result<Vec<u64>, FloorError> {
        let Measuring { role, window, timer, patience, .. } = *with;
        ping_pong(&self.0, role, window, timer, patience).map_err(failed)
    }
}

impl<P: Pipe, T: Timer> Bare<T> for BareStream<P> {
    fn measure(&mut self, floor: &Floor, with: &Measuring<'_, T>) -> Result<Vec<u64>, FloorError> {
        let Measuring { role, window, timer, patience, .. } = *with;
        match floor.yields.bytes() {
            Some(_) => stream(&self.0, role, window, timer, patience).map_err(failed),
            None => ping_pong(&self.0, role, window, timer, patience).map_err(failed),
        }
    }
}

fn failed(error: SocketError) -> FloorError {
    FloorError::Failed(Box::new(error))
}
