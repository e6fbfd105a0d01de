//! Reads tables of message sizes and times that other tools measured.

use std::io::Read;

use anstream::adapter::strip_str;

use crate::columns::{Choice, SizeTable};
use crate::dialects::FAMILIES;
use crate::lines::{Line, Result, bounded};
use crate::table::{CSV, Family, Section, Sections};
use crate::{TableError, csv, shortened};

/// Longest file in bytes.
const LONGEST: usize = 64 << 20;

/// Limit on short lines, beyond one per 16 bytes of file: they take more memory than the file
/// itself.
const MOST_SHORT_LINES: usize = 80_000;

/// Reads a table of sizes and times in any known format: CSV, or the output of a tool, which is
/// recognised by its lines and not by the file's name. Prefixes that launchers write before every
/// line are removed.
///
/// CSV needs a column of sizes, `bytes`, and one of times, `time_ns`, `time_us`, `time_ms` or
/// `time_s`, in any order; common synonyms are accepted. Columns that identify a series, such as
/// `transport`, must hold one value. `operation_messages`, if present, is the number of messages
/// that an operation moves in its time. Other columns, blank lines and lines that begin with `#`
/// are ignored. Rows of the same size are repetitions. In a tool's output, a run has each size
/// once.
///
/// # Errors
/// Any defect in the chosen test, with its line: a test is read completely or not at all.
pub fn read_size_table(source: impl Read, choice: &Choice) -> Result<SizeTable> {
    let (mut lines, mut length) = (Vec::new(), 0);
    for line in bounded(source, LONGEST) {
        let line = line?;
        length += line.text.len();
        let text = plain(&line.text);
        if !text.trim().is_empty() {
            lines.push(Line { text, ..line });
        }
        if lines.len() > MOST_SHORT_LINES + length / 16 {
            let why = format!("the table has more than {} short lines", lines.len() - 1);
            return Err(TableError::Whole(why));
        }
    }
    let is_rule = |line: &Line| line.text.starts_with("|-") || line.text.starts_with("| -");
    let is_csv = |line: &Line| csv::separator(&line.text, false).is_some();
    if lines.iter().any(is_rule) && !lines.iter().any(is_csv) {
        markdown(&mut lines);
    }
    let mut tests = Sections::default();
    without_prefix(&mut lines);
    let table = |lines: &[Line], spaces: bool| {
        let header = |line: &Line| csv::separator(&line.text, spaces);
        lines.iter().enumerate().find_map(|(at, line)| Some((at, header(line)?)))
    };
    let found = table(&lines, false);
    if found.is_none()
        && let Some(family) = family(&mut lines, choice)?
    {
        (family.read)(family, &lines, &mut tests)?;
        return tests.choose(family.dialects, choice);
    }
    let found = found.or_else(|| table(&lines, true));
    let (at, separator) = found.ok_or_else(|| unknown(&lines))?;
    csv::read(&lines[at..], separator, &mut tests)?;
    tests.choose(std::slice::from_ref(&CSV), choice)
}

/// Whether the line is a title that a tool prints. Command lines are titles too, but not printed
/// ones.
fn is_title(text: &str) -> bool {
    let printed = text.starts_with('#') || text.trim_end().ends_with(" Test");
    printed && FAMILIES.iter().any(|family| (family.title)(text).is_some())
}

/// Whether a table is recognised by this line.
fn is_heading(text: &str) -> bool {
    let tells = |of: &Family| (of.title)(text).is_none() && (of.tells)(of, text);
    csv::separator(text, false).is_some() || FAMILIES.iter().any(tells)
}

