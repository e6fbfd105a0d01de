//! A layer beside the floor it stands on.

pub mod assemble;

use bandgap_record::Quantity;
use bandgap_report::table::{estimated, one_state};
use bandgap_report::{Layout, Listing};
use serde::{Deserialize, Serialize};

use crate::kind::{Among, Shown, Verdict, nothing};
use crate::measured::{BELOW_ONE, LostLaunch, by_name, in_one_state, sentences};

/// The time of a layer over the time of its floor, batch against neighbouring batch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// The layer's name.
    pub name: String,
    /// The floor's name.
    pub over: String,
    /// Time over time: 1 is as fast as the floor.
    pub ratio: Quantity,
    /// Launches that gave it nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_launches: Vec<LostLaunch>,
    /// The placement state of both.
    pub state: Option<String>,
    /// What a reader should know, as sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
}

impl Shown for Ratio {
    nothing! { figures, files }

    fn findings(&self) -> &[String] {
        &self.findings
    }

    fn quantities(&self) -> Vec<(String, &Quantity)> {
        vec![(format!("{} over {}", self.name, self.over), &self.ratio)]
    }

    /// How much longer each layer takes than its floor.
    fn text(&self, among: &Among<'_>, layout: &Layout) -> String {
        let Some(ratios) = among.led_by(self, |_| true) else { return String::new() };
        let state = one_state(ratios.iter().map(|ratio| ratio.state.as_deref()));
        let rows = Listing::new(ratios.iter().copied(), layout)
            .name("layer", |ratio| ratio.name.clone())
            .name("over its floor", |ratio| ratio.over.clone())
            .quantity("time ×", |ratio| Some(&ratio.ratio))
            .when(state.is_none(), |rows| {
                rows.text("state", |ratio| ratio.state.clone().unwrap_or_default())
            });
        let named = ratios.iter().map(|ratio| (ratio.name.as_str(), &ratio.ratio));
        let table = in_one_state(state, layout) + &rows.finish() + &estimated(layout, named);
        let told = ratios.iter().map(|ratio| (ratio.name.as_str(), &ratio.findings[..]));
        let mut told = by_name(told);
        let is_below = |of: &&Ratio| of.ratio.interval().is_some_and(|(_, high)| high < 1.0);
        told.extend(ratios.iter().any(is_below).then(|| BELOW_ONE.to_owned()));
        format!("\n{table}{}", sentences(&told, layout))
    }

    /// How a layer compares with its floor is not a matter of right or wrong.
    fn verdict(&self) -> Verdict {
        Verdict::Good
    }
}

#[cfg(test)]
pub(crate) mod tests;
