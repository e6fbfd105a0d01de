//! Results as text for the terminal.

use bandgap_record::{Floor, Hockney, Logp, Outcome, Ratio, Series};
use bandgap_report::{self as report, Layout};

use crate::assemble::TABLE;
use crate::files::transfers;

/// Results that belong together, as one text.
pub fn results(results: &[Outcome], layout: &Layout) -> String {
    let mut text = String::new();
    let mut floors: Vec<&Floor> = Vec::new();
    let mut ratios: Vec<&Ratio> = Vec::new();
    for result in results {
        match result {
            // Those of transfers stand together, below.
            Outcome::Logp(logp) if logp.is_of_transfers() => {}
            Outcome::Logp(logp) => {
                text += &report::signature(logp, layout);
                text.push('\n');
                text += &report::plot(&report::signature_figure(logp), layout);
                text.push('\n');
            }
            Outcome::Hockney(fit) => {
                // Both weightings side by side, where the first of them stands.
                let fits = fits_of(results, &fit.name, &fit.transport);
                if fits.first().is_some_and(|first| std::ptr::eq(*first, &**fit)) {
                    text += &report::hockney(&fits, layout);
                    text.push('\n');
                }
            }
            // Its points are in the user's own table; the picture shows where the lines miss them.
            Outcome::Series(series) if series.transport == TABLE => {
                let fits = fits_of(results, &series.name, &series.transport);
                for figure in report::series_figures(series, &fits).iter().take(1) {
                    text += &report::plot(figure, layout);
                }
            }
            Outcome::Series(series) => {
                text += &report::series(series, layout);
                let fits = fits_of(results, &series.name, &series.transport);
                for figure in report::series_figures(series, &fits) {
                    text.push('\n');
                    text += &report::plot(&figure, layout);
                }
                text.push('\n');
            }
            Outcome::RttPairs(pairs) => text += &report::rtt_pairs(pairs, layout),
            Outcome::Contention(contention) => text += &report::contention(contention, layout),
            Outcome::Floor(floor) => floors.push(floor),
            Outcome::Ratio(ratio) => ratios.push(ratio),
            _ => {}
        }
    }
    let transfers: Vec<&Logp> = results.iter().filter_map(transfers).collect();
    for surface in surfaces(&transfers) {
        let series = results.iter().find_map(|result| match result {
            Outcome::Series(series) if surface.iter().any(|logp| is_of(logp, series)) => {
                Some(&**series)
            }
            _ => None,
        });
        text += &report::surface(&surface, series, layout);
        text.push('\n');
        text += &report::plot(&report::surface_figure(&surface), layout);
        text.push('\n');
    }
    if !floors.is_empty() {
        text += &report::floors(&floors, layout);
    }
    if !ratios.is_empty() {
        text.push('\n');
        text += &report::ratios(&ratios, layout);
    }
    text
}

/// Signatures of transfers by what is done, each a surface over (M, Δ, n).
pub fn surfaces<'a>(signatures: &[&'a Logp]) -> Vec<Vec<&'a Logp>> {
    let same = |a: &&Logp, b: &&Logp| (&a.name, &a.transport) == (&b.name, &b.transport);
    signatures.chunk_by(same).map(<[&Logp]>::to_vec).collect()
}

/// Whether `series` are the times of the transfers that `signature` is of.
fn is_of(signature: &Logp, series: &Series) -> bool {
    let operation = signature.operation.map_or("", bandgap_record::Operation::name);
    series.name == format!("bulk_{operation}") && series.transport == signature.transport
}

/// The fits of a series among the results.
pub fn fits_of<'a>(results: &'a [Outcome], name: &str, transport: &str) -> Vec<&'a Hockney> {
    let fits = results.iter().filter_map(|result| match result {
        Outcome::Hockney(fit) => Some(&**fit),
        _ => None,
    });
    fits.filter(|fit| fit.name == name && fit.transport == transport).collect()
}
