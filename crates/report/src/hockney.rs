//! The parameters of t(n) = t0 + n/r∞, ordinary and relative fits side by side.

use bandgap_record::{Breakpoint, Hockney, Number, Quantity, Residuals, Segment, Weighting};
use bandgap_units::{Bytes, Fraction, significant};

use crate::Layout;
use crate::series;
use crate::table::{estimated, finish, footnote, interval, length, table, value};

/// A parameter: its symbol and where it is.
type Parameter = (&'static str, fn(&Segment) -> Option<&Quantity>);

const PARAMETERS: [Parameter; 4] = [
    ("r∞", |segment| segment.r_inf.as_ref()),
    ("n½", |segment| segment.n_half.as_ref()),
    ("t0", |segment| segment.t0.as_ref()),
    ("π0", |segment| segment.pi0.as_ref()),
];

/// What a table says in place of a parameter that the data do not support.
const MISSING: &str = "not found";

/// The fits of one series: parameters of each segment with their intervals, how well the lines
/// describe the times, where the segments meet, and the findings.
pub fn hockney(fits: &[&Hockney], layout: &Layout) -> String {
    let Some(first) = fits.first() else { return String::new() };
    let mut text = layout.paragraph(&format!(
        "{}: t(n) = (n + n½)/r∞, t0 = n½/r∞, π0 = 1/t0, {} interval below each. The ordinary \
         fit follows the longest messages; in the relative fit all sizes count alike.",
        subject(first),
        layout.confidence,
    ));
    for fits in alike(fits) {
        text += "\n";
        text += &parameters(&fits, layout);
    }
    let entries = || fits.iter().flat_map(|fit| fit.segments.iter().flat_map(found));
    text += &footnote(layout, entries().map(|(_, quantity)| quantity));
    text += &estimated(layout, entries());
    let sentences: Vec<String> = meeting(fits).into_iter().chain(findings(fits)).collect();
    if !sentences.is_empty() {
        text += "\n";
        text += &layout.bullets(sentences.iter().map(String::as_str));
    }
    text
}

/// Where segments meet; in one sentence if all fits say the same.
fn meeting(fits: &[&Hockney]) -> Vec<String> {
    let mut places: Vec<(String, Vec<&str>)> = Vec::new();
    for fit in fits {
        let Some(found) = breakpoints(fit) else { continue };
        match places.iter_mut().find(|(place, _)| *place == found) {
            Some((_, names)) => names.push(weighting(fit)),
            None => places.push((found, vec![weighting(fit)])),
        }
    }
    let sentence = |(place, names): (String, Vec<&str>)| match names.as_slice() {
        [name] => format!("The {name} fit breaks at {place}."),
        _ => format!("The fits break at {place}."),
    };
    places.into_iter().map(sentence).collect()
}

/// The findings, each once; those that not all fits have, with the fit that has them. Of two that
/// differ but in their numbers, the first.
fn findings(fits: &[&Hockney]) -> Vec<String> {
    let mut once: Vec<&str> = Vec::new();
    for finding in fits.iter().flat_map(|fit| &fit.findings) {
        if !once.iter().any(|known| gist(known) == gist(finding)) {
            once.push(finding);
        }
    }
    let told = |finding: &str| {
        let says = |fit: &Hockney, same: &dyn Fn(&str) -> bool| {
            fit.findings.iter().any(|other| same(other))
        };
        let exactly = fits.iter().filter(|fit| says(fit, &|other| other == finding));
        let alike = fits.iter().filter(|fit| says(fit, &|other| gist(other) == gist(finding)));
        match (exactly.collect::<Vec<_>>().as_slice(), alike.count()) {
            ([fit], 1) if fits.len() > 1 => format!("In the {} fit: {finding}", weighting(fit)),
            ([fit], 2..) => {
                format!("In both fits, with the numbers of the {} one: {finding}", weighting(fit))
            }
            _ => finding.to_owned(),
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
fn subject(fit: &Hockney) -> String {
    let ranks = fit.ranks.map(|ranks| format!("{ranks} ranks"));
    let parts: Vec<String> = ranks.into_iter().chain(fit.distance.clone()).collect();
    let name = match parts.is_empty() {
        true => fit.name.clone(),
        false => format!("{} ({})", fit.name, parts.join(", ")),
    };
    series::subject(&name, &fit.transport)
}

/// Fits with the same segments together: only these have a common row.
fn alike<'a>(fits: &[&'a Hockney]) -> Vec<Vec<&'a Hockney>> {
    let ranges = |fit: &Hockney| -> Vec<(u64, u64)> {
        fit.segments.iter().map(|segment| (segment.from_bytes, segment.to_bytes)).collect()
    };
    let mut groups: Vec<Vec<&Hockney>> = Vec::new();
    for fit in fits {
        match groups.iter_mut().find(|group| ranges(group[0]) == ranges(fit)) {
            Some(group) => group.push(fit),
            None => groups.push(vec![fit]),
        }
    }
    groups
}

fn found(segment: &Segment) -> impl Iterator<Item = (&'static str, &Quantity)> {
    PARAMETERS.iter().filter_map(|(symbol, of)| of(segment).map(|quantity| (*symbol, quantity)))
}

fn weighting(fit: &Hockney) -> &'static str {
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
        let mut row = |symbol: &str, cell: &dyn Fn(&Segment) -> String| {
            let mut cells = vec![std::mem::take(&mut label), symbol.to_owned()];
            cells.extend(fits.iter().map(|fit| cell(&fit.segments[index])));
            rows.add_row(cells);
        };
        for (symbol, of) in PARAMETERS {
            row(symbol, &|segment| match of(segment) {
                Some(quantity) => format!("{}\n{}", value(quantity), interval(quantity)),
                None => MISSING.to_owned(),
            });
        }
        row("R²", &|segment| match segment.r_squared {
            Some(share) => determination(share.0),
            None => MISSING.to_owned(),
        });
        row("rms residual", &|segment| match &segment.residuals {
            Some(residuals) => missed(residuals.rms_relative.0),
            None => MISSING.to_owned(),
        });
        row("worst", &|segment| segment.residuals.as_ref().map_or(MISSING.to_owned(), worst));
    }
    finish(&rows)
}

