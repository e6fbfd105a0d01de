//! How the list of kinds of result is read.

use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::value::RawValue;

use crate::Outcome;
use crate::kind::Kind;

/// Declares the folder of each kind, and makes `Outcome` of them.
macro_rules! results {
    ($($folder:ident::$Name:ident),* $(,)?) => {
        $(pub mod $folder;)*
        $(use $folder::$Name;)*

        /// One result. The field `kind` tells which.
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum Outcome {
            $(#[doc = concat!("See [`", stringify!($Name), "`].")] $Name(Box<$Name>),)*
            /// See [`Unknown`].
            Unknown(Unknown),
        }

        /// The name and the meaning of each kind.
        pub const KINDS: &[(&str, &str)] = &[$((<$Name as Kind>::KIND, <$Name as Kind>::MEANING)),*];

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
                kind: String,
                raw: Box<serde_json::value::RawValue>,
            ) -> Result<Outcome, serde_json::Error> {
                match kind.as_str() {
                    $($Name::KIND => $crate::list::decode::<$Name>(&raw).map(Outcome::from),)*
                    _ => Ok(Outcome::Unknown(Unknown { kind, raw })),
                }
            }

            /// One of each kind.
            #[cfg(test)]
            pub(crate) fn samples() -> Vec<Outcome> {
                vec![$($Name::sample().into()),*]
            }
        }

        impl serde::Serialize for Outcome {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Outcome::$Name(result) => {
                        $crate::list::Tagged::of(&**result).serialize(serializer)
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
        Outcome::read(kind.clone(), raw)
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
    kind: &'static str,
    #[serde(flatten)]
    result: &'a K,
}

impl<'a, K: Kind> Tagged<'a, K> {
    pub(crate) fn of(result: &'a K) -> Self {
        Tagged { kind: K::KIND, result }
    }
}

#[cfg(test)]
mod tests;
