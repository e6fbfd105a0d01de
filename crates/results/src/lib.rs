//! The schema of results, and their rendering.
//!
//! A result is a set of values with ids ([`Shown::quantities`]); notes hold everything else that a reader should know.
//! Both are rendered as [`bandgap_report::Block`]s; [`Shown::detail`] renders everything. Nothing here measures.
#![forbid(unsafe_code)]

mod breakdown;
mod compare;
mod curves;
mod doctor;
mod files;
mod forest;
mod heading;
mod headline;
mod hockney;
mod kernels;
mod limit;
mod lines;
mod list;
mod logp;
mod meaning;
mod notes;
mod osu;
mod page;
mod pairs;
mod rows;
mod run;
mod screen;
mod shown;
mod simulation;
mod timeline;
mod validation;
mod whatif;
mod why;

pub use breakdown::{
    Beside, Breakdown, ComponentTime, Inserted, ModelTime, PartTime, PartsBy, TermOf, Within,
};
pub use compare::{
    COMPARISON, Comparison, Decide, Difference, Differences, Judged, Pairs, Rule, Side, Word,
    compare, plan,
};
pub use curves::curve;
pub use doctor::doctor;
pub use files::{REPORT, drawn, values, write_all};
pub use forest::forest;
pub use hockney::{Breakpoint, Hockney, Segment};
pub use limit::LIMIT;
pub use lines::{json_lines, openmetrics};
pub use list::Outcome;
pub use logp::{Arm, Line, Logp, ONE_TO_ONE, OverFloor, Parameters, SIGNATURE, Transition};
pub use notes::{template, words};
pub use osu::osu;
pub use page::page;
pub use rows::{OVER_FLOOR, PCIE_TRACE, SINGLES, Single};
pub use run::{Run, Verdict};
pub use screen::{View, detail, screen};
pub use shown::{CLOCK_LIMIT, Context, Shown, by_key, counted};
pub use simulation::{AtOperation, AtRank, CriticalPath, Derivative, Sensitivity, Simulation};
pub use timeline::{PARTS, Span, timeline};
pub use validation::{POINTS, SUMMARY, VALIDATION};
pub use whatif::{ChangeMade, ModelChange, RankedComponent, Ranking, SpeedUpCurve, WhatIf};
pub use why::why;
