//! How the list of kinds of result is read.

use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::value::RawValue;

use crate::Outcome;

/// Declares the folder of each kind, which is named as the field `kind` of its results, and makes
/// `Outcome` of them.
macro_rules! results {
    ($($kind:ident::$Name:ident),* $(,)?) => {
        $(pub mod $kind;)*
        $(use $kind::$Name;)*

        /// One result. The field `kind` tells which.
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum Outcome {
            $(#[doc = concat!("See [`", stringify!($Name), "`].")] $Name(Box<$Name>),)*
            /// See [`Unknown`].
            Unknown(Unknown),
        }

        impl Outcome {
            /// It as a reader sees it.
            pub fn as_shown(&self) -> &dyn $crate::kind::Shown {
                match self {
                    $(Outcome::$Name(result) => &**result,)*
                    Outcome::Unknown(result) => result,
                }
            }

            /// Reads the type that `kind` names.
            fn read(
                kind: &str,
                raw: Box<serde_json::value::RawValue>,
            ) -> Result<Outcome, serde_json::Error> {
                match kind {
                    $(stringify!($kind) => $crate::list::decode::<$Name>(&raw).map(Outcome::from),)*
                    _ => Ok(Outcome::Unknown(Unknown { kind: kind.to_owned(), raw })),
                }
            }

            /// One of each kind, with every field filled.
            #[cfg(test)]
            pub(crate) fn samples() -> Vec<Outcome> {
                vec![$($kind::tests::sample().into()),*]
            }
        }

        impl serde::Serialize for Outcome {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Outcome::$Name(result) => {
                        $crate::list::Tagged { kind: stringify!($kind), result }.serialize(serializer)
                    },)*
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
pub(crate) use results;

impl<'de> Deserialize<'de> for Outcome {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Outcome, D::Error> {
        #[derive(Deserialize)]
        struct Head {
            kind: String,
        }
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        // The kind first: a broken result of a known kind is broken, and not of an unknown one.
        let Head { kind } = serde_json::from_str(raw.get()).map_err(de::Error::custom)?;
        Outcome::read(&kind, raw)
            .map_err(|error| de::Error::custom(format_args!("of kind {kind}: {error}")))
    }
}

/// A value by way of one without places, since those in a part of a file would mislead.
pub(crate) fn decode<T: de::DeserializeOwned>(raw: &RawValue) -> Result<T, serde_json::Error> {
    serde_json::from_value(serde_json::from_str(raw.get())?)
}

/// A result behind the name of its kind.
#[derive(Serialize)]
pub(crate) struct Tagged<'a, K> {
    pub(crate) kind: &'static str,
    #[serde(flatten)]
    pub(crate) result: &'a K,
}

#[cfg(test)]
mod tests;
