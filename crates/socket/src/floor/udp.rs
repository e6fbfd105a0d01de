//! Datagrams as they are: half round trips of those that arrive, and how many do not.

use std::net::{TcpListener, UdpSocket};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use bandgap_comm::Yields::HalfRoundTrip;
use bandgap_comm::{Bare, CommError, Floor, FloorRole, Measuring, Rendezvous, Timer};
use rustix::net::{RecvFlags, recv};

use super::Ticks;
use super::side::FloorEnd;
use crate::call::at_once;
use crate::connect::{address, exchange, mesh};
use crate::error::system;
use crate::{Socket, SocketError};

/// Lengths of datagrams, where none are named.
const SIZES: &[u64] = &[8, 64, 1 << 10, 8 << 10, LONGEST as u64];
/// Bytes of the number that each datagram begins with.
const NUMBER: usize = size_of::<u64>();
/// The longest datagram: 65 535 bytes less the headers of IPv4 and UDP (RFC 768, RFC 791).
const LONGEST: usize = 65_507;
/// Round trips of a batch: so many that a loss of one in a thousand is seen within a run.
const SAMPLES: u32 = 100;
/// The least silence after which a datagram, or its answer, is lost. No processor is taken away for longer.
const LOST: Duration = Duration::from_millis(50);
/// Round trips of the way by which ranks exchanged their addresses that a silence lasts too.
const ROUND_TRIPS: u32 = 4;

/// One rank's connected datagram socket. The two ranks have a stream too, which loses nothing: it lets in only who shows
/// the run's secret, and says when a batch begins and ends.
#[derive(Debug)]
pub struct Udp {
    socket: Socket,
    stream: Socket,
    /// Silence after which a datagram is lost.
    silence: Duration,
    /// That of the last datagram.
    number: u64,
}

impl Udp {
    /// A rank's ends of a datagram socket that is connected, and of a stream. Calls of both do not wait.
    pub fn over(socket: Socket, stream: Socket, silence: Duration) -> Self {
        Self { socket, stream, silence, number: 0 }
    }

    /// A sample is a round trip of `bytes` bytes, and is left out if they are lost on the way there or back: nothing is sent
    /// again. An answer that comes after the silence is lost too, as its number tells.
    ///
    /// # Errors
    /// The other side is gone, or was silent on the stream for longer than [`Measuring::patience`]; or the operating
    /// system refused.
    fn round_trips(&mut self, bytes: usize, with: &Measuring<'_, impl Timer>) -> Ticks {
        let mut datagrams = FloorEnd::new(&self.socket, with);
        let mut stream = FloorEnd::new(&self.stream, with);
        let (mut datagram, mut arrived) = (vec![0; bytes], vec![0; bytes]);
        let mut ticks = Vec::with_capacity(with.window.samples as usize);
        if with.role == FloorRole::Responder {
            stream.send(&[0])?;
            loop {
                match datagrams.receive(&mut arrived)? {
                    Some(arrived_bytes) => {
                        datagrams.send(&arrived[..arrived_bytes])?;
                        datagrams.goes_on();
                    }
                    None if datagrams.waited()?.is_some()
                        && stream.receive(&mut [0])?.is_some() =>
                    {
                        return Ok(ticks);
                    }
                    None => {}
                }
            }
        }
        while stream.receive(&mut [0])?.is_none() {
            stream.waits()?;
        }
        for _ in 0..with.window.samples {
            self.number += 1;
            datagram[..NUMBER].copy_from_slice(&self.number.to_le_bytes());
            let start = with.timer.stamp();
            datagrams.send(&datagram)?;
            let is_lost = loop {
                match datagrams.receive(&mut arrived)? {
                    Some(_) if arrived == datagram => break false,
                    Some(_) => {}
                    None if datagrams.waited()?.is_some_and(|waited| waited > self.silence) => {
                        break true;
                    }
                    None => {}
                }
            };
            let end = with.timer.stamp();
            datagrams.goes_on();
            if !is_lost {
                ticks.push(end.ticks().wrapping_sub(start.ticks()));
            }
        }
        stream.send(&[0])?;
        Ok(ticks)
    }
}

impl Bare for Udp {
    const NAME: &'static str = "udp";
    const HOSTS: bool = true;
    const FLOORS: &'static [Floor] =
        &[Floor::new("udp", "UDP, half a round trip of what arrived", HalfRoundTrip, 1)
            .samples(SAMPLES)
            .over_sizes(SIZES)];

    fn connect(_inherited: Vec<OwnedFd>, meeting: &mut Rendezvous<'_>) -> Result<Self, CommError> {
        let stream = mesh::<TcpListener>(meeting)?.into_iter().next();
        let stream = stream.ok_or_else(|| SocketError::Missing(vec![1]))?;
        let failed = || system("connect a datagram socket");
        let socket = UdpSocket::bind((meeting.interface, 0)).map_err(failed())?;
        let own = socket.local_addr().map_err(failed())?.to_string();
        let begun = Instant::now();
        let all = exchange(meeting, own.clone())?;
        let silence = LOST.max(ROUND_TRIPS * begun.elapsed());
        let peer = address(&all[1 - meeting.rank.min(1)])?;
        socket.connect(peer).map_err(failed())?;
        let socket = Socket::of(socket).map_err(failed())?;
        // What strangers sent before is taken out, and only then does any rank send.
        while at_once(|| recv(&socket, &mut [0; 1][..], RecvFlags::empty()))
            .map_err(failed())?
            .is_some()
        {}
        exchange(meeting, own)?;
        Ok(Self::over(socket, stream, silence))
    }

    fn measure(
        &mut self,
        _floor: &str,
        bytes: usize,
        with: &Measuring<'_, impl Timer>,
    ) -> Result<Vec<u64>, CommError> {
        if !(NUMBER..=LONGEST).contains(&bytes) {
            let reason =
                format!("datagrams of {bytes} bytes: from {NUMBER} to {LONGEST} are possible");
            return Err(CommError::Unavailable { reason });
        }
        Ok(self.round_trips(bytes, with)?)
    }
}
