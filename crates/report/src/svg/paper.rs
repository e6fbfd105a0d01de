//! The SVG elements of plots.

use std::fmt::Write;

use derive_more::Display;

use super::ink::Font;
use crate::printable::{NAME, told};

/// A point: right, and down.
pub(super) type At = (f64, f64);

/// A stroke: colour, width, and dashes if any.
pub(super) type Stroke<'a> = (&'a str, f64, Option<&'a str>);

/// The part of a text at its position.
#[derive(Clone, Copy, Display)]
#[display(rename_all = "lowercase")]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// SVG under construction. Writing to a `String` cannot fail, so results are ignored.
pub(super) struct Paper {
    out: String,
}

/// Approximate width of `text`; the exact one depends on the viewer's font.
pub(super) fn text_width(text: &str, font: &Font) -> f64 {
    text.chars().count() as f64 * font.size * 0.54
}

impl Paper {
    pub fn new(width: f64, height: f64, title: &str, description: &str) -> Paper {
        let (title, description) = (escaped(title), xml(&told(description, SENTENCES)));
        let mut out = String::new();
        let _ = writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" role=\"img\" \
             font-family=\"Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif\">\n\
             <title>{title}</title>\n<desc>{description}</desc>\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>"
        );
        Paper { out }
    }

    /// Begins a group of this class, which tells what it is where the pointer rests.
    pub fn begin(&mut self, class: &str, told: &str) {
        let _ = write!(self.out, "<g class=\"{class}\">");
        if !told.is_empty() {
            let _ = write!(self.out, "<title>{}</title>", escaped(told));
        }
    }

    /// Begins a group of curves and their axes, each with what a reader of the picture needs to draw it anew.
    pub fn begin_plane(&mut self, [x, y]: [String; 2]) {
        let _ = writeln!(self.out, "<g class=\"plane\" data-x=\"{x}\" data-y=\"{y}\">");
    }

    /// Ends a group.
    pub fn end(&mut self) {
        self.out.push_str("</g>\n");
    }

    pub fn finish(mut self) -> String {
        self.out.push_str("</svg>\n");
        self.out
    }

    pub fn line(&mut self, (x1, y1): At, (x2, y2): At, (colour, width, dash): Stroke<'_>) {
        let dash = dashed(dash);
        let _ = writeln!(
            self.out,
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" \
             stroke=\"{colour}\" stroke-width=\"{width}\"{dash}/>"
        );
    }

    pub fn path(&mut self, points: impl Iterator<Item = At>, (colour, width, dash): Stroke<'_>) {
        let dash = dashed(dash);
        let points = joined(points);
        if points.contains(' ') {
            let _ = writeln!(
                self.out,
                "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" \
                 stroke-width=\"{width}\" stroke-linejoin=\"round\"{dash}/>"
            );
        }
    }

    pub fn polygon(&mut self, corners: impl Iterator<Item = At>, fill: &str, line: &str) {
        let corners = joined(corners);
        let _ = writeln!(
            self.out,
            "<polygon points=\"{corners}\" fill=\"{fill}\" stroke=\"{line}\" stroke-width=\"1.2\"/>"
        );
    }

    pub fn circle(&mut self, (x, y): At, radius: f64, fill: &str, line: &str) {
        let _ = writeln!(
            self.out,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"{fill}\" \
             stroke=\"{line}\" stroke-width=\"1.2\"/>"
        );
    }

    pub fn rectangle(&mut self, (x, y): At, (width, height): (f64, f64), fill: &str) {
        let _ = writeln!(
            self.out,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
             fill=\"{fill}\"/>"
        );
    }

    /// Squares of one colour, by their upper left corners.
    pub fn squares(&mut self, all: Vec<At>, side: f64, fill: &str) {
        let square = |(x, y)| format!("M{x:.1} {y:.1}h{side:.1}v{side:.1}h-{side:.1}z");
        let path: String = all.into_iter().map(square).collect();
        let _ = writeln!(self.out, "<path fill=\"{fill}\" d=\"{path}\"/>");
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
        let _ = writeln!(
            self.out,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" fill=\"{colour}\" \
             text-anchor=\"{anchor}\"{look}{turn}>{content}</text>"
        );
    }
}

fn joined(points: impl Iterator<Item = At>) -> String {
    points.map(|(x, y)| format!("{x:.1},{y:.1}")).collect::<Vec<_>>().join(" ")
}

fn dashed(pattern: Option<&str>) -> String {
    pattern.map(|dash| format!(" stroke-dasharray=\"{dash}\"")).unwrap_or_default()
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
