//! What can be wrong with a quantity that a user typed.

/// Why a text is not a quantity. Every variant carries the text as it was given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnitError {
    /// Nothing was given.
    #[error("read {what}: the text is empty (write for example {example})")]
    Empty {
        /// The quantity that was expected.
        what: &'static str,
        /// A text that would be accepted.
        example: &'static str,
    },
    /// The text does not begin with a number.
    #[error(
        "read {what} from '{text}': it does not start with a number (write for example {example})"
    )]
    NotANumber {
        /// The quantity that was expected.
        what: &'static str,
        /// The text as given.
        text: String,
        /// A text that would be accepted.
        example: &'static str,
    },
    /// A number without the unit that it needs.
    #[error("read {what} from '{text}': the unit is missing (write for example {example})")]
    MissingUnit {
        /// The quantity that was expected.
        what: &'static str,
        /// The text as given.
        text: String,
        /// A text that would be accepted.
        example: &'static str,
    },
    /// The letters after the number are not a unit of this quantity.
    #[error("read {what} from '{text}': unknown unit '{unit}' (known: {known})")]
    UnknownUnit {
        /// The quantity that was expected.
        what: &'static str,
        /// The text as given.
        text: String,
        /// The part of it that was taken for a unit.
        unit: String,
        /// The units that are known.
        known: &'static str,
    },
    /// K, M or G alone, which some programs read as 1000 and some as 1024.
    #[error("read a size from '{text}': '{unit}' may mean 1000 or 1024; write {iec} or {si}")]
    AmbiguousUnit {
        /// The text as given.
        text: String,
        /// The unit as given.
        unit: String,
        /// The binary unit to write.
        iec: &'static str,
        /// The decimal unit to write.
        si: &'static str,
    },
    /// A number that the quantity cannot hold.
    #[error("read {what} from '{text}': {why}")]
    OutOfRange {
        /// The quantity that was expected.
        what: &'static str,
        /// The text as given.
        text: String,
        /// What a value must satisfy.
        why: &'static str,
    },
}
