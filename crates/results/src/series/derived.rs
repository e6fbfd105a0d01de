//! What a series records beside its points: what was chosen, what is the fastest, and how it grows.

use bandgap_model::growth::Law;
use bandgap_record::{Number, Quantity, Seconds};
use serde::{Deserialize, Serialize};

use crate::measured::{LostLaunch, Pair, Which};

/// What a first look chose for a size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Look {
    /// Number of ranks.
    pub ranks: u32,
    /// The two ranks, where the points differ in them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pair: Option<Pair>,
    /// Bytes, elements or rows.
    pub size: u64,
    /// The variant, or the way of its messages.
    pub variant: String,
    /// All that were looked at, the fastest first; none where the choice is that of a smaller size.
    pub looked: Vec<LookedAt>,
}

/// A variant as a first look saw it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LookedAt {
    /// Its name.
    pub variant: String,
    /// Its median time.
    pub time: Seconds,
}

/// How a fastest variant was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FoundBy {
    /// All were measured: intervals that do not meet.
    Measured,
    /// By a first look at each.
    Look,
}

/// The fastest variant from one measured size to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fastest {
    /// Number of ranks.
    pub ranks: u32,
    /// The least of these sizes: bytes, elements or rows.
    pub from: u64,
    /// The greatest of them. Where the next range begins above it, the crossover lies between.
    pub to: u64,
    /// The fastest; several where their intervals do not tell them apart, or some have
    /// no time.
    pub variants: Vec<String>,
    /// How that was found.
    pub by: FoundBy,
}

/// t(N) = constant + factor·N^exponent, fitted to a curve over dimensions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SizeGrowth {
    /// Which points of the series are fitted, where it has several curves.
    #[serde(flatten)]
    pub which: Which,
    /// Launches that have no fit of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_launches: Vec<LostLaunch>,
    /// The least dimension.
    pub from: u64,
    /// The greatest.
    pub to: u64,
    /// What the exponent says.
    pub law: Law,
    /// The exponent.
    pub exponent: Quantity,
    /// The time that does not grow.
    pub constant: Seconds,
    /// The time of N = 1 beyond it.
    pub factor: Seconds,
    /// Root mean square of the residuals over the times.
    pub rms_relative: Number,
}

/// t(P) = constant + per_doubling·log₂ P, fitted over powers of two.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankGrowth {
    /// The variant, where a size was measured in several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// Bytes or elements.
    pub size: u64,
    /// Launches that have no fit of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_launches: Vec<LostLaunch>,
    /// The numbers of ranks.
    pub ranks: Vec<u32>,
    /// The fitted time of one rank; it may be negative.
    pub constant: Seconds,
    /// The time that each doubling adds.
    pub per_doubling: Quantity,
    /// Root mean square of the residuals over the times.
    pub rms_relative: Number,
    /// Whether the residuals are so small beside the rise that the time counts as linear in log₂ P;
    /// absent where the interval says not that there is a rise, or those of the times leave it open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linear: Option<bool>,
}
