//! The kernel's path from the steps of messages, and from batches with and without the events.

use bandgap_campaign::Setting;
use bandgap_campaign::judge::Judged;
use bandgap_campaign::kernel_path::rounds;
use bandgap_model::kernel_path::{EVENTS, Messages, Path, Step, path};
use bandgap_record::{Evidence, Quantity, RecordError, Unit};
use bandgap_stats::Rule;
use bandgap_stats::interval::quantile_interval;
use bandgap_stats::quantile::{median, sorted};
use bandgap_units::{Ns, significant};

use super::{KernelPath, KernelStep, Side};
use crate::AssembleError;
use crate::measured::listed;

/// How times over rounds are estimated.
const OVER_ROUNDS: &str = "median over rounds, interval of order statistics";
/// How steps are.
const OVER_MESSAGES: &str = "median over messages, interval of order statistics";

/// What was traced.
pub struct Traced<'a> {
    /// The messages.
    pub messages: &'a Messages,
    /// The events that were switched on, as `system:name`.
    pub events: &'a [String],
    /// The step of the trace's clock.
    pub resolution: Ns,
}

/// The path of the messages that were traced.
///
/// # Errors
/// No message was seen whole, no round has batches with and without the events, or a number cannot be recorded.
pub(crate) fn kernel_path(
    setting: &Setting,
    judged: &Judged<'_>,
    traced: &Traced<'_>,
) -> Result<KernelPath, AssembleError> {
    let both = rounds(judged.table());
    if both.is_empty() {
        return Err(AssembleError::NoRounds);
    }
    let path = path(&traced.messages.kept);
    if path.messages == 0 {
        return Err(AssembleError::NoMessages);
    }
    let over = |values: &[f64], unit, how| middle(values, unit, how, judged);
    let side = |at: usize| both.iter().map(|halves| halves[at]).collect::<Vec<f64>>();
    let ratios: Vec<f64> = both.iter().map(|[without, with]| with / without).collect();
    let ratio = over(&ratios, Unit::One, OVER_ROUNDS)?;
    let step = |step: &Step| {
        let since_before = (!step.since_before.is_empty())
            .then(|| over(&step.since_before, Unit::Second, OVER_MESSAGES));
        Ok::<_, AssembleError>(KernelStep {
            side: match step.side {
                bandgap_model::kernel_path::Side::Sender => Side::Sender,
                bandgap_model::kernel_path::Side::Receiver => Side::Receiver,
            },
            event: step.event.name.to_owned(),
            meaning: step.event.meaning.to_owned(),
            since_begin: over(&step.since_begin, Unit::Second, OVER_MESSAGES)?,
            since_before: since_before.transpose()?,
            seen: step.since_begin.len() as u64,
        })
    };
    Ok(KernelPath {
        transport: setting.transport.clone(),
        illustration: true,
        without_events: over(&side(0), Unit::Second, OVER_ROUNDS)?,
        with_events: over(&side(1), Unit::Second, OVER_ROUNDS)?,
        messages: path.messages as u64,
        bytes: path.bytes.clone(),
        others: path.others as u64,
        unpaired: traced.messages.unpaired,
        lost_events: traced.messages.lost,
        resolution: traced.resolution.into(),
        steps: path.steps.iter().map(step).collect::<Result<_, _>>()?,
        findings: findings(&path, &ratio, traced),
        ratio,
    })
}

/// The median of times in nanoseconds, or of numbers.
fn middle(
    values: &[f64],
    unit: Unit,
    how: &str,
    judged: &Judged<'_>,
) -> Result<Quantity, RecordError> {
    let value = median(values);
    let own = |value: f64| if unit == Unit::Second { Ns(value).as_secs() } else { value };
    let interval = quantile_interval(&sorted(values), 0.5, judged.confidence());
    let rule = Rule { precision: judged.precision(), stamp: 0.0 };
    let converged = interval.map(|of| rule.judge(of.half_width(), value));
    let evidence = Evidence::new(
        how,
        values.len() as u64,
        converged.unwrap_or(bandgap_record::Convergence::No),
    );
    Quantity::new(own(value), interval.map(|of| (own(of.low), own(of.high))), unit, evidence)
}

fn findings(path: &Path, ratio: &Quantity, traced: &Traced<'_>) -> Vec<String> {
    let mut found = Vec::new();
    let times = significant(ratio.value.0, 3);
    found.push(match ratio.interval() {
        Some((low, _)) if low > 1.0 => format!(
            "The events make half a round trip {times} times as long: read the steps as their order and rough \
             shares, not as their times."
        ),
        _ => "That the events make half a round trip longer cannot be told from this run; each takes time \
              nevertheless, and it is in the steps."
            .to_owned(),
    });
    let step = |name: &str| path.steps.iter().find(|step| step.event.name == name);
    if let Some(ready) = step("sk_data_ready") {
        found.push(arrival(ready, path.messages));
    }
    let partly: Vec<String> = path
        .steps
        .iter()
        .filter(|step| step.since_begin.len() < path.messages)
        .map(|step| {
            let (name, seen) = (step.event.name, step.since_begin.len());
            format!("{name} in {seen} of {}", path.messages)
        })
        .collect();
    if !partly.is_empty() {
        found.push(format!(
            "Not all messages passed each event within the two calls: {}. The kernel may do such a part later, or for \
             several messages at once.",
            listed(&partly)
        ));
    }
    let lacks: Vec<String> = EVENTS
        .iter()
        .map(|event| format!("{}:{}", event.system, event.name))
        .filter(|name| !traced.events.contains(name))
        .collect();
    if !lacks.is_empty() {
        found.push(format!("This kernel does not have the events {}.", listed(&lacks)));
    }
    let Messages { unpaired, lost, .. } = traced.messages;
    if *lost > 0 {
        found.push(format!("The kernel lost {lost} events; messages around them are left out."));
    }
    if *unpaired > 0 {
        found.push(format!(
            "{unpaired} more messages are left out: they came together or in pieces, or their sending was not seen."
        ));
    }
    if traced.resolution.0 > 1.0 {
        found.push(format!("The trace's times have a step of {}.", traced.resolution));
    }
    found
}

/// What the event of the receiver's socket is, by whose call it is in and how often.
fn arrival(ready: &Step, messages: usize) -> String {
    let whose = match (ready.side, ready.since_begin.len()) {
        (bandgap_model::kernel_path::Side::Receiver, seen) => format!(
            "In {seen} of {messages} messages the receiver's socket is told in the call that receives."
        ),
        (_, seen) if seen == messages => {
            "Everything up to the receiver's socket is done in the call that sends.".to_owned()
        }
        (_, seen) => format!(
            "In {seen} of {messages} messages everything up to the receiver's socket is done in the call that sends."
        ),
    };
    format!(
        "{whose} sk_data_ready is not the arrival: a rank that polls looks into the queue itself, and may find the \
         bytes before."
    )
}
