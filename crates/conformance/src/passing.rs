//! What message passing must do over every transport, as tests that know no transport.
//!
//! Ranks run as threads that yield while they wait. If a property depends on what has arrived, they
//! take turns in one thread. A hang fails at a deadline.

mod crowd;
mod lengths;
mod misuse;
mod order;
mod ranks;
mod reluctant;
mod schedule;
mod slots;

pub use crowd::{barriers, barriers_of_the_first_ranks};
pub use lengths::{both_ways_at_once, every_length, posted_or_not};
pub use misuse::{garbage_is_named, misplaced_parts, no_such_peer_of_messages, other_length};
pub use order::{bursts, crowded_before_received, receives_in_posting_order};
pub use reluctant::Reluctant;
pub use schedule::random_messages;
pub use slots::{
    an_emptied_slot_serves_what_waits, no_slot_is_taken_out_of_turn, slots_come_back_in_turn,
};
