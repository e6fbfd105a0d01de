//! The parameters of t(n) = t0 + n/r∞, ordinary and relative fits side by side.

use bandgap_model::hockney::Weighting;
use bandgap_record::Number;
use bandgap_report::Layout;
use bandgap_report::table::{both, estimated, finish, footnote, length, table};
use bandgap_units::{Bytes, Fraction, significant};

use super::schema::{Breakpoint, Hockney, Residuals, Segment};
use crate::kind::Shown;
use crate::measured::{over, sentences};

/// What a table says in place of a parameter that the data do not support.
const MISSING: &str = "not found";

/// The fits of one series, one at least: parameters of each segment with their intervals, how well the lines
/// describe the times, where the segments meet, and the findings.
pub(super) fn page(fits: &[&Hockney], layout: &Layout) -> String {
    let mut text = layout.paragraph(&format!(
        "{}: {}, {} interval below each. The ordinary fit follows the longest messages; in the \
         relative fit all sizes count alike.{}",
        subject(fits[0]),
        formulas(fits[0].messages),
        layout.confidence,
        of_all(fits[0].messages),
    ));
    for fits in fits.chunk_by(|a, b| alike(a, b)) {
        text += "\n";
        text += &parameters(fits, layout);
    }
    let entries = || fits.iter().flat_map(|fit| fit.segments.iter().flat_map(Segment::found));
    text += &footnote(layout, entries().map(|(_, quantity)| quantity));
    text += &estimated(layout, entries());
    let of = |fit: &Hockney| format!("In the {} fit", weighting(fit));
    text + &sentences(&[meeting(fits), findings(fits, of)].concat(), layout)
}

/// What the parameters are to each other, where an operation moves so many messages.
fn formulas(messages: u64) -> String {
    match messages {
        1 => "t(n) = (n + n½)/r∞, t0 = n½/r∞, π0 = 1/t0".to_owned(),
        all => format!("t(n) = {all} (n + n½)/r∞, t0 = {all} n½/r∞, π0 = {all}/t0"),
    }
}

/// Whose rates they are, where an operation moves several messages.
fn of_all(messages: u64) -> String {
    match messages {
        1 => String::new(),
        all => format!(" r∞ and π0 are those of all {all} messages of an operation together."),
    }
}

/// Where segments meet; in one sentence if all fits say the same.
fn meeting(fits: &[&Hockney]) -> Vec<String> {
    let broken: Vec<&Hockney> =
        fits.iter().copied().filter(|fit| !fit.breakpoints.is_empty()).collect();
    let sentence = |alike: &[&Hockney]| match (alike, breakpoints(alike[0])) {
        ([fit], place) => format!("The {} fit breaks at {place}.", weighting(fit)),
        (_, place) => format!("The fits break at {place}."),
    };
    broken.chunk_by(|a, b| breakpoints(a) == breakpoints(b)).map(sentence).collect()
}

/// The findings, each once; those that not all fits have, with the fit that has them, which `of` names.
/// Of those that differ but in their numbers, the first.
pub(super) fn findings(fits: &[&Hockney], of: impl Fn(&Hockney) -> String) -> Vec<String> {
    let mut once: Vec<(&Hockney, &String)> = Vec::new();
    for fit in fits {
        for finding in fit.findings() {
            if !once.iter().any(|(_, known)| gist(known) == gist(finding)) {
                once.push((fit, finding));
            }
        }
    }
    let told = |(fit, finding): (&Hockney, &String)| {
        let has = |same: &dyn Fn(&String) -> bool| {
            fits.iter().filter(|fit| fit.findings().iter().any(same)).count()
        };
        let alike = has(&|other| gist(other) == gist(finding));
        match (has(&|other| other == finding), alike) {
            (1, 1) if fits.len() > 1 => format!("{}: {finding}", of(fit)),
            (1, 2) if fits.len() == 2 && fits[0].is_beside(fits[1]) => {
                format!("In both fits, with the numbers of the {} one: {finding}", weighting(fit))
            }
            (_, alike) if alike < fits.len() || fits.len() > 2 => match alike {
                2 => format!("{} (and one other): {finding}", of(fit)),
                _ => format!("{} (and {} others): {finding}", of(fit), alike - 1),
            },
            _ => finding.clone(),
        }
    };
    once.into_iter().map(told).collect()
}

/// A finding without its numbers and their units, but with the sizes that it is about.
fn gist(finding: &str) -> Vec<&str> {
    let words: Vec<&str> = finding.split_whitespace().collect();
    // `From 16 KiB to 4 MiB`.
    let sizes = if words.first() == Some(&"From") { 6 } else { 0 };
    let number = |word: &str| {
        let bare = word.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '-');
        bare.parse::<f64>().is_ok()
    };
    let counts = |(index, word): (usize, &&str)| {
        index < sizes || !number(word) && (index == 0 || !number(words[index - 1]))
    };
    words.iter().enumerate().filter(|entry| counts((entry.0, entry.1))).map(|(_, w)| *w).collect()
}

