//! The tables of papers, by name.

use super::{ComponentTable, toml};

/// Names and texts.
const PRESETS: [(&str, &str); 1] =
    [("thunderx2-connectx4", include_str!("../../presets/thunderx2-connectx4.toml"))];

/// The names of the tables that are built in.
pub fn component_presets() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|(name, _)| *name)
}

/// The table of this name that is built in.
pub fn component_preset(name: &str) -> Option<ComponentTable> {
    let (_, text) = PRESETS.iter().find(|(known, _)| *known == name)?;
    Some(toml::read(text).expect("a table that is built in is read by a test"))
}

/// The models of the paper that CSV tables are read for.
pub(super) fn paper() -> toml::Declarations {
    toml::Declarations::parse(PRESETS[0].1).expect("a table that is built in is read by a test")
}
