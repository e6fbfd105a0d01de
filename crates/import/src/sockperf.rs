//! The output of sockperf in its ping-pong, under-load and throughput modes. A run has one size,
//! which only the command line or a line above names. So each run must follow its command line or a
//! line `msg-size=N`.

use crate::columns::Remark;
use crate::lines::{Line, Result, option};
use crate::table::{Dialect, Family, Sections};

/// Size in bytes if `--msg-size` is not given: the header alone.
const LEAST: u64 = 14;

/// A full log has one of these in place of a summary.
const AVERAGES: [&str; 2] = ["====> avg-lat=", "====> avg-latency="];

/// Whether sockperf printed this line.
pub(crate) fn tells(family: &Family, text: &str) -> bool {
    text.trim_start_matches(|c: char| !c.is_alphanumeric()).starts_with("sockperf: ")
        || text.contains("sockperf: Summary")
        || family.dialects.iter().any(|of| text.contains(of.time))
}

pub(crate) fn read(family: &'static Family, lines: &[Line], tests: &mut Sections) -> Result {
    let mut bytes = None;
    // An average that came before its summary.
    let mut average: Option<(&Line, &str)> = None;
    for line in lines {
        let after = |dialect: &'static Dialect| {
            line.text.split_once(dialect.time).map(|(_, rest)| (dialect, rest))
        };
        if let Some((dialect, rest)) = family.dialects.iter().find_map(after) {
            average = None;
            result(dialect, line, rest, &mut bytes, tests)?;
        } else if line.text.contains("Summary: ") && !line.text.contains("Summary: BandWidth") {
            return Err(line.wrong(
                "the summary is not an average over single messages (use sockperf's ping-pong mode, without --burst)",
            ));
        } else if let Some(rest) =
            AVERAGES.iter().find_map(|name| Some(line.text.split_once(name)?.1))
        {
            average = Some((line, rest));
        } else if let Some(size) = message_size(line, tests)? {
            if let Some((line, rest)) = average.take() {
                result(&family.dialects[0], line, rest, &mut bytes, tests)?;
            }
            bytes = Some(size);
        }
    }
    if let Some((line, rest)) = average {
        result(&family.dialects[0], line, rest, &mut bytes, tests)?;
    } else if let (true, Some(line)) = (tests.list.is_empty(), lines.last()) {
        return Err(line.wrong("the log ends here without a line 'Summary: Latency is'"));
    }
    Ok(())
}

/// Adds the result that `rest` begins with.
fn result(
    dialect: &'static Dialect,
    line: &Line,
    rest: &str,
    bytes: &mut Option<u64>,
    tests: &mut Sections,
) -> Result {
    let mut words = rest.split_whitespace();
    let number = words.next().unwrap_or("").trim_matches(['*', '`']);
    let unit = |of: &str| ["usec", "[msg/sec]", "(std-dev"].iter().any(|unit| of.starts_with(unit));
    if !words.next().is_some_and(unit) {
        return Err(line.wrong("the line is cut off: the average or its unit is missing"));
    }
    let bytes = bytes.take().ok_or_else(|| {
        line.wrong(
            "the message size is missing, since sockperf does not print it (put the command line, or a \
             line msg-size=N, before the output of each run)",
        )
    })?;
    let row = line.cell(dialect.test, number).row(bytes, dialect.unit)?.times(dialect.share);
    tests.row(dialect, true, row);
    Ok(())
}

/// The size that a line names, if any: `--msg-size=64`, `--msg-size 64`, `msg-size=64`, or `-m 64`
/// in a client's command line.
fn message_size(line: &Line, tests: &mut Sections) -> Result<Option<u64>> {
    let words = line.words();
    let mode =
        |word: &str| ["ping-pong", "pp", "under-load", "ul", "throughput", "tp"].contains(&word);
    let sockperf = |word: &str| word.trim_matches('`').ends_with("sockperf");
    let command = words.windows(2).any(|pair| sockperf(pair[0]) && mode(pair[1]));
    // sockperf's advice mentions another size.
    let words: Vec<&str> = words.into_iter().take_while(|word| *word != "consider").collect();
    let names: &[&str] = if command { &["--msg-size", "-m"] } else { &["--msg-size", "msg-size"] };
    if let Some(bytes) = option(&words, names) {
        let bytes = bytes.trim_matches(|c: char| !c.is_alphanumeric() && c != '-' && c != '+');
        return line.cell("msg-size", bytes).size().map(Some);
    }
    if command {
        tests.remark(Remark::DefaultSize(LEAST));
    }
    Ok(command.then_some(LEAST))
}
