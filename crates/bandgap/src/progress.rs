//! The progress bar on standard error; drawn only between timed sections, never by a thread.

use std::fmt::Write;
use std::io::{self, IsTerminal};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike};
use rustix::termios::{Winsize, tcgetwinsize};

use crate::output::error_has_room;

/// A bar for one measurement; nothing where standard error is no terminal, or when told to be
/// quiet.
pub struct Progress {
    bar: ProgressBar,
}

const STEPS: u64 = 1000;
/// Most drawings in a second.
const RATE: u8 = 20;
/// Columns of a terminal that does not say how many it has.
const COLUMNS: u16 = 80;

impl Progress {
    /// A bar headed `title`.
    pub fn new(title: &str, quiet: bool) -> Self {
        let bar = if quiet || !io::stderr().is_terminal() {
            ProgressBar::hidden()
        } else {
            let terminal = ProgressDrawTarget::term_like_with_hz(Box::<Terminal>::default(), RATE);
            ProgressBar::with_draw_target(Some(STEPS), terminal)
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

/// The terminal behind standard error. What it has no room for is not drawn: a terminal that was stopped would stop the
/// measurement, and its end.
#[derive(Debug, Default)]
struct Terminal {
    drawing: Mutex<String>,
}

impl Terminal {
    fn add(&self, what: std::fmt::Arguments<'_>) -> io::Result<()> {
        let mut drawing = self.drawing.lock().unwrap_or_else(PoisonError::into_inner);
        drawing.write_fmt(what).map_err(io::Error::other)
    }

    fn size() -> Option<Winsize> {
        tcgetwinsize(io::stderr()).ok()
    }
}

/// Movements are those of ECMA-48. None of no lines or columns: 0 means 1 there.
impl TermLike for Terminal {
    fn width(&self) -> u16 {
        Self::size().map(|size| size.ws_col).filter(|columns| *columns > 0).unwrap_or(COLUMNS)
    }

    fn move_cursor_up(&self, lines: usize) -> io::Result<()> {
        if lines > 0 { self.add(format_args!("\x1b[{lines}A")) } else { Ok(()) }
    }

    fn move_cursor_down(&self, lines: usize) -> io::Result<()> {
        if lines > 0 { self.add(format_args!("\x1b[{lines}B")) } else { Ok(()) }
    }

    fn move_cursor_right(&self, columns: usize) -> io::Result<()> {
        if columns > 0 { self.add(format_args!("\x1b[{columns}C")) } else { Ok(()) }
    }

    fn move_cursor_left(&self, columns: usize) -> io::Result<()> {
        if columns > 0 { self.add(format_args!("\x1b[{columns}D")) } else { Ok(()) }
    }

    fn write_line(&self, line: &str) -> io::Result<()> {
        self.add(format_args!("{line}\n"))
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.add(format_args!("{text}"))
    }

    fn clear_line(&self) -> io::Result<()> {
        self.add(format_args!("\r\x1b[2K"))
    }

    fn flush(&self) -> io::Result<()> {
        let drawing =
            std::mem::take(&mut *self.drawing.lock().unwrap_or_else(PoisonError::into_inner));
        if drawing.is_empty() || !error_has_room(Duration::ZERO) {
            return Ok(());
        }
        io::Write::write_all(&mut io::stderr(), drawing.as_bytes())
    }
}
