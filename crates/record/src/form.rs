//! How the one-screen view shows rows.

use serde::{Deserialize, Serialize};

/// How the one-screen view shows rows. The view with details shows all rows and their curves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "as", rename_all = "snake_case")]
pub enum Form {
    /// Several results: one line each. One result: its fit and some rows of its curve.
    Kernel {
        /// Most rows of the curve.
        rows: usize,
        /// Whether the fit goes into the table of signatures, if there is one, instead of into a line.
        #[serde(default)]
        headline: bool,
    },
    /// Some rows of the curve, always.
    Curve,
    /// A matrix of all pairs, and the slowest pairs.
    Pairs,
    /// Curves side by side; among other results, a sentence with the greatest value of the first quantity.
    SideBySide {
        /// Tables. Each lists quantities in order of preference; a curve shows the first one that it has.
        tables: Vec<Vec<String>>,
        /// The axis for which the sentence gives one greatest value per coordinate.
        #[serde(default)]
        by: Option<String>,
        /// Whether the screen shows nothing else.
        #[serde(default)]
        alone: bool,
    },
    /// A sentence about the largest number of ranks: a value for each range of sizes.
    Ranges {
        /// The beginning of the sentence.
        title: String,
        /// The label or quantity whose value the sentence gives.
        of: String,
    },
    /// The law of growth, in the line of the kernel with the same name.
    Law,
    /// A line in the table of floors: a value, and its ratio to other floors.
    Floor,
    /// A table of all rows, without distributions.
    Table,
    /// Errors of predictions: a summary, and the worst error of each series.
    Errors,
    /// Hidden, unless there is nothing else. Also any form of a later version.
    #[serde(other)]
    Details,
}

impl Form {
    /// Default number of rows of a curve.
    pub const FEW: usize = 5;

    /// Most rows of a curve on a screen.
    pub fn rows(&self) -> usize {
        match self {
            Form::Kernel { rows, .. } => *rows,
            _ => Form::FEW,
        }
    }

    /// Whether the fit of this kernel goes into the table of signatures.
    pub fn is_headline(&self) -> bool {
        matches!(self, Form::Kernel { headline: true, .. })
    }
}

impl Default for Form {
    fn default() -> Form {
        Form::Kernel { rows: Form::FEW, headline: false }
    }
}
