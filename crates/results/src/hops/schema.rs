//! A fit of t(n, k) = t_startup + n·t_byte + (k − 1)·h to a series.

use bandgap_record::{Number, Quantity, Seconds};
use serde::{Deserialize, Serialize};

use crate::hockney::Residuals;
use crate::measured::LostLaunch;

/// The times of a series over message sizes n and distances of k hops.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hops {
    /// The series that is fitted.
    pub name: String,
    /// The transport of that series.
    pub transport: String,
    /// Launches that have no fit of their own of some segment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_launches: Vec<LostLaunch>,
    /// The distances, in hops, ascending.
    pub distances: Vec<u32>,
    /// The segments, by ascending size: those of the Hockney fit of the nearest distance.
    pub segments: Vec<HopsSegment>,
    /// What a reader should know, as sentences.
    pub findings: Vec<String>,
}

/// Sizes of one protocol. A missing parameter is one that the data do not support.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HopsSegment {
    /// The least size in it.
    pub from_bytes: u64,
    /// The greatest size in it.
    pub to_bytes: u64,
    /// How many points it runs through: sizes times distances.
    pub points: u64,
    /// t_startup, the time of an empty message over one hop.
    pub t_startup: Option<Quantity>,
    /// t_byte, the time of each further byte.
    pub t_byte: Option<Quantity>,
    /// h, the time of each further hop.
    pub h: Option<Quantity>,
    /// What the fit leaves unexplained; absent without one.
    pub residuals: Option<Residuals>,
    /// The fit itself, for drawing; absent where the points are too few.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plane: Option<HopsPlane>,
}

/// t(n, k) = intercept + n·per_byte + (k − 1)·per_hop: for drawing, and not a result.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HopsPlane {
    /// At 0 bytes and one hop.
    pub intercept: Seconds,
    /// For each byte.
    pub per_byte: Seconds,
    /// For each further hop.
    pub per_hop: Seconds,
}

impl HopsPlane {
    /// The fitted time in nanoseconds.
    pub fn at(&self, bytes: f64, hops: u32) -> f64 {
        self.intercept.ns().0
            + bytes * self.per_byte.ns().0
            + (f64::from(hops) - 1.0) * self.per_hop.ns().0
    }
}

impl HopsSegment {
    /// The parameters with their symbols.
    pub fn parameters(&self) -> [(&'static str, Option<&Quantity>); 3] {
        [
            ("t_startup", self.t_startup.as_ref()),
            ("t_byte", self.t_byte.as_ref()),
            ("h", self.h.as_ref()),
        ]
    }

    /// Those that were found.
    pub fn found(&self) -> impl Iterator<Item = (&'static str, &Quantity)> {
        self.parameters().into_iter().filter_map(|(symbol, of)| Some((symbol, of?)))
    }
}

/// The root mean square of residuals over times.
pub(super) fn rms(segment: &HopsSegment) -> Option<Number> {
    segment.residuals.as_ref().map(|residuals| residuals.rms_relative)
}
