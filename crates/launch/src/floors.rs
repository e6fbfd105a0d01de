//! The list of bare mechanisms, and a rank's ends of them.

use std::cell::Cell;
use std::hint::black_box;
use std::net::{IpAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use bandgap_campaign::beside::Beside;
use bandgap_comm::CommError::{Connect, Missing, Usage};
use bandgap_comm::{
    Bare, CommError, Floor, FloorRole, Measuring, Rank, Rendezvous, Result, Timer, Yields,
};
use bandgap_fabric::{Ofi, OfiPut, UcpPut, Uct, Ucx};
use bandgap_host::CycleClock;
use bandgap_shm::floor::{LineApart, Lines};
use bandgap_socket::floor::{BareSocket, Udp};
use bandgap_tagged::PingPong;
use rustix::process::getppid;

use crate::machine::Machine;

/// Those that the program added.
pub(crate) static OWN: OnceLock<Vec<Mechanism>> = OnceLock::new();

/// How a letter begins that tells why a rank has no address.
const LACKS: char = '!';

/// Every bare mechanism, in the order of the tables.
const ALL: [Mechanism; 11] = [
    Mechanism::of::<Lines>(),
    Mechanism::of::<LineApart>().of_library(),
    Mechanism::of::<BareSocket<TcpListener>>(),
    Mechanism::of::<BareSocket<UnixListener>>(),
    Mechanism::of::<Udp>(),
    Mechanism::of::<PingPong<Ucx>>().of_library(),
    Mechanism::of::<UcpPut>().of_library(),
    Mechanism::of::<Uct>().of_library(),
    Mechanism::of::<PingPong<Ofi>>().of_library(),
    Mechanism::of::<OfiPut>().of_library(),
    Mechanism::of::<Processor>(),
];

/// A mechanism in the list: its description and its functions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mechanism {
    pub name: &'static str,
    under: &'static str,
    carries: Option<&'static str>,
    hosts: bool,
    library: bool,
    floors: &'static [Floor],
    prepare: fn(&[OwnedFd]) -> Result<Vec<OwnedFd>>,
    connect: fn(Vec<OwnedFd>, &mut Rendezvous<'_>) -> Result<End>,
}

/// A rank's end of a bare mechanism, which calls [`Bare::measure`].
pub(crate) type End = Box<dyn FnMut(&str, usize, &Measuring<'_, CycleClock>) -> Result<Vec<u64>>>;

impl Mechanism {
    pub const fn of<B: Bare>() -> Self {
        Self {
            name: B::NAME,
            under: B::UNDER,
            carries: B::CARRIES,
            hosts: B::HOSTS,
            library: false,
            floors: B::FLOORS,
            prepare: B::prepare,
            connect: |inherited, meeting| {
                let mut end = B::connect(inherited, meeting)?;
                Ok(Box::new(move |floor, bytes, with| end.measure(floor, bytes, with)))
            },
        }
    }

    /// All of them, last those of the program's own.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        ALL.iter().chain(OWN.get().into_iter().flatten())
    }

    /// The one with this name, behind which an argument may stand.
    fn named(name: &str) -> Option<&'static Self> {
        let name = name.split(':').next();
        Self::all().find(|mechanism| Some(mechanism.name) == name)
    }

    /// The same, measured only if it is named: the machine may lack it.
    const fn of_library(self) -> Self {
        Self { library: true, ..self }
    }

    /// Its floors and layers.
    pub fn floors(&self) -> impl Iterator<Item = Floor> {
        self.floors.iter().map(|floor| alone(floor, self.name))
    }
}

/// A floor as ranks get it: with what it is measured on, without what it is compared with.
fn alone(floor: &Floor, on: &str) -> Floor {
    Floor { on: on.to_owned().into(), compared: &[], ..floor.clone() }
}

/// All floors and layers, in the order of the tables.
pub fn floors() -> Vec<Floor> {
    Mechanism::all().flat_map(Mechanism::floors).collect()
}

/// The floors and layers of this transport.
pub fn floors_of(transport: &str) -> Vec<Floor> {
    let its = under(transport);
    its.flat_map(|(of, on)| of.floors.iter().map(move |floor| alone(floor, &on))).collect()
}

/// Whether a floor is measured only if it is named.
pub fn needs_library(floor: &Floor) -> bool {
    Mechanism::named(&floor.on).is_some_and(|mechanism| mechanism.library)
}

/// The floor that does what each short message of this transport does first, if it stands on a mechanism of another name.
pub fn carries(transport: &str) -> Option<&'static str> {
    let name = transport.split(':').next();
    Mechanism::all().filter(|of| Some(of.under) == name).find_map(|of| of.carries)
}

/// Whether a floor can be measured between two hosts.
pub fn between_hosts(floor: &Floor) -> bool {
    Mechanism::named(&floor.on).is_some_and(|mechanism| mechanism.hosts)
}

