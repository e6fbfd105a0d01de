//! A file as it is written.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

/// All of it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub name: String,
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub component: Vec<Spanned<ComponentEntry>>,
    #[serde(default)]
    pub model: Vec<Spanned<ModelEntry>>,
    #[serde(default)]
    pub figure: Vec<Spanned<FigureEntry>>,
    #[serde(default)]
    pub insight: Vec<Spanned<InsightEntry>>,
    #[serde(default)]
    pub curves: Vec<Spanned<CurvesEntry>>,
    #[serde(default)]
    pub case: Vec<Spanned<CaseEntry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ComponentEntry {
    pub name: Spanned<String>,
    pub label: Option<String>,
    pub category: Spanned<String>,
    pub layer: Spanned<String>,
    pub side: Spanned<String>,
    pub time_ns: Option<Spanned<f64>>,
    pub time: Option<Spanned<String>>,
    pub formula: Option<String>,
    pub spread_ns: Option<Spanned<f64>>,
    pub spread: Option<Spanned<String>>,
    pub provenance: Option<Spanned<String>>,
    pub part_of: Option<String>,
    #[serde(default)]
    pub apart: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ModelEntry {
    pub name: Spanned<String>,
    pub label: Option<String>,
    pub formula: Spanned<String>,
    #[serde(default)]
    pub main: bool,
    pub observed_ns: Option<Spanned<f64>>,
    pub observed: Option<Spanned<String>>,
    pub observed_spread_ns: Option<Spanned<f64>>,
    pub observed_spread: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FigureEntry {
    pub title: String,
    pub bars: Vec<BarEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BarEntry {
    pub model: String,
    pub by: Spanned<String>,
    pub only: Option<Spanned<String>>,
    pub label: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InsightEntry {
    pub ratio: Option<[String; 2]>,
    pub share: Option<[String; 2]>,
    pub most: Option<String>,
    pub by: Option<Spanned<String>>,
    pub only: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CurvesEntry {
    pub title: String,
    pub model: String,
    pub of: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CaseEntry {
    pub name: String,
    #[serde(default)]
    pub about: String,
    #[serde(default)]
    pub reduce: BTreeMap<String, Spanned<String>>,
    #[serde(default)]
    pub increase: BTreeMap<String, Spanned<String>>,
    #[serde(default)]
    pub set: BTreeMap<String, Spanned<String>>,
}