/// `0 B to 64 KiB,` and below it the number of points.
fn range(segment: &Segment) -> String {
    let (from, to) = (Bytes(segment.from_bytes), Bytes(segment.to_bytes));
    format!("{from} to {to}\n{} points", segment.points)
}

/// R² with as many nines as it has, up to five digits.
fn determination(share: f64) -> String {
    let digits = if share > 0.9995 { 5 } else { 3 };
    significant(share, digits)
}

fn worst(residuals: &Residuals) -> String {
    let relative = residuals.worst_relative.0;
    let sign = if relative < 0.0 { "−" } else { "+" };
    match missed(relative.abs()) {
        exact if relative.abs() < EXACT => exact,
        share => format!("{sign}{share} at {}", Bytes(residuals.worst_bytes)),
    }
}

/// A residual below this share of the time is the arithmetic's, not the line's.
const EXACT: f64 = 1e-9;

/// By how much a line misses.
fn missed(share: f64) -> String {
    Fraction(if share < EXACT { 0.0 } else { share }).to_string()
}

/// Where the segments of a fit meet.
fn breakpoints(fit: &Hockney) -> Option<String> {
    let places: Vec<String> = fit.breakpoints.iter().map(breakpoint).collect();
    (!places.is_empty()).then(|| places.join(", "))
}

/// A place between two segments, with its interval if it was found.
pub(crate) fn breakpoint(point: &Breakpoint) -> String {
    let at = length(point.bytes.0);
    // The bounds are sizes that were measured, and stand as the segments' own do.
    let size = |bound: Number| Bytes(bound.0 as u64);
    match (point.low, point.high) {
        (Some(low), Some(high)) => format!("{at} ({} to {})", size(low), size(high)),
        _ => format!("{at} (given)"),
    }
}

#[cfg(test)]
mod tests;
