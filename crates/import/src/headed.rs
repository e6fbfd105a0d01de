//! The generic reader: tests after one another, each with columns under a heading.

use crate::columns::Remark;
use crate::lines::{Line, Result};
use crate::table::{Dialect, Family, Table, Unit};
use crate::{TableError, shortened};

/// A label of a heading: its name, and the unit in brackets behind it.
struct Label {
    name: String,
    unit: Option<Unit>,
}

/// The labels of a heading. A label with its unit in round brackets may be several words (`Avg Latency(us)`).
fn labels(line: &Line) -> Vec<Label> {
    let text = line.text.trim_start_matches(['#', ' ']).replace(" (", "(");
    let mut words = text.split_whitespace();
    let mut labels: Vec<String> = words.next().map(str::to_owned).into_iter().collect();
    let mut rest: Vec<&str> = words.collect();
    if let Some(last) = rest.iter().rposition(|word| word.ends_with(')')) {
        let single = rest.split_off(last + 1);
        labels.extend(rest.split_inclusive(|word| word.ends_with(')')).map(|of| of.join(" ")));
        rest = single;
    }
    labels.extend(rest.iter().map(|word| (*word).to_owned()));
    let split = |label: String| match label.split_once(['(', '[']) {
        Some((name, unit)) => {
            Label { name: name.to_owned(), unit: Unit::named(unit.trim_end_matches([')', ']'])) }
        }
        None => Label { name: label, unit: None },
    };
    labels.into_iter().map(split).collect()
}

/// Where a heading has what a dialect needs of it.
#[derive(Clone, Copy)]
struct Columns {
    size: usize,
    time: usize,
    unit: Unit,
    count: usize,
}

/// What a line is for a dialect.
enum Heading {
    /// A heading with the columns that it needs.
    Whole(Columns),
    /// One without its times.
    Lacking,
    /// Another line.
    No,
}

fn heading(dialect: &Dialect, line: &Line) -> Heading {
    // Most lines are rows.
    if !line.text.trim_start_matches(['#', ' ']).starts_with(char::is_alphabetic) {
        return Heading::No;
    }
    let labels = labels(line);
    let place = |name: &str| labels.iter().position(|label| label.name == name);
    let (Some(size), beside) = (place(dialect.size), place(dialect.beside)) else {
        return Heading::No;
    };
    let ends = |label: &Label| label.name.split(' ').next_back() == Some(dialect.time);
    match labels.iter().position(ends) {
        _ if beside.is_none() && !dialect.beside.is_empty() => Heading::No,
        Some(time) => {
            let unit = labels[time].unit.unwrap_or(dialect.unit);
            Heading::Whole(Columns { size, time, unit, count: labels.len() })
        }
        None if beside.is_some() => Heading::Lacking,
        None => Heading::No,
    }
}

/// The first title or heading.
pub(crate) fn tells<'a>(family: &Family, lines: &'a [Line]) -> Option<&'a Line> {
    let is_heading = |line: &Line| {
        family.dialects.iter().any(|dialect| !matches!(heading(dialect, line), Heading::No))
    };
    lines.iter().find(|line| (family.title)(line).is_some() || is_heading(line))
}

/// A test's lines.
struct Section<'a> {
    /// Its name, if its first line is a title.
    test: Option<String>,
    lines: &'a [Line],
}

/// Reads the test whose dialect stands first in the family.
pub(crate) fn read(family: &'static Family, lines: &[Line], table: &mut Table) -> Result {
    let sections = lines.chunk_by(|_, next| (family.title)(next).is_none());
    let sections: Vec<Section> =
        sections.map(|lines| Section { test: (family.title)(&lines[0]), lines }).collect();
    let named = |dialect: &&Dialect| {
        sections.iter().any(|section| section.test.as_deref() == Some(dialect.test))
    };
    let is_headed = |lines: &[Line], dialect: &Dialect| {
        lines.iter().any(|line| !matches!(heading(dialect, line), Heading::No))
    };
    let untitled = |dialect: &&Dialect| {
        sections.iter().any(|section| section.test.is_none() && is_headed(section.lines, dialect))
    };
    let all = || family.dialects.iter();
    let (dialect, titled) = match all().find(named) {
        Some(dialect) => (dialect, true),
        None => match all().find(untitled) {
            Some(dialect) => (dialect, false),
            None => return Err(refused(family, &sections)),
        },
    };
    let mut left_out = Vec::new();
    for Section { test, lines } in sections {
        if test.as_deref() == titled.then_some(dialect.test) {
            rows(dialect, lines, table)?;
        } else if let Some(test) = test.filter(|test| !left_out.contains(test)) {
            left_out.push(test);
        }
    }
    if !left_out.is_empty() {
        table.remark(Remark::LeftOut(left_out));
    }
    if !titled && !dialect.test.is_empty() {
        table.remark(Remark::Assumed(dialect.test));
    }
    Ok(())
}

/// Why none of the tests can be read.
fn refused(family: &Family, sections: &[Section]) -> TableError {
    let first = sections.iter().find_map(|of| Some((of.lines.first()?, of.test.as_deref()?)));
    let Some((line, test)) = first else { return TableError::NoRows };
    let known: Vec<&str> = family.dialects.iter().map(|dialect| dialect.test).collect();
    line.wrong(format!(
        "the {} test '{}' has no time of a single message (these have: {})",
        family.name,
        shortened(test),
        known.join(", ")
    ))
}

/// Adds the rows under each heading.
fn rows(dialect: &'static Dialect, lines: &[Line], table: &mut Table) -> Result {
    let mut current: Option<Columns> = None;
    for line in lines {
        match heading(dialect, line) {
            Heading::Whole(columns) => {
                table.means(line, dialect)?;
                current = Some(columns);
            }
            Heading::Lacking => return Err(line.lacks(dialect.time, line.words())),
            Heading::No => {
                if let Some(columns) = current {
                    row(dialect, columns, line, table)?;
                }
            }
        }
    }
    Ok(())
}

/// Adds a line, if it is a row: other lines may stand between.
fn row(dialect: &Dialect, columns: Columns, line: &Line, table: &mut Table) -> Result {
    let words = line.words();
    let Some(size) = words.get(columns.size) else { return Ok(()) };
    let unsigned = size.strip_prefix(['-', '+']).unwrap_or(size);
    if !unsigned.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(());
    }
    if words.len() < columns.count {
        return Err(line.wrong(format!("it is cut: {} of {} columns", words.len(), columns.count)));
    }
    if words.contains(&"Fail") {
        return Err(line.wrong("the tool found wrong data: its time is not used"));
    }
    let time = line.cell(dialect.time, words[columns.time]);
    // A binary prefix: libfabric prints 1.5k, cut to one decimal.
    let prefixes = [("k", 1024f64), ("m", 1024f64.powi(2)), ("g", 1024f64.powi(3))];
    let scaled = |(prefix, factor)| Some((size.strip_suffix(prefix)?, factor));
    let (bytes, step) = match prefixes.into_iter().find_map(scaled) {
        None => (line.cell(dialect.size, size).size()?, 0.0),
        Some((digits, factor)) => match line.cell(dialect.size, digits).scaled_size(factor)? {
            (bytes, true) => (bytes, 0.0),
            (bytes, false) => (bytes, factor / 10.0),
        },
    };
    if step > 0.0 {
        table.remark(Remark::RoundedSizes);
    }
    let row = time.row(bytes, columns.unit)?.times(dialect.share).of_rounded_size(step);
    table.once(line, row)
}
