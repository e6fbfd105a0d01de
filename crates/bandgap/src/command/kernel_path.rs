//! The kernel's path of a message, beside a breakdown.

use bandgap_campaign::breakdown::Division;
use bandgap_campaign::floors::RANKS;
use bandgap_campaign::kernel_path::KernelPathPlan;
use bandgap_host::HostError;
use bandgap_host::kernel_trace::{BATCH, KernelTrace};
use bandgap_launch::{Exit, Failure};
use bandgap_model::kernel_path::{EVENTS, Messages};
use bandgap_record::{TableError, read_kernel_trace};
use bandgap_results::assemble::{self, Traced};
use bandgap_units::Ns;

use super::measure::Session;
use crate::args::Measure;

/// Longest time for it, in seconds: it has few rounds, and ends after them.
const BUDGET: f64 = 5.0;

/// A trace that is prepared.
pub(super) struct KernelPath {
    trace: KernelTrace,
}

impl KernelPath {
    /// Prepares a trace of two ranks.
    ///
    /// # Errors
    /// The transport does not go through the kernel, or the kernel cannot be traced.
    pub(super) fn prepare(
        session: &Session<'_>,
        divided: &Division,
        measure: &Measure,
    ) -> Result<Self, Failure> {
        if matches!(divided, Division::Lines(_)) {
            let what = format!(
                "trace the kernel's path over {}: its messages do not pass the kernel",
                session.target
            );
            let hint = "leave out --kernel-path, or name a socket transport";
            return Err(Failure::new(Exit::Usage, what).hint(hint));
        }
        let cpus = session.stage.place(RANKS, measure.cores.as_deref())?.cpus;
        let events: Vec<String> =
            EVENTS.iter().map(|event| format!("{}:{}", event.system, event.name)).collect();
        let events: Vec<&str> = events.iter().map(String::as_str).collect();
        let clock = session.stage.clock.report();
        let trace = KernelTrace::open(&events, &cpus, &clock).map_err(|error| {
            let failure = Failure::new(Exit::Host, &error);
            match error {
                HostError::Untraceable { advice, .. } => failure.hint(advice),
                _ => failure,
            }
        })?;
        Ok(Self { trace })
    }

    /// Measures with and without the events, in a launch of its own, and adds the path to the run.
    ///
    /// # Errors
    /// Ranks could not be started, or results not be written.
    pub(super) fn measure(self, session: &mut Session<'_>) -> Result<(), Failure> {
        let plan = KernelPathPlan { asked: session.asked().within(BUDGET) };
        session.trace = Some(self.trace.switch().clone());
        session.measure(&plan, RANKS, |setting, table| {
            let messages = self.messages()?;
            let resolution = Ns(self.trace.ns_per_tick().unwrap_or(1000.0));
            let traced = Traced { messages: &messages, events: self.trace.events(), resolution };
            assemble::kernel_path(setting, &plan, table, &traced)
        })
    }

    /// The messages of the trace.
    fn messages(&self) -> Result<Messages, TableError> {
        let unread = |error: HostError| TableError::Whole { why: error.to_string() };
        let threads = self.trace.threads().map_err(unread)?;
        let Ok(threads) = <[u32; 2]>::try_from(threads) else {
            return Err(TableError::Whole { why: "two ranks did not join the trace".to_owned() });
        };
        let mut messages = Messages::between(threads);
        let text = self.trace.text().map_err(unread)?;
        read_kernel_trace(text, self.trace.ns_per_tick(), BATCH, |event| messages.take(event))?;
        Ok(messages)
    }
}
