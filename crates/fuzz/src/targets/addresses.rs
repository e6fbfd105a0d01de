//! Where ranks say that they can be reached.

use std::net::{TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::time::Instant;

use bandgap_comm::{CommError, Rank, Rendezvous};
use bandgap_socket::{Kind, Secret, SocketError};

use crate::{Shape, Target, Verdict};

pub(super) const ADDRESSES: Target = Target {
    name: "addresses",
    about: "a transport, and the addresses of three ranks, a line each, as the third of them is told",
    shape: Shape::Lines,
    real: &[],
    made: || {
        let right = [
            "tcp\n127.0.0.1:9\n127.0.0.1:40001\n127.0.0.1:40002\n",
            "tcp\n127.0.0.1:9\n[::1]:1\nno matter\n",
            "unix\nbandgap-0123456789abcdef\nbandgap-fedcba9876543210\nbandgap-0\n",
            "udp\n127.0.0.1:9,127.0.0.1:10\n127.0.0.2:11,127.0.0.2:12\n127.0.0.3:13,127.0.0.3:14\n",
        ];
        right.map(|text| text.as_bytes().to_vec()).to_vec()
    },
    wrong: || {
        let wrong = [
            "tcp\n192.0.2.1:80\n127.0.0.1:4001\n127.0.0.1:4002\n",
            "tcp\n127.0.0.1:4000\n127.0.0.1\n127.0.0.1:4002\n",
            "udp\n127.0.0.1:4000\n127.0.0.1:4001\n127.0.0.1:4002\n",
            "udp\n127.0.0.1:9,0.0.0.0:9\n127.0.0.1:9,127.0.0.1:9\n\n",
            "unix\nonly\ntwo\n",
        ];
        wrong.map(|text| text.as_bytes().to_vec()).to_vec()
    },
    words: &[
        "127.0.0.1:4000",
        "127.0.0.1:0",
        "127.0.0.1:65536",
        "[::1]:4000",
        "[::ffff:127.0.0.1]:4000",
        "0.0.0.0:1",
        "192.0.2.1:80",
        ",",
        "bandgap-0123456789abcdef",
    ],
    read,
    share: 3,
};

/// Where the last rank of three is told addresses. There is no time to reach any of them.
struct Meeting<'a>(&'a [&'a str]);

impl Rendezvous for Meeting<'_> {
    fn rank(&self) -> Rank {
        2
    }

    fn size(&self) -> usize {
        3
    }

    fn secret(&self) -> Secret {
        *b"0123456789abcdef"
    }

    fn deadline(&self) -> Instant {
        Instant::now()
    }

    fn exchange(&mut self, _: String) -> Result<Vec<String>, CommError> {
        Ok(self.0.iter().map(|text| (*text).to_owned()).collect())
    }
}

fn read(input: &[u8]) -> Verdict {
    let Ok(text) = str::from_utf8(input) else { return Verdict::Refused };
    let lines: Vec<&str> = text.lines().collect();
    let Some((transport, addresses)) = lines.split_first() else { return Verdict::Refused };
    let mut meeting = Meeting(addresses);
    let met = match *transport {
        "tcp" => TcpStream::sockets(&mut meeting).map(|sockets| sockets.len()),
        "unix" => UnixStream::sockets(&mut meeting).map(|sockets| sockets.len()),
        "udp" => udp(&mut meeting),
        _ => return Verdict::Refused,
    };
    match met {
        // Datagram sockets are there without an answer.
        Ok(sockets) => {
            assert_eq!((*transport, sockets), ("udp", 2));
            Verdict::Accepted
        }
        Err(CommError::Connect(error)) => match error.downcast_ref() {
            Some(SocketError::Missing { .. }) => Verdict::Accepted,
            Some(_) => Verdict::Refused,
            None => panic!("{error}"),
        },
        Err(other) => panic!("{other:?}"),
    }
}

/// Sockets that are connected to this machine, whatever was said.
fn udp(meeting: &mut Meeting<'_>) -> Result<usize, CommError> {
    let sockets = UdpSocket::sockets(meeting)?;
    for socket in &sockets {
        let peer = socket.peer_addr().expect("it is connected");
        assert!(peer.ip().is_loopback(), "{peer}");
    }
    Ok(sockets.len())
}
