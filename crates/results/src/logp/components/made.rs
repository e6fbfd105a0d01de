//! Components and models as they are made of parameters.

use bandgap_model::breakdown::{
    Category, Component, Declared, Layer, Observed, Provenance, Side, Time,
};
use bandgap_record::{CurvesDeclared, Quantity};
use bandgap_stats::interval::normal_factor;
use bandgap_units::Ns;

use super::Found;
use crate::assemble::TABLE;
use crate::measured::VIRTUAL;

/// Where a time is spent.
pub(super) type Place = (Category, Layer, Side);

/// Where the sender's processor spends it.
pub(super) const SENDER: Place = (Category::Cpu, Layer::Llp, Side::Initiator);
/// Where the receiver's does.
pub(super) const RECEIVER: Place = (Category::Cpu, Layer::Llp, Side::Target);
/// Between them.
pub(super) const BETWEEN: Place = (Category::Network, Layer::Hardware, Side::Network);

/// What was made so far.
pub(super) struct Made {
    pub components: Vec<Component>,
    pub models: Vec<Declared>,
    pub curves: Vec<CurvesDeclared>,
    pub notes: Vec<String>,
    /// What other signatures have as a component, and why it is none here.
    pub lacking: Vec<(&'static str, String)>,
    /// How many standard deviations an interval reaches to either side.
    factor: f64,
}

/// A time in nanoseconds, with its standard deviation where it has an interval.
#[derive(Clone, Copy)]
pub(super) struct Known {
    pub ns: f64,
    pub spread: Option<f64>,
}

impl Made {
    /// Nothing yet, of parameters whose intervals are at this level.
    pub fn new(confidence: f64) -> Self {
        Self {
            components: Vec::new(),
            models: Vec::new(),
            curves: Vec::new(),
            notes: Vec::new(),
            lacking: Vec::new(),
            factor: normal_factor(confidence),
        }
    }

    /// A parameter's time. Its standard deviation is half of the interval over the normal distribution's factor,
    /// so that at the run's own level the interval comes out as wide as it was.
    pub fn known(&self, parameter: Option<&Quantity>) -> Option<Known> {
        let parameter = parameter?;
        let spread = parameter
            .interval()
            .map(|(low, high)| Ns::from_secs((high - low) / 2.0).0 / self.factor);
        Some(Known { ns: parameter.as_time()?.0, spread })
    }

    /// The time of a parameter that must be there and not negative; else a sentence says what is left out.
    pub fn needed(&mut self, symbol: &str, of: Option<&Quantity>, model: &str) -> Option<Known> {
        let known = self.known(of);
        let why = match (known, of) {
            (Some(known), _) if known.ns >= 0.0 => return Some(known),
            (Some(_), Some(of)) => format!("{symbol} is {}", told(of)),
            _ => format!("{symbol} was not found"),
        };
        self.notes.push(format!("Not modelled: {model}, since {why}."));
        None
    }

    /// Says what os and or are, which a reader may take for work.
    pub fn overheads(&mut self, of: &Found<'_>) {
        let transport = &of.logp.transport;
        if !(self.has("os") || self.has("or")) || transport.starts_with(VIRTUAL) {
            return;
        }
        let measured = match transport == TABLE {
            true => String::new(),
            false => format!(
                " Where the time of a message goes, bandgap breakdown --transport {transport} says."
            ),
        };
        self.notes.push(format!(
            "os and or are times in which the processor can do nothing else: waiting for lines of memory or for the \
             operating system is in them.{measured}"
        ));
    }

    /// Whether there is this component.
    pub fn has(&self, name: &str) -> bool {
        self.components.iter().any(|one| one.name == name)
    }

    /// Adds a component, unless it is there.
    pub fn component(&mut self, name: &str, label: &str, place: Place, time: Time) {
        if self.has(name) {
            return;
        }
        let (category, layer, side) = place;
        let provenance = match time {
            Time::Given { .. } => Provenance::Measured,
            Time::Derived(_) => Provenance::Derived,
        };
        let (name, label) = (name.to_owned(), Some(label.to_owned()));
        self.components.push(Component {
            name,
            label,
            category,
            layer,
            side,
            time,
            provenance,
            part_of: None,
            apart: false,
        });
    }

    /// Adds a model: what the signature is modelled for if `main`.
    pub fn model(
        &mut self,
        name: &str,
        label: &str,
        formula: &str,
        main: bool,
        observed: Option<Known>,
    ) {
        let observed = observed.filter(|observed| observed.ns > 0.0);
        self.models.push(Declared {
            name: name.to_owned(),
            label: Some(label.to_owned()),
            formula: formula.to_owned(),
            main,
            observed: observed.map(|Known { ns, spread }| Observed { value: ns, spread }),
        });
    }

    /// Draws what each of these components would bring to a model.
    pub fn curves(&mut self, title: &str, model: &str, of: &[&str]) {
        let of = of.iter().map(|name| (*name).to_owned()).collect();
        self.curves.push(CurvesDeclared { title: title.to_owned(), model: model.to_owned(), of });
    }
}

impl From<Known> for Time {
    fn from(Known { ns, spread }: Known) -> Time {
        Time::Given { ns, spread }
    }
}

/// A time in a sentence, with its interval.
pub(super) fn told(of: &Quantity) -> String {
    let value = Ns::from_secs(of.value.0);
    match of.interval() {
        Some((low, high)) => value.within(Ns::from_secs(low), Ns::from_secs(high)),
        None => value.to_string(),
    }
}
