//! A library of tagged messages as a transport, with its floors: messages there and back on its own calls.

use std::cell::Cell;
use std::os::fd::OwnedFd;
use std::path::Path;

use bandgap_comm::{Bare, CommError, Floor, Measuring, Part, Rendezvous, Result, Timer};
use bandgap_units::{Library, Ways};

use crate::look::wait;
use crate::{Look, Memory, Tagged, Traffic};

/// Bytes of a number, which begins each message.
const NUMBER: usize = size_of::<u64>();

/// A library of tagged messages that bandgap itself starts ranks for: a transport.
pub trait Fabric: Tagged + Sized {
    /// The transport's name.
    const NAME: &'static str;
    /// What it is, in a few words.
    const MEANING: &'static str;
    /// The option that names the library.
    const OPTION: &'static str;
    /// What may stand behind the colon.
    const ARGUMENT: &'static str;
    /// The beginning of the names of variables that configure it.
    const VARIABLES: &'static str;
    /// The first and the last version that it was tried with.
    const TRIED: [(u32, u32); 2];
    /// The ways that it was tried over.
    const TRIED_WAYS: &'static [&'static str];
    /// Its floors: half round trips of tagged messages.
    const FLOORS: &'static [Floor];

    /// Opens the library, by default the one that the loader finds, and connects this rank with all others.
    ///
    /// # Errors
    /// There is no such library, it has not what is asked for, it refused, or the ranks did not meet.
    fn connect(meeting: &mut Rendezvous<'_>, look: Look) -> Result<Self>;

    /// The library, what this rank uses of it, and what it claims.
    fn described(&self) -> Library;

    /// Its ways to processes of this host and others, as far as the environment allows them.
    fn ways(&self) -> Ways;

    /// This library in this version, with what configures it.
    fn known(name: String, version: &str, path: &Path) -> Library {
        let mut numbers = version.split('.').map(|number| number.parse().unwrap_or(0));
        let is = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        let [first, last] = Self::TRIED;
        let range = || format!("{}.{} to {}.{}", first.0, first.1, last.0, last.1);
        let tried = (is < first || is > last).then(|| ("tried".to_owned(), range()));
        let is_its = |name: &str| name.starts_with(Self::VARIABLES);
        let facts = tried.into_iter().collect();
        Library { facts, ..Library::of([name, version.to_owned()], path, is_its) }
    }
}

/// One rank's end of a ping-pong of tagged messages. Each message begins with its number, which is checked.
pub struct PingPong<T: Tagged> {
    world: T,
    channel: T::Channel,
    /// What is sent, and where what is received goes: as in COMMS1, each side has one buffer.
    memory: Memory,
    /// The numbers of the last messages sent and received.
    sent: u64,
    received: u64,
}

impl<T: Fabric> Bare for PingPong<T> {
    const NAME: &'static str = T::NAME;
    const HOSTS: bool = true;
    const FLOORS: &'static [Floor] = T::FLOORS;

    fn connect(_inherited: Vec<OwnedFd>, meeting: &mut Rendezvous<'_>) -> Result<Self> {
        let world = T::connect(meeting, Look::of_floor())?;
        let channel = world.channel(Traffic::Programs, meeting.size)?;
        Ok(Self { world, channel, memory: Memory::new(0), sent: 0, received: 0 })
    }

    fn measure(
        &mut self,
        _floor: &str,
        bytes: usize,
        with: &Measuring<'_, impl Timer>,
    ) -> Result<Vec<u64>> {
        let bytes = bytes.max(NUMBER);
        self.memory.resize(bytes);
        let part = Part::new(0, bytes);
        with.there_and_back(self, |end| end.send(part, with), |end| end.receive(part, with))
    }
}

impl<T: Tagged> PingPong<T> {
    #[inline(always)]
    fn send(&mut self, from: Part, with: &Measuring<'_, impl Timer>) -> Result<()> {
        self.sent += 1;
        self.memory[..NUMBER].copy_from_slice(&self.sent.to_le_bytes());
        let place = (self.channel, 1 - self.world.rank(), 0);
        let request = self.memory.begin_send(&self.world, from, place)?;
        self.wait(request, with)
    }

    #[inline(always)]
    fn receive(&mut self, into: Part, with: &Measuring<'_, impl Timer>) -> Result<()> {
        let peer = 1 - self.world.rank();
        let place = (self.channel, peer, 0);
        let request = self.memory.begin_recv(&self.world, into, place)?;
        self.wait(request, with)?;
        self.received += 1;
        if self.memory[into.at..into.at + NUMBER] != self.received.to_le_bytes() {
            let what = format!("a message that is not the {}th", self.received);
            return Err(CommError::Garbage { peer, what });
        }
        Ok(())
    }

    #[inline(always)]
    fn wait(&mut self, mut request: T::Request, with: &Measuring<'_, impl Timer>) -> Result<()> {
        wait(with, || self.world.ended(&mut request))?;
        self.memory.ended(1);
        Ok(())
    }
}

/// The numbers of the last words that a rank has sent and received. Each word is its number.
#[derive(Default)]
pub struct Words {
    sent: Cell<u64>,
    received: Cell<u64>,
}

impl Words {
    /// This side's part of words there and back. `post` sends one, and says whether that is done; `last` lets the library
    /// work, and tells which has arrived last.
    ///
    /// # Errors
    /// Those of `post` and `last`, or the longest wait is over.
    #[inline(always)]
    pub fn there_and_back(
        &self,
        with: &Measuring<'_, impl Timer>,
        post: impl Fn(u64) -> Result<bool>,
        last: impl Fn() -> Result<u64>,
    ) -> Result<Vec<u64>> {
        let next = |count: &Cell<u64>| count.replace(count.get() + 1) + 1;
        let send = |words: &mut &Self| {
            let number = next(&words.sent);
            wait(with, || post(number))
        };
        let receive = |words: &mut &Self| {
            let number = next(&words.received);
            wait(with, || Ok(last()? == number))
        };
        with.there_and_back(&mut { self }, send, receive)
    }
}
