use std::io::Write;
use std::process::{Command, Stdio};

use super::*;
use crate::block::{Bar, Part};

fn figure() -> Figure {
    let curve = |name: &str, twin, points: Vec<Datum>| Series { name: name.into(), points, twin };
    let measured = vec![
        Datum { interval: Some((90e-9, 110e-9)), ..Datum::exact(1.0, 100e-9) },
        Datum { precision: Precision::No, ..Datum::exact(4.0, 250e-9) },
        Datum { precision: Precision::ClockLimited, ..Datum::exact(8.0, 500e-9) },
    ];
    let fitted = [1.0, 2.0].map(|x| Datum::exact(x, 100e-9 * x));
    let broken =
        [Datum::gap(1.0), fitted[0], Datum::gap(1.5), Datum::gap(1.5), fitted[1], Datum::gap(2.0)];
    let axis = |label: &str, scale, unit| Axis { label: label.into(), scale, unit };
    Figure {
        title: "one's own: 100 % \\ \"x\" $y".into(),
        x: axis("message size n", Scale::Log2, Unit::Byte),
        y: axis("time t", Scale::Log10, Unit::Second),
        legend: "legend".into(),
        series: vec![
            curve("measured", None, measured),
            curve("empty", None, vec![Datum::gap(1.0)]),
            curve("fit", Some(0), broken.into()),
        ],
        ..Figure::default()
    }
}

#[test]
fn each_curve_is_a_block_of_its_own() {
    let drawn = gnuplot(&[Block::Figure(figure())], "echo");
    let expected = "\
        # one's own: 100 % \\ \"x\" $y: measured\n\
        # message size n (bytes) | time t (s) | low | high | converged | clock_limited\n\
        1 0.0000001 0.00000009 0.00000011 1 0\n\
        4 0.00000025 0.00000025 0.00000025 0 0\n\
        8 0.0000005 0.0000005 0.0000005 0 1\n\
        \n\n\
        # one's own: 100 % \\ \"x\" $y: fit\n\
        # message size n (bytes) | time t (s) | low | high | converged | clock_limited\n\
        1 0.0000001 0.0000001 0.0000001 1 0\n\
        \n\
        2 0.0000002 0.0000002 0.0000002 1 0\n";
    assert_eq!(drawn.data, expected);
    let plots: Vec<&str> = drawn.script.lines().filter(|line| line.contains(".dat")).collect();
    assert_eq!(
        plots,
        [
            "  'echo.dat' index 0 using 1:2:3:4 with yerrorlines linetype 1 title 'measured' \
             noenhanced, \\",
            "  'echo.dat' index 1 using 1:2 with lines dashtype 2 linetype 1 notitle",
        ]
    );
    for line in ["set logscale x 2", "set logscale y 10", "# set output 'echo.png'"] {
        assert!(drawn.script.lines().any(|other| other == line), "{line}: {}", drawn.script);
    }
    assert!(!drawn.script.lines().any(|line| line.starts_with("set terminal")), "{}", drawn.script);
}

#[test]
fn a_title_with_a_line_break_stays_on_its_line() {
    let drawn = gnuplot(&[Block::Figure(Figure { title: "a\nb".into(), ..figure() })], "two");
    assert!(drawn.script.contains("'a b'"), "{}", drawn.script);
}

#[test]
fn blocks_count_on_through_all_figures() {
    let drawn = gnuplot(&[Block::Figure(figure()), Block::Figure(figure())], "two");
    for index in 0..4 {
        assert!(drawn.script.contains(&format!("'two.dat' index {index} ")), "{}", drawn.script);
    }
    // Blocks are as many as blank pairs and one.
    assert_eq!(drawn.data.matches("\n\n\n").count() + 1, 4);
    assert!(drawn.script.contains("layout 2,1"));
}

fn bars(to_scale: bool) -> Bars {
    let part = |name: &str, share| Part { name: name.into(), share, kind: None };
    let bar = |name: &str, whole, parts| Bar { name: name.into(), whole, parts };
    let all = vec![part("pio", 0.75), part("nothing", -0.5), part("it's \"own\"", 0.25)];
    let bars = vec![bar("way", 2e-6, all), bar("gap", 1e-6, vec![part("g", 1.0)])];
    Bars { title: "latency".into(), says: String::new(), to_scale, bars }
}

fn heat() -> Heat {
    let cells = [([0, 1], 1e-6), ([1, 2], 4e-6)].into();
    let names = ["0 a", "1 b", "2 it's"].map(str::to_owned).into();
    Heat { title: "rtt".into(), says: String::new(), names, unit: Unit::Second, cells }
}

#[test]
fn bars_begin_where_the_part_before_ends_and_pairs_are_a_square() {
    let data = |to_scale| gnuplot(&[Block::Bars(bars(to_scale)), Block::Heat(heat())], "b").data;
    let expected = "\
        # latency: way\n# from | to | part\n0 0.75 \"pio\"\n0.75 1 \"it's 'own'\"\n\n\n\
        # latency: gap\n# from | to | part\n0 1 \"g\"\n\n\n\
        # rtt\n# column | row | value\n\
        0 0 NaN\n1 0 0.000001\n2 0 NaN\n0 1 0.000001\n1 1 NaN\n2 1 0.000004\n\
        0 2 NaN\n1 2 0.000004\n2 2 NaN\n";
    assert_eq!(data(false), expected);
    assert!(data(true).contains("0 0.0000015 \"pio\"\n0.0000015 0.000002 "), "{}", data(true));
}

#[test]
fn gnuplot_itself_draws_it() {
    if Command::new("gnuplot").arg("--version").stdout(Stdio::null()).status().is_err() {
        let _ = writeln!(std::io::stderr(), "SKIPPED: there is no gnuplot to try its files with");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut many = bars(true);
    many.bars[0].parts = vec![many.bars[0].parts[0].clone(); KEYS];
    let all =
        [Block::Figure(figure()), Block::Bars(bars(false)), Block::Bars(many), Block::Heat(heat())];
    let drawn = gnuplot(&all, "try");
    std::fs::write(folder.path().join("try.dat"), &drawn.data).unwrap();
    let script = format!("set terminal svg size 900,2000\nset output 'try.svg'\n{}", drawn.script);
    std::fs::write(folder.path().join("try.gp"), script).unwrap();
    let done = Command::new("gnuplot").arg("try.gp").current_dir(folder.path()).output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success() && said.trim().is_empty(), "{said}");
    let svg = std::fs::read_to_string(folder.path().join("try.svg")).unwrap();
    assert!(svg.contains("measured"));
    assert!(svg.contains("one's own") || svg.contains("one&#39;s own"));
}
