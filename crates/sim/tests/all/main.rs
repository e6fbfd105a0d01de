//! Programs recorded and replayed: known answers, what holds for any program, and a second
//! simulation to compare with.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod closed_form;
mod collectives;
mod damaged;
mod goal;
mod in_process;
#[path = "../../../comm/tests/support/inproc.rs"]
mod inproc;
mod machine_files;
mod messages;
mod network_properties;
mod networks;
mod observed;
mod overlap;
mod programs;
mod properties;
mod reference;
mod transfers;