/// The floors to compare these results of a transport with.
pub(crate) fn beside(transport: &str, results: &[&str]) -> Vec<Beside> {
    let of = |(mechanism, on): (&Mechanism, String)| {
        // Which way a transport chooses, if none is named, is not known to others.
        let is_its = mechanism.name == mechanism.under || on.contains(':');
        mechanism.floors.iter().filter(move |_| is_its).filter_map(move |floor| {
            let compared = results.iter().filter(|result| floor.compared.contains(result));
            let results: Vec<String> = compared.map(|&result| result.to_owned()).collect();
            (!results.is_empty()).then(|| Beside { floor: alone(floor, &on), results })
        })
    };
    under(transport).flat_map(of).collect()
}

/// The mechanisms under a transport, and their names with its way.
fn under(transport: &str) -> impl Iterator<Item = (&'static Mechanism, String)> {
    let (name, way) = transport.split_at(transport.find(':').unwrap_or(transport.len()));
    let its = Mechanism::all().filter(move |of| of.under == name);
    its.map(move |of| (of, format!("{}{way}", of.name)))
}

/// The descriptors that ranks inherit for the floors of a transport, which itself prepared `own`.
pub(crate) fn prepare(transport: &str, own: &[OwnedFd]) -> Result<Vec<OwnedFd>> {
    Mechanism::named(transport).map_or(Ok(Vec::new()), |mechanism| (mechanism.prepare)(own))
}

/// A rank's ends of bare mechanisms.
pub(crate) struct Bares {
    /// The connected ends, by name.
    pub ends: Vec<(String, End)>,
    /// The descriptors that the rank inherited for the mechanisms not yet connected.
    pub inherited: Vec<(String, Vec<OwnedFd>)>,
    /// The secret that lets peers in.
    pub secret: [u8; 16],
    /// The address of this host at which peers reach the rank.
    pub interface: IpAddr,
    /// The library that the user named.
    pub library: Option<PathBuf>,
}

impl Bares {
    /// The end of the named mechanism. The first call connects it: the two ranks exchange their addresses over `machine`.
    ///
    /// # Errors
    /// There is no such mechanism, or the other rank does not come.
    pub fn end(
        &mut self,
        name: &str,
        (rank, machine): (Rank, &mut dyn Machine),
        patience: Duration,
    ) -> Result<&mut End> {
        let at = match self.ends.iter().position(|(known, _)| known == name) {
            Some(at) => at,
            None => {
                let mechanism = Mechanism::named(name).ok_or_else(|| CommError::Unavailable {
                    reason: format!("there is no bare mechanism {name:?}"),
                })?;
                let inherited = self.inherited.iter_mut().find(|(known, _)| known == name);
                let inherited = inherited.map(|(_, own)| std::mem::take(own)).unwrap_or_default();
                let (peer, told) = (1 - rank, Cell::new(false));
                // By letters.
                let exchange = &mut |own: String| {
                    told.set(true);
                    machine.post(peer, own.as_bytes())?;
                    let other = String::from_utf8(machine.receive(peer)?)
                        .map_err(|error| CommError::Garbage { peer, what: error.to_string() })?;
                    if let Some(reason) = other.strip_prefix(LACKS) {
                        let reason = format!("rank {peer}: {reason}");
                        return Err(CommError::Unavailable { reason });
                    }
                    Ok(if rank == 0 { vec![own, other] } else { vec![other, own] })
                };
                let mut meeting = Rendezvous {
                    secret: self.secret,
                    deadline: Instant::now() + patience,
                    interface: self.interface,
                    library: self.library.as_deref(),
                    argument: name.split_once(':').map(|(_, argument)| argument),
                    ..Rendezvous::new([rank, 2], exchange)
                };
                let end = (mechanism.connect)(inherited, &mut meeting);
                let end = end.map_err(|error| match error {
                    Missing(why) | Usage(why) | Connect(why) if mechanism.library => {
                        CommError::Unavailable { reason: why.to_string() }
                    }
                    other => other,
                });
                if let Err(CommError::Unavailable { reason }) = &end
                    && !told.get()
                {
                    // The other rank need not wait for an address. Its own comes in any case.
                    machine.post(peer, format!("{LACKS}{reason}").as_bytes())?;
                    machine.receive(peer)?;
                }
                self.ends.push((name.to_owned(), end?));
                self.ends.len() - 1
            }
        };
        Ok(&mut self.ends[at].1)
    }
}

/// Operations of the initiator's processor alone.
struct Processor;

