//! Sockets, as /proc tells of them.

use std::collections::BTreeSet;
use std::fs;
use std::net::{Ipv4Addr, SocketAddrV4};

/// Inodes of the sockets that a process holds.
pub fn held_by(pid: u32) -> BTreeSet<u64> {
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    descriptors
        .filter_map(|entry| {
            let target = fs::read_link(entry.path()).ok()?;
            target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
        })
        .collect()
}

/// Inodes of all Unix, TCP and UDP sockets that the kernel lists.
pub fn listed() -> BTreeSet<u64> {
    let column = |(file, number): (&str, usize)| {
        let inode = move |line: &str| line.split_whitespace().nth(number)?.parse().ok();
        lines(file).iter().filter_map(|line| inode(line)).collect::<Vec<u64>>()
    };
    [("unix", 6), ("tcp", 9), ("tcp6", 9), ("udp", 9)].into_iter().flat_map(column).collect()
}

/// A port of this machine that somebody may talk to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Port {
    /// Listens for connections.
    Tcp(SocketAddrV4),
    /// Takes datagrams from anybody.
    Udp(SocketAddrV4),
}

/// The ports among sockets of these inodes, with the inode of each: those that listen for connections, and those for
/// datagrams that have no peer whose alone they take.
pub fn ports(inodes: &BTreeSet<u64>) -> Vec<(u64, Port)> {
    let of = |(file, make, open): (&str, fn(SocketAddrV4) -> Port, &str)| {
        let port = move |line: &String| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let inode = fields.get(9)?.parse().ok()?;
            let is_port = *fields.get(3)? == open && inodes.contains(&inode);
            is_port.then(|| address(fields[1]).map(|address| (inode, make(address))))?
        };
        lines(file).iter().filter_map(port).collect::<Vec<_>>()
    };
    // The states of proc(5): listening, and closed, which a socket for datagrams is until it has a peer.
    let mut ports = of(("tcp", Port::Tcp, "0A"));
    ports.extend(of(("udp", Port::Udp, "07")));
    ports
}

/// An address as in `0100007F:A311`: the machine's own order of bytes, and the port.
fn address(text: &str) -> Option<SocketAddrV4> {
    let (address, port) = text.split_once(':')?;
    let address = u32::from_str_radix(address, 16).ok()?.to_ne_bytes();
    Some(SocketAddrV4::new(Ipv4Addr::from(address), u16::from_str_radix(port, 16).ok()?))
}

fn lines(file: &str) -> Vec<String> {
    let table = fs::read_to_string(format!("/proc/net/{file}")).unwrap_or_default();
    table.lines().skip(1).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, UdpSocket};

    use super::*;

    #[test]
    fn this_process_is_found_at_its_ports() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let datagrams = UdpSocket::bind("127.0.0.1:0").unwrap();
        let held = held_by(std::process::id());
        assert!(held.len() >= 2 && held.is_subset(&listed()));
        let found = ports(&held);
        for (socket, expected) in [
            (listener.local_addr(), Port::Tcp as fn(SocketAddrV4) -> Port),
            (datagrams.local_addr(), Port::Udp),
        ] {
            let std::net::SocketAddr::V4(address) = socket.unwrap() else { panic!("not IPv4") };
            assert!(found.iter().any(|(_, port)| *port == expected(address)), "{found:?}");
        }
        // Nobody but its peer reaches it any more.
        datagrams.connect("127.0.0.1:9").unwrap();
        let left = ports(&held);
        assert!(left.iter().all(|(_, port)| matches!(port, Port::Tcp(_))), "{left:?}");
    }
}
