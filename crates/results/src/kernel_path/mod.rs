//! The kernel's path of a message, as an illustration: the events of the kernel on its way.

pub mod assemble;

use bandgap_record::{Quantity, Seconds};
use bandgap_report::table::{estimated, interval, value};
use bandgap_report::{Layout, Listing};
use serde::{Deserialize, Serialize};

use crate::kind::{Among, Shown, Verdict, nothing};
use crate::measured::sentences;

/// What the kernel does of a message, and when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelPath {
    /// The transport as the command line names it.
    pub transport: String,
    /// Always true: what is traced takes longer, and nothing here is part of a model.
    pub illustration: bool,
    /// Half a round trip without the events, in batches between those with them.
    pub without_events: Quantity,
    /// Half a round trip with them.
    pub with_events: Quantity,
    /// The latter over the former, paired by round.
    pub ratio: Quantity,
    /// Messages that were seen from the beginning of the call that sent them to the end of the one that received them.
    pub messages: u64,
    /// Their lengths, with what the transport adds.
    pub bytes: Vec<u64>,
    /// Messages of other lengths, which are left out.
    pub others: u64,
    /// Messages that came with others in one call, or in pieces, or whose sending was not seen.
    pub unpaired: u64,
    /// Events that the kernel lost.
    pub lost_events: u64,
    /// The step of the trace's clock.
    pub resolution: Seconds,
    /// The events, those of the rank that sends before those of the one that receives.
    pub steps: Vec<KernelStep>,
    /// What a reader should know, as sentences.
    pub findings: Vec<String>,
}

/// An event on the way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelStep {
    /// In whose call it is.
    pub side: Side,
    /// The kernel's name for it.
    pub event: String,
    /// What the kernel does there.
    pub meaning: String,
    /// Since the call that sends began, the median over messages.
    pub since_begin: Quantity,
    /// Since the step before on the same side, the median over messages that passed both; absent of the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since_before: Option<Quantity>,
    /// Messages that passed it.
    pub seen: u64,
}

/// Whose call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// That of the rank that sends.
    Sender,
    /// That of the rank that receives.
    Receiver,
}

impl Side {
    fn name(self) -> &'static str {
        match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
        }
    }
}

impl Shown for KernelPath {
    // By an illustration no runs are compared.
    nothing! { quantities, figures, files }

    fn text(&self, _: &Among<'_>, layout: &Layout) -> String {
        let bytes: Vec<String> = self.bytes.iter().map(u64::to_string).collect();
        let text = format!(
            "The kernel's path, as an illustration: {} messages over {} of {} bytes. Half a round trip is {} \
             without the events and {} with them, {} times as long. What the events take is in the steps; \
             nothing of it is part of the model:",
            self.messages,
            self.transport,
            bytes.join(" or "),
            whole(&self.without_events),
            whole(&self.with_events),
            whole(&self.ratio),
        );
        let above = [&self.without_events, &self.with_events, &self.ratio];
        let rows = Listing::new(&self.steps, layout)
            .noting(above)
            .name("in the call of", |step| step.side.name().to_owned())
            .name("event", |step| step.event.clone())
            .value("since the send", |step| Some(&step.since_begin))
            .value("since before", |step| step.since_before.as_ref())
            .number("messages", |step| step.seen.to_string())
            .text("what the kernel does", |step| step.meaning.clone());
        let halves = [&self.without_events, &self.with_events].map(|of| ("half a round trip", of));
        let steps = self.steps.iter().map(|step| ("steps", &step.since_begin));
        layout.paragraph(&text)
            + &rows.finish()
            + &estimated(layout, halves.into_iter().chain(steps))
            + &sentences(&self.findings, layout)
    }

    fn findings(&self) -> &[String] {
        &self.findings
    }

    /// An illustration is neither right nor wrong.
    fn verdict(&self) -> Verdict {
        Verdict::Good
    }
}

/// An estimate with its interval.
fn whole(quantity: &Quantity) -> String {
    format!("{} ({})", value(quantity), interval(quantity))
}

#[cfg(test)]
pub(crate) mod tests;
