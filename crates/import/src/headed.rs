//! The generic reader: a sequence of tests, each with columns under a heading.

use crate::columns::Remark;
use crate::lines::{Line, Result};
use crate::table::{Dialect, Family, Section, Sections, Unit};
use crate::{TableError, shortened};

/// A label of a heading: its name, and the unit in brackets after it.
struct Label {
    name: String,
    /// Empty if there is none.
    unit: String,
}

/// A text without leading marks and spaces.
pub(crate) fn bare(text: &str) -> &str {
    text.trim_start_matches(|c: char| c == '#' || c.is_whitespace())
}

/// Whether a word of a heading begins a label of several words, as in `Avg Latency(us)`, `P50 Tail
/// Lat(us)`, `99% percentile[usec]` or `BW average[MB/sec]`.
fn opens(word: &str) -> bool {
    let percentile = word.strip_prefix('P').unwrap_or("x");
    let word = word.to_ascii_lowercase();
    ["avg", "min", "max", "tail", "ave", "bw", "tps", "transmit"].contains(&word.as_str())
        || word.ends_with('%')
        || !percentile.is_empty() && percentile.bytes().all(|c| c.is_ascii_digit() || c == b'.')
}

/// The labels of a heading, in lower case.
fn labels(text: &str) -> Vec<Label> {
    let text = bare(text).replace(" (", "(").replace(" [", "[");
    let mut labels: Vec<String> = Vec::new();
    let mut open = false;
    for word in text.split_whitespace() {
        match labels.last_mut().filter(|_| open) {
            Some(last) => *last = format!("{last} {word}"),
            None => labels.push(word.to_owned()),
        }
        open = opens(word);
    }
    let split = |label: String| {
        let (name, unit) = label.split_once(['(', '[']).unwrap_or((&label, ""));
        let unit = unit.trim_end_matches([')', ']']).to_owned();
        Label { name: name.to_ascii_lowercase(), unit }
    };
    labels.into_iter().map(split).collect()
}

/// Where a heading has the columns of a dialect.
struct Columns {
    /// The labels that all rows have a column for.
    labels: Vec<Label>,
    size: usize,
    /// Another column that must have the same size, such as that of the response.
    twin: Option<usize>,
    time: usize,
    unit: Unit,
}

/// The label of the bytes that are sent of a datatype.
const SENT: &str = "transmit size";

/// Labels of the columns in which tools count wrong data.
const WRONG_DATA: [&str; 3] = ["defects", "#wrong", ERROR];
const ERROR: &str = "error";

/// Labels that only collectives and tests of several pairs have.
const FOREIGN: [&str; 3] = ["min latency", "max latency", "iterations"];

/// The columns of a dialect if the line is its heading; an error with their unit, or nothing, if
/// the heading lacks the times.
fn heading(dialect: &Dialect, text: &str) -> Option<std::result::Result<Columns, String>> {
    // Most lines are rows or the output of other programs.
    let is_word = bare(text).starts_with(char::is_alphabetic);
    if !is_word || text.len() > 512 || !text.to_ascii_lowercase().contains(dialect.size) {
        return None;
    }
    let labels = labels(text);
    let place = |name: &str| labels.iter().position(|label| label.name == name);
    let (size, beside) = (place(dialect.size)?, place(dialect.beside).is_some());
    // A sentence may contain the same words, and a `#` column means that this is not the heading.
    let sentence = if dialect.beside.is_empty() { size > 0 } else { !beside };
    if sentence || labels.iter().any(|label| label.name == "#") {
        return None;
    }
    let ends = |label: &Label| {
        let before = label.name.strip_suffix(dialect.time);
        before.is_some_and(|before| before.is_empty() || before.ends_with(' '))
    };
    let Some(time) = labels.iter().position(ends) else {
        return beside.then(|| Err(String::new()));
    };
    let named = &labels[time].unit;
    let unit = if named.is_empty() { Some(dialect.unit) } else { Unit::named(named) };
    let Some(unit) = unit else { return Some(Err(named.clone())) };
    let twin = labels.iter().rposition(|label| label.name == dialect.size).filter(|at| *at > size);
    let size = place(SENT).unwrap_or(size);
    Some(Ok(Columns { labels, size, twin, time, unit }))
}

