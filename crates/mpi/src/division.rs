//! Where the time of a message of MPI over UCX goes.

use bandgap_comm::division::{At, Division, Model, Part, Per};
use bandgap_probe::Place::{Callback, Handler, Operation, Received, Send, UcpSend, Wait};
use bandgap_probe::{PASSES, Place, point};
use bandgap_units::Category::{Cpu, Network};
use bandgap_units::Layer::{self, Hlp, Llp, Misc};
use bandgap_units::Side::{self, Both, Initiator, Target};

/// Messages of a window. UCX's queues over shared memory hold 64, so none waits.
const WINDOW: u32 = 32;

/// From one place to the next one, on which the messages of one way have one interval each.
const fn from(place: Place, to: Place, name: &'static str, (layer, side): (Layer, Side)) -> Part {
    let (at, border) = (At::Point(point::interval(place, to)), Some(place as u8));
    let (exact, awaited) = (Some(1.0), to.is_awaited());
    Part { border, exact, awaited, ..Part::new(name, (Cpu, layer, side), at) }
}

/// What is between the ranks: the operation of UCT, the way, and the look that finds the message.
const fn way(name: &'static str) -> Part {
    Part { category: Network, ..from(Operation, Handler, name, (Llp, Side::Network)) }
}

/// The software's places on the way, from MPI to MPI. Two places that follow each other are stamped at a time. A message
/// passes some only if its receive has a callback, or only if it has none. Of a window all that the sender does counts.
#[rustfmt::skip] // One line each.
pub const DIVISION: &Division = &Division {
    any_length: true,
    passes: &PASSES,
    pair: Some(point::interval(UcpSend, UcpSend)),
    awaited: Some(point::interval(Handler, Handler)),
    models: &[
        Model { name: "latency", kernel: "comms1", messages: 150, ways: 2, whole: point::NOTHING, all: Some(point::EVERYWHERE), derivation: None, parts: &[
            from(Send, UcpSend, "hlp_post_mpi", (Hlp, Initiator)),
            from(UcpSend, Operation, "hlp_post_ucp", (Hlp, Initiator)),
            way("transport"),
            Part { optional: true, ..from(Handler, Callback, "rx_callback_ucp", (Hlp, Target)) },
            Part { optional: true, ..from(Callback, Received, "rx_callback_mpi", (Hlp, Target)) },
            Part { optional: true, ..from(Handler, Received, "rx_callback", (Hlp, Target)) },
            from(Received, Send, "misc", (Misc, Both)),
        ] },
        Model { name: "coarse_latency", kernel: "comms1", messages: 150, ways: 2, whole: point::NOTHING, all: None, derivation: None, parts: &[
            Part { border: None, contains: Some("between"), ..from(Send, Handler, "sender_software", (Hlp, Initiator)) },
            Part { border: None, ..way("between") },
            Part { border: None, ..from(Handler, Send, "receiver_software", (Hlp, Target)) },
        ] },
        Model { name: "injection", kernel: "stream", messages: 20, ways: WINDOW, whole: point::NOTHING, all: None, derivation: None, parts: &[
            Part { per: Per::Message, border: None, ..from(Send, UcpSend, "window_post_mpi", (Hlp, Initiator)) },
            Part { per: Per::Message, border: None, ..from(UcpSend, Operation, "window_post_ucp", (Hlp, Initiator)) },
            Part { per: Per::Message, border: None, ..from(Operation, Send, "llp_post", (Llp, Initiator)) },
            Part { per: Per::Message, border: None, exact: Some(1.0 / WINDOW as f64), ..from(Wait, Wait, "post_prog", (Hlp, Initiator)) },
        ] },
    ],
};
