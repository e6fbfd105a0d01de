//! The table that `ucx_perftest` prints: iterations; a percentile, the average and the overall time
//! in microseconds; then bandwidth and message rate, each as average and overall. With `-v`, the
//! same as CSV.
//!
//! A run has one size. In the table it comes from the server's banner (`| Message size: 64 |`),
//! from the line that names a test of a batch (`+tag_lat/64---`), from a result that begins with
//! that name (`-f`), or from the command line (`-s 64`); in CSV, from the test names in the first
//! columns.

use std::mem::replace;

use crate::columns::Timing;
use crate::lines::{Line, Result, option};
use crate::table::{Dialect, Family, Sections};

/// What the test of this name or description measures, if that is clear from it.
fn timing(test: &str) -> Option<Timing> {
    let stream = ["_bw", "bandwidth", "_mr", "message rate", "get"];
    if test.contains("_lat") || (test.contains("latency") && !test.contains("message rate")) {
        Some(Timing::HalfRoundTrip)
    } else {
        stream.iter().any(|word| test.contains(word)).then_some(Timing::Stream)
    }
}

/// The size in a test's name: `64`, `tag_lat/64` or `tag_lat_64`.
fn size_in(name: &str) -> Option<&str> {
    let digits = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    name.split('/').find(digits).or_else(|| name.rsplit('_').next().filter(digits))
}

/// Whether a word is a number; thousands separators are allowed. NaN counts as a number, so that
/// its row is an error and is not skipped.
fn is_number(word: &str) -> bool {
    word.replace(',', "").parse::<f64>().is_ok()
}

/// Whether the line is the banner's heading or a final result.
pub(crate) fn tells(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with('|') && text.contains("# iterations |") && text.contains("average |")
        || text.starts_with("Final:") && text.contains('.')
}

/// Reads the human-readable table.
pub(crate) fn read(family: &'static Family, lines: &[Line], tests: &mut Sections) -> Result {
    let mut run = Run { dialects: family.dialects, ..Run::default() };
    lines.iter().try_for_each(|line| run.line(line, tests))?;
    run.ends()
}

/// Whether the line is the CSV header: columns of names, then
/// `iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr`.
pub(crate) fn tells_csv(text: &str) -> bool {
    let mut fields = text.split(',').map(str::trim);
    fields.any(|field| field == "iterations") && fields.any(|field| field == "overall_lat")
}

/// Reads the CSV.
pub(crate) fn read_csv(family: &'static Family, lines: &[Line], table: &mut Sections) -> Result {
    let mut run = Run { dialects: family.dialects, ..Run::default() };
    let mut names = None;
    for line in lines {
        let fields: Vec<&str> = line.text.split(',').map(str::trim).collect();
        if tells_csv(&line.text) {
            names = fields.iter().position(|field| *field == "iterations");
        } else if let Some(names) = names
            && fields.len() > 1
            && !line.text.contains("[thread")
        {
            let (found, expected) = (fields.len(), names + 8);
            if found != expected && found != names + 4 {
                return Err(line.miscounted(found, expected));
            }
            let (tests, results) = fields.split_at(names);
            let bytes = tests.iter().find_map(|test| size_in(test));
            let bytes = bytes.map(|bytes| line.cell("size", bytes).size()).transpose()?;
            run.provisional &= run.bytes == bytes;
            run.bytes = bytes;
            run.timing = tests.iter().find_map(|test| timing(test));
            run.result(line, results, table)?;
        }
    }
    Ok(())
}

/// What is known about the current run.
#[derive(Default)]
struct Run<'a> {
    dialects: &'static [Dialect],
    bytes: Option<u64>,
    timing: Option<Timing>,
    /// Whether the table's last row is an intermediate result of this run, which a later one
    /// replaces.
    provisional: bool,
    /// The last line of intermediate results, if a final one must follow.
    open: Option<&'a Line>,
}