impl Bare for Processor {
    const NAME: &'static str = "processor";
    const HOSTS: bool = true;
    const FLOORS: &'static [Floor] = &[
        Floor::new("clock_read", "reading the clock once", Yields::Operation, 256),
        Floor::new("system_call", "the cheapest system call", Yields::Operation, 256),
    ];

    fn connect(_inherited: Vec<OwnedFd>, _meeting: &mut Rendezvous<'_>) -> Result<Self> {
        Ok(Self)
    }

    fn measure(
        &mut self,
        floor: &str,
        _bytes: usize,
        with: &Measuring<'_, impl Timer>,
    ) -> Result<Vec<u64>> {
        match (with.role, floor) {
            (FloorRole::Responder, _) => Ok(Vec::new()),
            (FloorRole::Initiator, "clock_read") => repeated(with, || {
                black_box(with.timer.stamp().ticks());
            }),
            (FloorRole::Initiator, _) => repeated(with, || {
                black_box(getppid());
            }),
        }
    }
}

/// Samples of an operation, after an untimed one that brings its code into the caches.
fn repeated(with: &Measuring<'_, impl Timer>, mut operation: impl FnMut()) -> Result<Vec<u64>> {
    let mut rounds = || (0..with.window.rounds).for_each(|_| operation());
    rounds();
    with.timed(|| {
        rounds();
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use bandgap_campaign::floors::{EXPOSED, order};
    use bandgap_comm::{Stamp, Window};
    use bandgap_kernels::fact;

    use super::*;
    use crate::Transport;

    fn find(name: &str) -> Option<Floor> {
        floors().into_iter().find(|floor| floor.name == name)
    }

    #[test]
    fn names_are_unlike_and_layers_stand_on_what_yields_the_same() {
        let all = floors();
        let names: BTreeSet<&str> = all.iter().map(|floor| &*floor.name).collect();
        assert_eq!(names.len(), all.len());
        for floor in &all {
            assert_eq!(floor.over.is_empty(), floor.kernel.is_none(), "{}", floor.name);
            for below in &*floor.over {
                let below = find(below).unwrap();
                assert_eq!(floor.yields.bytes(), below.yields.bytes(), "{}", floor.name);
            }
        }
    }

    #[test]
    fn layers_name_transports_and_kernels_that_two_ranks_can_run() {
        for floor in floors() {
            let order = order(&floor, floor.bytes()).unwrap();
            (fact(&order.kernel).unwrap().check)(&order, 2).unwrap();
            assert!(floor.kernel.is_none() || floor.on.parse::<Transport>().is_ok());
        }
    }

    #[test]
    fn layers_find_room_in_what_is_exposed() {
        for transport in Transport::list() {
            assert!(transport.can.tuning.memory(2) <= EXPOSED, "{transport}");
        }
        for floor in floors().iter().filter(|floor| floor.kernel.is_some()) {
            assert!(2 * floor.bytes() as usize <= EXPOSED, "{}", floor.name);
        }
    }

    #[test]
    fn results_are_compared_with_floors_of_their_own_transport() {
        for mechanism in &ALL {
            for floor in mechanism.floors.iter().filter(|floor| !floor.compared.is_empty()) {
                assert_eq!(floor.kernel, None);
                let is_series = |name: &&&str| !["signature", "breakdown"].contains(*name);
                for name in floor.compared.iter().filter(is_series) {
                    bandgap_kernels::in_series(name).unwrap();
                }
            }
        }
        // Each transport has one for half a round trip.
        for name in ["shm", "tcp", "unix"] {
            let [one] = &beside(name, &["signature"])[..] else { panic!("{name}") };
            assert_eq!(one.floor.yields, Yields::HalfRoundTrip);
            assert_eq!(one.results, ["signature"]);
            assert!(beside(name, &["no such series"]).is_empty());
        }
        // What carries messages is no put.
        let carried = ["ucx:tcp", "ofi:tcp", "shm"].map(carries);
        assert_eq!(carried, [Some("uct_short"), None, None]);
        // What lies under a library is compared with where its way is known.
        let on = |name| beside(name, &["echo"]).into_iter().map(|of| of.floor.on);
        assert!(["ucx:tcp", "uct:tcp"].iter().all(|at| on("ucx:tcp").any(|on| on == *at)));
        assert!(on("ucx").len() > 0 && on("ucx").all(|on| on == "ucx"));
    }

    /// Each stamp is one later.
    struct Steps(Cell<u64>);

    impl Timer for Steps {
        fn stamp(&self) -> Stamp {
            self.0.set(self.0.get() + 1);
            Stamp::from_ticks(self.0.get())
        }

        fn work(&self, _iterations: u32) {}
    }

    #[test]
    fn a_sample_of_the_clock_is_as_many_readings_as_it_has_rounds() {
        let timer = &Steps(Cell::new(0));
        let window = Window { samples: 3, rounds: 10 };
        let (turn, patience) = (0, Duration::ZERO);
        let of = |role, floor| {
            let with = Measuring { role, window, timer, turn, patience, give_up: &|_, _| true };
            Bare::measure(&mut Processor, floor, 8, &with).unwrap()
        };
        assert_eq!(of(FloorRole::Initiator, "clock_read"), [11; 3]);
        assert_eq!(of(FloorRole::Initiator, "system_call"), [1; 3]);
        assert!(of(FloorRole::Responder, "clock_read").is_empty());
    }
}
