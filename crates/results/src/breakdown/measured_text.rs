//! How a breakdown was measured, as text.

use bandgap_comm::Border;
use bandgap_record::Quantity;
use bandgap_report::{Layout, Listing};

use super::schema::{Measured, ModelRounds, Within};
use crate::measured::with_interval;

/// The state of the machine, the rounds and the cost of a stamp.
pub(super) fn conditions(measured: &Measured, layout: &Layout) -> String {
    let told = |of: &ModelRounds| {
        let outside = match of.outside {
            0 => String::new(),
            outside => format!(" ({outside} more had a value outside its fence)"),
        };
        format!("{}, {}{outside}", of.model, of.rounds)
    };
    let rounds = measured.rounds.iter().map(told).collect::<Vec<_>>().join("; ");
    let rounds = format!("Rounds in which everything was timed: {rounds}");
    let stamp = measured.stamp.map(|stamp| {
        format!(
            "; reading the clock twice takes {} of each interval, which was removed",
            stamp.ns()
        )
    });
    let rounds = rounds + &stamp.unwrap_or_default();
    measured.state.paragraphs("", layout) + &layout.paragraph(&rounds)
}

/// What came back of what was inserted; nothing where nothing was.
pub(super) fn inserted(measured: &Measured, layout: &Layout) -> String {
    if measured.inserted.is_empty() {
        return String::new();
    }
    let rows = Listing::new(&measured.inserted, layout)
        .text("inserted", |one| where_in_words(one.border).to_owned())
        .number("for", |one| format!("{:.1} ns", one.inserted.ns().0))
        .text("component", |one| one.component.clone())
        .number("longer by", |one| judged(&one.part, one.comes_back))
        .number("half a round trip", |one| judged(&one.whole, one.whole_comes_back));
    format!("\n{}", rows.finish())
}

/// By how much something became longer, and whether that is as much as was inserted.
fn judged(longer: &Quantity, comes_back: Within) -> String {
    let word = match comes_back {
        Within::Yes => "as inserted",
        Within::No => "not as inserted",
        Within::Undecided => "undecided",
    };
    format!("{}\n{word}", with_interval(longer))
}

fn where_in_words(border: Border) -> &'static str {
    match border {
        Border::Turn => "before a send",
        Border::Send => "in a send",
        Border::Poll => "before each poll, half",
        Border::Receive => "in a receive",
    }
}
