//! Somebody who talks to the ports of the ranks without being asked.

use std::io::{self, Write};
use std::net::{SocketAddrV4, TcpStream, UdpSocket};
use std::time::Duration;

use rand::{Rng, RngExt};

use crate::sockets::Port;

/// Most connections that are held open.
const HELD: usize = 64;
/// How long a connection may take.
const PATIENCE: Duration = Duration::from_millis(200);
/// Bytes of the longest garbage.
const MOST: usize = 2000;

/// Sends garbage to each port: over several connections, some of which are closed at once and some held open until
/// `held` is dropped. Whoever does not listen any more is left in peace. Returns how often it was taken.
pub fn talk(
    ports: impl Iterator<Item = Port>,
    held: &mut Vec<TcpStream>,
    random: &mut impl Rng,
) -> usize {
    let mut taken = 0;
    for port in ports {
        for _ in 0..3 {
            let mut garbage = vec![0; random.random_range(1..MOST)];
            random.fill(&mut garbage[..]);
            match port {
                Port::Tcp(address) => {
                    let Ok(mut stream) = TcpStream::connect_timeout(&address.into(), PATIENCE)
                    else {
                        continue;
                    };
                    let _ = stream.set_write_timeout(Some(PATIENCE));
                    taken += usize::from(stream.write_all(&garbage).is_ok());
                    if random.random_bool(0.5) && held.len() < HELD {
                        held.push(stream);
                    }
                }
                Port::Udp(address) => {
                    taken += usize::from(sent(&garbage, address).is_ok());
                }
            }
        }
    }
    taken
}

/// Sends a datagram.
///
/// # Errors
/// It could not be sent, or nobody is there: of its own machine the kernel says so at once.
fn sent(garbage: &[u8], to: SocketAddrV4) -> io::Result<()> {
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    socket.connect(to)?;
    socket.send(garbage)?;
    socket.take_error()?.map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::{SocketAddr, TcpListener};

    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    #[test]
    fn garbage_arrives() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let SocketAddr::V4(address) = listener.local_addr().unwrap() else { panic!("not IPv4") };
        let heard = std::thread::spawn(move || {
            (0..3)
                .map(|_| {
                    let mut bytes = Vec::new();
                    listener.accept().unwrap().0.read_to_end(&mut bytes).unwrap();
                    bytes.len()
                })
                .sum::<usize>()
        });
        let mut held = Vec::new();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut say = |port| talk([port].into_iter(), &mut held, &mut random);
        assert_eq!(say(Port::Tcp(address)), 3);
        let datagrams = UdpSocket::bind("127.0.0.1:0").unwrap();
        let SocketAddr::V4(theirs) = datagrams.local_addr().unwrap() else { panic!("not IPv4") };
        assert_eq!(say(Port::Udp(theirs)), 3);
        drop(datagrams);
        assert_eq!(say(Port::Udp(theirs)), 0, "nobody is there");
        drop(held);
        assert!(heard.join().unwrap() > 0);
    }
}