/// The family that the lines belong to, if any. If there are several, the family of the chosen
/// test; only its lines are kept then.
fn family(lines: &mut Vec<Line>, choice: &Choice) -> Result<Option<&'static Family>> {
    let first = |family: &'static Family| {
        Some((lines.iter().position(|line| (family.tells)(family, &line.text))?, family))
    };
    let mut found: Vec<(usize, &'static Family)> = FAMILIES.iter().filter_map(first).collect();
    found.sort_by_key(|(at, _)| *at);
    let [(first, before), (at, after), ..] = found[..] else {
        return Ok(found.first().map(|(_, family)| *family));
    };
    let told = |line: &Line| found.iter().find(|(_, of)| (of.tells)(of, &line.text));
    for (_, family) in &found {
        let mut of = family.name;
        let is_own = |line: &&Line| {
            of = told(line).map_or(of, |(_, told)| told.name);
            of == family.name
        };
        let own: Vec<Line> = lines.iter().filter(is_own).cloned().collect();
        let mut tests = Sections::default();
        let is_read = (family.read)(family, &own, &mut tests).is_ok();
        let wanted = |of: &Section| choice.test.as_ref().is_some_and(|test| of.is(test));
        if is_read && tests.list.iter().any(wanted) {
            *lines = own;
            return Ok(Some(family));
        }
    }
    let [found, before] = [after.name, before.name].map(|name| format!("the output of {name}"));
    Err(lines[at].mixed(&found, &before, lines[first].number, "choose one with --test"))
}

/// The error for a file without a known table.
fn unknown(lines: &[Line]) -> TableError {
    const TELLING: &str =
        "size bytes latency usec time (us) [usec] bandwidth mb/s test msg benchmark";
    let likeness = |line: &&Line| {
        let text = line.text.to_lowercase();
        TELLING.split(' ').filter(|word| text.contains(word)).count()
    };
    const OWN: [&str; 2] = ["id,value,low,high,unit", "\"bandgap-run\""];
    if let Some(line) = lines.iter().find(|line| OWN.iter().any(|of| line.text.contains(of))) {
        return line.wrong(
            "these are results of bandgap, with their fits: see them with `bandgap show RUN`, where RUN is the \
             folder of the run (for other segments measure again with --breaks)",
        );
    }
    if let Some(line) = lines.iter().find(|line| line.text.contains("[ ID] Interval")) {
        return line.wrong("iperf's text output lacks the block size (run iperf3 with --json)");
    }
    // The first of the most similar lines.
    match lines.iter().take(10_000).rev().max_by_key(likeness) {
        None => TableError::Empty("a table or a tool's output"),
        Some(line) => {
            let names: Vec<&str> = FAMILIES.iter().map(|family| family.name).collect();
            line.wrong(format!(
                "found no heading of a known table and no result of a known tool; the most similar line is this: '{}' \
                 (known: {}; or CSV with {})",
                shortened(line.text.trim()),
                names.join(", "),
                csv::columns()
            ))
        }
    }
}

/// `text` without terminal codes, zero-width marks and its line end, and with ordinary spaces in
/// place of non-breaking ones.
fn plain(text: &str) -> String {
    let out = strip_str(text.trim_end_matches(['\r', '\n'])).to_string();
    let spaces = ['\u{a0}', '\u{2007}', '\u{202f}'];
    out.replace(['\u{feff}', '\u{200b}'], "").replace(spaces, " ")
}

/// Last word at which a heading may begin.
const MOST_WORDS: usize = 12;

/// Removes the prefix that stands before the first title or heading, from all lines that have it.
fn without_prefix(lines: &mut Vec<Line>) {
    let tells = |text: &str| is_title(text) || is_heading(text);
    // In a long log of other programs, only this many lines are examined.
    let telling = lines.iter().enumerate().filter(|(_, line)| may_tell(&line.text)).take(2000);
    let above = telling.take_while(|(_, line)| !is_heading(&line.text));
    // A command line is a title, whatever stands before it.
    let found = above.filter(|(_, line)| !is_title(&line.text)).find_map(|(at, line)| {
        let place = beginnings(&line.text).find(|place| tells(&line.text[*place..]))?;
        let prefix = line.text[..place].trim();
        // A prefix before the title alone does not count.
        let has = |line: &&Line| rest(prefix, &line.text).is_some();
        let is_common = !prefix.is_empty() && lines[at..].iter().filter(has).nth(1).is_some();
        is_common.then(|| prefix.to_owned())
    });
    let Some(found) = found else { return };
    for line in lines.iter_mut() {
        if let Some(rest) = rest(&found, &line.text) {
            line.text = rest.to_owned();
        }
    }
    lines.retain(|line| !line.text.trim().is_empty());
}

