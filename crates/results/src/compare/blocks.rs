//! A comparison for a reader: one screen, Markdown, CSV.

use bandgap_record::{Number, Place, Quantity, RecordError, csv};
use bandgap_report::{
    Block, Cell, Head, Precision, SECTION_PARTS, Shown, Table, share, signed_share, written,
};

use super::{Comparison, Judged, Word};
use crate::rows::worded;
use crate::shown::{counted, ranged};

/// The most rows of a screen.
const ROWS: usize = 12;
/// The most fields or ids in a line.
const NAMED: usize = 6;

impl Word {
    /// As readers see it.
    pub fn words(self) -> String {
        if self == Word::Machine {
            return "the machine differs".to_owned();
        }
        let code = serde_json::to_value(self).unwrap_or_default();
        code.as_str().unwrap_or_default().replace('_', " ")
    }
}

impl Comparison {
    /// What changed, then a count of the rest; everything with `all`.
    pub fn blocks(&self, all: bool) -> Vec<Block> {
        let side = |at: usize| {
            let of = &self.sides[at];
            let [unit, count] = match self.rule.unit == "run" {
                true => ["runs", &of.runs.len().to_string()],
                false => ["launches", &of.launches.to_string()],
            };
            format!("{} {}, {unit}: {count}", ["A", "B"][at], of.runs.join(","))
        };
        let values = counted(self.quantities.len(), "value");
        let title = [side(0), side(1), format!("margin {}, {values}", self.margin())];
        let rows = self.quantities.iter().filter(|of| all || of.verdict != Word::Same);
        let rows = rows.take(if all { usize::MAX } else { ROWS });
        let rows = rows.flat_map(|of| std::iter::once(of).chain(of.inside.iter().filter(|_| all)));
        let heads = ["", "A", "B", &self.change(), "verdict"].map(Head::new);
        let table = Table::new(heads).with(rows.map(row));
        let table = (!table.rows.is_empty()).then_some(Block::Table(table));
        let left = self.quantities.len() - self.same();
        let rest = match all {
            true => String::new(),
            false => self.left_out(left.saturating_sub(ROWS), " (-v)"),
        };
        let [needed, command] = self.decides();
        let text = [rest, self.only(), needed, command, self.last()];
        let text = text.into_iter().filter(|text| !text.is_empty()).map(Block::Text);
        let section = Block::section("compare", title.join(SECTION_PARTS));
        [section, Block::Text(self.setups())].into_iter().chain(table).chain(text).collect()
    }

    fn margin(&self) -> String {
        let Number(margin) = self.rule.margin;
        format!("{:.1} to {:+.1} %", -100.0 * margin / (1.0 + margin), 100.0 * margin)
    }

    fn change(&self) -> String {
        match self.rule.family {
            0 => "B/A".to_owned(),
            family => format!("B/A, {} for all {family}", share(self.rule.confidence.0)),
        }
    }

    fn same(&self) -> usize {
        self.quantities.iter().filter(|of| of.verdict == Word::Same).count()
    }

    /// What set-ups and floors say.
    fn setups(&self) -> String {
        let setup = &self.setup;
        let fields = |of: &[_]| few(of.iter().map(ToString::to_string));
        let floor = self.machine.floors.iter().min_by_key(|of| of.verdict);
        let why = |of: &Judged| {
            of.reason.iter().map(|of| format!(", {}", of.replace('_', " "))).collect::<String>()
        };
        let floor = floor.map(|of| format!("{} {}{}", of.id, changed(of), why(of)));
        let is_same = self.sides[0].runs == self.sides[1].runs;
        said([
            ("Both sides", if is_same { "the same run" } else { "" }.to_owned()),
            ("Two machines", fields(&setup.machine)),
            ("Not the same experiment, so not compared", fields(&setup.experiment)),
            ("Differ", fields(&setup.expected)),
            ("Machine itself", self.machine.verdict.words()),
            ("Floor", floor.unwrap_or_default()),
        ])
    }

    /// What a table leaves out, and where it is.
    fn left_out(&self, others: usize, place: &str) -> String {
        let count = |count: usize| if count == 0 { String::new() } else { count.to_string() };
        let others_of = format!("Others that did not stay the same{place}");
        let same_of = format!("Same within {}{place}", self.margin());
        said([(&others_of, count(others)), (&same_of, count(self.same()))])
    }

    /// What would decide what cannot be told, and the command for a shell.
    fn decides(&self) -> [String; 2] {
        let Some(of) = &self.decide else { return Default::default() };
        let (count, unit) = (of.count, &self.rule.unit);
        let ending = if unit == "launch" { "es" } else { "s" };
        let [sides, each] = if of.each_side { [" a side", " each"] } else { ["", ""] };
        let minutes = of.minutes.0.max(1.0);
        let needed = format!("{count} {unit}{ending}{sides}, about {minutes:.0} min{each}");
        [said([("What cannot be told would be with", needed)]), of.command.clone()]
    }

