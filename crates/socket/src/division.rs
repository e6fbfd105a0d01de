//! Where the time of a message over a stream goes: bandgap's own code, and the system's calls.

use bandgap_comm::division::{At::Point, Division, Model, Part, Per};
use bandgap_units::Category::Cpu;
use bandgap_units::Layer::{Hlp, Llp};
use bandgap_units::Side::{Both, Initiator, Target};

use crate::stamper::{border, point};

/// All of what the requester does at a point, for each message.
const fn own(name: &'static str, layer: bandgap_units::Layer, point: u8) -> Part {
    Part { per: Per::Message, ..Part::new(name, (Cpu, layer, Initiator), Point(point)) }
}

/// The division of every transport over streams.
#[rustfmt::skip] // One line each.
pub(crate) const DIVISION: &Division = &Division {
    any_length: false,
    passes: &[],
    pair: Some(point::PAIR),
    awaited: None,
    models: &[
        Model { name: "latency", kernel: "ping_pong", messages: 150, ways: 2, whole: point::NOTHING, all: None, derivation: None, parts: &[
            Part { border: Some(border::TURN), ..Part::new("turn", (Cpu, Hlp, Both), Point(point::TURN)) },
            // Both of its ends are beginnings of calls: what of a stamp comes after the clock is read is before both.
            Part { border: Some(border::SEND), stamps: 0.0, ..Part::new("visible", (Cpu, Llp, Initiator), Point(point::VISIBLE)) },
            // What arrives between two polls waits for half of what lies between them.
            Part { border: Some(border::POLL), share: 0.5, ..Part::new("poll", (Cpu, Llp, Target), Point(point::GAP)) },
            Part { border: Some(border::RECEIVE), ..Part::new("receive", (Cpu, Llp, Target), Point(point::RECEIVE)) },
        ] },
        // So many messages that those still under way at the end hardly count.
        Model { name: "injection", kernel: "burst", messages: 1500, ways: 1, whole: point::NOTHING, all: None, derivation: None, parts: &[
            own("send_calls", Llp, point::SEND),
            own("receive_calls", Llp, point::RECEIVE),
            own("failing_polls", Llp, point::FAILING),
            own("own_code", Hlp, point::OWN),
        ] },
    ],
};
