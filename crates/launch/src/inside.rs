//! A rank's end of an MPI that is stamped inside.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use bandgap_comm::{Comm, Part, Result, Timed, Timer};
use bandgap_host::CycleClock;
use bandgap_kernels::{
    Comms1, Failed, Kernel, Order, Outcome, OverComm, Places, Refused, Rig, Round, Stream,
    carry_out_one,
};
use bandgap_mpi::World;

use crate::foreign::Foreign;

const TAG: u32 = 1;
/// Tag of the receiver's word that its receives are posted.
const READY: u32 = 2;
const NO_BYTES: Part = Part { at: 0, len: 0 };
/// Operations before the timed ones of a batch.
const WARM: u32 = 100;
/// Windows before them.
const WARM_WINDOWS: u32 = 4;

type Mpi = Foreign<World>;
type Ran = Result<Outcome, Failed>;
/// What the messages of an order pass, by order.
pub(crate) type Learnt = RefCell<BTreeMap<String, u32>>;

/// Carries out an order of a kernel of the division on a rank of MPI.
pub(crate) fn run(rank: &mut Mpi, clock: &CycleClock, learnt: &Learnt, order: &Order) -> Ran {
    match &*order.kernel {
        Comms1::NAME => {
            let warm = |kernel: &Comms1| Comms1 { messages: WARM, ..*kernel };
            batch(rank, learnt, order, warm, |rig, kernel, places, round| {
                kernel.run(rig, places, round)
            })
        }
        Stream::NAME => {
            let (ticks, is_sender) = (Cell::new(0), rank.world().rank == 0);
            let warm = |kernel: &Stream| Stream { windows: WARM_WINDOWS, ..*kernel };
            let outcome = batch(rank, learnt, order, warm, |rig, kernel, places, _| {
                post(rig, clock, kernel, places).map(|all| ticks.set(all))
            })?;
            let stamps = if is_sender { vec![0, ticks.get(), ticks.get()] } else { Vec::new() };
            Ok(Outcome { stamps, ..outcome })
        }
        other => Err(Refused::because("no division has it".to_owned()).of(other).into()),
    }
}

/// Runs a batch with the stamps that the order asks for. What was switched is cold at first, so it begins with messages
/// that are not timed; a checked batch has neither.
fn batch<K: Kernel>(
    rank: &mut Mpi,
    learnt: &Learnt,
    order: &Order,
    warm: impl Fn(&K) -> K,
    run: impl Fn(&mut Mpi, &K, &Places, Round) -> Result<()>,
) -> Ran {
    let (timed, at) = (Cell::new(Timed::default()), order.at_border.unwrap_or_default());
    let outcome = carry_out_one(rank, order, |rig, kernel: &K, places, round| {
        let world = Rc::clone(rig.world());
        let Some(inside) = world.inside().filter(|_| !order.checked) else {
            return run(rig, kernel, places, round);
        };
        let before = |rig: &mut Mpi| {
            run(rig, &warm(kernel), places, Round { samples: 1, ..round })?;
            rig.forget();
            rig.prepare(&kernel.needs(order.ranks), kernel.marks(round.samples));
            Ok(())
        };
        let name = format!("{} {}", order.kernel, order.parameters);
        let known = learnt.borrow().get(&name).copied();
        let passed = known.map_or_else(|| inside.learn(|| before(rig)), Ok)?;
        learnt.borrow_mut().insert(name, passed);
        inside.begin(at)?;
        let ran = before(rig).and_then(|()| {
            inside.reset();
            run(rig, kernel, places, round)
        });
        timed.set(inside.end(at, passed)?);
        ran
    })?;
    Ok(Outcome { timed: Some(timed.into_inner()), ..outcome })
}

/// Windows of messages for which the receiver is ready, as it says before each. Returns the sender's ticks of all windows:
/// from its first send until its wait for all is over.
#[inline(never)]
fn post(rank: &mut Mpi, clock: &CycleClock, of: &Stream, places: &Places) -> Result<u64> {
    let (window, peer) = (u64::from(of.window), 1 - rank.world().rank);
    let cost = (clock.report().cost.0 / clock.report().ns_per_tick) as u64;
    let mut begun = Vec::with_capacity(of.window as usize);
    // The cost of one is taken off where samples are made of these ticks.
    let mut ticks = cost;
    for first in (0..u64::from(of.windows)).map(|nth| nth * window) {
        if peer == 0 {
            for i in first..first + window {
                begun.push(rank.irecv(peer, TAG, places.incoming(i))?);
            }
            rank.send(peer, READY, NO_BYTES)?;
            rank.wait_all(&mut begun)?;
            continue;
        }
        rank.recv(peer, READY, NO_BYTES)?;
        let at = clock.stamp().ticks();
        for i in first..first + window {
            begun.push(rank.isend(peer, TAG, places.outgoing(i))?);
        }
        rank.wait_all(&mut begun)?;
        ticks += (clock.stamp().ticks() - at).saturating_sub(cost);
    }
    Ok(ticks)
}
