//! Pairs of ranks on a screen: hosts, a matrix, and the slowest pairs.

use bandgap_record::{Row, Rows};
use bandgap_report::{Block, Cell, Head, Heat, Table, multiple};
use bandgap_units::{Ns, significant_short};

use crate::rows::{heats, table};
use crate::shown::Context;

/// The slowest pairs that are named.
const SLOWEST: usize = 5;
/// Most ranks of a matrix on a screen.
const MOST: usize = 16;

/// A row a host, all pairs as a matrix, how far they are apart, and the slowest.
pub fn pairs(rows: &Rows, context: &Context<'_>) -> Vec<Block> {
    let mut blocks = Vec::new();
    for hosts in context.of::<Rows>().filter(|of| of.name == "hosts") {
        let all: Vec<&Row> = hosts.rows.iter().collect();
        blocks.extend([Block::Table(table(hosts, &all, context)), Block::section("pairs", "")]);
    }
    blocks.extend(all_pairs(rows, context));
    blocks
}

fn all_pairs(rows: &Rows, context: &Context<'_>) -> Vec<Block> {
    let time = |row: &&Row| rows.cell(row, "rtt").map_or(0.0, |of| of.value.0);
    let mut all: Vec<&Row> = rows.rows.iter().collect();
    all.sort_by(|a, b| time(b).total_cmp(&time(a)));
    let ends = all.last().zip(all.first()).map(|ends| [time(ends.0), time(ends.1)]);
    let [least, most] = ends.unwrap_or_default().map(Ns::from_secs);
    let few = &all[..all.len().min(SLOWEST)];
    if few.len() == all.len() {
        return vec![Block::Table(table(rows, few, context))];
    }
    let maps = heats(rows, "");
    let fits = maps.first().is_some_and(|map| map.names.len() <= MOST);
    let mut blocks = if fits { matrix(rows, &maps) } else { Vec::new() };
    let count = all.len();
    let slowest = Block::Text(format!("The slowest of {count} pairs, of {least} to {most}"));
    let more = Block::More(format!("{} more in -v", count - few.len()));
    blocks.extend([Block::Table(table(rows, few, context)), slowest, more]);
    blocks
}

/// A matrix with the first map above the diagonal and the second, if any, below.
fn matrix(rows: &Rows, maps: &[Heat]) -> Vec<Block> {
    let units: Vec<_> = maps.iter().map(|map| multiple(map.unit, map.ends()[1])).collect();
    let names = &maps[0].names;
    let ranks = (0..names.len()).map(|rank| Head::new(rank.to_string()));
    let mut table = Table::new([Head::new("")].into_iter().chain(ranks));
    for (row, name) in names.iter().enumerate() {
        let value = |column: usize| {
            let half = usize::from(column < row);
            let value = maps.get(half)?.cells.get(&[row.min(column), row.max(column)])?;
            Some(Cell::Number(significant_short(units[half].count(*value), 3)))
        };
        // Only the diagonal is empty: what was not measured is seen, and a note counts it.
        let hole = |column| (column != row).then(|| Cell::Number("–".to_owned()));
        let values = (0..names.len()).map(|column| value(column).or_else(|| hole(column)).into());
        table.push([Cell::Text(name.clone())].into_iter().chain(values));
    }
    let where_ = rows.columns.iter().zip(&units).zip(["above", "below"]);
    let where_ = where_.map(|((column, unit), half)| {
        format!("{} ({}) {half} the diagonal", column.name, unit.symbol)
    });
    vec![
        Block::Text(where_.collect::<Vec<_>>().join(", ")),
        Block::Table(table),
        Block::section("slowest", ""),
    ]
}

#[cfg(test)]
mod tests {
    use bandgap_record::{Note, Unit};
    use bandgap_report::svg;

    use super::*;
    use crate::rows::tests::rows;

    fn strokes(picture: &str) -> usize {
        let lines = picture.lines().filter(|line| line.starts_with("<path d="));
        lines.flat_map(|line| line.matches('L')).count()
    }

