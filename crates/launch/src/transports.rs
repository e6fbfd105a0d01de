//! The list of transports, and the targets of a measurement: a transport, or a machine in virtual time.

use std::fmt;
use std::os::fd::OwnedFd;
use std::str::FromStr;
use std::sync::OnceLock;

use bandgap_campaign::beside::Beside;
use bandgap_comm::{AnyEndpoint, Can, Division, Rendezvous, Result};
use bandgap_kernels::{Added, Entry};
use bandgap_sim::Recorder;
use bandgap_tagged::Fabric;

use crate::machine::{AnyRig, Machine, Parts, RigOver};
use crate::stamped::StampedEnd;
use crate::{fabrics, floors, foreign, mpi};

/// Those that the program added.
pub(crate) static OWN: OnceLock<Vec<Transport>> = OnceLock::new();

macro_rules! transports {
    (own { $($own:ty: $($of_own:ident)*,)* }
     boxed { $($boxed:ty: $($of_boxed:ident)*,)* }
     native { $($native:ident: $($of_native:ident)*,)* }
     fabrics { $($fabric:ty,)* }) => {
        /// Every transport, in the order in which they are listed and compared.
        const ALL: &[Transport] = &[
            $(Transport::of::<$own>()$(.$of_own::<$own>())*,)*
            $(Transport::boxed::<$boxed>()$(.$of_boxed::<$boxed>())*,)*
            $(Transport::native($native::NAME, $native::MEANING, $native::CAN, $native::connect)
                $(.$of_native($native::stamped))*,)*
            $(Transport::fabric::<$fabric>(),)*
        ];

        /// A kernel, compiled for every transport and for virtual time.
        pub fn compiled<K: Entry>() -> Added {
            let kernel = Added::of::<K>().written_for::<K, Recorder>();
            let kernel = kernel$(.on::<K, RigOver<$own>>())*.on::<K, AnyRig>();
            $(let kernel = $native::on::<K>(kernel);)*
            $(let kernel = foreign::on::<K, $fabric>(kernel);)*
            kernel
        }
    };
}

// Every transport on a line, with what else it can measure. `own`: kernels are compiled for the transport. `boxed`: the
// transports share a rig whose calls go through a pointer. `native`: the transport has a rig of its own.
// `fabrics`: libraries of tagged messages share a rig.
transports! {
    own {
        bandgap_shm::Shm: together,
    }
    boxed {
        bandgap_socket::tcp::Tcp: stamped,
        bandgap_socket::unix::Unix: stamped,
    }
    native {
        mpi: inside,
    }
    fabrics {
        bandgap_fabric::Ucx,
        bandgap_fabric::Ofi,
    }
}

/// A transport in the list: its description and its functions.
#[derive(Clone, Copy, Debug)]
pub struct Transport {
    /// Its name on the command line and in run files.
    pub name: &'static str,
    /// What stands behind the colon in its name, for a transport with ways of its own.
    pub argument: Option<&'static str>,
    /// A short description.
    pub meaning: &'static str,
    /// Its abilities.
    pub can: Can,
    /// Bytes that this many ranks map in common, in addition to what they expose.
    pub(crate) shared: fn(usize) -> usize,
    /// Prepares the descriptors that ranks inherit, given their number and the bytes that each exposes.
    pub(crate) prepare: fn(usize, usize) -> Result<Vec<OwnedFd>>,
    /// Connects this rank.
    pub(crate) connect: Connect,
    /// Connects this rank to divide the time of messages, if the transport can.
    pub(crate) stamped: Option<ConnectStamped>,
    /// How a message's time is divided, if it can be.
    pub division: Option<&'static Division>,
}

