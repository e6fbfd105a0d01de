use super::*;
use crate::svg_bars;

fn part(name: &str, share: f64) -> Part {
    Part { name: name.into(), share, kind: None }
}

fn two() -> Bars {
    Bars {
        title: "Where it goes".into(),
        bars: vec![
            Bar {
                name: "sends".into(),
                whole: "8.00 ns".into(),
                parts: vec![part("CPU", 0.75), part("I/O", 0.25)],
            },
            Bar {
                name: "receives".into(),
                whole: "10.00 ns".into(),
                parts: vec![part("I/O", 0.5), part("<wire>", 0.6), part("less", -0.1)],
            },
        ],
    }
}

#[test]
fn stretches_are_as_long_as_shares() {
    let layout = Layout { width: 60, ascii: true, ..Layout::default() };
    // 60 − 8 − 8 − 4 = 40 cells: 30 and 10; then 5/11 and 6/11 of them, what is below 0 left out.
    let (a, b, c) = ("a".repeat(30), "b".repeat(10), "c".repeat(22));
    let expected = format!(
        "Where it goes\nsends    |{a}{b}| 8.00 ns\n          a CPU 75 %   b I/O 25 %\n\
         receives |{}{c}| 10.00 ns\n          b I/O 50 %   c <wire> 60 %   d less -10 %\n",
        "b".repeat(18)
    );
    assert_eq!(bars(&two(), &layout), expected);
    let coloured = bars(&two(), &Layout { color: true, ..layout });
    assert_eq!(coloured.matches("\u{1b}[36ma").count(), 30);
}

#[test]
fn nothing_is_wider_than_the_layout() {
    let mut long = two();
    long.bars[0].name = "a name that is far longer than a bar can be".into();
    long.bars[0].parts =
        (0..40).map(|at| part(&format!("a part with the number {at}"), 0.025)).collect();
    for width in [60, 100] {
        let text = bars(&long, &Layout { width, ..Layout::default() });
        assert!(text.lines().all(|line| line.chars().count() <= usize::from(width)), "{text}");
        assert!(text.contains("number 39"));
        // Of 40 parts no two have one letter.
        assert!(
            text.contains("z a part with the number 25 2.5 %")
                && text.contains("N a part with the number 39")
        );
        assert_eq!(text.matches("a a part").count(), 1, "{text}");
    }
}

#[test]
fn an_svg_has_a_box_for_each_part_and_names_it() {
    let drawn = svg_bars(&[two()]);
    assert_eq!(drawn, svg_bars(&[two()]));
    // The ground, four parts that are above 0, and five boxes of legends.
    assert_eq!(drawn.matches("<rect").count(), 10, "{drawn}");
    assert!(drawn.contains("&lt;wire&gt; 60 %") && !drawn.contains("<wire>"));
    assert!(drawn.contains("width=\"540.0\"") && drawn.contains("10.00 ns"), "{drawn}");
    assert!(svg_bars(&[]).starts_with("<svg"));
}

#[test]
fn parts_of_a_kind_have_its_colour_in_shades() {
    let mut all = two();
    for part in &mut all.bars[1].parts {
        part.kind = Some(1);
    }
    all.bars[0].parts[0].kind = Some(0);
    let drawn = svg_bars(&[all.clone()]);
    // A part and its box in the legend: the first of a kind, and the second one.
    for colour in ["#0072b2", "#e69f00", "#edbc4c"] {
        assert_eq!(drawn.matches(colour).count(), 2, "{colour}\n{drawn}");
    }
    let text = bars(&all, &Layout { color: true, ..Layout::default() });
    assert!(
        text.contains("\u{1b}[34ma")
            && text.contains("\u{1b}[33mb")
            && text.contains("\u{1b}[33mc")
    );
}
