//! Transports and floors that a program adds to the lists.

use std::net::TcpStream;
use std::os::fd::OwnedFd;

use bandgap_comm::{Bare, CommError, Rendezvous, Stamped};
use bandgap_kernels::{BareLoop, Kernel, facts};
use bandgap_socket::tcp::Tcp;

use crate::floors::Mechanism;
use crate::{Exit, Failure, Result, Transport, floors, transports};

/// Transports and bare mechanisms to be added to the lists.
#[derive(Debug, Default)]
pub struct Own {
    transports: Vec<Transport>,
    mechanisms: Vec<Mechanism>,
}

impl Own {
    /// With this transport. Its calls go through a pointer.
    pub fn transport<T: bandgap_comm::Transport<Endpoint: Send>>(mut self) -> Self {
        self.transports.push(Transport::boxed::<T>());
        self
    }

    /// As [`Own::transport`], and the time of its messages is divided.
    pub fn stamped<T: Stamped<Endpoint: Send>>(mut self) -> Self {
        self.transports.push(Transport::boxed::<T>().stamped::<T>());
        self
    }

    /// With the floors of this mechanism.
    pub fn floors<B: Bare>(mut self) -> Self {
        self.mechanisms.push(Mechanism::of::<B>());
        self
    }

    /// Adds all of these to the lists of this process. Call it once, after kernels were added and before anything reads
    /// the lists.
    ///
    /// # Errors
    /// A name is taken or cannot be part of an id, or transports were added before.
    pub fn add(self) -> Result<()> {
        let bare = Mechanism::all().map(|of| of.name).collect::<Vec<_>>();
        let real = Transport::named().map(|of| of.name).chain(["udp", "sim"]);
        let mut taken: Vec<_> = real.chain(bare.iter().copied()).collect();
        self.transports.iter().try_for_each(|of| take("transport", of.name, &mut taken))?;
        let mut taken = bare;
        self.mechanisms.iter().try_for_each(|of| take("floors of", of.name, &mut taken))?;
        let known = floors::floors();
        let mut taken: Vec<&str> = known.iter().map(|floor| &*floor.name).collect();
        let facts = facts();
        let series = facts.iter().flat_map(|fact| fact.series.iter().map(|series| series.name));
        taken.extend(facts.iter().map(|fact| fact.name).chain(series).chain([BareLoop::NAME]));
        let own: Vec<_> = self.mechanisms.iter().flat_map(Mechanism::floors).collect();
        if let Some(layer) = own.iter().find(|floor| floor.kernel.is_some()) {
            return Err(refused(&format!("floor {}: it is a layer", layer.name), "use `layers`"));
        }
        own.iter().try_for_each(|floor| take("floor", &floor.name, &mut taken))?;
        let is_first = transports::OWN.set(self.transports).is_ok();
        match is_first && floors::OWN.set(self.mechanisms).is_ok() {
            true => Ok(()),
            false => Err(refused("transports again", "add all of them at once")),
        }
    }
}

/// Takes a name, if nothing else has it and it can be part of an id.
fn take<'a>(what: &str, name: &'a str, taken: &mut Vec<&'a str>) -> Result<()> {
    let is_plain = |of: char| of.is_ascii_lowercase() || of.is_ascii_digit() || "-_".contains(of);
    if taken.contains(&name) {
        return Err(refused(&format!("{what} {name}: the name is taken"), "rename it"));
    }
    if name.is_empty() || !name.chars().all(is_plain) {
        let hint = "name it with lower-case letters, digits, - and _";
        return Err(refused(&format!("{what} {name:?}: the name cannot be part of an id"), hint));
    }
    taken.push(name);
    Ok(())
}

fn refused(what: &str, hint: &str) -> Failure {
    Failure::new(Exit::Defect, format!("add {what}")).hint(hint)
}

/// A TCP connection with each peer, in the order of ranks. Each peer proved that it knows the run's secret. Short messages
/// leave at once, and no call waits.
///
/// # Errors
/// A peer did not connect before the deadline, or the operating system refused.
pub fn tcp_peers(meeting: &mut Rendezvous<'_>) -> Result<Vec<TcpStream>, CommError> {
    let sockets = Tcp::sockets(meeting)?;
    Ok(sockets.into_iter().map(|socket| TcpStream::from(OwnedFd::from(socket))).collect())
}

#[cfg(test)]
mod tests {
    use bandgap_comm::{Can, Floor, Measuring, Timer, Transport, Yields};

    use super::*;

    const NAMES: [&str; 6] = ["own", "shm", "udp", "processor", "Not plain", ""];

    /// A transport with one of these names.
    struct Named<const AT: usize>;

    impl<const AT: usize> Transport for Named<AT> {
        type Endpoint = <Tcp as Transport>::Endpoint;
        const NAME: &'static str = NAMES[AT];
        const MEANING: &'static str = "TCP under another name";
        const CAN: Can = Can::USUAL;

        fn connect(
            inherited: Vec<OwnedFd>,
            exposed: usize,
            meeting: &mut Rendezvous<'_>,
        ) -> Result<Self::Endpoint, CommError> {
            Tcp::connect(inherited, exposed, meeting)
        }
    }

    const FLOORS: [&str; 4] = ["own", "cache_line", "comms1", "echo"];

    /// A mechanism with one of these floors.
    struct With<const AT: usize>;

    impl<const AT: usize> Bare for With<AT> {
        const NAME: &'static str = NAMES[0];
        const FLOORS: &'static [Floor] = &[Floor::new(FLOORS[AT], "", Yields::Operation, 1)];

        fn connect(_: Vec<OwnedFd>, _: &mut Rendezvous<'_>) -> Result<Self, CommError> {
            Ok(Self)
        }

        fn measure(
            &mut self,
            _: &str,
            _: usize,
            _: &Measuring<'_, impl Timer>,
        ) -> Result<Vec<u64>, CommError> {
            Ok(Vec::new())
        }
    }

    #[test]
    fn names_that_are_taken_or_break_ids_are_refused() {
        let own = Own::default;
        let refused = [
            own().transport::<Named<1>>(),
            own().transport::<Named<2>>(),
            own().transport::<Named<3>>(),
            own().transport::<Named<4>>(),
            own().transport::<Named<5>>(),
            own().transport::<Named<0>>().transport::<Named<0>>(),
            own().floors::<With<0>>().floors::<With<0>>(),
            own().floors::<With<1>>(),
            own().floors::<With<2>>(),
            own().floors::<With<3>>(),
        ];
        for (at, own) in refused.into_iter().enumerate() {
            assert_eq!(own.add().map_err(|failure| failure.exit), Err(Exit::Defect), "{at}");
        }
        // None of these was added. A transport and its floors have one name.
        assert!(transports::OWN.get().is_none() && floors::OWN.get().is_none());
        let mut taken = vec!["own"];
        assert!(take("", "other-1_x", &mut taken).is_ok() && taken.len() == 2);
    }
}
