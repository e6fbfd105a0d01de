//! Exports of kernels and schedules.

use bandgap_assemble::described;
use bandgap_launch::{Classify, Exit, Result, recorded, usage};
use bandgap_sim::{Seen, Timeline, Window, observe, observe_goal, write_goal};

use super::super::fit::named;
use super::super::replays::{failed, read};
use super::super::simulate::kernel;
use super::super::simulate_kernel::{Planned, planned};
use super::{Export, timeline};

/// A kernel with its only point.
fn one_point(of: &Export, kernel: &str) -> Result<Planned> {
    let planned = planned(&of.points, None, "export", kernel)?;
    match planned.points.len() {
        1 => Ok(planned),
        many => Err(usage!("export {kernel} at {many} points")
            .hint("give one value each to -n, --sizes and --algorithm")),
    }
}

/// The observed replay of the named kernel or schedule.
///
/// # Errors
/// There is no such kernel or schedule, it cannot end, or the window shows nothing.
pub fn seen(of: &Export) -> Result<Seen> {
    timeline::seen(&of.shown, |window| replayed(of, window))
}

fn replayed(of: &Export, window: &Window) -> Result<(Timeline, String)> {
    let Some(kernel) = kernel(&of.what) else {
        of.points.of_no_kernel("export", &of.what, false)?;
        let (goal, loggops) = (read(&of.what, true)?, of.loggops.unwrap_or_default());
        let seen = observe_goal(&goal, &loggops, window)
            .map_err(|error| failed("simulate", &named(&of.what), error))?;
        return Ok((seen, described(&loggops)));
    };
    if of.loggops.is_some() {
        return Err(usage!("export {kernel} with --loggops"));
    }
    let Planned { machine, named, points, .. } = one_point(of, kernel)?;
    let (_, schedule) = recorded(&machine, &points[0].1, true)?;
    Ok((observe(&schedule, &machine, window).class(Exit::Input)?, named))
}

/// Writes a kernel's schedule.
///
/// # Errors
/// It is not a kernel over message passing, or the file cannot be written.
pub fn goal(of: &Export) -> Result<()> {
    let Some(kernel) = kernel(&of.what) else {
        return Err(usage!("export {} as GOAL", of.what.display())
            .hint("kernels are barrier, broadcast, …"));
    };
    let Planned { machine, points, .. } = one_point(of, kernel)?;
    let (_, schedule) = recorded(&machine, &points[0].1, false)?;
    if !schedule.is_passing() {
        return Err(usage!("export {kernel} as GOAL: it has Active Messages")
            .hint("kernels over message passing can be: echo, exchange, broadcast, barrier, …"));
    }
    of.write(|mut to| write_goal(&schedule, &mut to))
}
