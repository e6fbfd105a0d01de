//! Stacked bars as an SVG.

use crate::block::{Bar, Bars, Part};

use super::ink::{self, LABEL, NAME, colour};
use super::paper::{Anchor, Paper, text_width};
use super::{WIDTH, stacked};

const LEFT: f64 = 20.0;
/// Length of a bar.
const LENGTH: f64 = WIDTH - 2.0 * LEFT;
const THICK: f64 = 22.0;
const LINE: f64 = 17.0;
const HEAD: f64 = 44.0;

/// Draws stacked bars as [`svg`](super::svg()) draws figures.
pub fn svg_bars(all: &[Bars], source: &str) -> String {
    let title = all.first().map_or("", |first| first.title.as_str());
    stacked(all, (LEFT, source), (title, "stacked bars"), height, draw)
}

/// Lines of a bar's legend: the abscissa and index of each part.
fn legend(bar: &Bar) -> Vec<Vec<(f64, usize)>> {
    let mut lines = vec![Vec::new()];
    let mut x = LEFT;
    for (at, part) in bar.parts.iter().enumerate() {
        let wide = text_width(&part.legend(), &LABEL) + 38.0;
        if x > LEFT && x + wide > LEFT + LENGTH {
            lines.push(Vec::new());
            x = LEFT;
        }
        if let Some(line) = lines.last_mut() {
            line.push((x, at));
        }
        x += wide;
    }
    lines
}

fn height_of(bar: &Bar) -> f64 {
    LINE + THICK + LINE * legend(bar).len() as f64 + 14.0
}

fn height(bars: &Bars) -> f64 {
    HEAD + bars.bars.iter().map(height_of).sum::<f64>()
}

fn draw(paper: &mut Paper, bars: &Bars, above: f64) {
    let names = bars.names();
    let tint = |bar: &Bar, at: usize| {
        let Part { name, kind, .. } = &bar.parts[at];
        let place = names.iter().position(|known| known == name).unwrap_or(0);
        kind.map_or_else(
            || colour(place, names.len()).to_owned(),
            |kind| {
                let alike = bar.parts.iter().filter(|part| part.kind == Some(kind)).count();
                ink::kind(kind, bar.shade(at), alike)
            },
        )
    };
    paper.text((LEFT, above + 28.0), Anchor::Start, &ink::TITLE, &bars.title);
    let mut top = above + HEAD;
    for bar in &bars.bars {
        paper.text((LEFT, top + 10.0), Anchor::Start, &ink::AXIS_TITLE, &bar.name);
        paper.text((LEFT + LENGTH, top + 10.0), Anchor::End, &ink::AXIS_TITLE, &bar.whole);
        let whole: f64 = bar.parts.iter().map(|part| part.share.max(0.0)).sum();
        let mut x = LEFT;
        for (at, part) in bar.parts.iter().enumerate().filter(|(_, part)| part.share > 0.0) {
            let wide = LENGTH * part.share / whole;
            // A gap, so that neighbours are two.
            let gap = (wide / 4.0).min(1.0);
            paper.rectangle((x, top + LINE), (wide - gap, THICK), &tint(bar, at));
            let share = bandgap_units::Fraction(part.share).to_string();
            if text_width(&share, &NAME) + 8.0 <= wide {
                let middle = (x + wide / 2.0, top + LINE + THICK / 2.0 + 4.0);
                paper.text(middle, Anchor::Middle, &NAME, &share);
            }
            x += wide;
        }
        let mut y = top + LINE + THICK + LINE - 3.0;
        for line in legend(bar) {
            for (x, at) in line {
                let part = &bar.parts[at];
                paper.rectangle((x, y - 9.0), (10.0, 10.0), &tint(bar, at));
                paper.text((x + 15.0, y), Anchor::Start, &LABEL, &part.legend());
            }
            y += LINE;
        }
        top += height_of(bar);
    }
}
