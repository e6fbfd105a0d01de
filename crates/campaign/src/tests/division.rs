//! Divisions of no transport, for tests here and in `assemble`.

use bandgap_comm::division::At::{Derived as Follows, Floor, Point};
use bandgap_comm::division::{ByRound, Derivation, Derived, Division, Model, Part, Per, Timing};
use bandgap_comm::{AtBorder, Delay, Yields};
use bandgap_units::{Category, Layer, Side};

const ABOUT: (Category, Layer, Side) = (Category::Cpu, Layer::Llp, Side::Initiator);

const fn timed(name: &'static str, point: u8) -> Part {
    Part { border: Some(point), ..Part::new(name, ABOUT, Point(point)) }
}

pub const fn of_message(name: &'static str, point: u8) -> Part {
    Part { per: Per::Message, ..Part::new(name, ABOUT, Point(point)) }
}

/// Parts that are stamped.
#[rustfmt::skip] // One line each.
pub static CALLS: Division = Division {
    any_length: false,
    passes: &[],
    pair: Some(8),
    awaited: None,
    models: &[
        Model { name: "latency", kernel: "ping_pong", messages: 100, ways: 2, whole: 9, all: None, derivation: None, parts: &[
            timed("turn", 1),
            Part { stamps: 0.0, ..timed("visible", 2) },
            Part { share: 0.5, ..timed("poll", 3) },
            timed("receive", 4),
        ] },
        Model { name: "injection", kernel: "burst", messages: 100, ways: 1, whole: 9, all: None, derivation: None, parts: &[
            of_message("calls", 5),
            of_message("own", 6),
        ] },
    ],
};

/// Messages pass the first of two places, if their receive has a callback, or else the second; each place once. The last
/// interval contains that to the second. That ends behind an awaited load.
#[rustfmt::skip] // One line each.
pub static PLACES: Division = Division {
    any_length: true,
    passes: &["short", "long", "callback"],
    pair: Some(8),
    awaited: Some(10),
    models: &[Model { name: "latency", kernel: "comms1", messages: 100, ways: 2, whole: 9, all: Some(7), derivation: None, parts: &[
        Part { exact: Some(1.0), border: None, ..timed("post", 1) },
        Part { exact: Some(1.0), border: None, optional: true, ..timed("callback", 2) },
        Part { exact: Some(1.0), border: None, optional: true, awaited: true, ..timed("receive", 3) },
        Part { exact: Some(1.0), border: None, contains: Some("receive"), ..timed("ahead", 4) },
    ] }],
};

static LINE: bandgap_comm::Floor = bandgap_comm::Floor::new("line", "", Yields::HalfRoundTrip, 100);

/// A floor, and what a computation as long as the software adds to it.
#[rustfmt::skip] // One line each.
pub static LINES: Division = Division {
    any_length: false,
    passes: &[],
    pair: None,
    awaited: None,
    models: &[Model { name: "latency", kernel: "ping_pong", messages: 100, ways: 2, whole: 0, all: None, derivation: Some(&ADDED), parts: &[
        Part::new("line", ABOUT, Floor(&LINE)),
        Part::new("added", ABOUT, Follows),
    ] }],
};

static ADDED: Derivation = Derivation {
    timings: &[
        Timing { name: "software", at: Point(1), computing: false },
        Timing { name: "busy", at: Floor(&LINE), computing: true },
    ],
    looks: &[AtBorder { point: 1, inserted: None }],
    computation: |looks| (7, Delay { iterations: looks[0] as u32, picoseconds: 0 }),
    parts: |timed| {
        let [line, busy, software] = ["line", "busy", "software"].map(timed);
        let less = |of: &ByRound, by: &ByRound| -> ByRound {
            of.iter().map(|(round, ns)| (*round, ns - by[round])).collect()
        };
        let added = less(&busy, &line);
        let hidden = less(&software, &added);
        let is_seen = hidden.values().all(|hidden| *hidden >= 0.0);
        Derived { parts: vec![line, added], hidden, is_seen }
    },
};
