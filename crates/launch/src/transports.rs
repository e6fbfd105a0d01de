//! The list of transports.

use std::fmt;
use std::os::fd::OwnedFd;
use std::str::FromStr;
use std::sync::LazyLock;

use bandgap_comm::{Bare, Bulk, Can, CommError, Connected, Floor, Rendezvous};
use bandgap_host::CycleClock;

use crate::machine::{Machine, Parts, over};

/// Every transport, a line each.
fn all(visit: &mut impl Visit) {
    visit.transport::<bandgap_shm::Shm>();
    visit.transport::<bandgap_socket::tcp::Tcp>();
    visit.transport::<bandgap_socket::unix::Unix>();
    visit.transport::<bandgap_socket::udp::Udp>();
}

/// Is shown every transport.
trait Visit {
    fn transport<T: bandgap_comm::Transport>(&mut self);
}

/// One of the list.
#[derive(Clone, Copy)]
pub struct Transport(pub(crate) &'static Row);

/// What a transport says of itself, and its functions, compiled for it.
pub(crate) struct Row {
    name: &'static str,
    meaning: &'static str,
    can: Can,
    floors: &'static [Floor],
    /// What ranks inherit from the launcher: so many, who expose so many bytes.
    pub prepare: fn(usize, usize) -> Result<Vec<OwnedFd>, CommError>,
    /// Connects this rank.
    pub connect: Connect,
    /// What two ranks inherit from the launcher to measure the floors.
    pub prepare_bare: fn() -> Result<Vec<OwnedFd>, CommError>,
    /// Connects this rank by the bare mechanism.
    pub bare: ConnectBare,
}

/// The bare mechanism of a transport, measured with the clock of this machine.
pub(crate) type BareEnd = Box<dyn Bare<CycleClock>>;

type ConnectBare = fn(Vec<OwnedFd>, &mut dyn Rendezvous) -> Result<BareEnd, CommError>;

type Connect =
    fn(Vec<OwnedFd>, usize, &mut dyn Rendezvous, Parts) -> Result<Box<dyn Machine>, CommError>;

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let mut rows = Rows(Vec::new());
    all(&mut rows);
    rows.0
});

struct Rows(Vec<Row>);

impl Visit for Rows {
    fn transport<T: bandgap_comm::Transport>(&mut self) {
        self.0.push(Row {
            name: T::NAME,
            meaning: T::MEANING,
            can: T::CAN,
            prepare: T::prepare,
            connect: |inherited, exposed, meeting, parts| {
                T::connect(inherited, exposed, meeting, Start(parts, T::CAN))?
            },
            floors: T::FLOORS,
            prepare_bare: T::prepare_bare,
            bare: T::bare::<CycleClock>,
        });
    }
}

/// Makes a machine of a rank's end.
struct Start(Parts, Can);

impl Connected for Start {
    type Output = Result<Box<dyn Machine>, CommError>;

    fn endpoint<E: Bulk + 'static>(self, endpoint: E) -> Self::Output {
        over(endpoint, self.0, &self.1.tuning)
    }
}

impl Transport {
    /// All transports, in the order in which they are listed and compared.
    pub fn list() -> impl Iterator<Item = Self> {
        ROWS.iter().map(Self)
    }

    /// The one that is used where none is named.
    pub fn usual() -> Self {
        Self(&ROWS[0])
    }

    /// Its name on the command line and in run files.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// What it is, in a few words.
    pub fn meaning(self) -> &'static str {
        self.0.meaning
    }

    /// What it can do.
    pub fn can(self) -> Can {
        self.0.can
    }

    /// Its floors, and the layers that are measured beside them.
    pub fn floors(self) -> &'static [Floor] {
        self.0.floors
    }
}

impl FromStr for Transport {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::list().find(|transport| transport.name() == text);
        found.ok_or_else(|| {
            let names: Vec<&str> = Self::list().map(Self::name).collect();
            format!("there is no transport of this name; there are {}", names.join(", "))
        })
    }
}

impl PartialEq for Transport {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Transport {}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unlike_and_read_back() {
        let names: BTreeSet<&str> = Transport::list().map(Transport::name).collect();
        assert_eq!(names.len(), Transport::list().count());
        for transport in Transport::list() {
            assert_eq!(transport.to_string().parse(), Ok(transport));
            assert!(!transport.meaning().is_empty());
        }
        assert!("carrier-pigeon".parse::<Transport>().unwrap_err().contains("there are shm"));
    }
}
