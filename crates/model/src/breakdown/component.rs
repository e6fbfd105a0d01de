//! A component: something on the way of a message that takes time.

use derive_more::Display;
use serde::{Deserialize, Serialize};

/// Makes an enum of words that a table has for a property, each written one way.
macro_rules! words {
    ($(#[$about:meta])* $Name:ident, $what:literal { $($(#[$doc:meta])* $Word:ident = $word:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Display, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum $Name { $($(#[$doc])* #[display($word)] $Word,)+ }

        impl $Name {
            /// All of them.
            pub const ALL: &[$Name] = &[$($Name::$Word),+];
            /// What a word of a table must be.
            pub const EXPECTED: &str = $what;

            /// What a table calls so, in letters of either case.
            pub fn named(word: &str) -> Option<$Name> {
                let word = word.to_ascii_lowercase();
                let word = if word == "i/o" { "io" } else { &word };
                Self::ALL.iter().copied().find(|one| one.to_string() == word)
            }
        }
    };
}

words! {
    /// What kind of part spends the time.
    Category, "it must be cpu, io or network" {
        /// Software.
        Cpu = "cpu",
        /// Between the processor's chip and its network interface.
        Io = "io",
        /// Between the network interfaces.
        Network = "network",
    }
}

words! {
    /// Whose the time is.
    Layer, "it must be hlp, llp or hardware" {
        /// The high-level protocol: MPI, and what manages messages below it.
        Hlp = "hlp",
        /// The low-level protocol: what drives the network interface.
        Llp = "llp",
        /// No software.
        Hardware = "hardware",
    }
}

words! {
    /// Where the time is spent.
    Side, "it must be initiator, target, both or network" {
        /// The node that sends.
        Initiator = "initiator",
        /// The node that receives.
        Target = "target",
        /// Either node alike.
        Both = "both",
        /// Between the nodes.
        Network = "network",
    }
}

words! {
    /// How a time is known.
    Provenance, "it must be measured, derived or assumed" {
        /// By measuring the component itself.
        Measured = "measured",
        /// From other measured times.
        Derived = "derived",
        /// Not by measurement.
        Assumed = "assumed",
    }
}

/// One component.
#[derive(Clone, Debug, PartialEq)]
pub struct Component {
    /// What formulas call it.
    pub name: String,
    /// What readers call it; its name where there is none.
    pub label: Option<String>,
    /// What kind of part spends the time.
    pub category: Category,
    /// Whose the time is.
    pub layer: Layer,
    /// Where it is spent.
    pub side: Side,
    /// How long it takes.
    pub time: Time,
    /// How that is known.
    pub provenance: Provenance,
    /// The component that it is a part of. A component with parts stands for their sum.
    pub part_of: Option<String>,
    /// Whether it is only what others are derived from: it is in no category, layer or side, and in no sum of all.
    pub apart: bool,
}

/// What is known of a component beside its time: its name, what readers call it, and where it belongs.
pub type Known = (&'static str, &'static str, Category, Layer, Side);

impl Component {
    /// A component of this time, which is a part of no other.
    pub fn of(&(name, label, category, layer, side): &Known, time: Time, how: Provenance) -> Self {
        let (name, label) = (name.to_owned(), Some(label.to_owned()));
        Self {
            name,
            label,
            category,
            layer,
            side,
            time,
            provenance: how,
            part_of: None,
            apart: false,
        }
    }

    /// What readers call it.
    pub fn title(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.name)
    }
}

/// How long a component takes.
#[derive(Clone, Debug, PartialEq)]
pub enum Time {
    /// So long.
    Given {
        /// The time in nanoseconds.
        ns: f64,
        /// Its standard deviation in nanoseconds, where it is known.
        spread: Option<f64>,
    },
    /// What this formula over other components gives.
    Derived(String),
}
