use super::*;
use crate::figure::tests::figure;
use crate::{Head, Heat, Precision, Shown};
use bandgap_record::Unit;

const EVIL: &str = "</script><img src=x onerror=alert(1)>\u{202e}\u{1b}[2J\"'&";

fn page(blocks: &[Block]) -> String {
    Page { title: EVIL, facts: EVIL, blocks, command: EVIL, source: EVIL }.html()
}

/// What stands between two words, each time.
fn between<'a>(text: &'a str, from: &'a str, to: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(from).skip(1).map(move |rest| rest.split(to).next().unwrap())
}

fn hostile() -> Vec<Block> {
    let mut figure = figure();
    (figure.title, figure.series[0].name) = (EVIL.repeat(9999), EVIL.into());
    let mut table = Table::new([EVIL, "b", "none"].map(Head::new));
    let (value, interval) = (2e-9, Some((1e-9, 3e-9)));
    let shown =
        Shown { value, interval, unit: Unit::Second, precision: Precision::No, apart: false };
    table.push([EVIL.repeat(9999).into(), shown.into(), Cell::Empty]);
    let cells = [([0, 1], 1e-6)].into();
    let names = vec![EVIL.into(); 2];
    let heat = Heat { title: EVIL.into(), says: EVIL.into(), names, unit: Unit::Second, cells };
    let section = |id: &str| Block::section(id, EVIL);
    let text = || Block::Text(EVIL.repeat(9999));
    let changes = crate::Gantt {
        title: EVIL.into(),
        caption: EVIL.into(),
        rows: vec![EVIL.repeat(9999)],
        kinds: vec![EVIL.into()],
        slices: vec![crate::Slice { row: 0, kind: 0, from: -1.0, to: f64::INFINITY, marked: true }],
        arrows: Vec::new(),
        axis: crate::Axis { label: EVIL.into(), ..crate::Axis::default() },
        ends: [-1.0, 1.0],
        band: Some([-0.5, 0.5]),
    };
    let doubt = Block::Doubt { text: EVIL.into(), more: String::new() };
    let drawn = [Block::Figure(figure), Block::Heat(heat), Block::Gantt(changes)];
    let said = [section(EVIL), text(), section("a b"), Block::Table(table), section("a b")];
    said.into_iter().chain(drawn).chain([doubt]).collect()
}

#[test]
fn names_of_a_run_are_text_and_short() {
    let page = page(&hostile());
    assert_eq!(page.matches("<script").count(), 1);
    assert_eq!(page.matches("</script").count(), 1);
    for forbidden in
        ["<img", " style=", " onerror=\"", "\u{202e}", "\u{1b}", "src=\"", "href=\"http"]
    {
        assert!(!page.contains(forbidden), "{forbidden:?}");
    }
    assert!(page.contains("&lt;img"));
    assert!(page.len() < 100_000, "{}", page.len());
}

#[test]
fn the_policy_names_the_style_and_the_script_as_they_stand() {
    let page = page(&hostile());
    let policy = between(&page, "Content-Security-Policy\" content=\"", "\"").next().unwrap();
    for element in ["style", "script"] {
        let (from, to) = (format!("<{element}>"), format!("</{element}>"));
        let all: Vec<&str> = between(&page, &from, &to).collect();
        let [own] = all[..] else { panic!("{} of {element}", all.len()) };
        let hash = BASE64_STANDARD.encode(Sha256::digest(own));
        assert!(policy.contains(&format!("{element}-src 'sha256-{hash}'")), "{element}");
    }
    assert!(policy.starts_with("default-src 'none'"));
}

#[test]
fn a_link_leads_to_one_place() {
    let page = page(&hostile());
    let ids: Vec<&str> = between(&page, " id=\"", "\"").collect();
    let links: Vec<&str> = between(&page, "href=\"#", "\"").collect();
    assert!(links.len() > 1 && ids.contains(&"a_b") && ids.contains(&"a_b-2"));
    for link in links {
        assert_eq!(ids.iter().filter(|id| **id == link).count(), 1, "{link}");
    }
}

#[test]
fn a_table_has_the_numbers_of_the_terminal_and_no_empty_column() {
    let page = page(&hostile());
    assert_eq!(page.matches("<th ").count(), 2);
    assert!(page.contains("2.0 ±1.0 ns *"), "{page}");
}

#[test]
fn points_say_what_they_are() {
    let figure = figure();
    let all: usize =
        figure.series.iter().filter(|of| of.twin.is_none()).map(|of| of.points.len()).sum();
    let page = page(&[Block::Figure(figure)]);
    assert_eq!(between(&page, "<g class=\"point\"><title>", "</title>").count(), all);
}
