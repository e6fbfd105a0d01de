//! Kernels as pointers to their compiled programs.

use std::marker::PhantomData;

use bandgap_comm::{Comm, Result, Transfer};

use crate::facts::ready;
use crate::list::named;
use crate::verify::batch;
use crate::{
    Failed, Kernel, Order, Outcome, Over, OverAm, OverComm, OverTransfer, Places, Refused, Rig,
    Round, Visit, all, fact,
};

/// Carries out a rank's part of an order of one kernel, compiled for rigs of type `M`.
type Row<M> = fn(&mut M, &Order) -> Result<Outcome, Failed>;

/// Carries out this rank's part of an order, and verifies what arrived.
///
/// # Errors
/// The order cannot be carried out, a peer is gone, or a deadline passed.
pub fn carry_out<M: Rig + Transfer + Comm + 'static>(
    rig: &mut M,
    order: &Order,
) -> Result<Outcome, Failed> {
    match fact(&order.kernel)?.over {
        Over::Comm => carry_out_passing(rig, order),
        Over::Am | Over::Transfer | Over::Bare => carry_out_active(rig, order),
    }
}

/// Carries out this rank's part of an order of kernel `K`, whose program `run` runs, and verifies
/// what arrived. For rigs that run only a few kernels, and do something else between their steps.
///
/// # Errors
/// As [`carry_out`]; also if the order names another kernel.
pub fn carry_out_one<M: Rig + 'static, K: Kernel>(
    rig: &mut M,
    order: &Order,
    run: impl Fn(&mut M, &K, &Places, Round) -> Result<()>,
) -> Result<Outcome, Failed> {
    batch(rig, order, run)
}

/// Collects what a rig without Active Messages needs of each kernel.
pub(crate) struct PassingRows<M>(pub PhantomData<M>);

impl<M: Rig + Comm + 'static> Visit for PassingRows<M> {
    type Seen = Option<Row<M>>;

    fn am<K: OverAm>(&mut self) -> Option<Row<M>> {
        None
    }
    fn transfer<K: OverTransfer>(&mut self) -> Option<Row<M>> {
        None
    }
    fn comm<K: OverComm>(&mut self) -> Option<Row<M>> {
        Some(|rig, order| {
            batch(rig, order, |rig, kernel: &K, places, round| kernel.run(rig, places, round))
        })
    }
}

/// As [`carry_out`], on a rig without Active Messages: only kernels over message passing can run.
///
/// # Errors
/// As [`carry_out`].
pub fn carry_out_passing<M: Rig + Comm + 'static>(
    rig: &mut M,
    order: &Order,
) -> Result<Outcome, Failed> {
    let rows = all(&mut PassingRows(PhantomData)).into_iter();
    named(rows.filter_map(|(name, row)| Some((name, row?))).collect(), &order.kernel)?(rig, order)
}

/// Collects what a rig needs of each kernel over Active Messages.
pub(crate) struct ActiveRows<M>(pub PhantomData<M>);

impl<M: Rig + Transfer + 'static> Visit for ActiveRows<M> {
    type Seen = Result<Row<M>, ()>;

    fn am<K: OverAm>(&mut self) -> Self::Seen {
        Ok(|rig, order| batch(rig, order, |rig, kernel: &K, _, round| kernel.run(rig, round)))
    }
    fn transfer<K: OverTransfer>(&mut self) -> Self::Seen {
        Ok(|rig, order| batch(rig, order, |rig, kernel: &K, _, round| kernel.run(rig, round)))
    }
    fn comm<K: OverComm>(&mut self) -> Self::Seen {
        Err(())
    }
}

/// As [`carry_out`], on a rig that leaves message passing to another one: only kernels over Active
/// Messages can run.
///
/// # Errors
/// As [`carry_out`].
pub fn carry_out_active<M: Rig + Transfer + 'static>(
    rig: &mut M,
    order: &Order,
) -> Result<Outcome, Failed> {
    let rows = all(&mut ActiveRows(PhantomData)).into_iter();
    named(rows.filter_map(|(name, row)| Some((name, row.ok()?))).collect(), &order.kernel)?(
        rig, order,
    )
}

/// One rank's program.
pub type Program<M> = Box<dyn Fn(&mut M) -> Result<()>>;

/// The program of an order, without verification, for interpreters that have no data, such as the
/// simulator's recorder. Only ranks that take part may run it.
///
/// # Errors
/// The order cannot be carried out.
pub fn program<M: Transfer + Comm + 'static>(order: &Order) -> Result<Program<M>, Refused> {
    named(all(&mut Programs(PhantomData)), &order.kernel)?(order)
}

/// Collects what an interpreter needs of each kernel.
pub(crate) struct Programs<M>(pub PhantomData<M>);

impl<M: Transfer + Comm + 'static> Visit for Programs<M> {
    type Seen = fn(&Order) -> Result<Program<M>, Refused>;

    fn am<K: OverAm>(&mut self) -> Self::Seen {
        |order| program_of(order, |kernel: &K, rank, _, round| kernel.run(rank, round))
    }
    fn transfer<K: OverTransfer>(&mut self) -> Self::Seen {
        |order| program_of(order, |kernel: &K, rank, _, round| kernel.run(rank, round))
    }
    fn comm<K: OverComm>(&mut self) -> Self::Seen {
        |order| program_of(order, |kernel: &K, rank, places, round| kernel.run(rank, places, round))
    }
}

fn program_of<M, K: Kernel>(
    order: &Order,
    run: impl Fn(&K, &mut M, &Places, Round) -> Result<()> + 'static,
) -> Result<Program<M>, Refused> {
    let (kernel, places) = ready::<K>(order, order.ranks)?;
    let round = Round { samples: order.samples, shape: order.shape, turn: 0 };
    Ok(Box::new(move |rank| run(&kernel, rank, &places, round)))
}
