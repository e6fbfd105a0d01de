//! Blocks as text, with no line wider than the layout.

use bandgap_units::{Fraction, SharedUnit};

use crate::block::{Block, Cell, Head, SECTION_PARTS, Table};
use crate::number::{Shown, Written, multiple};
use crate::terminal::plot;
use crate::{Layout, printable};

/// Blocks below one another. Some names come from files or peers, and are made printable.
pub fn text(blocks: &[Block], layout: &Layout) -> String {
    let mut out = String::new();
    for block in blocks {
        match block {
            Block::Text(text) | Block::More(text) => out += &printable(&layout.paragraph(text)),
            Block::Doubt { text, more } => {
                let lines: Vec<&str> =
                    [&**text, more].into_iter().filter(|of| !of.is_empty()).collect();
                out += &printable(&doubt(&lines.join("\n"), layout));
            }
            Block::Section { title, .. } => {
                // After an empty line.
                if !out.is_empty() && !out.ends_with("\n\n") {
                    out.push('\n');
                }
                if !title.is_empty() {
                    out += &printable(&layout.paragraph(&unbroken(title)));
                }
            }
            Block::Table(table) => out += &printable(&self::table(table, layout)),
            // It has colours.
            Block::Figure(figure) => out += &plot(&figure.printable(), layout),
            Block::Bars(_) | Block::Heat(_) | Block::Gantt(_) | Block::Sums(_) => {}
        }
    }
    // Lines were not broken at these spaces.
    let out = out.replace('\u{a0}', " ");
    if layout.ascii { ascii(&out) } else { out }
}

/// A title without line breaks inside its parts, if it has several.
fn unbroken(title: &str) -> String {
    let parts: Vec<String> =
        title.split(SECTION_PARTS).map(|part| part.replace(' ', "\u{a0}")).collect();
    if parts.len() > 1 { parts.join(SECTION_PARTS) } else { title.to_owned() }
}

fn doubt(text: &str, layout: &Layout) -> String {
    let options =
        textwrap::Options::new(layout.columns()).initial_indent("! ").subsequent_indent("  ");
    textwrap::fill(text, options) + "\n"
}

/// ASCII for other characters.
const LETTERS: &[(char, &str)] = &[
    ('±', "+-"),
    ('µ', "u"),
    ('∞', "inf"),
    ('½', "1/2"),
    ('×', "x"),
    ('·', "-"),
    ('π', "pi"),
    ('Δ', "D"),
    ('₂', "2"),
    ('²', "^2"),
    ('→', "->"),
    ('−', "-"),
    ('–', "-"),
    ('…', "..."),
    ('≤', "<="),
];

/// The text in ASCII.
pub fn ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match LETTERS.iter().find(|(known, _)| *known == letter) {
            Some((_, ascii)) => out += ascii,
            None if letter.is_ascii() => out.push(letter),
            None => out.push('?'),
        }
    }
    out
}

/// Space between two columns of a table.
const APART: usize = 2;
/// Least width of a bar.
const BAR: usize = 12;

/// A column with formatted cells.
pub(crate) struct Column<'a> {
    pub head: String,
    of: &'a Head,
    pub cells: Vec<String>,
    pub left: bool,
    /// Whether its quantities have the unit in the head.
    pub shares_unit: bool,
    /// The share of each row, if the column shows bars.
    bars: Option<Vec<f64>>,
}

impl Column<'_> {
    fn width(&self) -> usize {
        let cells = self.cells.iter().map(|cell| cell.chars().count());
        cells.chain([self.head.chars().count()]).max().unwrap_or(0)
    }

    /// Least width.
    fn room(&self) -> usize {
        self.width().max(if self.bars.is_some() { BAR } else { 0 })
    }
}

/// A table without empty columns. If it is too wide, it loses optional columns; if it still is, it is wrapped or split
/// into parts, each with the first column.
fn table(table: &Table, layout: &Layout) -> String {
    let wide = layout.columns();
    let is_used = |at: &usize| {
        let mut cells = table.rows.iter().map(|row| row.get(*at).unwrap_or(&Cell::Empty));
        cells.len() == 0 || cells.any(|cell| *cell != Cell::Empty)
    };
    let mut columns: Vec<Column<'_>> =
        (0..table.columns.len()).filter(is_used).map(|at| column(table, at)).collect();
    let width = |columns: &[Column<'_>]| {
        let rooms = columns.iter().map(|column| column.room() + APART);
        1 + rooms.sum::<usize>() - APART.min(columns.len())
    };
    while width(&columns) > wide {
        let Some(last) = columns.iter().rposition(|column| column.of.optional) else { break };
        columns.remove(last);
    }
    let mut out = String::new();
    // Words of the last column are wrapped.
    let before = width(&columns) - columns.last().map_or(0, Column::width);
    if width(&columns) > wide
        && wide.saturating_sub(before) >= LEAST
        && columns.last().is_some_and(|last| last.left && last.bars.is_none())
    {
        lines(&columns.iter().collect::<Vec<_>>(), wide - before, wide, layout, &mut out);
        return out;
    }
    let Some((first, rest)) = columns.split_first() else { return out };
    let mut rest: Vec<&Column<'_>> = rest.iter().collect();
    loop {
        let mut part = vec![first];
        let mut used = 1 + first.width();
        while let Some(next) = rest.first() {
            let own = APART + next.room();
            if used + own > wide && part.len() > 1 {
                break;
            }
            used += own;
            part.push(rest.remove(0));
        }
        lines(&part, usize::MAX, wide, layout, &mut out);
        if rest.is_empty() {
            return out;
        }
    }
}

