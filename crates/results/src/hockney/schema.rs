//! A fit of t(n) = t0 + n/r∞ to a series, in one or more segments.

use bandgap_model::hockney::{ResidualSummary, Weighting};
use bandgap_record::{Number, Quantity, Seconds};
use serde::{Deserialize, Serialize};

use crate::measured::{LostLaunch, Which};

/// Straight lines through the times of a series (COMMS1/2: Hockney).
///
/// In each segment t(n) = k (n + n½)/r∞, where an operation moves k messages of n bytes, and the rates
/// r∞ and π0 count them all. Of the four parameters two are independent: t0 = k n½/r∞ and
/// π0 = k/t0 = r∞/n½.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hockney {
    /// The series that is fitted.
    pub name: String,
    /// The transport of that series.
    pub transport: String,
    /// Which points of the series are fitted, where it has several curves.
    #[serde(flatten)]
    pub which: Which,
    /// How many messages r∞ and π0 count (k): those that one operation moves between all ranks that
    /// take part, as in the bandwidth of the series' points.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub messages: u64,
    /// What was minimised.
    pub weighting: Weighting,
    /// Launches that have no line of their own in some segment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_launches: Vec<LostLaunch>,
    /// The segments, by ascending size.
    pub segments: Vec<Segment>,
    /// Where one segment ends and the next begins.
    pub breakpoints: Vec<Breakpoint>,
    /// What a reader should know, as sentences.
    pub findings: Vec<String>,
}

/// Of a series whose operation moves one message, and of a table.
const fn one() -> u64 {
    1
}

fn is_one(messages: &u64) -> bool {
    *messages == 1
}

/// One straight line. A missing parameter is one that the data do not support.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Segment {
    /// The least size in it.
    pub from_bytes: u64,
    /// The greatest size in it.
    pub to_bytes: u64,
    /// How many points it runs through.
    pub points: u64,
    /// r∞ in bytes per second: the bandwidth of endless messages, of all k together.
    pub r_inf: Option<Quantity>,
    /// n½ in bytes: the size that reaches half of r∞.
    pub n_half: Option<Quantity>,
    /// t0 in seconds: the time of an operation with messages of 0 bytes.
    pub t0: Option<Quantity>,
    /// π0 in 1/s: the bandwidth of short messages, of all k together, is π0·n.
    pub pi0: Option<Quantity>,
    /// 1 − residual over total sum of squares, weighted as the fit; absent where the times are equal.
    pub r_squared: Option<Number>,
    /// What the line leaves unexplained; absent without a line.
    pub residuals: Option<Residuals>,
    /// The line itself, whatever parameters were made of it; absent where the points are too few.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<SegmentLine>,
}

/// t(n) = intercept + n·per_byte: for drawing, and not a result. The parameters say what may be made
/// of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SegmentLine {
    /// The line at 0 bytes; it may be negative.
    pub intercept: Seconds,
    /// Its slope, in seconds per byte; it may be negative too.
    pub per_byte: Seconds,
}

/// Residuals over the measured times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Residuals {
    /// Their root mean square.
    pub rms_relative: Number,
    /// The one of greatest size, with its sign: positive where the measured time is longer.
    pub worst_relative: Number,
    /// Where that is.
    pub worst_bytes: u64,
}

impl From<ResidualSummary> for Residuals {
    fn from(of: ResidualSummary) -> Self {
        Self {
            rms_relative: Number(of.rms_relative),
            worst_relative: Number(of.worst_relative),
            worst_bytes: of.worst_bytes,
        }
    }
}

/// Where two segments meet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Breakpoint {
    /// The size, in bytes; it may lie between those measured. One that was given is as it was given; in older files, the
    /// geometric mean of the sizes that it separates.
    pub bytes: Number,
    /// Lower end of its confidence interval; absent where it was given and not found.
    pub low: Option<Number>,
    /// Upper end of the interval.
    pub high: Option<Number>,
}

impl Segment {
    /// The parameters with their symbols.
    pub fn parameters(&self) -> [(&'static str, Option<&Quantity>); 4] {
        [
            ("r∞", self.r_inf.as_ref()),
            ("n½", self.n_half.as_ref()),
            ("t0", self.t0.as_ref()),
            ("π0", self.pi0.as_ref()),
        ]
    }

    /// Those that were found.
    pub fn found(&self) -> impl Iterator<Item = (&'static str, &Quantity)> {
        self.parameters().into_iter().filter_map(|(symbol, of)| Some((symbol, of?)))
    }
}

impl Hockney {
    /// Whether another fit is of the same points.
    pub fn is_beside(&self, other: &Hockney) -> bool {
        (&self.name, &self.transport, &self.which) == (&other.name, &other.transport, &other.which)
    }
}
