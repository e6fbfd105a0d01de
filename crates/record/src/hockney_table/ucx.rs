//! The table that `ucx_perftest` prints: iterations, a percentile, average and overall time in
//! microseconds, then bandwidth and message rate, twice each.
//!
//! A run is one size. Its name comes from the server's banner (`| Message size: 64 |`), from the line
//! that names a batch's test (`+tag_lat/64---`), from a result that begins with that name (`-f`), or
//! from the command line (`-s 64`).

use super::rows::{Rows, size, time};
use super::text::{Line, Text};
use super::{HockneyTable, Timing, Tool};
use crate::TableError;

/// Its banner, its headings, or its final results.
pub(super) fn tells(line: &str) -> bool {
    is_heading(line) || (line.trim_start().starts_with("Final:") && line.contains('.'))
}

fn is_heading(line: &str) -> bool {
    line.contains("# iterations |") && line.contains("average |")
}

/// A result that counts unless a later one of the same run comes.
struct Progress<'a> {
    line: &'a Line,
    overall: &'a str,
    /// Whether the version that printed it marks the last result of a run.
    marked: bool,
}

#[derive(Default)]
struct Reader<'a> {
    rows: Rows,
    bytes: Option<u64>,
    timing: Option<Timing>,
    progress: Option<Progress<'a>>,
}

pub(super) fn read(text: &Text) -> Result<HockneyTable, TableError> {
    let mut reader = Reader::default();
    for line in &text.lines {
        reader.line(line)?;
    }
    reader.run_ends()?;
    reader.rows.finish(Tool::UcxPerftest)
}

impl<'a> Reader<'a> {
    fn line(&mut self, line: &'a Line) -> Result<(), TableError> {
        let text = line.text.trim();
        if let Some((_, rest)) = text.split_once("Message size:") {
            self.run_ends()?;
            let word = rest.split_whitespace().next().unwrap_or("");
            self.bytes = Some(size(line.number, "message size", word)?);
        } else if let Some((_, test)) = text.split_once("| Test:") {
            self.timing = timing(test);
        } else if text.contains("(usec)") {
            self.run_ends()?;
            if text.contains("overhead") {
                self.timing = Some(Timing::Stream);
            }
        } else if text.starts_with('+') {
            let name = text.trim_start_matches('+').split(['+', ' ']).next().unwrap_or("");
            let name = name.split("--").next().unwrap_or("").trim_end_matches('-');
            if !name.is_empty() {
                self.run_ends()?;
                self.name(line, name)?;
            }
        } else if text.contains("ucx_perftest") && !text.starts_with('|') {
            self.command(line)?;
        } else {
            self.result(line)?;
        }
        Ok(())
    }

    /// A line of numbers, if it is one.
    fn result(&mut self, line: &'a Line) -> Result<(), TableError> {
        let mut words = line.words();
        let (running, last) = (line.text.contains("[thread"), words.first() == Some(&"Final:"));
        if running {
            // `[thread 0]` is two words.
            words.drain(..words.len().min(2));
        } else if last {
            words.remove(0);
        } else if words.len() == 9 && !is_number(words[0]) && words[1..].iter().all(is_count) {
            self.name(line, words[0])?;
            let overall = words[4];
            return self.add(line, overall);
        }
        if !running && !last && (words.len() != 8 || !words.iter().all(is_count)) {
            return Ok(());
        }
        let overall = match words.len() {
            8 => words[3],
            // The sum over threads has one time only.
            4 => words[1],
            found => return Err(line.wrong(format!("it is cut: {found} of 8 results"))),
        };
        if last {
            self.progress = None;
            self.add(line, overall)
        } else {
            self.progress = Some(Progress { line, overall, marked: running });
            Ok(())
        }
    }

    /// Takes the last result of a run that has no line marked as final.
    fn run_ends(&mut self) -> Result<(), TableError> {
        match self.progress.take() {
            None => Ok(()),
            Some(progress) if progress.marked => Err(progress
                .line
                .wrong("the run is cut: its results so far, and no line that begins with Final")),
            Some(progress) => self.add(progress.line, progress.overall),
        }
    }

    fn add(&mut self, line: &Line, overall: &str) -> Result<(), TableError> {
        let Some(bytes) = self.bytes else {
            return Err(line.wrong(
                "a result without its message size (put the command line with -s before the output \
                 of each run, or use the server's output, or a batch file whose tests are named by \
                 their size)",
            ));
        };
        let timing = self.timing.unwrap_or(Timing::HalfRoundTrip);
        if self.timing.is_none() {
            self.rows.note(ASSUMED);
        }
        self.rows.note(if timing == Timing::Stream { STREAM } else { HALF });
        self.rows.timed(line.number, timing)?;
        self.rows.once(line.number, bytes, time(line.number, "overall", overall, 1e3)?)
    }

    fn name(&mut self, line: &Line, name: &str) -> Result<(), TableError> {
        self.timing = timing(name).or(self.timing);
        if let Some(found) = size_in(name) {
            self.bytes = Some(size(line.number, "test name", found)?);
        }
        Ok(())
    }

    fn command(&mut self, line: &Line) -> Result<(), TableError> {
        let words = line.words();
        for pair in words.windows(2) {
            match pair {
                ["-s", sizes] => {
                    self.run_ends()?;
                    // A list is of the parts of one message.
                    let mut bytes = 0u64;
                    for part in sizes.split(',') {
                        let part = size(line.number, "-s", part)?;
                        bytes = bytes.saturating_add(part);
                    }
                    self.bytes = Some(size(line.number, "-s", &bytes.to_string())?);
                }
                ["-t", test] => self.timing = timing(test),
                _ => {}
            }
        }
        Ok(())
    }
}

pub(super) const STREAM: &str = "A bandwidth test: the times are those between sends in a stream, not half round trips, so t0 is \
     a time between messages.";

pub(super) const HALF: &str = "ucx_perftest's latency is half of a round trip.";

pub(super) const ASSUMED: &str =
    "The output does not say which test it is: its times are taken for half round trips.";

/// What the test of this name or description measures, if it says.
pub(super) fn timing(test: &str) -> Option<Timing> {
    let stream = ["_bw", "bandwidth", "_mr", "message rate", "get"];
    if test.contains("_lat") || (test.contains("latency") && !test.contains("message rate")) {
        Some(Timing::HalfRoundTrip)
    } else if stream.iter().any(|word| test.contains(word)) {
        Some(Timing::Stream)
    } else {
        None
    }
}

/// The size in a test's name: `64`, `tag_lat/64` or `tag_lat_64`.
pub(super) fn size_in(name: &str) -> Option<&str> {
    let digits = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    name.split('/').find(digits).or_else(|| name.rsplit('_').next().filter(digits))
}

fn is_number(word: &str) -> bool {
    is_count(&word)
}

/// Whether a word is a number, separators of thousands allowed. NaN is one too: it must not make a
/// row into something to pass over.
fn is_count(word: &&str) -> bool {
    word.replace(',', "").parse::<f64>().is_ok()
}