/// Whether the line is a heading of one of the family's dialects.
fn is_heading(family: &Family, text: &str) -> bool {
    family.dialects.iter().any(|dialect| heading(dialect, text).is_some())
}

/// Whether the line is a title or a heading.
pub(crate) fn tells(family: &Family, text: &str) -> bool {
    (family.title)(text).is_some() || is_heading(family, text)
}

/// Reads every test.
pub(crate) fn read(family: &'static Family, lines: &[Line], tests: &mut Sections) -> Result {
    let mut headed = false;
    // A test begins with its title, or with its heading if it has no title.
    let sections = lines.chunk_by(|line, next| {
        headed |= is_heading(family, &line.text);
        let begins =
            (family.title)(&next.text).is_some() || headed && is_heading(family, &next.text);
        headed &= !begins;
        !begins
    });
    // A repeated heading belongs to the same test.
    let mut title = None;
    for lines in sections {
        title = (family.title)(&lines[0].text).or(title);
        section(family, title.as_deref(), lines, tests);
    }
    Ok(())
}

/// Adds the test in these lines; the first line begins it.
fn section(family: &'static Family, title: Option<&str>, lines: &[Line], tests: &mut Sections) {
    let whole = |dialect: &&Dialect| {
        lines.iter().any(|line| heading(dialect, &line.text).is_some_and(|of| of.is_ok()))
    };
    let of = |title: &str| {
        // Several dialects may have the same test, with different columns.
        let of = || family.dialects.iter().filter(|of| of.test.eq_ignore_ascii_case(title));
        of().find(whole).or(of().next())
    };
    // Columns of averages and extremes belong to collectives, unless the test is named.
    let untitled = |of: &&Dialect| whole(of) && !of.caveat.starts_with(of.time);
    let untitled = family.dialects.iter().find(untitled);
    let titled = title.map(|title| (title, of(title), true));
    // A command line may be another table's: the columns decide.
    let titled = titled.filter(|(_, of, _)| untitled.is_none() || of.is_none_or(|of| whole(&of)));
    let untitled = untitled.map(|of| (of.test, Some(of), false));
    let Some((name, dialect, named)) = titled.or(untitled) else { return };
    let begin = lines.iter().find(|line| tells(family, &line.text));
    let section = tests.begin(begin.map_or(0, |line| line.number), name, dialect, named);
    section.error = match dialect {
        Some(dialect) => rows(dialect, lines, section).err(),
        None => Some(refused(family, &lines[0], name)),
    };
}

/// The error for a test that cannot be read.
pub(crate) fn refused(family: &Family, line: &Line, test: &str) -> TableError {
    let mut known: Vec<&str> = family.dialects.iter().map(|dialect| dialect.test).collect();
    known.dedup();
    line.wrong(format!(
        "the times of the {} test '{}' are not read as those of messages (tests that are read: {})",
        family.name,
        shortened(test),
        known.join(", ")
    ))
}

/// A text before a value, whether this value lets the times be read, and why not.
type Condition = (&'static str, fn(&str) -> bool, &'static str);

#[rustfmt::skip]
const CONDITIONS: [Condition; 4] = [
    ("[ pairs:", |of| of == "1", "the times are for several pairs at once (run the tool with one pair)"),
    ("Number of qps", |of| of == "1", "the times are for several queue pairs at once (run the tool without -q)"),
    ("window size:", |of| of != "varied", "the window size varies (run the tool with one: -W 64)"),
    ("Out of bounds values", |of| of == "0", WRONG),
];

