//! Somebody who talks to the ports of the ranks without being asked.

use std::io::Write;
use std::net::{TcpStream, UdpSocket};
use std::time::Duration;

use rand::{Rng, RngExt};

use crate::sockets::Port;

/// Most connections that are held open.
const HELD: usize = 64;
/// Bytes of the longest garbage.
const MOST: usize = 2000;

/// Sends garbage to each port: over several connections, some of which are closed at once and some held open until
/// `held` is dropped. Whoever does not listen any more is left in peace.
pub fn talk(ports: &[Port], held: &mut Vec<TcpStream>, random: &mut impl Rng) {
    for port in ports {
        for _ in 0..3 {
            let mut garbage = vec![0; random.random_range(0..MOST)];
            random.fill(&mut garbage[..]);
            match port {
                Port::Tcp(address) => {
                    let patience = Duration::from_millis(200);
                    let Ok(mut stream) = TcpStream::connect_timeout(&(*address).into(), patience)
                    else {
                        continue;
                    };
                    let _ = stream.set_write_timeout(Some(patience));
                    let _ = stream.write_all(&garbage);
                    if random.random_bool(0.5) && held.len() < HELD {
                        held.push(stream);
                    }
                }
                Port::Udp(address) => {
                    if let Ok(socket) = UdpSocket::bind("127.0.0.1:0") {
                        let _ = socket.send_to(&garbage, address);
                    }
                }
            }
        }
    }
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
        talk(&[Port::Tcp(address)], &mut held, &mut Xoshiro256PlusPlus::seed_from_u64(1));
        drop(held);
        assert!(heard.join().unwrap() > 0);
    }
}