type ConnectStamped = fn(&mut Rendezvous<'_>, Parts) -> Result<StampedEnd>;

type Connect = fn(Vec<OwnedFd>, usize, &mut Rendezvous<'_>, Parts) -> Result<Box<dyn Machine>>;

impl Transport {
    const fn of<T: bandgap_comm::Transport>() -> Self {
        Self::over::<T>(|inherited, exposed, meeting, parts| {
            parts.machine(T::connect(inherited, exposed, meeting)?)
        })
    }

    /// A transport whose calls go through a pointer. No kernel is compiled where this is called.
    pub(crate) const fn boxed<T: bandgap_comm::Transport<Endpoint: Send>>() -> Self {
        Self::over::<T>(|inherited, exposed, meeting, parts| {
            parts.boxed(AnyEndpoint::of(T::connect(inherited, exposed, meeting)?))
        })
    }

    const fn over<T: bandgap_comm::Transport>(connect: Connect) -> Self {
        let named = Self::native(T::NAME, T::MEANING, T::CAN, connect);
        Self { shared: T::shared, prepare: T::prepare, ..named }
    }

    /// A transport with a rig of its own, which `connect` makes.
    const fn native(name: &'static str, meaning: &'static str, can: Can, connect: Connect) -> Self {
        Self {
            name,
            argument: None,
            meaning,
            can,
            shared: |_| 0,
            prepare: |_, _| Ok(Vec::new()),
            connect,
            stamped: None,
            division: None,
        }
    }

    const fn fabric<T: Fabric>() -> Self {
        let (library, argument) = (Some(T::OPTION), Some(T::ARGUMENT));
        let can = Can { hosts: true, messages: true, library, argument, ..Can::USUAL };
        Self::native(T::NAME, T::MEANING, can, fabrics::connect::<T>)
    }

    pub(crate) const fn stamped<T: bandgap_comm::Stamped>(self) -> Self {
        let connect: ConnectStamped = |meeting, parts| parts.stamped::<T>(meeting);
        Self { stamped: Some(connect), division: Some(T::DIVISION), ..self }
    }

    const fn inside(self, connect: ConnectStamped) -> Self {
        Self { stamped: Some(connect), division: Some(bandgap_mpi::DIVISION), ..self }
    }

    const fn together<T: bandgap_comm::Together>(self) -> Self {
        let connect: ConnectStamped = |meeting, parts| parts.together::<T>(meeting);
        Self { stamped: Some(connect), division: Some(T::DIVISION), ..self }
    }

    /// The transports that need no library, in the order of lists and comparisons.
    pub fn list() -> impl Iterator<Item = Self> {
        Self::named().filter(|transport| transport.can.library.is_none())
    }

    /// The floors to compare these results with.
    pub fn beside(&self, results: &[&str]) -> Vec<Beside> {
        floors::beside(self.name, results)
    }

    /// All transports, including those that are libraries, and last those of the program's own.
    pub fn named() -> impl Iterator<Item = Self> {
        ALL.iter().chain(OWN.get().into_iter().flatten()).copied()
    }

    /// The transports that are measured if the user names none, on one host or between several.
    pub fn compared(several: bool) -> impl Iterator<Item = Self> {
        Self::list().filter(move |of| of.can.compared && (of.can.hosts || !several))
    }

    /// The default transport.
    pub fn usual() -> Self {
        ALL[0]
    }
}

impl FromStr for Transport {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let find = |name| Self::named().find(|transport| transport.name == name);
        if let Some((name, argument)) = text.split_once(':')
            && let Some((of, what)) = find(name).and_then(|of| Some((of, of.can.argument?)))
        {
            if argument.is_empty() {
                return Err(format!("{text} needs {what}"));
            }
            // A command names few, and they stay as those of the list do.
            let name: &'static str = text.to_owned().leak();
            return Ok(Self { name, argument: Some(&name[name.len() - argument.len()..]), ..of });
        }
        find(text).ok_or_else(|| {
            let names: Vec<&str> = Self::named().map(|transport| transport.name).collect();
            format!("there is no transport of this name; there are {}", names.join(", "))
        })
    }
}

impl PartialEq for Transport {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Transport {}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

/// A value of `--transport`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Rank processes of this machine.
    Real(Transport),
    /// A simulated machine: a built-in name, or a file.
    Simulated(String),
}

impl Target {
    /// Whether it is a transport with this ability.
    pub fn can(&self, what: impl Fn(&Can) -> bool) -> bool {
        matches!(self, Self::Real(transport) if what(&transport.can))
    }

    fn machine(&self) -> Option<bandgap_sim::Machine> {
        match self {
            Self::Real(_) => None,
            Self::Simulated(machine) => bandgap_sim::Machine::load(machine).ok(),
        }
    }

    /// Whether its launches are all the same.
    pub fn is_exact(&self) -> bool {
        let varies = || self.machine().is_some_and(|of| of.variation.is_some());
        matches!(self, Self::Simulated(_)) && !varies()
    }

    /// Its name in ids. A simulated machine goes by its own name rather than its file's.
    pub fn name(&self) -> String {
        self.machine().map_or_else(|| self.to_string(), |machine| format!("sim:{}", machine.name))
    }
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(machine) = text.strip_prefix("sim:") {
            if machine.is_empty() {
                return Err(format!("sim: needs a machine, such as {}", machines()));
            }
            return Ok(Self::Simulated(machine.to_owned()));
        }
        if text == "udp" {
            let instead = "its plain datagrams are a floor: bandgap floor udp -H a,b";
            return Err(format!("UDP may lose messages, so it is not a transport; {instead}"));
        }
        let real = text.parse().map(Self::Real);
        let is_known = Transport::named().any(|of| text.split(':').next() == Some(of.name));
        real.map_err(|error| match is_known {
            true => error,
            false => format!("{error} and sim:MACHINE with {} or a file", machines()),
        })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Real(transport) => transport.fmt(f),
            Self::Simulated(machine) => write!(f, "sim:{machine}"),
        }
    }
}

