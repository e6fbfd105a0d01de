//! Where segments meet.

use bandgap_stats::segmented::{Cuts, Points, break_range, outliers, search};

use super::input::SizeSamples;
use super::{Breakpoint, Breaks, FEWEST_SIZES, HockneyOptions};
use crate::error::{ModelError, Result};

/// Sizes whose times no segment explains, ascending.
///
/// # Errors
/// The given breaks are not valid for these sizes.
pub(super) fn left_out(table: &SizeSamples, breaks: &Breaks) -> Result<Vec<u64>> {
    let starts: Vec<usize>;
    let cuts = match breaks {
        Breaks::Automatic { most } => Cuts::Most((*most).max(1)),
        Breaks::At(given) => {
            let above =
                |of: &Breakpoint| table.bytes.partition_point(|&size| size <= of.last_below);
            starts = std::iter::once(0).chain(at(table, given)?.iter().map(above)).collect();
            Cuts::At(&starts)
        }
    };
    let found = outliers(&table.x, &table.times, table.limits(cuts));
    Ok(found.into_iter().map(|at| table.bytes[at]).collect())
}

/// The given or found breakpoints, ascending.
pub(super) fn place(table: &SizeSamples, options: &HockneyOptions) -> Result<Vec<Breakpoint>> {
    match &options.breaks {
        Breaks::At(given) => at(table, given),
        Breaks::Automatic { most } => Ok(found(table, *most, options.confidence)),
    }
}

fn at(table: &SizeSamples, given: &[u64]) -> Result<Vec<Breakpoint>> {
    let bytes = &table.bytes;
    let mut below = 0;
    let mut breakpoints: Vec<Breakpoint> = Vec::new();
    for &at in given {
        let above = bytes.partition_point(|&size| size <= at);
        if above == 0 || above == bytes.len() {
            return Err(ModelError::BreakOutside(at, bytes[0], bytes[bytes.len() - 1]));
        }
        if above <= below {
            let before = breakpoints.last().map_or(0, |breakpoint| breakpoint.low);
            return Err(ModelError::BreaksTooClose(before, at));
        }
        let [last_below, first_above] = [bytes[above - 1], bytes[above]];
        breakpoints.push(Breakpoint { last_below, first_above, low: at, high: at, given: true });
        below = above;
    }
    Ok(breakpoints)
}

fn found(table: &SizeSamples, most: usize, confidence: f64) -> Vec<Breakpoint> {
    let Some(choice) = search(&table.x, &table.times, table.limits(Cuts::Most(most.max(1)))) else {
        return Vec::new();
    };
    let weights = &choice.weights;
    let points = Points { x: &table.x, y: &table.times, weights, fewest: FEWEST_SIZES };
    (1..choice.starts.len())
        .map(|cut| {
            let start = choice.starts[cut];
            let (first, last) = break_range(&points, &choice.starts, cut, confidence);
            let [last_below, first_above, low, high] =
                [start - 1, start, first - 1, last].map(|at| table.bytes[at]);
            Breakpoint { last_below, first_above, low, high, given: false }
        })
        .collect()
}
