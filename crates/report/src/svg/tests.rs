use bandgap_record::Unit;

use crate::figure::tests::figure;
use crate::{Axis, Bar, Bars, Block, Figure, Part, Scale};

fn svg(figures: &[Figure], source: &str) -> String {
    super::svg(&figures.iter().cloned().map(Block::Figure).collect::<Vec<_>>(), source)
}

#[test]
fn the_same_figure_gives_the_same_bytes() {
    assert_eq!(svg(&[figure()], "host"), svg(&[figure()], "host"));
}

#[test]
fn texts_cannot_leave_their_element() {
    let mut figure = figure();
    figure.title = "</text><script>alert(\"1 & 2\")</script>\u{7}".into();
    figure.series[0].name = "a<b".into();
    let drawn = svg(&[figure.clone()], "host");
    assert!(!drawn.contains("<script") && !drawn.contains('\u{7}'));
    assert!(
        drawn.contains("&lt;script&gt;alert(&quot;1 &amp; 2&quot;)") && drawn.contains("a&lt;b")
    );
}

#[test]
fn a_picture_of_several_says_what_each_shows_and_bars_to_scale_have_their_lengths() {
    let part = Part { name: "g".into(), share: 1.0, kind: None };
    let bar = |whole| Bar { name: "gap".into(), whole, parts: vec![part.clone()] };
    let bars = vec![bar(4e-6), bar(1e-6)];
    let bars = Bars { title: "b".into(), says: "Two gaps.".into(), to_scale: true, bars };
    let drawn = super::svg(&[Block::Figure(figure()), Block::Bars(bars)], "host");
    assert!(drawn.contains("<desc>What a message costs. Two gaps.</desc>"));
    for (wide, text) in [("719.0", "g 4 µs"), ("179.0", "g 1 µs")] {
        assert!(drawn.contains(&format!("width=\"{wide}\" height=\"22.0\"")), "{drawn}");
        assert!(drawn.contains(text), "{drawn}");
    }
}

#[test]
fn the_ground_is_white_on_any_page() {
    let drawn = svg(&[figure()], "host");
    let (before, _) = drawn.split_once("fill=\"#ffffff\"").unwrap();
    // Nothing is drawn below it.
    assert_eq!(before.matches('<').count(), 6, "{before}");
}

#[test]
fn a_figure_without_points_is_still_a_figure() {
    let axis = Axis { label: "x".into(), scale: Scale::Log10, unit: Unit::Second };
    let empty = Figure { x: axis.clone(), y: axis, ..Figure::default() };
    assert!(svg(&[empty], "host").ends_with("</svg>\n"));
}

#[test]
fn points_that_the_scale_cannot_show_are_left_out() {
    let mut figure = figure();
    let whole = svg(&[figure.clone()], "host").matches("<circle").count();
    figure.series[0].points[0].y = -1.0;
    figure.series[0].points[1].y = f64::NAN;
    let drawn = svg(&[figure.clone()], "host");
    assert_eq!(drawn.matches("<circle").count(), whole - 2);
    assert!(!drawn.contains("NaN") && !drawn.contains("inf"));
}
