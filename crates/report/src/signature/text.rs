//! The signature's parameters as a page of text.

use bandgap_record::{Cause, Logp, Parameters, Regime, State};
use bandgap_units::{Fraction, significant};
use comfy_table::Cell;

use super::participants;
use crate::Layout;
use crate::parameter::{PARAMETERS, determined};
use crate::summary::both;
use crate::table::{ROOMY, estimated, evidence, finish, footnote, interval, plain, table, value};

/// What was measured, the parameters with their meaning, the findings, and the machine's other
/// states.
pub fn signature(logp: &Logp, layout: &Layout) -> String {
    let mut text = header(logp, layout);
    text += "\n";
    text += &parameters(logp, layout);
    if !logp.findings.is_empty() {
        text += "\n";
        text += &layout.bullets(logp.findings.iter().map(String::as_str));
    }
    if !logp.other_states.is_empty() {
        text += "\n";
        text += &states(logp, layout);
    }
    text
}

fn header(logp: &Logp, layout: &Layout) -> String {
    let arrow = if layout.ascii { "->" } else { "→" };
    let mut text = layout.paragraph(&format!(
        "LogP signature over {}: {}; {} {}",
        logp.transport,
        participants(logp, arrow),
        logp.launches,
        if logp.launches == 1 { "launch" } else { "launches" },
    ));
    let mut conditions = state(&logp.state);
    for floor in &logp.floor_ratios {
        let ratio = significant(floor.ratio.0, 3);
        conditions += &format!("; half the round trip is {ratio} × the {} floor", floor.name);
    }
    text += &layout.paragraph(&conditions);
    text += &layout.paragraph(&bound(logp));
    text
}

pub(crate) fn state(state: &State) -> String {
    let probe = match &state.probe {
        Some(probe) => format!(" (floor probe {})", value(probe)),
        None => String::new(),
    };
    format!("State {}{probe}, {} of the batches", state.label, Fraction(state.share.0))
}

fn bound(logp: &Logp) -> String {
    let mut text = match logp.regime {
        Regime::NetworkBound => "Network-bound: the requester waits for the transport".to_owned(),
        Regime::ProcessorBound => {
            "Processor-bound: g = os + or, and the transport's own gap stays hidden".to_owned()
        }
    };
    if let Some(transition) = &logp.transition {
        let cause = match transition.cause {
            Cause::FirstReplies => "when the first replies return",
            Cause::Capacity => "when the capacity is reached",
        };
        let messages = plain(transition.messages.0.round());
        text += &format!(". The send-only regime ends after {messages} messages, {cause}");
    }
    if let Some(arm) = &logp.arm {
        let slope = significant(arm.slope.value.0, 3);
        let from = arm.from_delay.ns();
        text += &if arm.holds {
            format!(". From Δ = {from} on, cost = os + or + Δ holds (slope {slope})")
        } else {
            format!(
                ". Cost = os + or + Δ does not hold: from Δ = {from} on the slope is {slope}, not 1"
            )
        };
    }
    text + "."
}

fn parameters(logp: &Logp, layout: &Layout) -> String {
    let roomy = layout.columns() >= ROOMY;
    let confidence = format!("{} interval", layout.confidence);
    let mut headings = vec!["", "parameter", "value", confidence.as_str(), "meaning"];
    if roomy {
        headings.push("estimated by");
    }
    let mut rows = table(layout, headings, &[2, 3]);
    for parameter in &PARAMETERS {
        let mut cells = vec![parameter.symbol.to_owned(), parameter.name.to_owned()];
        let (estimate, range, source) = match (parameter.of)(&logp.parameters) {
            Some(quantity) => (value(quantity), interval(quantity), evidence(quantity)),
            None => (parameter.missing(logp.regime).to_owned(), String::new(), String::new()),
        };
        cells.extend([estimate, range]);
        cells.push(parameter.meaning.to_owned());
        if roomy {
            cells.push(source);
        }
        rows.add_row(cells);
    }
    let mut text = finish(&rows)
        + &footnote(layout, determined(&logp.parameters).map(|(_, quantity)| quantity));
    if !roomy {
        text += &estimated(layout, determined(&logp.parameters));
    }
    text
}

/// The parameters in every state side by side, the commonest first.
fn states(logp: &Logp, layout: &Layout) -> String {
    let main = (&logp.state, &logp.parameters, logp.regime);
    let others =
        logp.other_states.iter().map(|other| (&other.state, &other.parameters, other.regime));
    let states: Vec<_> = std::iter::once(main).chain(others).collect();
    let head = |state: &State| format!("{} ({})", state.label, Fraction(state.share.0));
    let headings: Vec<String> = states.iter().map(|(state, ..)| head(state)).collect();
    let headings = std::iter::once("state").chain(headings.iter().map(String::as_str));
    let mut rows = table(layout, headings, &(1..=states.len()).collect::<Vec<_>>());
    if states.iter().any(|(state, ..)| state.probe.is_some()) {
        let probe = |state: &State| state.probe.as_ref().map(both).unwrap_or_default();
        rows.add_row(
            std::iter::once(Cell::new("probe"))
                .chain(states.iter().map(|(state, ..)| Cell::new(probe(state)))),
        );
    }
    for parameter in &PARAMETERS {
        let cell = |(_, parameters, regime): &(&State, &Parameters, Regime)| {
            let missing = || parameter.missing(*regime).to_owned();
            Cell::new((parameter.of)(parameters).map(both).unwrap_or_else(missing))
        };
        rows.add_row(std::iter::once(Cell::new(parameter.symbol)).chain(states.iter().map(cell)));
    }
    let quantities = states.iter().flat_map(|(_, parameters, _)| determined(parameters));
    layout.paragraph("The machine was found in several states; estimates never mix them:")
        + &finish(&rows)
        + &footnote(layout, quantities.map(|(_, quantity)| quantity))
}
