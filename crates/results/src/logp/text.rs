//! The signature's parameters as a page of text.

use bandgap_model::Regime;
use bandgap_model::signature::Cause;
use bandgap_report::table::{ROOMY, both, estimated, evidence, interval, plain, value};
use bandgap_report::{Layout, Listing};
use bandgap_units::{Fraction, significant};

use super::parameter::{PARAMETERS, Parameter, determined};
use super::schema::{ArmLevel, Logp, Parameters};
use super::side_by_side::{Column, side_by_side};
use crate::kind::Shown;
use crate::measured::{State, TABLE, apart, arrow, below_one, launches, of_ranks, sentences};

/// What was measured, the parameters with their meaning, the findings, and the machine's other
/// states.
pub(super) fn page(logp: &Logp, layout: &Layout) -> String {
    let mut text = heading(logp, "", layout);
    text += &logp.state.paragraphs("", layout);
    for floor in &logp.floor_ratios {
        text += &layout.paragraph(&format!("Half the round trip is {}.", floor.in_words()));
    }
    text += &below_one(&logp.floor_ratios).map(|said| layout.paragraph(said)).unwrap_or_default();
    text += &layout.paragraph(&bound(logp));
    text += "\n";
    text += &parameters(logp, layout);
    text += &arms(logp, layout);
    text += &sentences(logp.findings(), layout);
    if !logp.other_states.is_empty() {
        text += "\n";
        text += &states(logp, layout);
    }
    text
}

/// What was measured, of what and between whom; of a table, which does not say so, what it says.
pub(super) fn heading(logp: &Logp, of: &str, layout: &Layout) -> String {
    if logp.transport == TABLE {
        let launches = match logp.launches {
            1 => String::new(),
            several => format!("; {}", launches(several)),
        };
        return layout.paragraph(&format!("LogP signature{of} of a table{launches}"));
    }
    let (over, pattern) = (&logp.transport, &logp.pattern);
    let who = of_ranks(logp.ranks, logp.pair, logp.cores, arrow(layout));
    let apart = apart(logp.distance.as_deref(), over);
    let launches = launches(logp.launches);
    layout
        .paragraph(&format!("LogP signature{of} over {over}: {pattern}, {who}{apart}; {launches}"))
}

fn bound(logp: &Logp) -> String {
    let mut text = match logp.regime {
        Regime::NetworkBound => "Network-bound: the requester waits for the transport",
        Regime::ProcessorBound => {
            "Processor-bound: g = os + or, and the transport's own gap stays hidden"
        }
        Regime::Overlapped => {
            "Overlapped: at full rate a message takes less than os + or, since the overheads of \
             neighbouring messages overlap. How long the requester waits besides is not seen"
        }
        Regime::Undecided => "Undecided: the idle time is neither clearly none nor clearly there",
    }
    .to_owned();
    if let Some(transition) = &logp.transition {
        let cause = match transition.cause {
            Cause::RoundTrip => "when the first replies return",
            Cause::Capacity => "when the capacity is reached",
        };
        let messages = transition.messages.0.round();
        let noun = if messages == 1.0 { "message" } else { "messages" };
        text += &format!(". The send-only regime ends after {} {noun}, {cause}", plain(messages));
    }
    if let Some(arm) = &logp.arm {
        let slope = significant(arm.slope.value.0, 3);
        let from = arm.from_delay.ns();
        text += &match arm.holds {
            Some(true) => format!(". From Δ = {from} on, cost = os + or + Δ holds (slope {slope})"),
            Some(false) => format!(
                ". Cost = os + or + Δ does not hold: from Δ = {from} on the slope is {slope}, not 1"
            ),
            None => format!(
                ". Whether cost = os + or + Δ holds from Δ = {from} on is undecided (slope {slope})"
            ),
        };
    }
    text + "."
}

fn parameters(logp: &Logp, layout: &Layout) -> String {
    let roomy = layout.columns() >= ROOMY;
    let found = |row: &Parameter| (row.of)(&logp.parameters);
    let missing = |row: &Parameter| row.missing(logp.regime).to_owned();
    let confidence = format!("{} interval", layout.confidence);
    let rows = Listing::new(&PARAMETERS, layout)
        .text("", |row| row.symbol.to_owned())
        .text("parameter", |row| row.name.to_owned())
        .number("value", |row| found(row).map(value).unwrap_or_else(|| missing(row)))
        .number(&confidence, |row| found(row).map(interval).unwrap_or_default())
        .text("meaning", |row| row.meaning.to_owned())
        .when(roomy, |rows| {
            rows.text("estimated by", |row| found(row).map(evidence).unwrap_or_default())
        });
    let mut text = rows.noting(determined(&logp.parameters).map(|(_, found)| found)).finish();
    if !roomy {
        text += &estimated(layout, determined(&logp.parameters));
    }
    text
}

/// The arms of the hinge, a line for each; nothing where none is known.
fn arms(logp: &Logp, layout: &Layout) -> String {
    if logp.arms.is_empty() {
        return String::new();
    }
    let slope = |arm: &ArmLevel| match (&arm.slope, arm.holds) {
        (None, _) => "unknown".to_owned(),
        (Some(slope), holds) => {
            let verdict = match holds {
                Some(true) => "holds",
                Some(false) => "does not hold",
                None => "undecided",
            };
            format!("{}, {verdict}\n{}", value(slope), interval(slope))
        }
    };
    let overheads = logp.arms.iter().flat_map(|arm| [&arm.overheads, &arm.recv_overhead]);
    let rows = Listing::new(&logp.arms, layout)
        .text("arm over Δ", range)
        .number("os + or", |arm| both(&arm.overheads))
        .number("or", |arm| both(&arm.recv_overhead))
        .text("slope", slope)
        .noting(overheads.chain(logp.arms.iter().filter_map(|arm| arm.slope.as_ref())));
    "\n".to_owned() + &rows.finish()
}

/// `10.0 to 60.0 ns`, or a single delay.
fn range(arm: &ArmLevel) -> String {
    let [from, to] = [arm.from_delay.ns(), arm.to_delay.ns()];
    if from == to {
        return from.to_string();
    }
    to.unit().range([from.0, to.0])
}

/// The parameters in every state side by side, the commonest first.
fn states<'a>(logp: &'a Logp, layout: &Layout) -> String {
    let column = |state: &State, parameters: &'a Parameters, regime| {
        let probe = state.probe.as_ref().map(both).unwrap_or_default();
        let heading = format!("{} ({})", state.label, Fraction(state.share.0));
        Column { heading, parameters, regime, further: vec![("probe", "placement probe", probe)] }
    };
    let others = logp.other_states.iter();
    let others = others.map(|other| column(&other.state, &other.parameters, other.regime));
    let main = column(&logp.state, &logp.parameters, logp.regime);
    let columns: Vec<Column<'_>> = std::iter::once(main).chain(others).collect();
    layout.paragraph("The machine was found in several states; estimates never mix them:")
        + &side_by_side(&columns, layout)
}
