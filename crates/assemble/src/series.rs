//! Operations over sizes, ranks and ways to do them.

use bandgap_campaign::contention::LOAD_AXIS;
use bandgap_campaign::data::Verified;
use bandgap_campaign::series::BURST;
use bandgap_campaign::{Described, Key};
use bandgap_comm::Yields;
use bandgap_kernels::{ISSUE, Look, SINGLE, in_series};
use bandgap_model::hockney::SizedTimes;
use bandgap_record::{Column, Form, Labels, Note, Place, Unit};
use bandgap_results::{OVER_FLOOR, SINGLES};
use bandgap_stats::Convergence;

use crate::contention::slowdown;
use crate::estimate::{Estimated, Measured};
use crate::fastest::fastest;
use crate::floors::floors;
use crate::growth::growth;
use crate::hops::hops;
use crate::made::{Builder, Made, SERIES};
use crate::points::{At, Points};
use crate::{AssembleError, Result};

/// The series with the time of each part of a message: sending, receiving, and a further message. No line is fitted to it.
pub const MESSAGE_COSTS: &str = "message_costs";

/// The times of one curve of a series, for a fit.
#[derive(Clone, Debug, PartialEq)]
pub struct CurveTimes {
    /// The series.
    pub name: String,
    /// Which of its curves, by the axes that are not the size.
    pub which: Labels,
    /// Messages of this length that one operation moves.
    pub messages: u64,
    /// The times of each size, launch by launch.
    pub launches: Vec<Vec<SizedTimes>>,
}

/// The times of all series over message lengths, curve by curve.
pub fn curve_times(of: &Measured<'_>) -> Vec<CurveTimes> {
    let mut found = Vec::new();
    for points in of.points().into_iter().filter(|points| points.name != MESSAGE_COSTS) {
        let [_, points] = points.parted(BURST);
        // Under a load, and over matrix dimensions, the time is not linear in the length.
        let [_, points] = points.parted(LOAD_AXIS);
        for curve in points.along(&["bytes", "elements"]) {
            let first = curve.points.iter().map(|(_, (_, of))| of).find(|of| of.bytes > 0);
            let messages = first.map_or(1, |of| of.moved / of.bytes).max(1);
            let launches = of.by_launch(of.sized(&curve)).into_iter();
            let launches = launches.map(Option::unwrap_or_default).collect();
            let (name, which) = (points.name.to_owned(), curve.which);
            found.push(CurveTimes { name, which, messages, launches });
        }
    }
    found
}

/// All series of message passing and transfers (including echo under load), with the fastest algorithms, the growth of
/// times, and the costs of hops.
///
/// # Errors
/// Nothing has a value, or a number cannot be recorded.
pub fn series(of: &Measured<'_>) -> Result<Made> {
    let mut made = Made::default();
    for points in of.points() {
        let [bursts, points] = points.parted(BURST);
        let own = one(of, &points, &bursts)?;
        if own.results.is_empty() && points.all.iter().all(|(key, _)| of.refused(key).is_none()) {
            let about = format!("{SERIES}/{}/{}", points.name, of.setting.transport);
            made.notes.push(Note::new("too_little", about).with("what", points.name));
        }
        made = made.and(own);
        made = made.and(fastest(of, &points)?).and(growth(of, &points)?).and(hops(of, &points)?);
    }
    // Those of the transport itself stand in a column.
    let beside = of.setting.beside.iter().map(|beside| &beside.floor);
    let other = beside.filter(|floor| !floor.on.is_empty() && *floor.on != of.setting.transport);
    made = made.and(floors(of, &other.cloned().collect::<Vec<_>>())?);
    let refused = |points: &Points<'_>| {
        let reason = points.all.iter().find_map(|(key, _)| of.refused(key))?;
        let about = format!("{SERIES}/{}/{}", points.name, of.setting.transport);
        Some(Note::new("collective_unavailable", about).with("reason", reason))
    };
    made.notes.extend(of.points().iter().filter_map(refused));
    if let Some(reason) = &of.judged.table.refused {
        let note = Note::new("single_copy_refused", of.setting.transport.as_str());
        made.notes.push(note.with("reason", reason.as_str()));
    }
    let points = of.points();
    let mut keys = points.iter().flat_map(|points| &points.all).map(|(key, _)| key);
    match keys.find_map(|key| of.refused(key)) {
        Some(reason) if made.results.is_empty() => Err(AssembleError::Impossible(reason)),
        None if made.results.is_empty() => Err(AssembleError::Empty),
        _ => Ok(made),
    }
}

