//! Stacked bars as an SVG.

use bandgap_record::Unit;

use crate::block::{Bar, Bars, Part};
use crate::number::scaled;

use super::WIDTH;
use super::ink::{self, LABEL, NAME};
use super::paper::{Anchor, Paper, text_width};

const LEFT: f64 = 20.0;
/// Length of a bar.
const LENGTH: f64 = WIDTH - 2.0 * LEFT;
const THICK: f64 = 22.0;
const LINE: f64 = 17.0;
const HEAD: f64 = 44.0;

/// Lines of a bar's legend: the abscissa and index of each part.
fn legend(bars: &Bars, bar: &Bar) -> Vec<Vec<(f64, usize)>> {
    let mut lines = vec![Vec::new()];
    let mut x = LEFT;
    for (at, part) in bar.parts.iter().enumerate() {
        let wide = text_width(&bars.legend(bar, part), &LABEL) + 38.0;
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

fn height_of(bars: &Bars, bar: &Bar) -> f64 {
    LINE + THICK + LINE * legend(bars, bar).len() as f64 + 14.0
}

pub(super) fn height(bars: &Bars) -> f64 {
    HEAD + LEFT + bars.bars.iter().map(|bar| height_of(bars, bar)).sum::<f64>()
}

/// The colour of a part of a bar: a shade of its kind's.
pub(crate) fn tint(bar: &Bar, at: usize) -> String {
    let alike = |parts: &[Part]| parts.iter().filter(|of| of.kind == bar.parts[at].kind).count();
    let kind = bar.parts[at].kind;
    kind.map_or(ink::BORDER.to_owned(), |kind| {
        ink::kind(kind, alike(&bar.parts[..at]), alike(&bar.parts))
    })
}

pub(super) fn draw(paper: &mut Paper, bars: &Bars, above: f64) {
    paper.text((LEFT, above + 28.0), Anchor::Start, &ink::TITLE, &bars.title);
    let mut top = above + HEAD;
    for bar in &bars.bars {
        let whole = scaled(bar.whole, Unit::Second);
        paper.text((LEFT, top + 10.0), Anchor::Start, &ink::AXIS_TITLE, &bar.name);
        paper.text((LEFT + LENGTH, top + 10.0), Anchor::End, &ink::AXIS_TITLE, &whole);
        let length = LENGTH * bars.length(bar);
        for (at, part, [from, to]) in bar.drawn() {
            let (x, wide) = (LEFT + length * from, length * (to - from));
            // A gap, so that neighbours are two.
            let gap = (wide / 4.0).min(1.0);
            paper.rectangle((x, top + LINE), (wide - gap, THICK), &tint(bar, at));
            let number = bars.number(bar, part);
            if text_width(&number, &NAME) + 8.0 <= wide {
                let middle = (x + wide / 2.0, top + LINE + THICK / 2.0 + 4.0);
                paper.text(middle, Anchor::Middle, &NAME, &number);
            }
        }
        let mut y = top + LINE + THICK + LINE - 3.0;
        for line in legend(bars, bar) {
            for (x, at) in line {
                let part = &bar.parts[at];
                paper.rectangle((x, y - 9.0), (10.0, 10.0), &tint(bar, at));
                paper.text((x + 15.0, y), Anchor::Start, &LABEL, &bars.legend(bar, part));
            }
            y += LINE;
        }
        top += height_of(bars, bar);
    }
}
