//! What the operating system takes away, by fixed work quanta.

use bandgap_record::{Number, Seconds};
use bandgap_report::table::plain;
use bandgap_report::{Layout, Listing};
use bandgap_units::Fraction;
use serde::{Deserialize, Serialize};

use crate::kind::{Among, Shown, Verdict, nothing};

/// A fixed amount of work, timed again and again on each core; whatever takes longer was disturbed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// One row per core.
    pub cores: Vec<CoreNoise>,
}

/// How one core was disturbed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CoreNoise {
    /// The processor.
    pub core: u32,
    /// Time of an undisturbed quantum.
    pub quantum: Seconds,
    /// Quanta timed.
    pub samples: u64,
    /// Median time of a quantum.
    pub median: Seconds,
    /// Mean time of a quantum.
    pub mean: Seconds,
    /// 99th percentile.
    pub p99: Seconds,
    /// 99.9th percentile.
    pub p999: Seconds,
    /// Longest quantum.
    pub max: Seconds,
    /// A quantum longer than the undisturbed one by more than this holds a detour.
    pub threshold: Seconds,
    /// Quanta with a detour, per second.
    pub detours_per_second: Number,
    /// Share of the time that work did not get.
    pub time_lost: Number,
}

impl Shown for Noise {
    // What disturbs a core is not estimated, but counted.
    nothing! { quantities, figures, files, findings }

    /// A row for each core.
    fn text(&self, _: &Among<'_>, layout: &Layout) -> String {
        let rows = Listing::new(&self.cores, layout)
            .number("core", |core| core.core.to_string())
            .number("quantum", |core| core.quantum.ns().to_string())
            .number("median", |core| core.median.ns().to_string())
            .number("p99", |core| core.p99.ns().to_string())
            .number("longest", |core| core.max.ns().to_string())
            .number("disturbed per second", |core| plain(core.detours_per_second.0))
            .number("time lost", |core| Fraction(core.time_lost.0).to_string());
        let what = "Noise: how long a fixed amount of work takes, again and again on each core:";
        layout.paragraph(what) + &rows.finish()
    }

    /// Whether it is too much depends on what is to be measured.
    fn verdict(&self) -> Verdict {
        Verdict::Good
    }
}

#[cfg(test)]
pub(crate) mod tests;
