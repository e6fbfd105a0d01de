//! What a component of a message's way is: the words in which a breakdown divides time.
//!
//! *Source*: "Breaking Band", sections 1 and 3 to 5.

use derive_more::Display;
use serde::{Deserialize, Serialize};

macro_rules! words {
    ($(#[$about:meta])* $Name:ident, $what:literal { $($(#[$doc:meta])* $Word:ident = $word:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Display, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum $Name { $($(#[$doc])* #[display($word)] $Word,)+ }

        impl $Name {
            /// All of them.
            pub const ALL: &[$Name] = &[$($Name::$Word),+];
            /// What is expected, for messages.
            pub const EXPECTED: &str = $what;

            /// The one of this name, in letters of either case; `I/O` is `io`.
            pub fn named(word: &str) -> Option<$Name> {
                let word = word.replace('/', "");
                Self::ALL.iter().copied().find(|one| one.to_string().eq_ignore_ascii_case(&word))
            }
        }
    };
}

words! {
    /// What kind of part spends the time.
    Category, "it must be cpu, io or network" {
        /// A processor.
        Cpu = "cpu",
        /// What connects it with the network interface and with memory.
        Io = "io",
        /// Wires and switches.
        Network = "network",
    }
}

words! {
    /// Whose time it is.
    Layer, "it must be hlp, llp, misc or hardware" {
        /// The high-level protocol.
        Hlp = "hlp",
        /// The low-level protocol.
        Llp = "llp",
        /// What belongs to neither, as a loop around both.
        Misc = "misc",
        /// No software.
        Hardware = "hardware",
    }
}

words! {
    /// Where it is spent.
    Side, "it must be initiator, target, both or network" {
        /// Where the message begins.
        Initiator = "initiator",
        /// Where it ends.
        Target = "target",
        /// Half on each.
        Both = "both",
        /// Between them.
        Network = "network",
    }
}

words! {
    /// How a time is known.
    Provenance, "it must be measured, derived or assumed" {
        /// By measuring it.
        Measured = "measured",
        /// From other times.
        Derived = "derived",
        /// By nobody's measurement.
        Assumed = "assumed",
    }
}
