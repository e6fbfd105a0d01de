//! A rank's end of a transport that has stamps at its border with the system.

use std::cell::RefCell;
use std::rc::Rc;

use bandgap_comm::{AtBorder, Bulk, Stamper, Stamping, Watch};
use bandgap_host::CycleClock;
use bandgap_kernels::{
    Burst, Executor, Failed, Kernel, Order, Outcome, OverAm, PingPong, Refused, carry_out_one,
};

/// Carries out orders of the kernels that are broken down.
pub(crate) trait StampedEnd {
    /// Whether it carries out orders with these stamps; the others are for the ordinary connection.
    fn carries(&self, stamping: Stamping) -> bool;
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
    pub stamper: Rc<Stamper<CycleClock>>,
}

impl<E: Bulk, W: Watch + 'static> StampedExecutor<E, W> {
    fn of<K: OverAm>(&mut self, order: &Order) -> Result<Outcome, Failed> {
        let at =
            if order.checked { AtBorder::default() } else { order.at_border.unwrap_or_default() };
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
    fn carries(&self, _stamping: Stamping) -> bool {
        true
    }

    fn run(&mut self, order: &Order) -> Result<Outcome, Failed> {
        match &*order.kernel {
            PingPong::NAME => self.of::<PingPong>(order),
            Burst::NAME => self.of::<Burst>(order),
            other => Err(Refused::because("it is not broken down".to_owned()).of(other).into()),
        }
    }
}
