use crate::Precision;
use crate::figure::tests::figure;
use crate::{Figure, Layout, Reference, plot};

#[test]
fn colour_is_written_only_when_asked_for() {
    let figure = figure();
    let coloured = plot(&figure, &Layout { color: true, ..Layout::default() });
    let plain = plot(&figure, &Layout::default());
    assert!(coloured.contains("\u{1b}[36ma\u{1b}[0m") && !plain.contains('\u{1b}'));
    // Without its codes, the coloured plot is the plain one.
    let mut stripped = coloured;
    for code in ["0", "31", "32", "33", "34", "35", "36"] {
        stripped = stripped.replace(&format!("\u{1b}[{code}m"), "");
    }
    assert_eq!(stripped, plain);
}

#[test]
fn every_point_has_its_letter_unless_another_is_on_it() {
    let mut figure = figure();
    figure.series.truncate(1);
    figure.references.clear();
    figure.regions.clear();
    let drawn = plot(&figure, &Layout { ascii: true, ..Layout::default() });
    let cells: String = drawn
        .lines()
        .filter_map(|line| line.split_once(['|', '+']))
        .map(|(_, cells)| cells)
        .collect();
    // Thirteen messages counts, of which 128 did not converge.
    assert_eq!(cells.matches('a').count(), 12, "{drawn}");
    assert_eq!(cells.matches('A').count(), 1, "{drawn}");
    assert!(drawn.contains("a Δ = 0   (capital: not converged)"), "{drawn}");
    assert!(!drawn.contains('~'), "{drawn}");
}

#[test]
fn a_level_is_drawn_over_its_range() {
    let drawn = |from: f64, to: f64| {
        let g = Reference { from, to, ..figure().references[0].clone() };
        // The curve with a delay runs above the level.
        let series = figure().series.split_off(1);
        let figure = Figure { references: vec![g], series, ..figure() };
        let text = plot(&figure, &Layout { ascii: true, width: 100, ..Layout::default() });
        text.lines().filter(|line| line.ends_with(" g")).map(str::to_owned).collect::<Vec<_>>()
    };
    let (start, end) = (f64::NEG_INFINITY, f64::INFINITY);
    assert_eq!([drawn(start, end).len(), drawn(64.0, end).len()], [1, 1]);
    let count = |from, to| drawn(from, to)[0].matches('-').count();
    assert!(count(start, end) > count(16.0, end) && count(16.0, end) > count(256.0, end));
    assert!(count(start, 16.0) < count(start, end));
    // Nothing is left of one that ends where it begins.
    assert!(drawn(64.0, 64.0).is_empty());
}

#[test]
fn a_point_at_the_limit_of_the_clock_has_a_sign_of_its_own() {
    let mut figure = Figure { series: figure().series[..1].to_vec(), ..figure() };
    figure.series[0].points[7].precision = Precision::ClockLimited;
    let drawn = plot(&figure, &Layout { ascii: true, ..Layout::default() });
    let (cells, legend) = drawn.split_once("delay per request").unwrap();
    assert_eq!(cells.matches('~').count(), 1, "{drawn}");
    assert!(legend.contains("a Δ = 0   (~: at the clock's limit)"), "{drawn}");
    assert!(!drawn.contains("not converged"), "{drawn}");
}

#[test]
fn a_narrow_terminal_still_gets_a_plot() {
    let drawn = plot(&figure(), &Layout { width: 10, ..Layout::default() });
    assert!(drawn.lines().all(|line| line.chars().count() <= 40), "{drawn}");
}
