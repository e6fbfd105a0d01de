//! Times of messages of many sizes for a reader: what was measured, the points, and their curves.

mod figure;
mod text;

use bandgap_record::{Hockney, Series, SeriesPoint};

pub use figure::series_figures;
pub use text::series;

/// The transport of a series that others measured.
const TABLE: &str = "table";

/// How the transports of virtual time begin.
const VIRTUAL: &str = "sim:";

/// A series' name and transport; a table has none.
pub(crate) fn subject(name: &str, transport: &str) -> String {
    match transport {
        TABLE => name.to_owned(),
        transport => format!("{name} over {transport}"),
    }
}

/// What the times of a series are; nothing for names that this version does not know.
fn meaning(name: &str) -> &'static str {
    match name {
        "comms1" => "ping-pong: t(n) is half a round",
        "comms2" => "both ranks send at the same time: t(n) is half a round",
        "comms3" => {
            "all ranks send to all: t(n) is a round, and the bandwidth that of all together"
        }
        "synch1" => "barriers: t is the time of one",
        "bulk_store" => "bytes into the other's memory: t(n) is a store with its reply",
        "bulk_get" => "bytes out of the other's memory: t(n) is a get",
        "echo" => "send and receive back: t(n) is half a round",
        "exchange" => "pairs exchange messages: t(n) is half a round",
        "broadcast" => "one rank to all: t(n) is one broadcast",
        "global_sum" => "sum over all ranks: t(n) is one sum",
        "barrier" => "barriers: t is the time of one",
        _ => "",
    }
}

/// What became of the bytes.
#[derive(Clone, Copy)]
enum Received {
    /// There were none.
    Nothing,
    /// Virtual time moves none.
    Virtual,
    /// All of them were checked.
    Checked,
    /// They were not.
    Unchecked,
}

impl Received {
    fn of(series: &Series) -> Received {
        match series.verified {
            _ if series.points.iter().all(|point| point.bytes == 0) => Received::Nothing,
            true => Received::Checked,
            false if series.transport.starts_with(VIRTUAL) => Received::Virtual,
            false => Received::Unchecked,
        }
    }
}

/// Who takes part: `2 ranks, rank 0 on core 0 → rank 1 on core 1`.
fn participants(series: &Series, arrow: &str) -> String {
    let mut text = format!("{} ranks", series.ranks);
    match (series.pair, series.cores) {
        (Some([from, to]), Some([here, there])) => {
            text += &format!(", rank {from} on core {here} {arrow} rank {to} on core {there}");
        }
        (Some([from, to]), None) => text += &format!(", rank {from} {arrow} rank {to}"),
        _ => {}
    }
    text
}

/// Points that make one curve.
struct Group<'a> {
    ranks: u32,
    distance: Option<&'a str>,
    points: Vec<&'a SeriesPoint>,
}

impl Group<'_> {
    /// Whether `fit` is of these points.
    fn is_fitted_by(&self, fit: &Hockney) -> bool {
        fit.ranks.is_none_or(|ranks| ranks == self.ranks)
            && fit.distance.as_deref().is_none_or(|distance| Some(distance) == self.distance)
    }
}

/// Whether the points differ in the number of ranks and not in size.
fn over_ranks(series: &Series) -> bool {
    let Some(first) = series.points.first() else { return false };
    series.points.iter().all(|point| point.bytes == first.bytes)
        && series.points.iter().any(|point| point.ranks != first.ranks)
}

/// The points by distance, and by the number of ranks unless that is what they are plotted over; each
/// group by ascending abscissa.
fn groups(series: &Series) -> Vec<Group<'_>> {
    let over_ranks = over_ranks(series);
    let mut groups: Vec<Group<'_>> = Vec::new();
    for point in &series.points {
        let distance = point.distance.as_deref();
        let ours = |group: &&mut Group<'_>| {
            group.distance == distance && (over_ranks || group.ranks == point.ranks)
        };
        match groups.iter_mut().find(ours) {
            Some(group) => group.points.push(point),
            None => groups.push(Group { ranks: point.ranks, distance, points: vec![point] }),
        }
    }
    for group in &mut groups {
        group.points.sort_by_key(|point| if over_ranks { point.ranks.into() } else { point.bytes });
    }
    groups
}

/// The fits of `series` among `fits`, the relative first: that is the one that holds over all sizes.
fn fits_of<'a>(series: &Series, fits: &[&'a Hockney]) -> Vec<&'a Hockney> {
    let ours = |fit: &&&Hockney| fit.name == series.name && fit.transport == series.transport;
    let mut fits: Vec<&Hockney> = fits.iter().filter(ours).copied().collect();
    fits.sort_by_key(|fit| fit.weighting == bandgap_record::Weighting::Ordinary);
    fits
}

#[cfg(test)]
pub(crate) mod tests;
