//! How processes that whoever started them left to themselves find the first of them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use bandgap_comm::Rank;
use rustix::net::sockopt::{
    set_socket_keepalive, set_tcp_keepcnt, set_tcp_keepidle, set_tcp_keepintvl,
};

use super::callers::Callers;
use super::hello::Known;
use super::{AGAIN, Secret, SocketKind, join, left};
use crate::error::system;
use crate::{Result, Socket};

/// What both sides of a greeting name as the place where one listens: its addresses are many.
const PLACE: &str = "the first process";

/// Silence after which the other end is asked whether it is there, and between two questions.
const ALIVE: Duration = Duration::from_secs(5);

/// Longest wait for one of several addresses, before the next one is tried.
const PATIENCE: Duration = Duration::from_secs(1);

fn known(secret: Secret) -> Known {
    Known { secret, listener: PLACE.to_owned() }
}

/// The first process, which the others call.
pub struct Centre(TcpListener);

impl Centre {
    /// Listens at all addresses of this host, at `port` or any; at that of the loopback interface where all are local.
    ///
    /// # Errors
    /// The system refused.
    pub fn listen(port: u16, local: bool) -> Result<Self> {
        let bind = |address: IpAddr| TcpListener::bind((address, port));
        let listener = match local {
            true => bind(Ipv4Addr::LOCALHOST.into()),
            false => {
                bind(Ipv6Addr::UNSPECIFIED.into()).or_else(|_| bind(Ipv4Addr::UNSPECIFIED.into()))
            }
        };
        let ready = listener.and_then(|of| of.set_nonblocking(true).map(|()| Self(of)));
        ready.map_err(system("listen for the other processes"))
    }

    /// Its port.
    ///
    /// # Errors
    /// The system does not tell.
    pub fn port(&self) -> Result<u16> {
        Ok(self.0.local_addr().map_err(system("read the address of a listener"))?.port())
    }

    /// The connections to processes 1 to `size` − 1, in order: those that know the secret. Nobody waits for them once they
    /// are `gone`.
    ///
    /// # Errors
    /// They did not come before the deadline, or are gone.
    pub fn wait(
        self,
        secret: Secret,
        size: usize,
        deadline: Instant,
        gone: &dyn Fn() -> bool,
    ) -> Result<Vec<TcpStream>> {
        let streams = Callers::new(self.0, 0, known(secret), 1..size).wait(deadline, gone)?;
        streams.into_iter().map(waiting).collect()
    }
}

/// The connection of process `rank` to the first one, which is at one of these addresses.
///
/// # Errors
/// It did not answer before the deadline, or does not know the secret.
pub fn call(
    addresses: &[SocketAddr],
    rank: Rank,
    secret: Secret,
    deadline: Instant,
) -> Result<TcpStream> {
    loop {
        for address in addresses {
            let left = left(deadline, &[0])?;
            // An address of a network that this host is not in may not answer at all, and at that of another host
            // something else may listen.
            let Ok(Some(stream)) = TcpListener::connect(address, left.min(PATIENCE)) else {
                continue;
            };
            let stream = TcpListener::admit(&stream).and_then(|_| Socket::of(stream));
            let stream = stream.map_err(system("prepare a socket"))?;
            let until = deadline.min(Instant::now() + PATIENCE);
            if join([rank, 0], &stream, &known(secret), until).is_ok() {
                return waiting(stream);
            }
        }
        std::thread::sleep(AGAIN.min(left(deadline, &[0])?));
    }
}

/// The same, with calls that wait, and that fail once the other end is cut off.
fn waiting(socket: Socket) -> Result<TcpStream> {
    let stream = TcpStream::from(OwnedFd::from(socket));
    let prepare = || -> std::io::Result<()> {
        set_socket_keepalive(&stream, true)?;
        set_tcp_keepidle(&stream, ALIVE)?;
        set_tcp_keepintvl(&stream, ALIVE)?;
        set_tcp_keepcnt(&stream, 3)?;
        stream.set_nonblocking(false)
    };
    prepare().map_err(system("prepare a socket"))?;
    Ok(stream)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    #[test]
    fn those_who_know_the_secret_get_in_by_their_number() {
        let centre = Centre::listen(0, true).unwrap();
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, centre.port().unwrap()));
        let nobody = SocketAddr::from((Ipv4Addr::LOCALHOST, 1));
        // Whoever listens there says nothing.
        let silent = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let quiet = silent.local_addr().unwrap();
        let until = Instant::now() + Duration::from_secs(60);
        std::thread::scope(|threads| {
            for rank in [2, 1] {
                threads.spawn(move || {
                    let stream = call(&[nobody, quiet, address], rank, [7; 16], until).unwrap();
                    (&stream).write_all(&[rank as u8]).unwrap();
                });
            }
            threads.spawn(move || {
                let soon = Instant::now() + Duration::from_millis(300);
                assert!(call(&[address], 1, [8; 16], soon).is_err());
            });
            let streams = centre.wait([7; 16], 3, until, &|| false).unwrap();
            for (at, stream) in streams.iter().enumerate() {
                let mut said = [0];
                (&mut &*stream).read_exact(&mut said).unwrap();
                assert_eq!(usize::from(said[0]), at + 1);
            }
        });
    }
}
