//! A fit of t(n) = t0 + n/r∞ to a series, in one or more segments.

use bandgap_record::{Labels, Number, Quantity, Seconds};
use bandgap_report::Block;
use serde::{Deserialize, Serialize};

use crate::run::{Context, Shown};

/// The fit of one curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hockney {
    /// The series that it is of; for a table that others measured, the tool.
    pub name: String,
    /// The transport as the command line names it; `table` of a fit.
    pub transport: String,
    /// Which curve of the series, where it has several: `ranks`, `variant`, `hops`.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub curve: Labels,
    /// Messages that an operation moves in its time, by which r∞ counts.
    pub messages: u64,
    /// `relative` (errors are shares of the time) or `ordinary`.
    pub weighting: String,
    /// The lines.
    pub segments: Vec<Segment>,
    /// Where they meet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub breakpoints: Vec<Breakpoint>,
}

/// One line; parameters that it does not have are absent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Segment {
    /// The least length.
    pub from_bytes: u64,
    /// The greatest.
    pub to_bytes: u64,
    /// Lengths in it.
    pub points: u64,
    /// r∞: the rate of endless messages.
    pub r_inf: Option<Quantity>,
    /// n½: the length with half of that rate.
    pub n_half: Option<Quantity>,
    /// t0 = n½/r∞: the start-up time.
    pub t0: Option<Quantity>,
    /// π0 = 1/t0: the rate of short messages.
    pub pi0: Option<Quantity>,
    /// R² of the line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r_squared: Option<Number>,
    /// The largest residual over its time, with its sign.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst_residual: Option<Number>,
    /// Where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst_bytes: Option<u64>,
    /// The root of the mean square of residuals over their times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rms_residual: Option<Number>,
    /// The line's own time at n = 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intercept: Option<Seconds>,
    /// Its time a byte.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_byte: Option<Seconds>,
}

/// Where two segments meet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Breakpoint {
    /// The length; between the last of one and the first of the next where it was found.
    pub bytes: Number,
    /// The least length at which it may be; absent where it was given.
    pub low: Option<Number>,
    /// The greatest.
    pub high: Option<Number>,
}

impl Segment {
    /// The parameters that it has, each with its name and its symbol.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, &'static str, &Quantity)> {
        let all = [
            ("r_inf", "r∞", &self.r_inf),
            ("n_half", "n½", &self.n_half),
            ("t0", "t0", &self.t0),
            ("pi0", "π0", &self.pi0),
        ];
        all.into_iter().filter_map(|(name, symbol, of)| Some((name, symbol, of.as_ref()?)))
    }
}

impl Hockney {
    /// Its id: `hockney/comms1/shm`, with the curve where there are several.
    pub fn id(&self) -> String {
        let id = format!("hockney/{}/{}", self.name, self.transport);
        let mut id = self.curve.iter().fold(id, |id, (name, place)| format!("{id}/{name}={place}"));
        if self.weighting != RELATIVE {
            id += &format!("/weighting={}", self.weighting);
        }
        id
    }

    /// Whether errors are weighted as shares of the time: the fit that counts.
    pub fn is_relative(&self) -> bool {
        self.weighting == RELATIVE
    }
}

const RELATIVE: &str = "relative";

impl Shown for Hockney {
    fn quantities(&self) -> Vec<(String, &Quantity, bool)> {
        let id = self.id();
        let mut all = Vec::new();
        for (at, segment) in self.segments.iter().enumerate() {
            for (name, _, quantity) in segment.named() {
                let id = format!("{id}/segment={}/{name}", at + 1);
                all.push((id, quantity, self.is_relative()));
            }
        }
        all
    }

    fn detail(&self, _context: &Context<'_>) -> Vec<Block> {
        Vec::new()
    }
}
