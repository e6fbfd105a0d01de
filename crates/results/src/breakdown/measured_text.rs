//! How a breakdown was measured, as text.

use bandgap_comm::Border;
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
    let stamp = format!(
        "an interval between two stamps contains {} of them, which was removed",
        measured.stamp.ns()
    );
    measured.state.paragraphs("", layout) + &layout.paragraph(&format!("{rounds}; {stamp}"))
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
        .number("longer by", |one| with_interval(&one.part))
        .text("as inserted", |one| in_a_word(one.comes_back).to_owned())
        .number("half a round trip", |one| with_interval(&one.whole))
        .text("as inserted", |one| in_a_word(one.whole_comes_back).to_owned());
    format!("\n{}", rows.finish())
}

fn in_a_word(comes_back: Within) -> &'static str {
    match comes_back {
        Within::Yes => "yes",
        Within::No => "no",
        Within::Undecided => "undecided",
    }
}

fn where_in_words(border: Border) -> &'static str {
    match border {
        Border::Turn => "before a send",
        Border::Send => "in a send",
        Border::Poll => "before each poll, half",
        Border::Receive => "in a receive",
    }
}