/// Least width of wrapped words.
const LEAST: usize = 20;

/// Rows below one another; words of the last column are wrapped if they have not enough `room`.
fn lines(columns: &[&Column<'_>], room: usize, wide: usize, layout: &Layout, out: &mut String) {
    let fixed = columns.iter().filter(|of| of.bars.is_none());
    let fixed: usize = fixed.map(|of| of.width() + APART).sum();
    let wrapped = columns.last().map_or(0, |last| last.width().saturating_sub(room));
    let bar = (wide + wrapped).saturating_sub(fixed + 1).clamp(1, 32);
    let mut push = |cells: &mut dyn Iterator<Item = String>| {
        let mut line = String::from(" ");
        for (at, (column, cell)) in columns.iter().zip(cells).enumerate() {
            if at > 0 {
                line += &" ".repeat(APART);
            }
            let width = if column.bars.is_some() { 0 } else { column.width() };
            line +=
                &if column.left { format!("{cell:<width$}") } else { format!("{cell:>width$}") };
        }
        let line: String = line.trim_end().chars().take(wide).collect();
        out.push_str(&line);
        out.push('\n');
    };
    if columns.iter().any(|column| !column.head.is_empty()) {
        push(&mut columns.iter().map(|column| column.head.clone()));
    }
    for row in 0..columns.first().map_or(0, |first| first.cells.len()) {
        let cells = columns.iter().map(|column| match &column.bars {
            Some(shares) => drawn(shares[row], bar, layout),
            None => column.cells[row].clone(),
        });
        let mut cells: Vec<String> = cells.collect();
        let last = cells.pop().unwrap_or_default();
        let is_whole = room == usize::MAX;
        let parts = if is_whole { vec![(&*last).into()] } else { textwrap::wrap(&last, room) };
        for part in parts {
            push(&mut cells.iter().cloned().chain([part.into_owned()]));
            cells.iter_mut().for_each(String::clear);
        }
    }
}

/// A bar of a share, in eighths of a cell.
fn drawn(share: f64, columns: usize, layout: &Layout) -> String {
    const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    let eighths = (share.clamp(0.0, 1.0) * columns as f64 * 8.0).round() as usize;
    if layout.ascii {
        return "#".repeat(eighths.div_ceil(8));
    }
    let mut text = "█".repeat(eighths / 8);
    if !eighths.is_multiple_of(8) {
        text.push(EIGHTHS[eighths % 8]);
    }
    text
}

/// Formats a column; values are aligned at their half-widths.
pub(crate) fn column(table: &Table, at: usize) -> Column<'_> {
    let head = &table.columns[at];
    let cells: Vec<&Cell> =
        table.rows.iter().map(|row| row.get(at).unwrap_or(&Cell::Empty)).collect();
    let shared = shared(head, &cells);
    let written = |cell: &Cell| match cell {
        Cell::Value(shown) => {
            let scale = shared.filter(|_| !shown.apart);
            let mut written =
                Written::new(shown, scale.unwrap_or_else(|| multiple(shown.unit, shown.value)));
            if scale.is_some() || shown.apart {
                written.symbol = "";
            }
            Some(written)
        }
        _ => None,
    };
    let all: Vec<Option<Written>> = cells.iter().map(|cell| written(cell)).collect();
    let widest =
        |part: &dyn Fn(&Written) -> usize| all.iter().flatten().map(part).max().unwrap_or(0);
    let value = widest(&|of| of.value.chars().count());
    let half = widest(&|of| of.half.chars().count());
    let symbol = widest(&|of| of.symbol.chars().count());
    let mark = widest(&|of| usize::from(of.mark.is_some()));
    let lay = |cell: &Cell, written: &Option<Written>| match (cell, written) {
        (Cell::Text(text) | Cell::Number(text), _) => text.clone(),
        (_, Some(of)) => {
            let mut text = format!("{:>value$}", of.value);
            for (part, width) in [(of.half.as_str(), half), (of.symbol, symbol)] {
                if width > 0 {
                    text += &format!(" {part:<width$}");
                }
            }
            if mark > 0 {
                text += &format!(" {}", of.mark.unwrap_or(' '));
            }
            text
        }
        (Cell::Empty | Cell::Value(_) | Cell::Bar(_), None) => String::new(),
    };
    let laid = cells.iter().zip(&all).map(|(cell, written)| lay(cell, written)).collect();
    let shares = cells.iter().map(|cell| if let Cell::Bar(share) = cell { *share } else { 0.0 });
    let unit = shared.map_or("", |scale| scale.symbol);
    let title = match (head.text.as_str(), unit) {
        (text, "") => text.to_owned(),
        ("", unit) => format!("({unit})"),
        (text, unit) => format!("{text} ({unit})"),
    };
    Column {
        head: title,
        of: head,
        shares_unit: shared.is_some(),
        cells: laid,
        left: !cells.iter().any(|cell| matches!(cell, Cell::Number(_) | Cell::Value(_))),
        bars: cells.iter().any(|cell| matches!(cell, Cell::Bar(_))).then(|| shares.collect()),
    }
}