/// What a bus bandwidth is.
const BUS: &str = "n/t times NCCL's factor: 2(P − 1)/P of a sum for all ranks, 1 of a broadcast or a sum for \
                   one, (P − 1)/P of others";

/// The columns of a series; those without values are dropped later.
fn columns(bus: bool) -> Vec<Column> {
    let rate = if bus { "n/t (algorithm)" } else { "bytes moved between all ranks, over t" };
    let second = |name, meaning| Column::new(name, Unit::Second, meaning);
    let mut all = vec![
        second("time", "t(n): one operation, or half of one that goes there and back").counting(),
        Column::new("bandwidth", Unit::BytePerSecond, rate),
        Column::new("bus_bandwidth", Unit::BytePerSecond, BUS),
        Column::new("rate", Unit::PerSecond, "operations or messages a second"),
        Column::new(OVER_FLOOR, Unit::One, "t over its floor, by round"),
        second("claimed", "what the library itself estimates for a message"),
        second("send_overhead", "o(n): the part of t in which the sender is busy"),
        second("free", "T − o(n): computation that fits beside a transfer"),
        second("gap", "g(n): what a further transfer of a burst takes"),
        Column::new("slowdown", Unit::One, "t over that without a load, by round"),
    ];
    all.extend(SINGLES.map(|(name, ..)| second(name, "of the times of single operations")));
    all
}

/// Rows of a series on a screen, if its kernel asks for many.
const MANY: usize = 9;

/// The form of a series on the screen, as its kernel declares it.
fn form(name: &str) -> Form {
    match in_series(name).map(|(_, series)| series.look) {
        Ok(look @ (Look::Many | Look::Headline)) => {
            Form::Kernel { rows: MANY, headline: look == Look::Headline }
        }
        Ok(Look::Loads) => Form::SideBySide {
            tables: vec![["slowdown", "time"].map(str::to_owned).into()],
            by: Some(LOAD_AXIS.to_owned()),
            alone: false,
        },
        Ok(Look::Details) => Form::Details,
        Ok(Look::Few) | Err(_) => Form::default(),
    }
}

/// The rows of one series.
fn one(of: &Measured<'_>, points: &Points<'_>, bursts: &Points<'_>) -> Result<Made> {
    let (name, transport) = (points.name, of.setting.transport.as_str());
    let axes = points.axes();
    let bus = in_series(name).ok().and_then(|(_, series)| series.bus);
    let mut rows = Builder::new(SERIES, name, transport, &axes, columns(bus.is_some()));
    (rows.rows.verified, rows.rows.form) = (verified(of, points), form(name));
    let (mut missing, mut unlooked) = (0, 0);
    let by_look = points.all.iter().any(|(_, of)| of.labels.contains_key("variant"));
    for &(key, described) in &points.all {
        let Some(time) = of.time(key) else {
            missing += 1;
            continue;
        };
        unlooked += usize::from(by_look && !described.labels.contains_key("variant"));
        let mut labels = described.labels.clone();
        if let Some(distance) = described.pair.and_then(|pair| of.setting.distance(pair)) {
            labels.insert("distance".to_owned(), distance.as_str().into());
        }
        if of.setting.is_virtual() {
            labels.remove("buffers");
        }
        if sends_nothing(of, points, (key, described)) {
            labels.insert("sends".to_owned(), "nothing".into());
        }
        let over_floor = over_floor(of, name, (key, described)).map(|(floor, ratio)| {
            labels.insert("floor".to_owned(), floor.as_str().into());
            ratio
        });
        let has_size = crate::points::size(described).is_some();
        let ranks = described.place("ranks").and_then(Place::number).unwrap_or(0) as usize;
        let (count, rate) = match in_series(name) {
            Ok((_, series)) if series.windows => ((series.moves)(ranks), "messages / t"),
            _ => (u64::from(!has_size), "1 / t"),
        };
        let issue = key.clone().with("part", ISSUE);
        let cells = [
            Some(time.clone()),
            time.turned(described.moved as f64, "bytes moved / t"),
            bus.and_then(|factor| {
                time.turned(factor(ranks) * described.bytes as f64, "factor · n / t")
            }),
            time.turned(count as f64, rate),
            over_floor,
            claimed(of, name, described),
            of.time(&issue),
            free(of, [&issue, key]),
            gap(of, bursts, (key, described)),
            slowdown(of, points, (key, described)),
        ];
        let all = of.spread(&key.clone().with("part", SINGLE));
        let singles = SINGLES.map(|(_, get, least)| {
            let all = all.as_ref().filter(|all| all.samples >= least)?;
            let how = ("of single operations", all.samples);
            Some(Estimated::new(get(all).0 * 1e9, None, Convergence::Converged, how))
        });
        let cells: Vec<_> = cells.into_iter().chain(singles).collect();
        let spread = of.spread(key);
        let place = described.at.iter().map(|(_, at)| at.clone()).collect();
        rows.push(place, labels, &cells, spread)?;
    }
    rows.count("points_missing", missing, points.all.len());
    rows.count("usual_algorithm", unlooked, points.all.len());
    Ok(rows.made())
}