/// The series, and which of its points.
pub(super) fn subject(fit: &Hockney) -> String {
    let which = match fit.which.words() {
        none if none.is_empty() => none,
        words => format!(" ({words})"),
    };
    over(&format!("{}{which}", fit.name), &fit.transport)
}

/// Whether the segments of two fits are of the same sizes: only then have they common rows.
fn alike(a: &Hockney, b: &Hockney) -> bool {
    let ranges = |fit: &Hockney| -> Vec<(u64, u64)> {
        fit.segments.iter().map(|segment| (segment.from_bytes, segment.to_bytes)).collect()
    };
    ranges(a) == ranges(b)
}

/// The name of a fit.
pub(crate) fn weighting(fit: &Hockney) -> &'static str {
    match fit.weighting {
        Weighting::Ordinary => "ordinary",
        Weighting::Relative => "relative",
    }
}

fn parameters(fits: &[&Hockney], layout: &Layout) -> String {
    let headings = ["segment", ""].into_iter().chain(fits.iter().map(|fit| weighting(fit)));
    let mut rows = table(layout, headings, &(2..fits.len() + 2).collect::<Vec<_>>());
    for (index, segment) in fits[0].segments.iter().enumerate() {
        let mut label = range(segment);
        let mut row = |symbol: &str, cell: &dyn Fn(&Segment) -> Option<String>| {
            let mut cells = vec![std::mem::take(&mut label), symbol.to_owned()];
            let told = |fit: &&Hockney| cell(&fit.segments[index]).unwrap_or(MISSING.to_owned());
            cells.extend(fits.iter().map(told));
            rows.add_row(cells);
        };
        for (at, (symbol, _)) in segment.parameters().into_iter().enumerate() {
            row(symbol, &|segment| segment.parameters()[at].1.map(both));
        }
        row("R²", &|segment| segment.r_squared.map(|share| determination(share.0)));
        row("rms residual", &|segment| Some(missed(segment.residuals.as_ref()?.rms_relative.0)));
        row("worst", &|segment| segment.residuals.as_ref().map(worst));
    }
    finish(&rows)
}

/// `0 B to 64 KiB,` and below it the number of points.
fn range(segment: &Segment) -> String {
    let (from, to) = (Bytes(segment.from_bytes), Bytes(segment.to_bytes));
    let points = if segment.points == 1 { "point" } else { "points" };
    format!("{from} to {to}\n{} {points}", segment.points)
}

/// R² with as many nines as it has, up to five digits.
pub(super) fn determination(share: f64) -> String {
    let digits = if share > 0.9995 { 5 } else { 3 };
    significant(share, digits)
}

fn worst(residuals: &Residuals) -> String {
    let relative = residuals.worst_relative.0;
    let sign = if relative < 0.0 { "-" } else { "+" };
    match missed(relative.abs()) {
        exact if relative.abs() < EXACT => exact,
        share => format!("{sign}{share} at {}", Bytes(residuals.worst_bytes)),
    }
}

/// A residual below this share of the time is the arithmetic's, not the line's.
const EXACT: f64 = 1e-9;

/// By how much a line misses.
pub(super) fn missed(share: f64) -> String {
    Fraction(if share < EXACT { 0.0 } else { share }).to_string()
}

/// Where the segments of a fit meet.
pub(crate) fn breakpoints(fit: &Hockney) -> String {
    let place = |(at, point): (usize, &Breakpoint)| match fit.segments.get(at..at + 2) {
        // The sizes that a given one divides are not itself, and are what was done with it.
        Some([below, above]) if point.low.is_none() => format!(
            "{} (given; {} is the last size below, {} the first above)",
            length(point.bytes.0),
            Bytes(below.to_bytes),
            Bytes(above.from_bytes)
        ),
        _ => breakpoint(point),
    };
    fit.breakpoints.iter().enumerate().map(place).collect::<Vec<_>>().join(", ")
}

/// A place between two segments, with its interval if it was found.
pub(super) fn breakpoint(point: &Breakpoint) -> String {
    let at = length(point.bytes.0);
    // The bounds are sizes that were measured, and stand as the segments' own do.
    let size = |bound: Number| Bytes(bound.0 as u64);
    match (point.low, point.high) {
        (Some(low), Some(high)) => format!("{at} ({} to {})", size(low), size(high)),
        _ => format!("{at} (given)"),
    }
}