/// The unit of a column, chosen for its greatest value.
fn shared(head: &Head, cells: &[&Cell]) -> Option<SharedUnit> {
    let shown = |cell: &&Cell| match cell {
        Cell::Value(shown) if !shown.apart => Some(*shown),
        _ => None,
    };
    let greatest = |a: Shown, b: Shown| if b.value.abs() > a.value.abs() { b } else { a };
    let of = cells.iter().filter_map(shown).reduce(greatest).filter(|_| head.shares_unit)?;
    Some(multiple(of.unit, of.value))
}

/// A share with its sign, to 0.1 %, or from 1 % on to 1 %: `+6 %`, `-0.3 %`, `0 %`.
pub fn signed_share(of: f64) -> String {
    let percent = 100.0 * of;
    let text =
        if percent.abs() < 0.995 { format!("{percent:+.1}") } else { format!("{percent:+.0}") };
    if ["+0.0", "-0.0"].contains(&&*text) { "0 %".to_owned() } else { format!("{text} %") }
}

/// A share as in tables: `48 %`.
pub fn share(of: f64) -> String {
    Fraction(of).to_string()
}

#[cfg(test)]
mod tests {
    use bandgap_record::Unit;

    use super::*;
    use crate::Precision;

    fn value(value: f64, half: f64, precision: Precision) -> Cell {
        let interval = Some((value - half, value + half));
        Shown { value, interval, unit: Unit::Second, precision, apart: false }.into()
    }

    fn example() -> Table {
        let mut table = Table::new([
            Head::new(""),
            Head::new("").optional(),
            Head::shared("shm"),
            Head::shared("tcp"),
        ]);
        let (yes, no) = (Precision::Converged, Precision::No);
        table.push([
            "os".into(),
            "send overhead".into(),
            value(1.3e-9, 0.24e-9, no),
            value(4.43e-6, 0.72e-6, no),
        ]);
        table.push([
            "RTT/2".into(),
            "half round trip".into(),
            value(60.5e-9, 0.3e-9, yes),
            value(4.9e-6, 0.06e-6, yes),
        ]);
        table
    }

    fn lines(width: u16) -> Vec<String> {
        let layout = Layout { width, ..Layout::default() };
        text(&[Block::Table(example())], &layout).lines().map(str::to_owned).collect()
    }

    #[test]
    fn values_stand_below_one_another_and_the_unit_in_the_head() {
        assert_eq!(
            lines(80),
            [
                "                            shm (ns)      tcp (µs)",
                " os     send overhead     1.3 ±0.2 *   4.4 ±0.7  *",
                " RTT/2  half round trip  60.5 ±0.3    4.90 ±0.06",
            ]
        );
    }

    #[test]
    fn a_short_line_loses_optional_columns_and_then_breaks_the_table() {
        assert!(lines(42).iter().all(|line| line.chars().count() <= 42));
        assert!(!lines(42).iter().any(|line| line.contains("overhead")));
        let narrow = Layout { width: 40, ..Layout::default() };
        let mut wide = example();
        for row in &mut wide.rows {
            let more = row[2].clone();
            row.push(more.clone());
            row.push(more);
        }
        wide.columns.extend([Head::shared("unix"), Head::shared("tcp")]);
        let text = text(&[Block::Table(wide)], &narrow);
        assert!(text.lines().all(|line| line.chars().count() <= 40), "{text}");
        assert_eq!(text.lines().filter(|line| line.starts_with(" os")).count(), 2, "{text}");
    }

    #[test]
    fn long_words_go_on_in_the_next_line() {
        let mut table = Table::new(["check", "found"].map(Head::new));
        table.push([Cell::from("clock"), "a word ".repeat(20).trim().to_owned().into()]);
        let layout = Layout { width: 60, ..Layout::default() };
        let text = text(&[Block::Table(table)], &layout);
        assert!(text.lines().count() >= 4, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
        assert_eq!(text.matches("word").count(), 20);
    }

    #[test]
    fn ascii_has_no_other_letters() {
        let layout = Layout { ascii: true, ..Layout::default() };
        let blocks = [Block::Table(example()), Block::Text("r∞ · n½ → π0".into())];
        assert!(text(&blocks, &layout).is_ascii());
    }
}
