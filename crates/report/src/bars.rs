//! Stacked bars in a terminal: each part a stretch of one letter, with its share below.

use bandgap_units::Fraction;

use crate::Layout;
use crate::terminal::colour;

/// Bars with a title. Parts of the same name look the same in all of them, those of a kind alike.
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    /// What is shown.
    pub title: String,
    /// The bars, from top to bottom.
    pub bars: Vec<Bar>,
}

/// A bar, which is as long as all others, whatever its whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// What is divided.
    pub name: String,
    /// The whole, with its unit, as it is written beside the bar.
    pub whole: String,
    /// Its parts, in their order.
    pub parts: Vec<Part>,
}

/// A part of a bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// What it is.
    pub name: String,
    /// Its share of the whole. One that is not above 0 is named, and not drawn.
    pub share: f64,
    /// The kind that it is of, if it is of one: kinds have a colour each, in which its parts differ by shade.
    pub kind: Option<usize>,
}

impl Bars {
    /// The names of all parts, each once.
    pub(crate) fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for part in self.bars.iter().flat_map(|bar| &bar.parts) {
            if !names.contains(&part.name.as_str()) {
                names.push(&part.name);
            }
        }
        names
    }
}

impl Bar {
    /// How many parts of the same kind stand before this one.
    pub(crate) fn shade(&self, at: usize) -> usize {
        self.parts[..at].iter().filter(|part| part.kind == self.parts[at].kind).count()
    }
}

impl Part {
    /// Its name and its share.
    pub(crate) fn legend(&self) -> String {
        format!("{} {}", self.name, Fraction(self.share))
    }
}

/// The colours of kinds: blue, yellow and cyan, which the colour-blind tell apart.
const KINDS: [u8; 3] = [34, 33, 36];

/// The letter of a part. What has more than 26 takes capitals and digits too: no plot, in which capitals have a
/// meaning.
fn sign(place: usize) -> char {
    let signs = ('a'..='z').chain('A'..='Z').chain('0'..='9');
    signs.cycle().nth(place).unwrap_or('?')
}

/// Draws bars as wide as the layout allows.
pub fn bars(of: &Bars, layout: &Layout) -> String {
    let names = of.names();
    let longest = of.bars.iter().map(|bar| bar.name.chars().count()).max().unwrap_or(0).min(36);
    let wholes = of.bars.iter().map(|bar| bar.whole.chars().count()).max().unwrap_or(0);
    let columns = layout.columns().saturating_sub(longest + wholes + 4).max(10);
    let mut out = layout.paragraph(&of.title);
    for bar in &of.bars {
        let name: String = bar.name.chars().take(longest).collect();
        let edge = if layout.ascii { '|' } else { '│' };
        let drawn = stretch(bar, &names, columns, layout.color);
        out += &format!("{name:<longest$} {edge}{drawn}{edge} {}\n", bar.whole);
        let legend = bar.parts.iter().map(|part| {
            let place = names.iter().position(|name| *name == part.name).unwrap_or(0);
            format!("{} {}", sign(place), part.legend()).replace(' ', "\u{a0}")
        });
        let indent = " ".repeat((longest + 2).min(layout.columns() / 4));
        let options = textwrap::Options::new(layout.columns())
            .initial_indent(&indent)
            .subsequent_indent(&indent)
            .word_splitter(textwrap::WordSplitter::NoHyphenation);
        let text = textwrap::fill(&legend.collect::<Vec<_>>().join("   "), options);
        out += &(text.replace('\u{a0}', " ") + "\n");
    }
    out
}

/// The letters of a bar: each cell has that of the part in whose stretch its middle lies.
fn stretch(bar: &Bar, names: &[&str], columns: usize, color: bool) -> String {
    let whole: f64 = bar.parts.iter().map(|part| part.share.max(0.0)).sum();
    let mut out = String::new();
    let mut parts = bar.parts.iter().filter(|part| part.share > 0.0);
    let (mut part, mut end) = (parts.next(), 0.0);
    end += part.map_or(0.0, |part| part.share);
    for cell in 0..columns {
        let middle = (cell as f64 + 0.5) / columns as f64 * whole;
        while middle > end {
            let Some(next) = parts.next() else { break };
            (part, end) = (Some(next), end + next.share);
        }
        let Some(part) = part else {
            out.push(' ');
            continue;
        };
        let place = names.iter().position(|name| *name == part.name).unwrap_or(0);
        match color {
            true => {
                let colour = part.kind.map_or(colour(place), |kind| KINDS[kind % KINDS.len()]);
                out += &format!("\u{1b}[{colour}m{}\u{1b}[0m", sign(place));
            }
            false => out.push(sign(place)),
        }
    }
    out
}

#[cfg(test)]
mod tests;