const WRONG: &str = "the tool reports wrong data, so the times are not used";

pub(crate) const UNEQUAL: &str =
    "request and response differ in size, so half of the round trip is the time of neither";

/// Adds the rows under each heading.
fn rows(dialect: &Dialect, lines: &[Line], section: &mut Section) -> Result {
    let mut current: Option<(&Line, Columns)> = None;
    // The first line that is not a row: text below the table, or a damaged row. The first that is like one.
    let (mut nearest, mut damaged) = (None, None);
    const DAMAGED: &str =
        "the size or the time is no number, and the line is otherwise a row, between others";
    for (at, line) in lines.iter().enumerate() {
        let fails = |(before, holds, _): &&Condition| {
            let rest = line.text.split_once(before).map_or("", |(_, rest)| rest);
            rest.split([':', ' ', '\t', ']'])
                .find(|word| !word.is_empty())
                .is_some_and(|of| !holds(of))
        };
        if let Some((.., why)) = CONDITIONS.iter().find(fails) {
            return Err(line.wrong(*why));
        }
        match heading(dialect, &line.text) {
            Some(Ok(mut columns)) => {
                let names = || columns.labels.iter().map(|label| label.name.as_str());
                if let Some(label) = names().find(|of| FOREIGN.contains(of)) {
                    return Err(line.wrong(format!(
                        "column '{label}' belongs to a collective or to several pairs, so the times are not those of single messages"
                    )));
                }
                let name = &columns.labels[columns.time].name;
                let count = columns.labels.len();
                let width = width(&columns, &lines[at + 1..]).unwrap_or(count);
                let alike = names().filter(|of| of == name).count() + width.saturating_sub(count);
                if alike > 1 && dialect.caveat.is_empty() {
                    let first = format!("column {name}, the first of {alike}");
                    section.remarks.push(Remark::Caveat(first));
                }
                section.repeats = columns.labels[columns.size].name == SENT;
                if section.repeats {
                    let sent = format!("column {SENT}: of a datatype only these bytes are sent");
                    section.remarks.push(Remark::Caveat(sent));
                }
                columns.labels.truncate(width);
                current = Some((line, columns));
            }
            Some(Err(unit)) if unit.is_empty() => {
                return Err(line.lacks(dialect.time, line.words()));
            }
            Some(Err(unit)) => {
                return Err(line.wrong(format!(
                    "column {} is in {}, not in a known unit (cycles: run perftest without -C)",
                    dialect.time,
                    shortened(&unit)
                )));
            }
            None => {
                let Some((_, columns)) = &current else { continue };
                match (row(dialect, columns, line, section)?, damaged) {
                    (true, Some(before)) => return Err(Line::wrong(before, DAMAGED)),
                    (true, None) => {}
                    (false, _) => {
                        nearest = nearest.or(Some(line));
                        damaged = damaged.or(Some(line).filter(|of| is_like_row(columns, of)));
                    }
                }
            }
        }
    }
    match (current, nearest) {
        (Some((heading, _)), Some(nearest)) if section.rows.is_empty() => Err(nearest.wrong(format!(
            "not a row of the table with its heading in line {}: a row begins with a size and has a number for \
             '{}'",
            heading.number, dialect.time
        ))),
        _ => Ok(()),
    }
}

/// Number of columns if all rows have equally many: tools leave the last ones out, or add some.
fn width(columns: &Columns, lines: &[Line]) -> Option<usize> {
    let is_row = |words: &Vec<&str>| {
        let time = words.get(columns.time).is_some_and(|time| is_number(time));
        time && is_number(words[0])
    };
    let mut counts = lines.iter().map(Line::words).filter(is_row).map(|words| words.len());
    let first = counts.next().filter(|first| counts.next() == Some(*first));
    first.filter(|first| counts.all(|count| count == *first))
}

