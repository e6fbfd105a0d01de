//! The kinds of result.

use std::any::Any;

use bandgap_record::{Quantity, Rows};
use bandgap_report::Block;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::value::RawValue;

use crate::breakdown::Breakdown;
use crate::hockney::Hockney;
use crate::logp::Logp;
use crate::shown::{Context, Shown};
use crate::simulation::Simulation;
use crate::whatif::WhatIf;

/// Declares the kinds with types of their own; all others are [`Rows`].
macro_rules! kinds {
    ($($kind:literal => $Name:ident),* $(,)?) => {
        /// One result. The field `kind` tells which.
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum Outcome {
            /// Quantities over axes.
            Rows(Box<Rows>),
            $(#[doc = concat!("See [`", stringify!($Name), "`].")] $Name(Box<$Name>),)*
            /// Of a kind that this version does not know.
            Unknown(Unknown),
        }

        impl Outcome {
            /// The result as a reader sees it.
            pub fn as_shown(&self) -> &dyn Shown {
                match self {
                    Outcome::Rows(rows) => &**rows,
                    $(Outcome::$Name(result) => &**result,)*
                    Outcome::Unknown(result) => result,
                }
            }

            /// Reads the type that `kind` names; rows where there are columns.
            fn read(kind: String, is_rows: bool, raw: Box<RawValue>) -> Result<Outcome, serde_json::Error> {
                match &*kind {
                    $($kind => decode::<$Name>(&raw).map(Outcome::from),)*
                    _ if is_rows => decode::<Rows>(&raw).map(Outcome::from),
                    _ => Ok(Outcome::Unknown(Unknown { kind, raw })),
                }
            }
        }

        impl Serialize for Outcome {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    Outcome::Rows(rows) => rows.serialize(serializer),
                    $(Outcome::$Name(result) => Tagged { kind: $kind, result }.serialize(serializer),)*
                    Outcome::Unknown(result) => result.raw.serialize(serializer),
                }
            }
        }

        $(impl From<$Name> for Outcome {
            fn from(result: $Name) -> Outcome {
                Outcome::$Name(Box::new(result))
            }
        })*
    };
}

kinds! {
    "logp" => Logp,
    "hockney" => Hockney,
    "breakdown" => Breakdown,
    "whatif" => WhatIf,
    "simulation" => Simulation,
}

impl Outcome {
    /// Its id, with which those of its quantities begin; empty if it has none.
    pub fn id(&self) -> String {
        match self {
            // Signatures differ in their size or pattern.
            Outcome::Logp(logp) => logp.id().replace("name=", ""),
            _ => {
                self.as_shown().quantities().into_iter().next().map_or(String::new(), |(id, ..)| {
                    let parts = id.split('/').take(3).filter(|part| !part.contains('='));
                    parts.collect::<Vec<_>>().join("/")
                })
            }
        }
    }

    /// The rows, if the result is rows.
    pub fn as_rows(&self) -> Option<&Rows> {
        self.of_kind()
    }

    /// The result, if it is of this type.
    pub fn of_kind<T: Shown>(&self) -> Option<&T> {
        let any: &dyn Any = self.as_shown();
        any.downcast_ref()
    }
}

impl From<Rows> for Outcome {
    fn from(rows: Rows) -> Outcome {
        Outcome::Rows(Box::new(rows))
    }
}

impl<'de> Deserialize<'de> for Outcome {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Outcome, D::Error> {
        #[derive(Deserialize)]
        struct Head {
            kind: String,
            #[serde(default)]
            columns: Option<de::IgnoredAny>,
        }
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        // The kind first: a broken result of a known kind is broken, and not of an unknown one.
        let Head { kind, columns } = serde_json::from_str(raw.get()).map_err(de::Error::custom)?;
        let named = kind.clone();
        Outcome::read(kind, columns.is_some(), raw)
            .map_err(|error| de::Error::custom(format_args!("of kind {named}: {error}")))
    }
}

/// Decodes by way of a JSON value, whose errors have no line numbers: those within a part of a file would mislead.
fn decode<T: de::DeserializeOwned>(raw: &RawValue) -> Result<T, serde_json::Error> {
    serde_json::from_value(serde_json::from_str(raw.get())?)
}

/// A result behind the name of its kind.
#[derive(Serialize)]
struct Tagged<'a, K> {
    kind: &'static str,
    #[serde(flatten)]
    result: &'a K,
}

/// A result of a kind that this version does not know, kept as it was read, byte for byte.
#[derive(Clone, Debug)]
pub struct Unknown {
    /// Its kind.
    pub kind: String,
    /// The whole of it as JSON.
    pub raw: Box<RawValue>,
}

impl PartialEq for Unknown {
    fn eq(&self, other: &Unknown) -> bool {
        self.raw.get() == other.raw.get()
    }
}

impl Shown for Unknown {
    fn all(&self) -> Vec<(String, Option<&Quantity>, bool)> {
        Vec::new()
    }

    fn detail(&self, _: &Context<'_>) -> Vec<Block> {
        vec![Block::Text(format!(
            "{}: a kind of result that this version does not know",
            self.kind
        ))]
    }
}
