//! How a breakdown was measured, as text.

use bandgap_comm::Border;
use bandgap_report::{Layout, Listing};

use super::schema::{Measured, Within};
use crate::measured::with_interval;

/// The state of the machine, the rounds and the cost of a stamp.
pub(super) fn conditions(measured: &Measured, layout: &Layout) -> String {
    let outside = match measured.rounds_outside {
        0 => String::new(),
        of => format!("; {of} more had a value outside its fence"),
    };
    let rounds = format!("{} rounds in which everything was timed{outside}", measured.rounds);
    let stamp = format!(
        "an interval between two stamps contains {} of them, which was removed",
        measured.stamp.ns()
    );
    layout.paragraph(&measured.state.line()) + &layout.paragraph(&format!("{rounds}; {stamp}"))
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
        .text("comes back", |one| {
            match one.comes_back {
                Within::Yes => "yes",
                Within::No => "no",
                Within::Undecided => "undecided",
            }
            .to_owned()
        })
        .number("half a round trip by", |one| with_interval(&one.whole));
    format!("\n{}", rows.finish())
}

fn where_in_words(border: Border) -> &'static str {
    match border {
        Border::Turn => "before a send",
        Border::Send => "in a send",
        Border::Poll => "before each poll, half",
        Border::Receive => "in a receive",
    }
}
