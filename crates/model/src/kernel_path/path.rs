//! The steps of many messages.

use std::collections::BTreeMap;

use bandgap_stats::quantile::median;

use super::event::{Call, KernelEvent, event};
use super::messages::{Message, Moment};

/// Whose call a step is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// That of the rank that sends.
    Sender,
    /// That of the rank that receives.
    Receiver,
}

/// An event that messages pass.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// In whose call.
    pub side: Side,
    /// Which.
    pub event: &'static KernelEvent,
    /// For each message that passed it, the time since the call that sends began.
    pub since_begin: Vec<f64>,
    /// For each message that passed both, the time since the step before of the same side; empty for the first one.
    pub since_before: Vec<f64>,
}

/// The way of the messages of the commonest length of each sender.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Path {
    /// How many there are.
    pub messages: usize,
    /// Others, which are left out: letters of orders, say.
    pub others: usize,
    /// Their lengths, ascending.
    pub bytes: Vec<u64>,
    /// The steps: the sender's by their medians, then the receiver's.
    pub steps: Vec<Step>,
}

/// The way of messages. A step that a call passes several times counts the first time.
pub fn path(messages: &[Message]) -> Path {
    let common: [Option<u64>; 2] = [0, 1].map(|sender| commonest(messages, sender));
    let kept = messages.iter().filter(|message| common[message.sender] == Some(message.bytes));
    let kept: Vec<&Message> = kept.collect();
    let mut steps = Vec::new();
    for side in [Side::Sender, Side::Receiver] {
        let own: Vec<BTreeMap<&str, f64>> = kept.iter().map(|one| times(one, side)).collect();
        let mut names: Vec<&str> = own.iter().flat_map(|times| times.keys().copied()).collect();
        names.sort_unstable();
        names.dedup();
        let all = |name: &str| own.iter().filter_map(|times| times.get(name).copied()).collect();
        let mut of_side: Vec<(&str, Vec<f64>)> =
            names.into_iter().map(|name| (name, all(name))).collect();
        of_side.sort_by(|a, b| order(side, a).total_cmp(&order(side, b)));
        for (at, (name, since_begin)) in of_side.iter().enumerate() {
            let before = at.checked_sub(1).map(|before| of_side[before].0);
            let since = |times: &BTreeMap<&str, f64>| Some(times.get(name)? - times.get(before?)?);
            let since_before = own.iter().filter_map(since).collect();
            let since_begin = since_begin.clone();
            let Some(event) = event(name) else { continue };
            steps.push(Step { side, event, since_begin, since_before });
        }
    }
    let mut bytes: Vec<u64> = common.into_iter().flatten().collect();
    bytes.sort_unstable();
    bytes.dedup();
    Path { messages: kept.len(), others: messages.len() - kept.len(), bytes, steps }
}

/// Where a step stands: by its median, but the ends of a call around what is within it.
fn order(side: Side, (name, times): &(&str, Vec<f64>)) -> f64 {
    let call = if side == Side::Sender { Call::Send } else { Call::Receive };
    match call.events() {
        [begins, _] if begins == *name => f64::NEG_INFINITY,
        [_, ends] if ends == *name => f64::INFINITY,
        _ => median(times),
    }
}

/// When a message first passed each event of a side, since the call that sent it began.
fn times(message: &Message, side: Side) -> BTreeMap<&'static str, f64> {
    let begin = message.sending.first().map_or(0.0, |moment| moment.ns);
    let moments = match side {
        Side::Sender => &message.sending,
        Side::Receiver => &message.receiving,
    };
    let mut found = BTreeMap::new();
    for Moment { event, ns } in moments {
        found.entry(event.name).or_insert(ns - begin);
    }
    found
}

/// The length that most messages of a sender have; of several, the shortest.
fn commonest(messages: &[Message], sender: usize) -> Option<u64> {
    let mut counts = BTreeMap::<u64, usize>::new();
    for message in messages.iter().filter(|message| message.sender == sender) {
        *counts.entry(message.bytes).or_default() += 1;
    }
    counts
        .into_iter()
        .max_by_key(|(bytes, count)| (*count, std::cmp::Reverse(*bytes)))
        .map(|of| of.0)
}
