//! Blocks as one self-contained page: no request, no server, and nothing inline but one style and one script that its
//! policy names by their hashes. Without the script it says everything; with it curves and tables answer.

use base64::prelude::{BASE64_STANDARD, Engine};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use crate::block::{Block, Cell, SECTION_PARTS, Sum, Sums, Table};
use crate::printable::{NAME, told};
use crate::text::column;
use crate::{svg, svg_gantt};

const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = concat!(include_str!("page/page.js"), include_str!("page/selftest.js"));

/// The most letters of a paragraph.
const PARAGRAPH: usize = 2000;

/// Rows of a table above which it is folded.
const LONG: usize = 12;
/// Letters of a cell above which its lines are broken.
const WIDE: usize = 40;

/// A page.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    /// Its title.
    pub title: &'a str,
    /// Where and when, below the title; may be empty.
    pub facts: &'a str,
    /// Its content. Ids of sections that come again get a number.
    pub blocks: &'a [Block],
    /// The command that made it.
    pub command: &'a str,
    /// Where its figures come from, in a corner of each.
    pub source: &'a str,
}

/// A section under construction.
struct Part<'a> {
    ids: Vec<String>,
    title: &'a str,
    content: Vec<Markup>,
}

impl Page<'_> {
    /// The page as HTML.
    pub fn html(&self) -> String {
        let parts = self.parts();
        let named: Vec<_> = parts.iter().filter(|part| !part.title.is_empty()).collect();
        let title = told(self.title, NAME);
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(policy());
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    title { (title) }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    header { h1 { (title) } p.where { (told(self.facts, PARAGRAPH)) } }
                    nav aria-label="Sections" {
                        details {
                            summary { "Contents" }
                            @for part in &named {
                                a href={ "#" (part.ids[0]) } { (part.heading()) }
                            }
                        }
                    }
                    main { @for part in &parts { (part.markup()) } }
                    footer { p { "Made by " code { (told(self.command, PARAGRAPH)) } } }
                    script { (PreEscaped(SCRIPT)) }
                }
            }
        }
        .into_string()
    }

    fn content(&self, block: &Block) -> Option<Markup> {
        let source = self.source;
        Some(match block {
            Block::Section { .. } | Block::More(_) => return None,
            Block::Text(text) => html! { p { (told(text, PARAGRAPH)) } },
            Block::Doubt { text, more } => html! {
                p.doubt {
                    (told(text, PARAGRAPH))
                    @if !more.is_empty() { " " a href="#why" { "Why, and what helps" } }
                }
            },
            Block::Table(table) => self::table(table),
            Block::Gantt(chart) => drawn(svg_gantt(chart), ""),
            Block::Figure(_) | Block::Bars(_) | Block::Heat(_) => {
                let says = block.picture().map_or("", |(_, says)| says);
                drawn(svg(std::slice::from_ref(block), source), says)
            }
            Block::Sums(sums) => self::sums(sums),
        })
    }

    fn parts(&self) -> Vec<Part<'_>> {
        let mut parts = vec![Part { ids: Vec::new(), title: "", content: Vec::new() }];
        let mut known: Vec<String> = Vec::new();
        for block in self.blocks {
            if let Block::Section { id, title } = block {
                let mut own = told(id, NAME).replace(char::is_whitespace, "_");
                let times = known.iter().filter(|known| **known == own).count();
                known.push(own.clone());
                if times > 0 {
                    own += &format!("-{}", times + 1);
                }
                match parts.last_mut() {
                    // Nothing stands between two borders.
                    Some(last) if last.content.is_empty() && last.title.is_empty() => {
                        last.ids.push(own);
                        last.title = title;
                    }
                    _ => parts.push(Part { ids: vec![own], title, content: Vec::new() }),
                }
            } else if let Some(last) = parts.last_mut() {
                last.content.extend(self.content(block));
            }
        }
        parts.retain(|part| !(part.content.is_empty() && part.title.is_empty()));
        parts
    }
}

impl Part<'_> {
    fn heading(&self) -> String {
        told(self.title.split(SECTION_PARTS).next().unwrap_or_default(), NAME)
    }

    fn markup(&self) -> Markup {
        let more: Vec<&str> = self.title.split(SECTION_PARTS).skip(1).collect();
        html! {
            section id=[self.ids.first()] {
                @for id in self.ids.iter().skip(1) { span id=(id) {} }
                @if !self.title.is_empty() { h2 { (self.heading()) } }
                @if !more.is_empty() { p.where { (told(&more.join(SECTION_PARTS), PARAGRAPH)) } }
                @for content in &self.content { (content) }
            }
        }
    }
}

fn drawn(svg: String, says: &str) -> Markup {
    html! {
        figure {
            (PreEscaped(svg))
            @if !says.is_empty() { figcaption { (told(says, PARAGRAPH)) } }
        }
    }
}

/// A slider for each time; the script shows them, and adds up.
fn sums(Sums { parts, models }: &Sums) -> Markup {
    let row = |row: &Sum| {
        row.iter().map(|(part, times)| format!("{part} {times}")).collect::<Vec<_>>().join(" ")
    };
    let rows = |rows: &[Sum]| rows.iter().map(row).collect::<Vec<_>>().join(";");
    html! {
        fieldset.sums hidden {
            legend { "What if" }
            @for (name, seconds) in parts {
                label {
                    span { (told(name, NAME)) }
                    input type="range" min="0" max="200" value="100" data-seconds=(seconds);
                    output {}
                }
            }
            @for (name, of) in models {
                p { (told(name, NAME)) ": " output.model data-rows=(rows(of)) {} }
            }
        }
    }
}

/// A table without empty columns. Each value has the ends of its interval.
fn table(table: &Table) -> Markup {
    let used = (0..table.columns.len()).filter(|at| {
        table.rows.iter().any(|row| !matches!(row.get(*at), None | Some(Cell::Empty)))
    });
    let columns: Vec<_> = used.map(|at| (at, column(table, at))).collect();
    let cell = |row: usize, (at, column): &(usize, crate::text::Column<'_>)| {
        let text = told(&column.cells[row].split_whitespace().collect::<Vec<_>>().join(" "), NAME);
        match table.rows[row].get(*at) {
            // Numbers of one unit are sorted as they stand.
            Some(Cell::Value(shown)) => {
                let value =
                    (!column.shares_unit || shown.apart).then(|| format!("{:.4e}", shown.value));
                html! { td data-value=[value] { (text) } }
            }
            Some(Cell::Number(_)) => html! { td { (text) } },
            Some(Cell::Bar(of)) => html! {
                td.t data-value=(of) {
                    svg.bar viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true" {
                        rect width=(format!("{:.1}", 100.0 * of.clamp(0.0, 1.0))) height="10" {}
                    }
                }
            },
            _ if text.is_empty() => html! { td {} },
            _ => html! { td.t.wide[text.chars().count() > WIDE] { (text) } },
        }
    };
    let (rows, folded) = (table.rows.len(), table.folded || table.rows.len() > LONG);
    let table = html! {
        div.table {
            table {
                thead { tr {
                    @for (_, column) in &columns {
                        th.t[column.left] scope="col" { (told(&column.head, NAME)) }
                    }
                } }
                tbody {
                    @for row in 0..rows {
                        tr { @for column in &columns { (cell(row, column)) } }
                    }
                }
            }
        }
    };
    if folded {
        html! { details { summary { (rows) " rows" } (table) } }
    } else {
        table
    }
}

fn policy() -> String {
    let hash = |of: &str| BASE64_STANDARD.encode(Sha256::digest(of));
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    )
}

#[cfg(test)]
mod tests;