/// Whether a collective of 0 bytes takes less than half as long as that of the next size: such as a library's, which then
/// returns at once.
fn sends_nothing(of: &Measured<'_>, points: &Points<'_>, (key, point): At<'_>) -> bool {
    let others = |of: &Described| -> Vec<_> {
        of.at.iter().filter(|(axis, _)| axis != "bytes").cloned().collect()
    };
    let is_next = |of: &&At<'_>| of.1.bytes > 0 && others(of.1) == others(point);
    let next = points.all.iter().filter(is_next).min_by_key(|(_, of)| of.bytes);
    let time = |key| of.time(key).map_or(0.0, |time| time.value);
    let is_empty = point.bytes == 0 && point.place("ranks").is_some();
    is_empty && next.is_some_and(|(next, _)| 2.0 * time(key) < time(next))
}

/// Whether received bytes were compared at all points; `None` where no bytes moved, and in virtual time.
fn verified(of: &Measured<'_>, points: &Points<'_>) -> Option<bool> {
    if of.setting.is_virtual() || points.all.iter().all(|(_, of)| of.bytes == 0) {
        return None;
    }
    let of_name = |(key, of)| (Key::what(key) == points.name).then_some(of);
    let known: Vec<&Verified> = of.judged.table.verified().filter_map(of_name).collect();
    let is_compared =
        |of: &&Verified| of.checked_batches > 0 && of.checked.compared == of.checked.received;
    Some(!known.is_empty() && known.iter().all(is_compared))
}

/// The ratio of a time to the floor measured with it: same message length, same ranks.
fn over_floor(of: &Measured<'_>, name: &str, (key, point): At<'_>) -> Option<(String, Estimated)> {
    if point.pair != Some([0, 1]) || point.place(BURST).is_some() {
        return None;
    }
    let beside = of.setting.floors_of(name).find(|floor| floor.is_of(name, point.bytes))?;
    let ratio = of.ratio(key, &bandgap_campaign::floors::key(&beside.floor.name))?;
    // A floor that times whole operations is compared with a whole operation; t may be a part of one.
    let whole = match beside.floor.yields {
        Yields::Operation => f64::from(point.parts),
        _ => 1.0,
    };
    Some((beside.floor.name.to_string(), ratio.part(1.0 / whole)))
}

/// T(n) − o(n) by round.
fn free(of: &Measured<'_>, keys: [&Key; 2]) -> Option<Estimated> {
    let rule = of.judged.rule().without_clock();
    let rounds = of.rounds(keys);
    of.over_rounds(&rounds, None, rule, "mean of T − o by round", |[busy, whole]| whole - busy)
}

/// What the library itself estimates for a message of this length, beside half of one that goes there and back.
fn claimed(of: &Measured<'_>, name: &str, point: &Described) -> Option<Estimated> {
    let is_half = point.pair == Some([0, 1]) && point.place(BURST).is_none() && point.parts == 2;
    let mut beside = of.setting.floors_of(name).filter(|_| is_half);
    let library = beside.next().and(of.judged.table.library.as_ref())?;
    let time = library.claims.get(&point.bytes)?;
    Some(Estimated::new(time * 1e9, None, Convergence::Converged, ("the library's estimate", 1)))
}

/// g(n): the time that each further transfer of a burst of M adds, (T_M − T_1)/(M − 1), by round.
fn gap(of: &Measured<'_>, bursts: &Points<'_>, (key, point): At<'_>) -> Option<Estimated> {
    let is_its = |burst: &Described| {
        let mut others = burst.at.iter().filter(|(axis, _)| axis != BURST);
        others.all(|(axis, at)| point.place(axis) == Some(at))
    };
    let (burst, described) = bursts.all.iter().find(|(_, burst)| is_its(burst))?;
    let further = (described.place(BURST)?.number()? as f64 - 1.0).max(1.0);
    let rounds = of.rounds([burst, key]);
    let rule = of.judged.rule().without_clock();
    of.over_rounds(
        &rounds,
        None,
        rule,
        "mean of (T_M − T_1)/(M − 1) by round",
        |[many, one]| (many - one) / further,
    )
}

#[cfg(test)]
mod tests;
