//! What plain loops reach on the machine, whatever the transport.

pub mod assemble;
mod places;

use bandgap_record::{Number, Quantity};
use bandgap_report::table::{ROOMY, estimated, evidence, one_state};
use bandgap_report::{Layout, Listing};
use serde::{Deserialize, Serialize};

use crate::kind::{Among, Shown, Verdict, nothing};
use crate::measured::{LostLaunch, by_name, in_one_state, sentences};

pub use places::Places;

/// One floor: a cache-line transfer, a memory copy, a bare socket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Floor {
    /// `cache_line`, `slot_ring`, `tcp`, … Times of exchanges are half round trips.
    pub name: String,
    /// What it is, in a few words.
    #[serde(default)]
    pub meaning: String,
    /// The time or the rate.
    #[serde(flatten)]
    pub value: FloorValue,
    /// Its times at the places in memory that its samples went over, where they were at more than one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub places: Option<Places>,
    /// Launches that gave it nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_launches: Vec<LostLaunch>,
    /// Label of the machine state it was taken in, where states were told apart.
    pub state: Option<String>,
    /// The samples, in the unit of the value.
    pub samples: Vec<Number>,
    /// What a reader should know, as sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
}

/// A floor is a least time or a greatest rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FloorValue {
    /// In seconds.
    Time(Quantity),
    /// In bytes per second.
    Rate(Quantity),
}

impl FloorValue {
    /// The quantity, whichever it is.
    pub fn quantity(&self) -> &Quantity {
        match self {
            FloorValue::Time(quantity) | FloorValue::Rate(quantity) => quantity,
        }
    }
}

impl Shown for Floor {
    nothing! { figures, files }

    fn findings(&self) -> &[String] {
        &self.findings
    }

    fn quantities(&self) -> Vec<(String, &Quantity)> {
        vec![(format!("floor {}", self.name), self.value.quantity())]
    }

    /// All floors with their intervals and what each of them is.
    fn text(&self, among: &Among<'_>, layout: &Layout) -> String {
        let Some(floors) = among.led_by(self, |_| true) else { return String::new() };
        let state = one_state(floors.iter().map(|floor| floor.state.as_deref()));
        // What all have in common is said once.
        let estimator = |floor: &Floor| floor.value.quantity().estimator.clone();
        let alike = floors.iter().all(|floor| estimator(floor) == estimator(self));
        let sourced = layout.columns() >= ROOMY && !alike;
        let rows = Listing::new(floors.iter().copied(), layout)
            .name("floor", |floor| floor.name.clone())
            .quantity("value", |floor| Some(floor.value.quantity()))
            .when(state.is_none(), |rows| {
                rows.text("state", |floor| floor.state.clone().unwrap_or_default())
            })
            .text("meaning", |floor| floor.meaning.clone())
            .when(sourced, |rows| {
                rows.text("estimated by", |floor| evidence(floor.value.quantity()))
            });
        let mut text = in_one_state(state, layout) + &rows.finish();
        if !sourced {
            text += &estimated(
                layout,
                floors.iter().map(|floor| (floor.name.as_str(), floor.value.quantity())),
            );
        }
        let places =
            floors.iter().filter_map(|floor| Some(floor.places.as_ref()?.line(&floor.name)));
        places.for_each(|line| text += &layout.paragraph(&line));
        let told = floors.iter().map(|floor| (floor.name.as_str(), &floor.findings[..]));
        text + &sentences(&by_name(told), layout)
    }

    fn verdict(&self) -> Verdict {
        Verdict::on(self.quantities())
    }
}

#[cfg(test)]
pub(crate) mod tests;
