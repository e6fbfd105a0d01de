//! The progress bar on standard error; drawn only between timed sections, never by a thread.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar for one measurement; nothing where standard error is no terminal, or when told to be
/// quiet.
pub struct Progress {
    bar: ProgressBar,
}

const STEPS: u64 = 1000;
/// Most drawings in a second.
const RATE: u8 = 20;

impl Progress {
    /// A bar headed `title`.
    pub fn new(title: &str, quiet: bool) -> Self {
        let bar = if quiet {
            ProgressBar::hidden()
        } else {
            ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::stderr_with_hz(RATE))
        };
        if let Ok(style) = ProgressStyle::with_template("{prefix:>12} {bar:30} {percent:>3}% {msg}")
        {
            bar.set_style(style);
        }
        bar.set_prefix(title.to_owned());
        Self { bar }
    }

    /// Shows the share done and what is being done.
    pub fn show(&self, done: f64, doing: &str) {
        self.bar.set_position((done.clamp(0.0, 1.0) * STEPS as f64) as u64);
        self.bar.set_message(doing.to_owned());
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
