//! How much of an exchange a computation hides.

use bandgap_campaign::overlap::{Cell, OVERLAP};
use bandgap_kernels::OverlapMode;
use bandgap_record::{Column, Form, Unit};
use bandgap_stats::quantile::mean;

use crate::estimate::{Estimated, Measured};
use crate::made::{Builder, Made, SERIES};
use crate::points::number;
use crate::{AssembleError, Result};

/// Values of one round, in the order of [`OverlapMode::ALL`]: T_b, T_n, T_x, T_c, T_o.
type Row = (u32, u64, [f64; 5]);

/// The times of an exchange and a computation over the lengths of both, and the share that is hidden.
///
/// *Formula*: the gain is T_b − T_n. The hideable time is the shorter of T_c and T_x − T_o, the same one in all rounds. The
/// hidden share is gain over hideable time. Only rounds with all five times count.
///
/// # Errors
/// No point has two such rounds, or a number cannot be recorded.
pub fn overlap(of: &Measured<'_>) -> Result<Made> {
    let second = |name, meaning| Column::new(name, Unit::Second, meaning);
    let columns = vec![
        second("blocking", "T_b: an exchange, and then the computation").counting(),
        second("non_blocking", "T_n: the computation between begin and end of the exchange")
            .counting(),
        second("exchange", "T_x: the exchange alone"),
        second("computation", "T_c: the computation alone"),
        second("overheads", "T_o: what begin and end of an exchange cost the processor"),
        second("gain", "T_b − T_n"),
        Column::new("gain_share", Unit::One, "the gain over T_b"),
        second("hideable", "the shorter of T_c and T_x − T_o"),
        Column::new("hidden", Unit::One, "the gain over what can be hidden; below 0 a loss"),
    ];
    let mut rows =
        Builder::new(SERIES, OVERLAP, &of.setting.transport, &["bytes", "elements"], columns);
    let tables = ["hidden", "gain", "gain_share"].map(|name| vec![name.to_owned()]).into();
    rows.rows.form = Form::SideBySide { tables, by: None, alone: false };
    rows.rows.verified = (!of.setting.is_virtual()).then_some(true);
    let (mut missing, mut planned, mut vague) = (0, 0, 0_usize);
    for (key, point) in of.judged.table.points() {
        if key.text("mode") != Some("blocking") {
            continue;
        }
        let lengths = ["bytes", "elements"].map(|axis| number(point, axis));
        let [Some(bytes), Some(elements)] = lengths else { continue };
        planned += 1;
        let keys = OverlapMode::ALL.map(|mode| Cell::of(mode, bytes as u32, elements as u32).key());
        let rounds = of.rounds(keys.each_ref());
        let time = |at: usize| {
            let rule = of.judged.rule_of(&keys[at]);
            of.over_rounds(&rounds, None, rule, TIME, |row| row[at])
        };
        let times: [Option<Estimated>; 5] = std::array::from_fn(time);
        if times.iter().any(Option::is_none) {
            missing += 1;
            continue;
        }
        // The gain is a difference of two times, so its precision is judged relative to T_b.
        let (beside, rule) = (Some(mean_of(&rounds, |row| row[0])), of.judged.rule_of(&keys[0]));
        let gain = of.over_rounds(&rounds, beside, rule, GAIN, |row| row[0] - row[1]);
        let gain_share = ratio(of, &rounds, |row| row[0]);
        let (hideable, hidden) = if elements > 0 { hidden(of, &rounds) } else { (None, None) };
        vague += usize::from(elements > 0 && hidden.is_none());
        let mut cells = Vec::from(times);
        cells.extend([gain, gain_share, hideable, hidden]);
        rows.push(vec![bytes.into(), elements.into()], point.labels.clone(), &cells, None)?;
    }
    rows.count("points_missing", missing, planned);
    rows.count("hidden_undecided", vague, planned);
    if rows.rows.rows.is_empty() { Err(AssembleError::Empty) } else { Ok(rows.made()) }
}

const TIME: &str = "mean over the rounds that have all five times";
const GAIN: &str = "mean of T_b − T_n by round";
const HIDEABLE: &str = "mean of min(T_c, T_x − T_o)";
const HIDDEN: &str = "ratio of means over rounds, linearised";

fn mean_of(rounds: &[Row], value: impl Fn(&[f64; 5]) -> f64) -> f64 {
    mean(&rounds.iter().map(|(_, _, row)| value(row)).collect::<Vec<f64>>())
}

/// The gain over another time.
///
/// *Formula*: for gains g and times h the share is s = ḡ/h̄, with the interval of the mean of s + (gᵢ − s·hᵢ)/h̄ (Cochran,
/// "Sampling Techniques" (1977), 6.3).
fn ratio(of: &Measured<'_>, rounds: &[Row], by: impl Fn(&[f64; 5]) -> f64) -> Option<Estimated> {
    let whole = mean_of(rounds, &by);
    let share = mean_of(rounds, |row| row[0] - row[1]) / whole;
    let linear = |row: &[f64; 5]| share + (row[0] - row[1] - share * by(row)) / whole;
    let rule = of.judged.rule().without_clock();
    of.over_rounds(rounds, Some(1.0), rule, HIDDEN, linear)
}

/// The hideable time, and the share of it that is hidden.
fn hidden(of: &Measured<'_>, rounds: &[Row]) -> (Option<Estimated>, Option<Estimated>) {
    let exchange = |row: &[f64; 5]| row[2] - row[4];
    let is_computation = mean_of(rounds, |row| row[3]) <= mean_of(rounds, exchange);
    let part = |row: &[f64; 5]| if is_computation { row[3] } else { exchange(row) };
    let rule = of.judged.rule().without_clock();
    let hideable = of.over_rounds(rounds, None, rule, HIDEABLE, part);
    let is_known = hideable.as_ref().and_then(|of| of.interval).is_some_and(|part| part.low > 0.0);
    if !is_known {
        return (hideable, None);
    }
    let hidden = ratio(of, rounds, part);
    // An interval wider than 1, or entirely above 1, decides nothing.
    let tells = |of: &Estimated| {
        of.interval.is_some_and(|of| of.low <= 1.0 + ROUNDING && of.high - of.low <= 1.0)
    };
    (hideable, hidden.filter(tells))
}

/// How much rounding may add to a share of 1.
const ROUNDING: f64 = 1e-9;

#[cfg(test)]
mod tests;