/// The largest error that rounding leaves in data of any type, as older nccl-tests have it.
const ROUNDING: f64 = 1e-2;

/// Whether a word is a number of any value.
fn is_number(word: &str) -> bool {
    word.parse::<f64>().is_ok()
}

/// The words of a row, without a list marker.
fn cells(line: &Line) -> Vec<&str> {
    let mut words = line.words();
    if words.first().is_some_and(|word| ["-", "*", "|", "--"].contains(word)) {
        words.remove(0);
    }
    words
}

/// Whether a line has the form of a row, and one of its two numbers.
fn is_like_row(columns: &Columns, line: &Line) -> bool {
    let words = cells(line);
    let is_size = |size: &&str| {
        size.contains(|c: char| c.is_ascii_digit())
            && is_number(size) != is_number(words[columns.time])
    };
    let is_whole = words.len() == columns.labels.len() && !line.is_comment();
    is_whole && words.get(columns.size).is_some_and(is_size)
}

/// Adds the line if it is a row; returns whether it is. A row begins with a size or otherwise has
/// the form of a row. Other lines may stand between rows.
fn row(dialect: &Dialect, columns: &Columns, line: &Line, section: &mut Section) -> Result<bool> {
    let words = cells(line);
    let Some(size) = words.get(columns.size) else { return Ok(false) };
    let unsigned = size.strip_prefix(['-', '+']).unwrap_or(size);
    if !unsigned.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(false);
    }
    // A binary prefix: libfabric prints 1.5k, cut to one decimal.
    let prefixes = [("k", 1024f64), ("m", 1024f64.powi(2)), ("g", 1024f64.powi(3))];
    let scaled = |(prefix, factor)| Some((size.strip_suffix(prefix)?, factor));
    let scaled = prefixes.into_iter().find_map(scaled);
    let failed = words.iter().any(|word| word.eq_ignore_ascii_case("fail"));
    // Sentences may begin with a number, and times of day with digits.
    let count = columns.labels.len();
    let formed = words.len() == count && is_number(words[columns.time]);
    let sized = is_number(scaled.map_or(size, |(digits, _)| digits));
    let time = words[columns.time.min(words.len() - 1)];
    let digits = words.len() == count && time.contains(|c: char| c.is_ascii_digit());
    let begins = time.starts_with(|c: char| c.is_ascii_alphabetic()) && !digits;
    let sentence = (begins || time.contains(':')) && !is_number(time);
    if !failed && (!sized && !formed || sentence) {
        return Ok(false);
    }
    if words.len() < count {
        let found = words.len();
        return Err(line.wrong(format!("the line is cut off: {found} of {count} columns")));
    }
    if failed {
        return Err(line.wrong(format!("Fail: {WRONG}")));
    }
    for (place, (Label { name, .. }, found)) in (1..).zip(columns.labels.iter().zip(&words)) {
        let most = if name == ERROR { ROUNDING } else { 0.0 };
        let is_right = || *found == "N/A" || found.parse::<f64>().is_ok_and(|of| of <= most);
        if WRONG_DATA.contains(&name.as_str()) && !is_right() {
            let found = shortened(found);
            return Err(line.wrong(format!("column {place}, {name}, is '{found}': {WRONG}")));
        }
    }
    if columns.twin.is_some_and(|twin| words.get(twin) != Some(size)) {
        return Err(line.wrong(UNEQUAL));
    }
    let time = line.cell(dialect.time, words[columns.time]);
    let (bytes, step) = match scaled {
        None => (line.cell(dialect.size, size).size()?, 0.0),
        Some((digits, factor)) => match line.cell(dialect.size, digits).scaled_size(factor)? {
            (bytes, true) => (bytes, 0.0),
            (bytes, false) => (bytes, factor / 10.0),
        },
    };
    let row = time.row(bytes, columns.unit)?.times(dialect.share).of_rounded_size(step);
    section.rows.push(row);
    Ok(true)
}
