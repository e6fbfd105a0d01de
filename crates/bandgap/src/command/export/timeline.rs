//! What a timeline shows: a replay of a kernel or of a schedule, seen through a window.

use std::collections::HashMap;

use bandgap_host::parse_cpu_list;
use bandgap_launch::{Classify, Exit, Failure, recorded};
use bandgap_report::{Arrow, Gantt, Slice, svg_gantt};
use bandgap_sim::{Span, Timeline, Window, observe, observe_goal};
use bandgap_units::Ns;

use super::{Export, one_point};
use crate::command::fit::named;
use crate::command::simulate::{failed, kernel, read};

/// Ranks that are shown unless others are named, and in a picture at most.
const MOST: u32 = 64;
/// Picoseconds of a nanosecond.
const NANO: f64 = 1e3;
/// What processors do.
const KINDS: [&str; 3] = ["compute", "send", "receive"];

/// Replays what is named, and looks.
///
/// # Errors
/// It is not there, or cannot be replayed.
pub fn seen(of: &Export) -> Result<(Timeline, Window), Failure> {
    let picoseconds = |time: Ns| (time.0 * NANO).round() as u64;
    let ranks = match &of.on {
        Some(list) => {
            parse_cpu_list(list).class(Exit::Usage)?.into_iter().map(|of| of as u32).collect()
        }
        None => (0..MOST).collect(),
    };
    let from = of.from.map_or(0, picoseconds);
    let mut window = Window { ranks, from, until: of.until.map_or(u64::MAX, picoseconds) };
    let seen = match kernel(&of.what) {
        Some(kernel) => {
            if of.loggops.is_some() {
                let what = format!("export {kernel} with --loggops");
                return Err(Failure::new(Exit::Usage, what));
            }
            let planned = one_point(of, kernel)?;
            let (_, schedule) = recorded(&planned.machine, &planned.points[0].1, true)?;
            observe(&schedule, &planned.machine, &window).class(Exit::Input)?
        }
        None => {
            of.points.of_no_kernel("export", &of.what)?;
            let (goal, loggops) = (read(&of.what)?, of.loggops.unwrap_or_default());
            observe_goal(&goal, &loggops, &window)
                .map_err(|error| failed("simulate", &named(&of.what), error))?
        }
    };
    window.until = window.until.min(seen.end);
    window.ranks.retain(|rank| (*rank as usize) < seen.ranks);
    if window.ranks.is_empty() || window.from > window.until {
        let what = format!(
            "export nothing: {} has {} ranks, and ends at {}",
            of.what.display(),
            seen.ranks,
            Ns(seen.end as f64 / NANO)
        );
        return Err(Failure::new(Exit::Usage, what));
    }
    Ok((seen, window))
}

/// The picture.
///
/// # Errors
/// As [`seen`]; or it has too many ranks.
pub fn svg(of: &Export) -> Result<String, Failure> {
    let (seen, window) = seen(of)?;
    if window.ranks.len() > MOST as usize {
        let what = format!("draw {} ranks: at most {MOST} have room", window.ranks.len());
        return Err(Failure::new(Exit::Usage, what).hint("name some with --on, or take perfetto"));
    }
    let ranks: Vec<u32> = window.ranks.iter().copied().collect();
    let row = |span: &Span| ranks.iter().position(|of| *of == span.rank).unwrap_or(0);
    let nanoseconds =
        |time: u64| (time.clamp(window.from, window.until) - window.from) as f64 / NANO;
    let slice = |of: &Span| Slice {
        row: row(of),
        kind: KINDS.iter().position(|part| *part == of.part).unwrap_or(0),
        from: nanoseconds(of.begin),
        to: nanoseconds(of.end),
        marked: of.is_critical,
    };
    let sends = seen.spans.iter().filter(|span| span.part == "send");
    let sends: HashMap<Option<u64>, &Span> = sends.map(|span| (span.message, span)).collect();
    let arrow = |of: &Span| {
        let send = sends.get(&of.message).filter(|_| of.part == "receive")?;
        Some(Arrow {
            from: (nanoseconds(send.end), row(send)),
            to: (nanoseconds(of.begin), row(of)),
            marked: send.is_critical && of.is_critical,
        })
    };
    let [from, end] = [window.from, seen.end].map(|time| Ns(time as f64 / NANO));
    Ok(svg_gantt(&Gantt {
        title: format!("{} on {} ranks", of.what.display(), seen.ranks),
        subtitle: format!("From {from} on; all ends at {end}. Framed: what the end came from"),
        rows: ranks.iter().map(u32::to_string).collect(),
        kinds: KINDS.map(str::to_owned).to_vec(),
        slices: seen.spans.iter().map(slice).collect(),
        arrows: seen.spans.iter().filter_map(arrow).collect(),
        length: nanoseconds(window.until),
    }))
}
