//! Strangers: connections to the ranks' ports from outside the run.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddrV4, TcpStream};
use std::time::Duration;

use rand::{Rng, RngExt};

/// Longest wait for a connection.
const PATIENCE: Duration = Duration::from_millis(200);

/// Inodes of the sockets that a process holds.
fn held_by(pid: u32) -> BTreeSet<u64> {
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    descriptors
        .filter_map(|entry| {
            let target = fs::read_link(entry.path()).ok()?;
            target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
        })
        .collect()
}

/// Addresses at which sockets with these inodes listen (see proc(5)).
fn ports(inodes: &BTreeSet<u64>) -> Vec<SocketAddrV4> {
    let table = fs::read_to_string("/proc/net/tcp").unwrap_or_default();
    let port = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let open = fields.get(3) == Some(&"0A") && inodes.contains(&fields.get(9)?.parse().ok()?);
        // The address is in the machine's byte order, e.g. `0100007F:A311`.
        let (address, port) = fields.get(1)?.split_once(':')?;
        let address = Ipv4Addr::from(u32::from_str_radix(address, 16).ok()?.to_ne_bytes());
        let port = u16::from_str_radix(port, 16).ok()?;
        open.then(|| SocketAddrV4::new(address, port))
    };
    table.lines().filter_map(port).collect()
}

/// Sends garbage to each port at which these processes listen for connections. `held` keeps some
/// connections open. Returns how many times data was accepted.
pub fn talk(
    pids: impl Iterator<Item = u32>,
    held: &mut Vec<TcpStream>,
    random: &mut impl Rng,
) -> usize {
    let inodes = pids.flat_map(held_by).collect();
    let mut taken = 0;
    let mut garbage = vec![0; random.random_range(1..2000)];
    random.fill(&mut garbage[..]);
    for port in ports(&inodes) {
        for _ in 0..3 {
            let Ok(mut stream) = TcpStream::connect_timeout(&port.into(), PATIENCE) else {
                continue;
            };
            taken += usize::from(stream.write_all(&garbage).is_ok());
            if random.random_bool(0.5) {
                held.push(stream);
            }
        }
    }
    taken
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    #[test]
    fn this_process_is_found_at_its_ports_and_talked_to() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let open = ports(&held_by(std::process::id()));
        assert!(open.iter().any(|at| at.port() == port), "{open:?}");
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let me = std::process::id();
        assert!(talk([me].into_iter(), &mut Vec::new(), &mut random) >= 3);
        listener.accept().unwrap();
    }
}
