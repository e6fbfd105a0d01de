//! Progress of a command on standard error, drawn only between timed sections and never by a thread.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use crate::layout::takes_escapes;

/// Time between two drawings.
const DRAWN: Duration = Duration::from_millis(250);
/// Time between two signs of life in a log.
const ALIVE: Duration = Duration::from_secs(60);
/// Columns of the bar.
const BAR: usize = 16;

/// The progress of a command in stages, each a share of its time.
pub struct Progress {
    stages: Vec<(String, f64)>,
    at: usize,
    begun: Instant,
    stage: Instant,
    last: Instant,
    kind: ProgressStyle,
    /// The greatest share of this stage shown so far.
    most: f64,
    /// The end of the stages, if known.
    pub end: Option<Instant>,
    /// The least remaining time shown so far, in seconds.
    least: f64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ProgressStyle {
    Quiet,
    Bar,
    Lines,
}

impl Progress {
    /// Progress through stages with names and weights.
    pub fn new(stages: Vec<(String, f64)>, quiet: bool) -> Self {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let kind = match quiet {
            true => ProgressStyle::Quiet,
            false if io::stderr().is_terminal() && takes_escapes() && !set("CI") => {
                ProgressStyle::Bar
            }
            false => ProgressStyle::Lines,
        };
        let now = Instant::now();
        Self {
            stages,
            at: 0,
            begun: now,
            stage: now,
            last: now,
            kind,
            most: 0.0,
            end: None,
            least: f64::INFINITY,
        }
    }

    /// Shows the done share of this stage and the current work.
    pub fn show(&mut self, done: f64, doing: &str) {
        let pause = if self.kind == ProgressStyle::Bar { DRAWN } else { ALIVE };
        if self.kind == ProgressStyle::Quiet || self.last.elapsed() < pause {
            return;
        }
        self.last = Instant::now();
        self.most = self.most.max(done);
        let done = self.most;
        let all: f64 = self.stages.iter().map(|(_, weight)| weight).sum();
        let before: f64 = self.stages.iter().take(self.at).map(|(_, weight)| weight).sum();
        let Some((name, weight)) = self.stages.get(self.at).cloned() else { return };
        let share = ((before + weight * done.clamp(0.0, 1.0)) / all.max(1e-9)).clamp(0.0, 1.0);
        let spent = self.begun.elapsed().as_secs_f64();
        // Too early an estimate is worthless, and at the end it is unreliable.
        let left = (0.02..0.99).contains(&share).then(|| self.time_left(spent, share));
        let left = left.map_or(String::new(), |left| format!(", about {} to go", clock(left)));
        let (number, count) = (self.at + 1, self.stages.len());
        let times = clock(spent) + &left;
        let mut error = io::stderr();
        let _ = match self.kind {
            ProgressStyle::Bar => {
                let filled = (share * BAR as f64).round() as usize;
                let bar = "#".repeat(filled) + &".".repeat(BAR - filled);
                let percent = 100.0 * share;
                let line =
                    format!("{number}/{count} {name} {bar} {percent:.0} %  {times}  {doing}");
                let line: String = line.chars().take(columns()).collect();
                write!(error, "\r\x1b[2K{line}")
            }
            _ => writeln!(error, "bandgap: {number}/{count} {name}: {times}"),
        };
        let _ = error.flush();
    }

    /// Remaining seconds after `spent` seconds and `share` of the work; never more than shown before.
    fn time_left(&mut self, spent: f64, share: f64) -> f64 {
        let end = self.end.map(|end| end.saturating_duration_since(self.begun).as_secs_f64());
        let left = end.map_or(f64::INFINITY, |end| (end - spent).max(0.0));
        self.least = self.least.min(left).min(spent * (1.0 - share) / share);
        self.least
    }

    /// Ends the stage and begins the next one.
    pub fn next(&mut self, result: &str) {
        let taken = self.stage.elapsed().as_secs_f64();
        if self.kind == ProgressStyle::Lines
            && self.stages.len() > 1
            && let Some((name, _)) = self.stages.get(self.at)
        {
            let (number, count) = (self.at + 1, self.stages.len());
            let _ =
                writeln!(io::stderr(), "bandgap: {number}/{count} {name}{result} ({taken:.1} s)");
        }
        (self.at, self.most) = (self.at + 1, 0.0);
        (self.stage, self.last) = (Instant::now(), Instant::now());
        self.clear();
    }

    /// Erases the bar.
    pub fn clear(&self) {
        if self.kind == ProgressStyle::Bar {
            let _ = write!(io::stderr(), "\r\x1b[2K");
        }
    }
}

/// `0:21`.
fn clock(seconds: f64) -> String {
    let seconds = seconds.round() as u64;
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

fn columns() -> usize {
    let size = rustix::termios::tcgetwinsize(io::stderr()).ok();
    size.map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 1).map_or(79, |of| of - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_to_go_never_rises_and_ends_with_the_time() {
        let mut progress = Progress::new(Vec::new(), true);
        progress.end = Some(progress.begun + Duration::from_secs(60));
        let steps = [(10.0, 0.5), (15.0, 0.5), (16.0, 0.6), (30.0, 0.1), (55.0, 0.1), (70.0, 0.1)];
        let left = steps.map(|(spent, share)| progress.time_left(spent, share).round());
        // 16 · 0.4 / 0.6 = 10.7; 60 − 55 = 5 is less.
        assert_eq!(left, [10.0, 10.0, 10.0, 10.0, 5.0, 0.0]);
    }
}
