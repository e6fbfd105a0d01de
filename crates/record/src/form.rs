//! How rows are shown where there is one screen for all results.

use serde::{Deserialize, Serialize};

/// How rows are shown on one screen. With the details all rows are shown, and their curves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "as", rename_all = "snake_case")]
pub enum Form {
    /// Of several results a line each; of one alone its fit and some rows of its curve.
    Kernel {
        /// Rows of the curve, at most.
        rows: usize,
        /// Whether its fit stands in the table of signatures, in place of a line, where there is one.
        #[serde(default)]
        headline: bool,
    },
    /// Some rows of the curve, whatever else there is.
    Curve,
    /// A matrix of all pairs, and the slowest.
    Pairs,
    /// Curves side by side; beside other results a sentence with the greatest value of the first quantity.
    SideBySide {
        /// A table each: of each curve the first of these quantities that it has.
        tables: Vec<Vec<String>>,
        /// The axis by whose places the sentence has the greatest value.
        #[serde(default)]
        by: Option<String>,
        /// Whether nothing else is on the screen.
        #[serde(default)]
        alone: bool,
    },
    /// A sentence: what holds in which range of sizes, on the most ranks.
    Ranges {
        /// How the sentence begins.
        title: String,
        /// The label, or the quantity, that holds.
        of: String,
    },
    /// In the line of the kernel of the same name: as what its time grows.
    Law,
    /// A line in the table of floors: a value, and what it is over.
    Floor,
    /// All rows without a distribution, as a table.
    Table,
    /// Errors of predictions: their summary, and the worst of each series.
    Errors,
    /// Not at all, as long as there is anything else; and forms of later versions.
    #[serde(other)]
    Details,
}

impl Form {
    /// Rows of a curve on a screen, where nothing else is said.
    pub const FEW: usize = 5;

    /// Rows of a curve on a screen, at most.
    pub fn rows(&self) -> usize {
        match self {
            Form::Kernel { rows, .. } => *rows,
            _ => Form::FEW,
        }
    }

    /// Whether it is a kernel whose fit stands beside signatures.
    pub fn is_headline(&self) -> bool {
        matches!(self, Form::Kernel { headline: true, .. })
    }
}

impl Default for Form {
    fn default() -> Form {
        Form::Kernel { rows: Form::FEW, headline: false }
    }
}
