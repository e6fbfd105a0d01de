//! A rank's end of a transport that takes stamps within a message's way.

use std::cell::RefCell;
use std::rc::Rc;

use bandgap_comm::{Bulk, Stamping, Watch};
use bandgap_host::CycleClock;
use bandgap_kernels::{
    Burst, Executor, Failed, Kernel, Order, Outcome, OverAm, PingPong, Refused, carry_out_one,
};

/// Carries out orders of the kernels of divisions.
pub(crate) trait StampedEnd {
    /// Carries out this rank's part of an order, with the stamps that it asks for around the program; a checked batch
    /// has none.
    ///
    /// # Errors
    /// The order is of another kernel, what arrived was wrong, or communication failed.
    fn run(&mut self, order: &Order) -> Result<Outcome, Failed>;
}

/// One over any endpoint.
pub(crate) struct StampedExecutor<E, W> {
    pub executor: Executor<E, CycleClock, W>,
    pub stamper: Rc<dyn Stamping>,
}

impl<E: Bulk, W: Watch + 'static> StampedExecutor<E, W> {
    fn of<K: OverAm>(&mut self, order: &Order) -> Result<Outcome, Failed> {
        let at = order.at_border.filter(|_| !order.checked).unwrap_or_default();
        let (stamper, timed) = (&self.stamper, RefCell::default());
        let outcome = carry_out_one(&mut self.executor, order, |rig, kernel: &K, round| {
            stamper.begin(at);
            let ran = kernel.run(rig, round);
            timed.replace(Some(stamper.end()));
            ran
        })?;
        Ok(Outcome { timed: timed.into_inner(), ..outcome })
    }
}

impl<E: Bulk, W: Watch + 'static> StampedEnd for StampedExecutor<E, W> {
    /// The kernels of divisions, compiled for connections with stamps.
    fn run(&mut self, order: &Order) -> Result<Outcome, Failed> {
        match &*order.kernel {
            PingPong::NAME => self.of::<PingPong>(order),
            Burst::NAME => self.of::<Burst>(order),
            other => Err(Refused::because("it is in no division".to_owned()).of(other).into()),
        }
    }
}
