//! CSV with a column of sizes and a column of times, with any usual separator and naming.

use ::csv::StringRecord;

use crate::columns::Remark;
use crate::lines::{Header, Line, Result};
use crate::shortened;
use crate::table::{CSV, Sections, Unit};

/// Columns that identify a series in a file with several.
const KEYS: [&str; 8] = ["name", "transport", "variant", "ranks", "from", "to", "distance", "mesh"];

/// Names of time columns; each ends with its unit.
const TIMES: [&str; 4] = ["time_ns", "time_us", "time_ms", "time_s"];

/// Separators between columns. A space is tried only if no other format is recognised.
const SEPARATORS: [char; 5] = [',', ';', '\t', '|', ' '];

/// Words in the name of a size column: at least one of the first list, and optionally those of the
/// second.
const SIZE_WORDS: [&str; 2] =
    ["bytes byte nbytes size msgsize length len", "b msg message n in payload data packet"];

/// Words that the name of a time column may have besides its unit.
const TIME_WORDS: [&str; 2] =
    ["time latency lat t avg average mean median", "in per message oneway one way"];

/// The accepted columns, for messages.
pub(crate) fn columns() -> String {
    let [sizes, times] = [SIZE_WORDS[0], TIME_WORDS[0]].map(|words| words.replace(' ', ", "));
    format!(
        "a column of sizes ({sizes}), and one of times ({times}) in ns, us, ms or s, as in bytes,time_us"
    )
}

fn is_in(list: &str, word: &str) -> bool {
    list.split(' ').any(|of| of == word)
}

/// The words of a column's name.
fn words(name: &str) -> Vec<String> {
    let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

fn is_size(name: &str) -> bool {
    let words = words(name);
    let [must, may] = SIZE_WORDS;
    name.starts_with(char::is_alphanumeric)
        && words.iter().any(|word| is_in(must, word))
        && words.iter().all(|word| is_in(must, word) || is_in(may, word))
}

/// Unit of a time column, from its name.
fn time_unit(name: &str) -> Option<Unit> {
    let words = words(name);
    let unit = |word: &String| Unit::named(word).filter(|unit| matches!(unit, Unit::Time(_)));
    let mut units = words.iter().filter_map(unit);
    let found = units.next().filter(|_| units.next().is_none())?;
    let known = |word: &String| unit(word).is_some() || TIME_WORDS.iter().any(|of| is_in(of, word));
    words.iter().all(known).then_some(found)
}

/// The separator, if the line is the header of such a table.
pub(crate) fn separator(text: &str, spaces: bool) -> Option<char> {
    SEPARATORS.into_iter().take(if spaces { 5 } else { 4 }).find(|separator| {
        let names = || text.split(*separator).map(|name| name.trim().trim_matches('"'));
        text.contains(*separator)
            && names().any(is_size)
            && (*separator != ' ' || names().filter(|name| is_size(name)).count() == 1)
            && names().any(|name| time_unit(name).is_some())
    })
}

/// The line in the form that the CSV reader takes: without markup of tables, and with single
/// spaces.
fn spaced(line: &Line, separator: char) -> Line {
    let text = match separator {
        ' ' => line.words().join(" ").trim_start_matches(['#', ' ']).to_owned(),
        '|' => line.text.trim().trim_matches('|').to_owned(),
        _ => line.text.clone(),
    };
    Line { number: line.number, text }
}

pub(crate) fn read(lines: &[Line], separator: char, tests: &mut Sections) -> Result {
    let Some((first, lines)) = lines.split_first() else { return Ok(()) };
    let first = &spaced(first, separator);
    let lines = lines.iter().filter(|line| !line.is_comment());
    let lines: Vec<Line> = lines.map(|line| spaced(line, separator)).collect();
    let header = Header::new(first, separator)?;
    let bytes = column(first, &header, &[CSV.size], is_size)?;
    let time = column(first, &header, &TIMES, |name| time_unit(name).is_some())?;
    let name = header.names().nth(time).unwrap_or("");
    let unit = time_unit(name).expect("a column of times has a unit");
    if header.names().filter(|name| is_time_like(name)).count() > 1 {
        tests.remark(Remark::Caveat(format!("column {}", shortened(name))));
    }
    let keys = header.those(&KEYS)?;
    let section = tests.begin(first.number, "", Some(&CSV), true);
    section.repeats = true;
    let mut series = None;
    let sentence = |line: &Line| {
        let long = line.text.starts_with(char::is_alphabetic) || line.words().len() > 2;
        long && !line.text.contains(separator)
    };
    let end = lines.iter().rposition(|line| !sentence(line)).map_or(0, |last| last + 1);
    for line in &lines[..end] {
        if separator == '|' && line.text.chars().all(|c| " |-:".contains(c)) {
            continue;
        }
        let row = header.row(line)?;
        if !keys.is_empty() {
            alike(line, &row, series.get_or_insert_with(|| (line.number, row.clone())), &keys)?;
        }
        let bytes = line.cell(CSV.size, &row[bytes]).own_size()?;
        // With semicolons between columns, a comma is a decimal point, as spreadsheets write it.
        let decimal = if separator == ';' { "." } else { "," };
        let text = row[time].replace(',', decimal);
        section.rows.push(line.cell("time", &text).row(bytes, unit)?);
    }
    Ok(())
}

/// Fails if a row differs from the first one in a column that identifies the series.
fn alike(
    line: &Line,
    row: &StringRecord,
    (first, before): &(u64, StringRecord),
    columns: &[(&'static str, usize)],
) -> Result {
    let differs = |(_, place): &&(&str, usize)| before[*place] != row[*place];
    let Some((key, place)) = columns.iter().find(differs) else { return Ok(()) };
    let found = format!("{key} '{}'", shortened(&row[*place]));
    let before = format!("'{}'", shortened(&before[*place]));
    Err(line.mixed(&found, &before, *first, "split the file, one series each"))
}

/// The only column with one of the exact names, or else the only one that `known` accepts.
fn column(
    line: &Line,
    header: &Header<'_>,
    exact: &[&str],
    known: impl Fn(&str) -> bool,
) -> Result<usize> {
    let names: Vec<&str> = header.names().collect();
    let places = |of: &dyn Fn(&str) -> bool| -> Vec<usize> {
        (0..names.len()).filter(|place| of(names[*place])).collect()
    };
    let mut found = places(&|name| exact.contains(&name));
    if found.is_empty() {
        found = places(&known);
    }
    let name = |place: usize| format!("column {}", shortened(names[place]));
    match found[..] {
        [] => Err(line.wrong(format!("the table needs {}", columns()))),
        [one] => Ok(one),
        [before, found, ..] => {
            Err(line.mixed(&name(found), &name(before), line.number, "keep one of them"))
        }
    }
}

/// Whether a column may hold times of any kind, such as minima or deviations.
fn is_time_like(name: &str) -> bool {
    let unit = words(name).last().and_then(|word| Unit::named(word));
    matches!(unit, Some(Unit::Time(_))) && !name.contains('/')
}