fn machines() -> String {
    bandgap_sim::Machine::built_in().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unlike_and_read_back() {
        let names: BTreeSet<&str> = Transport::named().map(|transport| transport.name).collect();
        assert_eq!(names.len(), Transport::named().count());
        for transport in Transport::named() {
            assert_eq!(transport.to_string().parse(), Ok(transport));
            assert!(!transport.meaning.is_empty());
        }
    }

    #[test]
    fn divisions_name_parts_once_and_kernels_and_floors_that_there_are() {
        let divisions: Vec<_> =
            Transport::list().filter_map(|of| Some((of, of.division?))).collect();
        assert_eq!(divisions.len(), 3);
        for (transport, division) in divisions {
            for model in division.models {
                bandgap_kernels::fact(model.kernel).unwrap();
                let names: BTreeSet<&str> = model.timings().map(|timing| timing.name).collect();
                assert_eq!(names.len(), model.timings().count(), "{transport}");
            }
            let own = |floor: &bandgap_comm::Floor| {
                let all = floors::floors();
                all.into_iter().any(|one| (&one.name, &*one.on) == (&floor.name, transport.name))
            };
            assert!(division.floors().all(own), "{transport}");
        }
    }

    #[test]
    fn targets_read_back_as_written() {
        for text in ["shm", "tcp", "unix", "mpi", "ucx", "ucx:rc_x", "sim:paragon", "sim:a/b.toml"]
        {
            assert_eq!(text.parse::<Target>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn unknown_transports_are_told_what_there_is() {
        let error = "carrier-pigeon".parse::<Target>().unwrap_err();
        assert!(error.contains("shm, tcp, unix") && error.contains("paragon"), "{error}");
        assert!("sim:".parse::<Target>().unwrap_err().contains("paragon"));
        assert!("ucx:".parse::<Target>().unwrap_err().contains("posix"));
        assert!("tcp:lo".parse::<Target>().is_err());
        let error = "udp".parse::<Target>().unwrap_err();
        assert!(error.ends_with("bandgap floor udp -H a,b"), "{error}");
    }
}
