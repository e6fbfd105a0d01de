//! What starting ranks needs: this machine, calibrated, and the hosts reached.

use std::cell::{Ref, RefCell};
use std::collections::BTreeSet;
use std::time::Duration;

use bandgap_host::machine::{self, Machine, pinning};
use bandgap_host::{CycleClock, NoiseReport, Placement, Topology, WorkRate, parse_cpu_list, place};

use crate::agents::{Agent, Channels, Gathered, leave};
use crate::hosts::Hosts;
use crate::meet::Kept;
use crate::message::Channel;
use crate::outside::Outside;
use crate::reach::{adopt_all, start_all};
use crate::room::Used;
use crate::signals::{Signals, signalled};
use crate::{Classify, Exit, Result};

/// This machine, calibrated, and the hosts reached.
pub struct Stage {
    /// Processors and their distances.
    pub topology: Topology,
    /// The calibrated clock.
    pub clock: CycleClock,
    /// The calibrated delay loop.
    pub work: WorkRate,
    pub(crate) signals: Signals,
    pub(crate) hosts: RefCell<Option<Hosts>>,
    pub(crate) agents: RefCell<Vec<Agent>>,
    pub(crate) used: RefCell<Used>,
    /// Connections of processes that wait for the end of this one.
    idle: Vec<Channel>,
    /// The process manager, which is told of the end after the agents have ended.
    kept: Option<Kept>,
}

impl Drop for Stage {
    fn drop(&mut self) {
        leave(self.agents.get_mut());
    }
}

impl Stage {
    /// Reads the topology, calibrates, and arranges that signals stop a run in order. The first signal calls
    /// `interrupted` on another thread.
    ///
    /// # Errors
    /// The machine does not show its processors, or signals cannot be handled.
    pub fn new(interrupted: impl Fn() + Send + 'static) -> Result<Self> {
        let signals = Signals::take(interrupted)?;
        let topology = Topology::read().class(Exit::Host)?;
        let clock = CycleClock::calibrate();
        let work = WorkRate::calibrate(&clock);
        let (hosts, agents, used) = Default::default();
        let (idle, kept) = (Vec::new(), None);
        Ok(Self { topology, clock, work, signals, hosts, agents, used, idle, kept })
    }

    /// Reaches the hosts for the ranks.
    ///
    /// # Errors
    /// A host cannot be reached, or has no bandgap or another build of it.
    pub fn reach(&mut self, hosts: Hosts) -> Result<()> {
        self.agents = start_all(&hosts, &self.signals)?.into();
        self.hosts = Some(hosts).into();
        Ok(())
    }

    /// Takes over adopted processes and their hosts.
    ///
    /// # Errors
    /// A process has another build of bandgap, or is gone.
    pub fn adopt(&mut self, gathered: Gathered, interface: Option<String>) -> Result<()> {
        let Gathered { hosts, agents, idle, kept } = gathered;
        (self.idle, self.kept) = (idle, kept);
        hosts.map_or(Ok(()), |hosts| self.take(Hosts { interface, ..hosts }, agents))
    }

    /// Makes the processes at the other ends of the `channels` the agents of the hosts.
    ///
    /// # Errors
    /// As [`Stage::adopt`].
    pub(crate) fn take(&self, hosts: Hosts, channels: Channels) -> Result<()> {
        *self.agents.borrow_mut() = adopt_all(&hosts, channels, &self.signals)?;
        *self.hosts.borrow_mut() = Some(hosts);
        Ok(())
    }

    /// Ends a launcher and its ranks, and returns the first paragraph of its output.
    pub(crate) fn end_outside(&self, outside: Outside) -> String {
        leave(&mut self.agents.borrow_mut());
        *self.hosts.borrow_mut() = None;
        outside.ended()
    }

    /// The agents of the reached hosts.
    pub fn agents(&self) -> Ref<'_, [Agent]> {
        Ref::map(self.agents.borrow(), Vec::as_slice)
    }

    /// Describes this machine for `ranks` ranks, without its noise.
    pub fn machine(&self, ranks: usize) -> Machine {
        Machine::of(&self.topology, &self.clock, self.work, ranks)
    }

    /// Measures the noise of these processors for `duration` each, until a signal asks to end.
    pub fn noise(
        &self,
        cpus: impl IntoIterator<Item = usize>,
        duration: Duration,
    ) -> Vec<(usize, NoiseReport)> {
        machine::noise(&self.clock, cpus, duration, || signalled().is_none())
    }

    /// Describes and checks this machine, with the noise of the ranks' processors, for `duration` each.
    pub fn examine(&self, placement: &Placement, duration: Duration) -> Machine {
        let cpus: BTreeSet<usize> = placement.cpus.iter().copied().collect();
        let noise = self.noise(cpus, duration);
        let host = Machine { noise, ..self.machine(placement.cpus.len()) };
        host.checked(&self.topology, placement, pinning(&placement.cpus), None)
    }

    /// Examines all reached hosts at the same time, with the noise of the ranks' processors for `duration` each.
    pub fn look(&self, duration: Duration) {
        let mut agents = self.agents.borrow_mut();
        agents.iter_mut().for_each(|agent| agent.ask_to_look(duration));
        agents.iter_mut().for_each(|agent| agent.hear_of_look(duration));
    }
}

/// The processors of a topology for `ranks` ranks.
///
/// # Errors
/// A processor in `cores` is missing or not allowed.
pub fn placed(topology: &Topology, ranks: usize, cores: Option<&str>) -> Result<Placement> {
    let requested = cores.map(parse_cpu_list).transpose().class(Exit::Usage)?;
    place(topology, ranks, requested.as_deref()).class(Exit::Usage)
}