/// Whether a line has a word that titles and headings have.
fn may_tell(text: &str) -> bool {
    const WORDS: &str =
        "size bytes len test benchmarking iterations --> | final: summary sockperf:";
    text.len() < 600 && WORDS.split(' ').any(|word| text.to_ascii_lowercase().contains(word))
}

/// Positions in a line where a heading may begin, except its start.
fn beginnings(text: &str) -> impl Iterator<Item = usize> {
    let mut before = ' ';
    let places = text.char_indices().filter(move |(_, c)| {
        let begins = before.is_whitespace() || "]:>|)".contains(before);
        before = *c;
        begins && (c.is_alphanumeric() || "\"|+*(".contains(*c)) || *c == '#'
    });
    places.map(|(place, _)| place).filter(|place| *place > 0).take(MOST_WORDS)
}

/// The text after such a prefix; numbers in the prefix may differ, and before a row also words, such
/// as the names of files.
fn rest<'a>(prefix: &str, text: &'a str) -> Option<&'a str> {
    let number = |c: char| c.is_ascii_digit();
    let word = |c: char| c.is_alphanumeric() || "_.".contains(c);
    let row = || after(prefix, text, word).filter(|rest| rest.starts_with(number));
    after(prefix, text, number).or_else(row)
}

/// The text after a prefix in which runs of these characters may differ.
fn after<'a>(prefix: &str, text: &'a str, differs: impl Fn(char) -> bool) -> Option<&'a str> {
    let (mut prefix, mut text) = (prefix.trim(), text.trim_start());
    let run = |text: &str| text.len() - text.trim_start_matches(&differs).len();
    while let Some(first) = prefix.chars().next() {
        let (left, right) = if differs(first) {
            (run(prefix), run(text))
        } else if first.is_whitespace() {
            (prefix.len() - prefix.trim_start().len(), text.len() - text.trim_start().len())
        } else {
            let same = text.starts_with(first);
            (first.len_utf8(), if same { first.len_utf8() } else { 0 })
        };
        if right == 0 {
            return None;
        }
        (prefix, text) = (&prefix[left..], &text[right..]);
    }
    Some(text.trim_start())
}

/// Writes tables in Markdown as tools print them: without bars and rules. A heading whose other
/// cells are empty has them in the next line.
fn markdown(lines: &mut Vec<Line>) {
    let mut pending = String::new();
    lines.retain_mut(|line| {
        let cells = line.text.trim().strip_prefix('|').and_then(|text| text.strip_suffix('|'));
        let Some((first, rest)) = cells.and_then(|of| of.split_once('|')) else { return true };
        let (first, rest) = (first.trim(), rest.replace('|', "  "));
        let is_row = first.starts_with(|c: char| c.is_ascii_digit());
        if rest.trim().is_empty() && !is_row && !is_title(first) && !first.contains(':') {
            pending = first.to_owned();
        } else if !is_row && !pending.is_empty() {
            line.text = format!("{}  {rest}", std::mem::take(&mut pending));
            return true;
        }
        line.text = format!("{first}  {rest}");
        pending.is_empty() && line.text.contains(|c| !" -:".contains(c))
    });
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn colours_are_taken_away() {
        assert_eq!(plain("a\u{1b}[1;35mb\u{1b}[0m c\r\n"), "ab c");
        // Codes cut short leave nothing that could be taken for one.
        assert_eq!(plain("a\u{1b}["), "a");
        assert_eq!(plain("\u{1b}[31"), "");
    }
}