impl<'a> Run<'a> {
    /// Ends the previous run and begins a new one, of this many bytes if the line names a size.
    fn begins(&mut self, line: &Line, column: &'static str, bytes: Option<&str>) -> Result {
        if let Some(bytes) = bytes {
            self.bytes = Some(line.cell(column, bytes).size()?);
        }
        self.ends()
    }

    fn ends(&mut self) -> Result {
        self.provisional = false;
        let why =
            "the run is incomplete: it has intermediate results but no line that begins with Final";
        self.open.map_or(Ok(()), |line| Err(line.wrong(why)))
    }

    /// Begins a run of the test of this name.
    fn begins_test(&mut self, line: &Line, name: &str) -> Result {
        self.timing = timing(name).or(self.timing);
        self.begins(line, "test name", size_in(name))
    }

    fn line(&mut self, line: &'a Line, tests: &mut Sections) -> Result {
        let text = line.text.trim();
        let words = line.words();
        let numbers = |words: &[&str]| words.len() == 8 && words.iter().all(|w| is_number(w));
        if let Some((_, rest)) = text.split_once("Message size:") {
            let bytes = rest.split_whitespace().next().unwrap_or("");
            return self.begins(line, "message size", Some(bytes));
        } else if text.contains("ucx_perftest") && !text.starts_with(['|', '[']) {
            self.timing = option(&words, &["-t"]).map_or(self.timing, timing);
            let Some(sizes) = option(&words, &["-s"]) else { return Ok(()) };
            // A list gives the parts of one message.
            let parts = sizes.split(',').map(|part| line.cell("-s", part).size());
            return self.begins(line, "-s", Some(&parts.sum::<Result<u64>>()?.to_string()));
        } else if let Some((_, test)) = text.split_once("| Test:") {
            self.timing = timing(test);
        } else if text.contains("(usec)") {
            if text.contains("overhead") {
                self.timing = Some(Timing::Stream);
            }
            return self.ends();
        } else if let Some(name) = text.strip_prefix('+') {
            let name = name.split(['+', ' ']).next().unwrap_or("").trim_end_matches('-');
            return if name.is_empty() { Ok(()) } else { self.begins_test(line, name) };
        }
        match words.as_slice() {
            // `[thread 0]` is two words.
            words if text.contains("[thread") => {
                self.open = Some(line);
                return overall(line, words.get(2..).unwrap_or(&[])).map(drop);
            }
            ["Final:", results @ ..] => {
                self.open = None;
                self.result(line, results, tests)?;
            }
            [name, results @ ..] if numbers(results) && !is_number(name) => {
                self.begins_test(line, name)?;
                self.result(line, results, tests)?;
            }
            results if numbers(results) => return self.result(line, results, tests),
            _ => return Ok(()),
        }
        self.provisional = false;
        Ok(())
    }

    /// Adds a result; a later one of the same run replaces it.
    fn result(&mut self, line: &Line, results: &[&str], tests: &mut Sections) -> Result {
        let overall = overall(line, results)?;
        let bytes = self.bytes.ok_or_else(|| {
            line.wrong(
                "the message size is missing (put the command line with -s before the output \
                 of each run, or use the server's output, or a batch file whose tests are named by \
                 their size)",
            )
        })?;
        let of = |timing| self.dialects.iter().find(|dialect| dialect.timing == timing);
        let dialect = self.timing.and_then(of).unwrap_or(&self.dialects[0]);
        let row = line.cell("overall", overall).row(bytes, dialect.unit)?;
        let named = self.timing.is_some();
        if replace(&mut self.provisional, true)
            && let Some(last) = tests.list.last_mut()
        {
            last.rows.pop();
        }
        tests.row(dialect, named, row);
        Ok(())
    }
}

/// The overall time among the results of a line.
fn overall<'a>(line: &Line, results: &[&'a str]) -> Result<&'a str> {
    match results {
        // The sum over threads has only one time.
        [_, _, _, overall, _, _, _, _] | [_, overall, _, _] => Ok(overall),
        _ => Err(line.wrong(format!("the line is cut off: {} of 8 results", results.len()))),
    }
}
