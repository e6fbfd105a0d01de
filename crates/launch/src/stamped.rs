//! A rank's end of a transport that stamps a message on its way.

use std::cell::RefCell;
use std::rc::Rc;

use bandgap_comm::{Bulk, Stamping};
use bandgap_host::CycleClock;
use bandgap_kernels::{
    Burst, Executor, Failed, Kernel, Order, Outcome, OverAm, PingPong, Refused, carry_out_one,
};

use crate::watch::RankWatch;

/// Carries out this rank's part of an order of a division's kernel, with the stamps that the order asks for around the
/// program. A checked batch has none.
pub(crate) type StampedEnd = Box<dyn FnMut(&Order) -> Result<Outcome, Failed>>;

/// A stamped end over any endpoint.
pub(crate) struct StampedExecutor<E> {
    pub executor: Executor<E, CycleClock, RankWatch>,
    pub stamper: Rc<dyn Stamping>,
}

impl<E: Bulk> StampedExecutor<E> {
    fn of<K: OverAm>(&mut self, order: &Order) -> Result<Outcome, Failed> {
        let at = order.at_border.filter(|_| !order.checked).unwrap_or_default();
        let (stamper, timed) = (&self.stamper, RefCell::default());
        let outcome = carry_out_one(&mut self.executor, order, |rig, kernel: &K, _, round| {
            stamper.begin(at);
            let ran = kernel.run(rig, round);
            timed.replace(Some(stamper.end()));
            ran
        })?;
        Ok(Outcome { timed: timed.into_inner(), ..outcome })
    }

    /// Carries out an order of a kernel that is compiled for connections with stamps.
    pub fn run(&mut self, order: &Order) -> Result<Outcome, Failed> {
        match &*order.kernel {
            PingPong::NAME => self.of::<PingPong>(order),
            Burst::NAME => self.of::<Burst>(order),
            other => Err(Refused::because("no division has it".to_owned()).of(other).into()),
        }
    }
}
