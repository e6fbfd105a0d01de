//! Keys of the batches of a signature.

use crate::data::Measurements;
use crate::key::Key;
use crate::load::Load;

/// The name of issue phases in keys.
pub const ISSUE: &str = "issue";
/// The name of round trips in keys.
pub const RTT: &str = "rtt";

/// The key of the issue phase of `messages` requests with a delay of this many picoseconds.
pub fn issue(load: Load, messages: u32, delay_ps: u64) -> Key {
    loaded(ISSUE, load).at("messages", messages).at("delay_ps", delay_ps)
}

/// The key of one request with its reply.
pub fn rtt(load: Load) -> Key {
    loaded(RTT, load)
}

fn loaded(what: &str, load: Load) -> Key {
    Key::new(what).at("load", load.name()).at("bytes", load.bytes())
}

/// The signature's part of `table` for this load.
pub fn of_load(table: &Measurements, load: Load) -> Measurements {
    let (name, bytes) = (Some(load.name()), Some(load.bytes().into()));
    let carries = |key: &Key| key.text("load") == name && key.number("bytes") == bytes;
    table.part(|key| [ISSUE, RTT].contains(&key.what()) && carries(key))
}