    fn drawn(pairs: &Rows) -> String {
        let heats = heats(pairs, "pairs").into_iter().map(Block::Heat);
        svg(&heats.collect::<Vec<_>>(), "")
    }

    #[test]
    fn few_ranks_are_a_matrix_and_all_a_heat_map_in_which_the_worst_are_dark() {
        let places = (0..4_u64).flat_map(|a| (a + 1..4).map(move |b| [a, b]));
        let of = |[a, b]: [u64; 2]| {
            let (place, far) = (vec![a.into(), b.into()], 10_f64.powi((a + b) as i32));
            (place, vec![Some(1e-6 * far), Some(1e9 / far)])
        };
        let columns = [("rtt", Unit::Second), ("bandwidth", Unit::BytePerSecond)];
        let pairs = rows("pairs", &["from", "to"], &columns, places.map(of));
        let run = crate::rows::tests::run(Vec::new());
        let shown = super::pairs(&pairs, &crate::run::context(&run));
        let [_, Block::Table(matrix), _, Block::Table(slowest), ..] = &shown[..] else {
            panic!("{shown:?}")
        };
        let texts = |row: usize| -> Vec<String> {
            let text = |cell: &Cell| match cell {
                Cell::Text(text) | Cell::Number(text) => text.clone(),
                _ => String::new(),
            };
            matrix.rows[row].iter().map(text).collect()
        };
        // Milliseconds above, MB/s below.
        assert_eq!(texts(0), ["0", "", "0.01", "0.1", "1"]);
        assert_eq!(texts(3), ["3", "1", "0.1", "0.01", ""]);
        assert_eq!(slowest.rows[0][..2], [Cell::Number("2".into()), Cell::Number("3".into())]);
        let drawn = drawn(&pairs);
        let of = |what: &str| drawn.matches(what).count();
        // Two squares of twelve, with eight steps of colour each, on white; nothing is struck out.
        assert_eq!((of("v44.0h-44.0z"), of("<rect"), strokes(&drawn)), (2 * 12, 1 + 2 * 8, 0));
        assert_eq!((of(": rtt (ms)"), of(": bandwidth (MB/s)")), (1, 1));
        let dark = drawn.split("<path fill=\"#440154\"").skip(1);
        let dark = dark.map(|rest| rest.split("/>").next().unwrap_or(""));
        assert_eq!(dark.flat_map(|path| path.matches('z')).count(), 2 * 2);
    }
    #[test]
    fn a_pair_without_a_value_is_a_hole_and_who_is_slow_stands_last() {
        let places = (0..4_u64).flat_map(|a| (a + 1..4).map(move |b| [a, b]));
        let of = |[a, b]: [u64; 2]| (vec![a.into(), b.into()], vec![(b < 3).then_some(1e9)]);
        let pairs =
            rows("pairs", &["from", "to"], &[("bandwidth", Unit::BytePerSecond)], places.map(of));
        let mut run = crate::rows::tests::run(vec![pairs.clone().into()]);
        let shown = super::pairs(&pairs, &crate::run::context(&run));
        let Block::Table(matrix) = &shown[1] else { panic!("{shown:?}") };
        assert_eq!(matrix.rows[0][3..], [Cell::Number("1".into()), Cell::Number("–".into())]);
        // A stroke on either side of the diagonal for each of three.
        assert_eq!(strokes(&drawn(&pairs)), 3 * 2);
        for (code, good) in [("none_slow", true), ("slow_host_rtt", false), ("maybe_slow", true)] {
            run.notes = vec![Note::new(code, "who")];
            let last = crate::screen::screen(&run, crate::View::default()).pop();
            assert!(matches!(last, Some(Block::Text(of)) if of.starts_with("slow: ")), "{code}");
            assert_eq!(crate::run::Verdict::of(&run).negative.is_empty(), good, "{code}");
        }
    }
}
