//! Which points of a series make one curve.

use bandgap_model::hockney::Weighting;
use bandgap_units::Bytes;

use super::schema::{Series, SeriesPoint};
use crate::hockney::Hockney;

/// Points that make one curve.
pub(super) struct Group<'a> {
    pub ranks: u32,
    pub distance: Option<&'a str>,
    pub points: Vec<&'a SeriesPoint>,
}

impl Group<'_> {
    /// Whether `fit` is of these points.
    pub fn is_fitted_by(&self, fit: &Hockney) -> bool {
        fit.ranks.is_none_or(|ranks| ranks == self.ranks)
            && fit.distance.as_deref().is_none_or(|distance| Some(distance) == self.distance)
    }
}

/// The points by distance, and by the number of ranks unless that is what they are plotted over; each
/// group by ascending abscissa.
pub(super) fn groups(series: &Series) -> Vec<Group<'_>> {
    let over_ranks = series.is_over_ranks();
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

/// Where a point is in its series, as far as its points differ: `, 64 B, 4 ranks`.
pub(super) fn place(series: &Series, point: &SeriesPoint) -> String {
    let size = series.has_bytes().then(|| Bytes(point.bytes).to_string());
    let ranks = series.has_several_ranks().then(|| format!("{} ranks", point.ranks));
    size.into_iter().chain(ranks).map(|part| format!(", {part}")).collect()
}

/// The fits of `series` among `fits`, the relative first: that is the one that holds over all sizes.
pub(super) fn fits_of<'a>(series: &Series, fits: &[&'a Hockney]) -> Vec<&'a Hockney> {
    let ours = |fit: &&&Hockney| fit.name == series.name && fit.transport == series.transport;
    let mut fits: Vec<&Hockney> = fits.iter().filter(ours).copied().collect();
    fits.sort_by_key(|fit| fit.weighting == Weighting::Ordinary);
    fits
}
