//! A rank's end of an MPI that is stamped inside.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use bandgap_comm::{Comm, CommError, Part, Result, Timed, Timer};
use bandgap_host::{ClockSource, CycleClock};
use bandgap_kernels::{
    Buffers, Comms1, Failed, Kernel, Order, Outcome, OverComm, Pair, Places, Refused, Rig, Round,
    Stream, carry_out_one,
};
use bandgap_mpi::{Seen, World};

use crate::foreign::Foreign;

const TAG: u32 = 1;
/// Tag of the receiver's word that its receives are posted.
const READY: u32 = 2;
const NO_BYTES: Part = Part { at: 0, len: 0 };
/// Operations before the timed ones of a batch.
const WARM: u32 = 100;
/// Windows before them.
const WARM_WINDOWS: u32 = 4;

/// A rank of MPI, with stamps inside its messages.
pub(crate) struct Inside {
    rank: Foreign<World>,
    clock: CycleClock,
    /// What messages pass, by order.
    learnt: RefCell<BTreeMap<String, Seen>>,
}

impl Inside {
    pub fn of(rank: Foreign<World>, clock: CycleClock) -> Self {
        Self { rank, clock, learnt: RefCell::default() }
    }

    /// Learns from a few short messages where they pass, before anything is timed.
    pub fn look(&mut self) -> Result<()> {
        let (pair, messages, bytes, buffers) = (Pair::FIRST, WARM, 8, Buffers::Same);
        let echo = Comms1 { pair, messages, bytes, buffers };
        self.run(&Order::of(&echo, 1, pair.among())).map(drop).map_err(|failed| match failed {
            Failed::Comm(error) => error,
            other => CommError::SetUp(other.into()),
        })
    }

    /// Carries out an order of a kernel of the division.
    pub fn run(&mut self, order: &Order) -> Result<Outcome, Failed> {
        if self.clock.report().source != ClockSource::CycleCounter {
            let what = "stamp inside MPI: the processor's cycle counter is no clock here";
            return Err(CommError::SetUp(what.into()).into());
        }
        let clock = self.clock;
        match &*order.kernel {
            Comms1::NAME => self.batch(
                order,
                |kernel: &Comms1| Comms1 { messages: kernel.messages.min(WARM), ..*kernel },
                |rig, kernel, places, round| kernel.run(rig, places, round),
            ),
            Stream::NAME => {
                let total = Cell::new(0);
                let outcome = self.batch(
                    order,
                    |kernel: &Stream| Stream { windows: WARM_WINDOWS, ..*kernel },
                    |rig, kernel, places, _| {
                        total.set(post(rig, &clock, kernel, places)?);
                        Ok(())
                    },
                )?;
                let ticks = total.get();
                let is_sender = self.rank.world().rank == 0;
                let stamps = if is_sender { vec![0, ticks, ticks] } else { Vec::new() };
                Ok(Outcome { stamps, ..outcome })
            }
            other => Err(Refused::because("no division has it".to_owned()).of(other).into()),
        }
    }

    /// Runs a batch with the stamps that the order asks for. What was switched is cold at first, so it begins with messages
    /// that are not timed; a checked batch has neither.
    fn batch<K: Kernel>(
        &mut self,
        order: &Order,
        warm: impl Fn(&K) -> K,
        run: impl Fn(&mut Foreign<World>, &K, &Places, Round) -> Result<()>,
    ) -> Result<Outcome, Failed> {
        let (learnt, timed) = (&self.learnt, Cell::new(Timed::default()));
        let at = order.at_border.unwrap_or_default();
        let outcome = carry_out_one(&mut self.rank, order, |rig, kernel: &K, places, round| {
            if order.checked {
                return run(rig, kernel, places, round);
            }
            let world = std::rc::Rc::clone(rig.world());
            let Some(inside) = world.inside() else { return Ok(()) };
            let before = |rig: &mut Foreign<World>| {
                run(rig, &warm(kernel), places, Round { samples: 1, ..round })?;
                rig.forget();
                rig.prepare(&kernel.needs(order.ranks), kernel.marks(round.samples));
                Ok(())
            };
            let (mut learnt, name) =
                (learnt.borrow_mut(), order.kernel.clone() + &order.parameters.to_string());
            if !learnt.contains_key(&name) {
                let seen = inside.learn(|| before(rig))?;
                learnt.insert(name.clone(), seen);
            }
            inside.begin(at)?;
            let ran = before(rig).and_then(|()| {
                inside.reset();
                run(rig, kernel, places, round)
            });
            timed.set(inside.end(at, &learnt[&name])?);
            ran
        })?;
        Ok(Outcome { timed: Some(timed.into_inner()), ..outcome })
    }
}

/// Windows of messages for which the receiver is ready, as it says before each. Returns the sender's ticks of all windows:
/// from its first send until its wait for all is over.
#[inline(never)]
fn post(
    comm: &mut Foreign<World>,
    clock: &CycleClock,
    kernel: &Stream,
    places: &Places,
) -> Result<u64> {
    let (window, peer) = (u64::from(kernel.window), 1 - comm.world().rank);
    let report = clock.report();
    let cost = (report.cost.0 / report.ns_per_tick) as u64;
    let mut begun = Vec::with_capacity(kernel.window as usize);
    // The cost of one is taken off where samples are made of these ticks.
    let mut ticks = cost;
    for first in (0..u64::from(kernel.windows)).map(|nth| nth * window) {
        if peer == 0 {
            for i in first..first + window {
                begun.push(comm.irecv(peer, TAG, places.incoming(i))?);
            }
            comm.send(peer, READY, NO_BYTES)?;
            comm.wait_all(&mut begun)?;
            continue;
        }
        comm.recv(peer, READY, NO_BYTES)?;
        let at = clock.stamp().ticks();
        for i in first..first + window {
            begun.push(comm.isend(peer, TAG, places.outgoing(i))?);
        }
        comm.wait_all(&mut begun)?;
        ticks += (clock.stamp().ticks() - at).saturating_sub(cost);
    }
    Ok(ticks)
}