    fn only(&self) -> String {
        let [a, b] = [&self.only_in_a, &self.only_in_b].map(|of| few(of.iter().cloned()));
        said([("Only in A", a), ("Only in B", b)])
    }

    /// The exit code, and why.
    fn last(&self) -> String {
        format!("exit {}: {}", self.exit, self.verdict.words())
    }

    /// As a comment on a pull request.
    pub fn markdown(&self) -> String {
        let cell = |cell: Cell| match cell {
            Cell::Text(text) | Cell::Number(text) => text.replace('|', "\\|"),
            Cell::Value(shown) => written(&shown),
            Cell::Empty | Cell::Bar(_) => String::new(),
        };
        let changed = self.quantities.iter().filter(|of| of.verdict != Word::Same);
        let line = |of| format!("| {} |\n", row(of).map(cell).join(" | "));
        let (verdict, change) = (self.verdict.words(), self.change());
        let lines: String = changed.map(line).collect();
        let head = format!("| | before | after | {change} | |\n|---|--:|--:|--:|---|\n");
        let table = if lines.is_empty() { lines } else { head + &lines + "\n" };
        let [needed, command] = self.decides();
        let command = if command.is_empty() { command } else { format!("    {command}") };
        let rest = [self.left_out(0, ""), self.only(), needed, command, self.setups(), self.last()];
        let rest: Vec<String> = rest.into_iter().filter(|of| !of.is_empty()).collect();
        let rest = rest.join("\n\n");
        format!("### bandgap: {verdict}\n\n{table}{rest}\n")
    }

    /// All values and floors, a row each.
    ///
    /// # Errors
    /// The table cannot be written.
    pub fn csv(&self) -> Result<Vec<u8>, RecordError> {
        let columns = ["id", "verdict", "change", "low", "high", "launches_needed", "reason"];
        let record = |of: &Judged| {
            let change = of.change.as_ref().map(|of| [Some(of.value), of.low, of.high]);
            let [value, low, high] = change.unwrap_or_default().map(|of| of.map(|of| of.0));
            let number = |of: Option<f64>| of.map_or(String::new(), |of| of.to_string());
            let needed = number(of.launches_needed.map(|of| of as f64));
            let (verdict, reason) = (of.verdict.words(), of.reason.clone());
            let [value, low, high] = [value, low, high].map(number);
            [of.id.clone(), verdict, value, low, high, needed, reason.unwrap_or_default()]
        };
        let all = self.quantities.iter().chain(&self.machine.floors);
        csv(&columns, all.map(|of| record(of).map(Into::into).to_vec()))
    }
}

/// Sentences of a title and what is said, without those of which nothing is.
fn said<const N: usize>(all: [(&str, String); N]) -> String {
    let sentence = |(title, of): &(&str, String)| format!("{title}: {of}.");
    let all: Vec<String> = all.iter().filter(|of| !of.1.is_empty()).map(sentence).collect();
    all.join(" ")
}

/// Some of all, and how many more.
fn few(all: impl ExactSizeIterator<Item = String>) -> String {
    let more = all.len().saturating_sub(NAMED);
    let more = (more > 0).then(|| format!("{more} more"));
    all.take(NAMED).chain(more).collect::<Vec<_>>().join(", ")
}

/// A change with its interval: `+7 % (+4 to +10 %)`.
fn changed(of: &Judged) -> String {
    of.change.as_ref().map_or_else(String::new, |of| ranged(of, signed_share))
}

/// A row of a table.
fn row(of: &Judged) -> [Cell; 5] {
    let value = |side: &Option<Quantity>| -> Cell {
        side.as_ref().map(|of| Shown::new(of, Precision::Converged)).into()
    };
    let [a, b] = match (&of.words, of.points) {
        (Some(words), _) => words.clone().map(Cell::Text),
        (None, Some(points)) => [Cell::Text(counted(points, "point")), Cell::Empty],
        (None, None) => [value(&of.a), value(&of.b)],
    };
    let interval = of.change.as_ref().and_then(Quantity::interval);
    let is_measurable = interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0);
    let most = of.most_at.as_ref().and_then(|id| id.rsplit('/').find_map(|of| of.split_once('=')));
    let most = most.map(|(axis, at)| match at.parse::<u64>() {
        Ok(number) if axis == "bytes" => worded(axis, &Place::from(number)),
        _ => format!("{axis} {at}"),
    });
    let more = [
        (of.verdict == Word::Same && is_measurable).then(|| "measurable".to_owned()),
        of.reason.as_ref().map(|reason| reason.replace('_', " ")),
        most.map(|place| format!("most at {place}")),
    ];
    let verdict = more.into_iter().flatten().fold(of.verdict.words(), |all, of| all + ", " + &of);
    [of.id.clone().into(), a, b, changed(of).into(), verdict.into()]
}
