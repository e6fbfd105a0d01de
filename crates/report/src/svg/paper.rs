//! The SVG elements of plots.

use std::fmt::{Display, Write};

use derive_more::Display as Named;

use super::ink::{self, Font};
use crate::printable::{NAME, told};

/// A point: right, and down.
pub(super) type At = (f64, f64);

/// A stroke: colour, width, and dashes if any.
pub(super) type Stroke<'a> = (&'a str, f64, Option<&'a str>);

/// The part of a text at its position.
#[derive(Clone, Copy, Named)]
#[display(rename_all = "lowercase")]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// SVG under construction. Writing to a `String` cannot fail, so results are ignored.
pub(super) struct Paper {
    out: String,
    /// Lines of one stroke that follow one another: they become one path.
    lines: String,
    stroke: String,
    /// The colour of the curve under way.
    curve: String,
}

/// Width of usual strokes.
pub(super) const STROKE: f64 = 1.2;

/// Approximate width of `text`; the exact one depends on the viewer's font.
pub(super) fn text_width(text: &str, font: &Font) -> f64 {
    text.chars().count() as f64 * font.size * 0.54
}

impl Paper {
    pub fn new(width: f64, height: f64, title: &str, description: &str) -> Paper {
        let (title, description) = (escaped(title), xml(&told(description, SENTENCES)));
        let mut out = String::new();
        let Font { size, colour, .. } = ink::LABEL;
        let _ = writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" role=\"img\" \
             font-size=\"{size}\" fill=\"{colour}\" stroke-width=\"{STROKE}\" font-family=\"Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif\">\n\
             <title>{title}</title>\n<desc>{description}</desc>\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>"
        );
        Paper { out, lines: String::new(), stroke: String::new(), curve: String::new() }
    }

    /// Where the next element goes, after the lines before it.
    fn out(&mut self) -> &mut String {
        if !self.lines.is_empty() {
            let _ = writeln!(self.out, "<path d=\"{}\"{}/>", self.lines, self.stroke);
            self.lines.clear();
        }
        &mut self.out
    }

    /// Begins a group of this class, which tells what it is where the pointer rests.
    pub fn begin(&mut self, class: &str, told: &str) {
        let out = self.out();
        let _ = write!(out, "<g class=\"{class}\">");
        if !told.is_empty() {
            let _ = write!(out, "<title>{}</title>", escaped(told));
        }
    }

    /// Begins a group of curves and their axes, each with what a reader of the picture needs to draw it anew.
    pub fn begin_plane(&mut self, [x, y]: [String; 2]) {
        let _ = writeln!(self.out(), "<g class=\"plane\" data-x=\"{x}\" data-y=\"{y}\">");
    }

    /// Begins a curve of this class, whose strokes have this colour.
    pub fn begin_curve(&mut self, class: &str, colour: &str) {
        let _ = write!(self.out(), "<g class=\"curve {class}\" stroke=\"{colour}\">");
        self.curve = colour.to_owned();
    }

    /// Ends a curve.
    pub fn end_curve(&mut self) {
        self.end();
        self.curve.clear();
    }

    /// Ends a group.
    pub fn end(&mut self) {
        self.out().push_str("</g>\n");
    }

    pub fn finish(mut self) -> String {
        self.out().push_str("</svg>\n");
        self.out
    }

    pub fn line(&mut self, (x1, y1): At, (x2, y2): At, stroke: Stroke<'_>) {
        let stroke = self.attributes(stroke);
        if self.stroke != stroke {
            self.out();
            self.stroke = stroke;
        }
        let to = match () {
            () if y1 == y2 => format!("H{}", short(x2)),
            () if x1 == x2 => format!("V{}", short(y2)),
            () => format!("L{}", pair((x2, y2))),
        };
        let _ = write!(self.lines, "M{}{to}", pair((x1, y1)));
    }

    pub fn path(&mut self, points: impl Iterator<Item = At>, stroke: Stroke<'_>) {
        let (points, stroke) = (joined(points), self.attributes(stroke));
        if points.contains(' ') {
            let _ = writeln!(
                self.out(),
                "<polyline points=\"{points}\" fill=\"none\"{stroke} stroke-linejoin=\"round\"/>"
            );
        }
    }

    pub fn polygon(&mut self, corners: impl Iterator<Item = At>, fill: &str, line: &str) {
        let (corners, line) = (joined(corners), self.attributes((line, STROKE, None)));
        let _ = writeln!(self.out(), "<polygon points=\"{corners}\" fill=\"{fill}\"{line}/>");
    }

    pub fn circle(&mut self, (x, y): At, radius: f64, fill: &str, line: &str) {
        let ([x, y], line) = ([x, y].map(short), self.attributes((line, STROKE, None)));
        let _ = writeln!(
            self.out(),
            "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"{fill}\"{line}/>"
        );
    }

    pub fn rectangle(&mut self, (x, y): At, (width, height): (f64, f64), fill: &str) {
        let _ = writeln!(
            self.out(),
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
             fill=\"{fill}\"/>"
        );
    }

    /// Squares of one colour, by their upper left corners.
    pub fn squares(&mut self, all: Vec<At>, side: f64, fill: &str) {
        let square = |(x, y)| format!("M{x:.1} {y:.1}h{side:.1}v{side:.1}h-{side:.1}z");
        let path: String = all.into_iter().map(square).collect();
        let _ = writeln!(self.out(), "<path fill=\"{fill}\" d=\"{path}\"/>");
    }

    pub fn text(&mut self, at: At, anchor: Anchor, font: &Font, content: &str) {
        self.turned_text(at, anchor, font, content, "");
    }

    /// Text rotated to read upwards.
    pub fn upright_text(&mut self, (x, y): At, anchor: Anchor, font: &Font, content: &str) {
        let turn = format!(" transform=\"rotate(-90 {x:.1} {y:.1})\"");
        self.turned_text((x, y), anchor, font, content, &turn);
    }

    fn turned_text(&mut self, (x, y): At, anchor: Anchor, font: &Font, content: &str, turn: &str) {
        let (Font { size, colour, look }, content) = (font, escaped(content));
        let usual = &ink::LABEL;
        let size = unless("font-size", *size, usual.size);
        let fill = unless("fill", *colour, usual.colour);
        let anchor = unless("text-anchor", anchor.to_string(), Anchor::Start.to_string());
        let look = [look, turn, &size, &fill, &anchor].concat();
        let _ = writeln!(self.out(), "<text x=\"{x:.1}\" y=\"{y:.1}\"{look}>{content}</text>");
    }

    /// What of a stroke is other than usual.
    fn attributes(&self, (colour, width, dash): Stroke<'_>) -> String {
        let dash = dash.map(|dash| format!(" stroke-dasharray=\"{dash}\"")).unwrap_or_default();
        unless("stroke", colour, &self.curve) + &unless("stroke-width", width, STROKE) + &dash
    }
}

/// An attribute, unless it is as usual.
fn unless<T: PartialEq + Display>(name: &str, value: T, usual: T) -> String {
    if value == usual { String::new() } else { format!(" {name}=\"{value}\"") }
}

fn joined(points: impl Iterator<Item = At>) -> String {
    points.map(pair).collect::<Vec<_>>().join(" ")
}

fn pair((x, y): At) -> String {
    format!("{},{}", short(x), short(y))
}

/// A tenth is enough on paper.
fn short(of: f64) -> String {
    let text = format!("{of:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// The most letters of a description.
const SENTENCES: usize = 2000;

/// `text` escaped for XML; names come from files and peers.
fn escaped(text: &str) -> String {
    xml(&told(text, NAME))
}

fn xml(text: &str) -> String {
    let entities = [('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;"), ('"', "&quot;")];
    entities.into_iter().fold(text.to_owned(), |text, (of, entity)| text.replace(of, entity))
}
