//! The effect of contention: echo under load, and several requesters of one replier.

use bandgap_campaign::contention::LOAD_AXIS;
use bandgap_campaign::fan_in::{CONTENDED, key};
use bandgap_record::{Column, Form, Labels, Unit};

use crate::estimate::{Estimated, Measured};
use crate::made::{Builder, Made, SERIES};
use crate::points::{At, Points};
use crate::{AssembleError, Result};

/// The slowdown of an echo under load, by round; `None` for an echo without load.
pub(crate) fn slowdown(
    of: &Measured<'_>,
    points: &Points<'_>,
    (key, point): At<'_>,
) -> Option<Estimated> {
    let load = point.place(LOAD_AXIS)?;
    let is_idle = |other: &At<'_>| {
        let mut axes = other.1.at.iter();
        axes.all(|(axis, at)| match axis.as_str() {
            LOAD_AXIS => *at == 0_u64.into(),
            _ => point.place(axis) == Some(at),
        })
    };
    let (idle, _) = points.all.iter().find(|other| is_idle(other))?;
    if *load == 0_u64.into() { None } else { of.ratio(key, idle) }
}

/// The gap of each of K requesters of one replier, and its ratio to the gap of a single requester.
///
/// # Errors
/// A single requester was not measured, or a number cannot be recorded.
pub fn fan_in(of: &Measured<'_>) -> Result<Made> {
    let columns = vec![
        Column::new("gap", Unit::Second, "g_K: time of a message of each requester").counting(),
        Column::new("slowdown", Unit::One, "g_K / g_1, by round; K where the replier is the limit"),
    ];
    let mut rows = Builder::new(SERIES, "fan_in", &of.setting.transport, &["requesters"], columns);
    rows.rows.form = Form::Curve;
    let alone = key(1);
    if of.time(&alone).is_none() {
        return Err(AssembleError::Empty);
    }
    for (key, _) in of.judged.table.of(CONTENDED) {
        let Some((requesters, gap)) = key.number("requesters").zip(of.time(key)) else { continue };
        let spread = of.spread(key);
        let cells = [Some(gap), of.ratio(key, &alone)];
        rows.push(vec![requesters.into()], Labels::new(), &cells, spread)?;
    }
    Ok(rows.made())
}

#[cfg(test)]
mod tests;
