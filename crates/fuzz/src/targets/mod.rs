//! The list of readers.

mod assigned;
mod components;
mod fits;
mod frames;
mod greeting;
mod letters;
mod machine;
mod options;
mod peer;
mod run;
mod tables;
mod trace;
mod udp;
mod wire;

use crate::Target;

/// Every reader.
pub const TARGETS: &[Target] = &[
    tables::HOCKNEY,
    tables::LOGP,
    fits::HOCKNEY,
    fits::LOGP,
    components::TABLE,
    trace::TRACE,
    machine::MACHINE,
    run::RUN,
    options::OPTIONS,
    frames::FRAME,
    frames::STREAM,
    peer::PASSING,
    peer::MAIL,
    greeting::GREETING,
    udp::DATAGRAMS,
    letters::COMMAND,
    letters::REPORT,
    letters::ASSIGNMENT,
    letters::FROM_RANK,
];

/// The reader of this name.
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
