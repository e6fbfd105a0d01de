//! A trace as a page of text.

use bandgap_record::Seconds;
use bandgap_report::{Layout, Listing};

use super::schema::{PcieTrace, TraceFile, title};
use crate::measured::{sentences, with_interval};

/// What was read, times, components and findings.
pub(super) fn page(trace: &PcieTrace, layout: &Layout) -> String {
    let mut text: String =
        trace.files.iter().map(|file| layout.paragraph(&heading(file))).collect();
    if !trace.times.is_empty() {
        text += "\n";
        text += &times(trace, layout);
    }
    if !trace.derived.is_empty() {
        text += "\n";
        text += &Listing::new(&trace.derived, layout)
            .text("component", |one| title(&one.name).to_owned())
            .number("time", |one| with_interval(&one.time))
            .text("from", |one| one.formula.clone())
            .finish();
    }
    text + &sentences(&trace.findings, layout)
}

fn heading(file: &TraceFile) -> String {
    let without = if file.without_switch { ", without a switch" } else { "" };
    let lost = match file.lost {
        None => String::new(),
        Some(0) => "; no packet is missing by its number".to_owned(),
        Some(1) => "; 1 packet is missing by its number".to_owned(),
        Some(lost) => format!("; {lost} packets are missing by their numbers"),
    };
    let again = match file.again {
        0 => String::new(),
        1 => "; 1 packet was sent again".to_owned(),
        again => format!("; {again} packets were sent again"),
    };
    format!(
        "PCIe trace {}{without}: {} rows over {}: {} posts, {} completions, {} payloads, {} \
         acknowledgements down, {} others{lost}{again}",
        file.file,
        file.rows,
        file.span.ns(),
        file.posts,
        file.completions,
        file.payloads,
        file.acknowledgements,
        file.others
    )
}

fn times(trace: &PcieTrace, layout: &Layout) -> String {
    let write = |time: Seconds| format!("{:.2} ns", time.ns().0);
    Listing::new(&trace.times, layout)
        .text("time", |one| title(&one.name).to_owned())
        .number("samples", |one| one.samples.to_string())
        .number("mean", |one| with_interval(&one.mean))
        .number("median", |one| with_interval(&one.median))
        .number("min", |one| write(one.min))
        .number("p99", |one| write(one.p99))
        .number("max", |one| write(one.max))
        .sparing(&["min", "p99"])
        .finish()
}
