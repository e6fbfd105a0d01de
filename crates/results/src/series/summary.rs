//! Several kernels on one page: a row for each.

use bandgap_kernels::{Extent, in_series};
use bandgap_model::hockney::Weighting;
use bandgap_record::{Convergence, Quantity};
use bandgap_report::table::{both, estimated, value};
use bandgap_report::{Layout, Listing};
use bandgap_units::Bytes;

use super::modelled::MESSAGE_COSTS;
use super::schema::{Series, SeriesPoint};
use crate::hockney::Hockney;
use crate::kind::Among;
use crate::measured::Checked;
use crate::overlap::Overlap;

/// A kernel at its least and at its greatest size.
struct Row<'a> {
    kernel: &'a str,
    ranks: u32,
    ends: [(String, &'a Quantity); 2],
    /// r∞ and n½ of its longest messages.
    fit: [Option<&'a Quantity>; 2],
    /// Whether r∞ counts several messages.
    counts_all: bool,
    verified: String,
    state: &'a str,
}

/// Whether a series has more of something than is shown.
type Has = fn(&Series) -> bool;

/// What was chosen of a series, where it has more than one curve or segment.
const CHOSEN: [(Has, &str); 5] = [
    (Series::has_several_ranks, "of several numbers of ranks the greatest"),
    (Series::has_several_pairs, "of several pairs of ranks the nearest"),
    (
        |series| series.has_several_variants() && by_algorithm(series),
        "of several algorithms the fastest",
    ),
    (
        |series| series.has_several_variants() && !by_algorithm(series) && !is_costs(series),
        "of several loads the time without one",
    ),
    (is_costs, "of the costs of messages os(n), the sender's"),
];

/// Whether a series is no operation, but what of a message is whose time.
fn is_costs(series: &Series) -> bool {
    series.name == MESSAGE_COSTS
}

/// The kernels among results; nothing of fewer than two.
pub(crate) fn summary(among: &Among<'_>, layout: &Layout) -> String {
    let series: Vec<&Series> = among.of::<Series>().filter(|of| !of.points.is_empty()).collect();
    let fits: Vec<&Hockney> = among.of::<Hockney>().collect();
    let overlaps: Vec<&Overlap> = among.of::<Overlap>().collect();
    let mut rows: Vec<Row<'_>> = series.iter().filter_map(|series| row(series, &fits)).collect();
    rows.extend(overlaps.iter().filter_map(|overlap| beside(overlap)));
    if rows.len() < 2 {
        return String::new();
    }
    let kernels = rows.iter().filter(|row| row.kernel != MESSAGE_COSTS).count();
    let mut told = format!("{kernels} kernel{}", if kernels == 1 { "" } else { "s" });
    if kernels < rows.len() {
        told += " and the costs of messages";
    }
    told += &format!(
        " at the least and at the greatest size measured, with the {} interval below each time",
        layout.confidence
    );
    for (is, words) in CHOSEN {
        if series.iter().any(|series| is(series)) {
            told += &format!("; {words}");
        }
    }
    let parameters = rows.iter().any(|row| row.fit.iter().any(Option::is_some));
    if parameters {
        told += "; r∞ and n½ are those of the longest messages";
        if parameters_of(&rows).any(|of| of.convergence() == Convergence::No) {
            told += " (* there: not converged, or their line does not follow the times)";
        }
    }
    if rows.iter().any(|row| row.counts_all) {
        told += ", r∞ of all messages that an operation moves";
    }
    let end =
        |at: usize| move |row: &Row<'_>| format!("{}: {}", row.ends[at].0, both(row.ends[at].1));
    let listing = Listing::new(&rows, layout)
        .name("kernel", |row| format!("{}\n{} ranks", row.kernel, row.ranks))
        .number("t at the least", end(0))
        .number("t at the greatest", end(1))
        .when(parameters, |rows| {
            rows.number("r∞, n½", |row| {
                let found = row.fit.into_iter().flatten();
                found.map(value).collect::<Vec<_>>().join("\n")
            })
        })
        .text("verified", |row| row.verified.clone())
        .text("state", |row| row.state.to_owned())
        .noting(rows.iter().flat_map(|row| row.ends.iter().map(|(_, time)| *time)))
        .noting(parameters_of(&rows))
        .sparing(&["state", "verified"]);
    let times = rows.iter().flat_map(|row| row.ends.iter().map(|(_, time)| ("t", *time)));
    let mut text = layout.paragraph(&(told + ".")) + &listing.finish();
    text += &estimated(layout, times);
    text += &unverified(&rows, layout);
    for overlap in overlaps {
        text += &hidden(overlap, layout);
    }
    text
}

/// r∞ and n½ of all kernels.
fn parameters_of<'a>(rows: &[Row<'a>]) -> impl Iterator<Item = &'a Quantity> {
    rows.iter().flat_map(|row| row.fit).flatten()
}

/// Whether the variants of a series are algorithms.
fn by_algorithm(series: &Series) -> bool {
    in_series(&series.name).is_ok_and(|(_, known)| known.by_algorithm())
}

/// A series at its ends.
fn row<'a>(series: &'a Series, fits: &[&'a Hockney]) -> Option<Row<'a>> {
    let lying = || series.points.iter();
    let nearest = lying().min_by_key(|point| point.hops)?;
    let ranks = lying().map(|point| point.ranks).max()?;
    let none = series.first_variant().filter(|_| !by_algorithm(series));
    let chosen = |point: &&SeriesPoint| {
        (point.ranks, point.pair) == (ranks, nearest.pair)
            && none.is_none_or(|none| point.variant.as_deref() == Some(none))
    };
    let of = |size: u64| {
        let there = lying().filter(chosen).filter(|point| point.size() == size);
        there.min_by(|a, b| a.time.value.0.total_cmp(&b.time.value.0))
    };
    let sizes = || lying().filter(chosen).map(SeriesPoint::size);
    let ends = [of(sizes().min()?)?, of(sizes().max()?)?];
    let which = series.which(ends[1]);
    let is_its = |fit: &&&Hockney| {
        fit.weighting == Weighting::Relative
            && (&fit.name, &fit.transport, &fit.which) == (&series.name, &series.transport, &which)
    };
    let fit = fits.iter().find(is_its);
    let last = fit.and_then(|fit| fit.segments.last());
    let has_sizes = in_series(&series.name)
        .map_or(series.has_bytes(), |(_, known)| known.extent != Extent::None);
    let words = |point: &SeriesPoint| match has_sizes {
        true => point.size_in_words(),
        false => "one".to_owned(),
    };
    Some(Row {
        kernel: &series.name,
        ranks,
        ends: ends.map(|point| (words(point), &point.time)),
        fit: [
            last.and_then(|segment| segment.r_inf.as_ref()),
            last.and_then(|segment| segment.n_half.as_ref()),
        ],
        counts_all: fit.is_some_and(|fit| fit.messages > 1)
            && last.is_some_and(|of| of.r_inf.is_some()),
        verified: verified(
            series.has_bytes(),
            series.is_virtual(),
            series.verified,
            series.checked.as_ref(),
        ),
        state: &ends[1].state,
    })
}

/// The exchange of an overlap at its ends.
fn beside(overlap: &Overlap) -> Option<Row<'_>> {
    let by_size = || overlap.points.iter();
    let ends = [by_size().min_by_key(|p| p.bytes)?, by_size().max_by_key(|p| p.bytes)?];
    let complete = overlap.checked.is_some_and(|checked| checked.is_complete());
    Some(Row {
        kernel: "overlap",
        ranks: overlap.pair.len() as u32,
        ends: ends.map(|point| (Bytes(point.bytes).to_string(), &point.exchange)),
        fit: [None, None],
        counts_all: false,
        verified: verified(true, overlap.checked.is_none(), complete, overlap.checked.as_ref()),
        state: &overlap.state.label,
    })
}

fn verified(
    has_bytes: bool,
    is_virtual: bool,
    is_verified: bool,
    checked: Option<&Checked>,
) -> String {
    match (has_bytes, is_virtual, is_verified) {
        (false, ..) => "no bytes".to_owned(),
        (_, true, _) => "virtual time".to_owned(),
        (.., true) => "checked batches".to_owned(),
        (.., false) => checked.and_then(Checked::in_part).unwrap_or_else(|| NO.to_owned()),
    }
}

/// Of what was not verified though it could be.
const NO: &str = "no";

/// What was verified nowhere: the table says where some points were.
fn unverified(rows: &[Row<'_>], layout: &Layout) -> String {
    let names: Vec<&str> =
        rows.iter().filter(|row| row.verified == NO).map(|row| row.kernel).collect();
    match names.is_empty() {
        true => String::new(),
        false => layout.paragraph(&format!("Not verified: {}.", names.join(", "))),
    }
}

/// How much of the longest exchange hides behind the longest computation.
fn hidden(overlap: &Overlap, layout: &Layout) -> String {
    let longest = overlap.points.iter().max_by_key(|point| (point.bytes, point.elements));
    let Some(longest) = longest.filter(|point| point.elements > 0) else { return String::new() };
    layout.paragraph(&format!(
        "overlap: the times are those of the exchange alone; hidden at {}: {}.",
        longest.place(),
        longest.share_in_words()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hockney::tests::fit;
    use crate::kind::Shown;
    use crate::series::tests::{comms1, example, point};

    fn page(results: &[&dyn Shown]) -> String {
        summary(&Among::new(results.iter().copied()), &Layout { width: 132, ..Layout::default() })
    }

    #[test]
    fn kernels_stand_in_one_table_with_their_ends_and_fits() {
        let echo = Series { name: "comms1".into(), ..comms1() };
        let mut relative = fit(Weighting::Relative);
        (relative.name, relative.transport) = (echo.name.clone(), echo.transport.clone());
        let mut barrier = example("synch1", vec![point(0, 4, 300.0)]);
        barrier.verified = false;
        let text = page(&[&echo, &relative, &barrier]);
        insta::assert_snapshot!("summary_132", text);
        let of_two = summary(
            &Among::new([&echo as &dyn Shown, &relative, &barrier]),
            &Layout { width: 80, ..Layout::default() },
        );
        assert!(of_two.lines().all(|line| line.chars().count() <= 80), "{of_two}");
        assert!(of_two.contains("r∞, n½"), "{of_two}");
        assert_eq!(page(&[&echo, &relative]), "");
    }

    #[test]
    fn a_rate_of_a_line_that_the_times_do_not_follow_is_marked() {
        let echo = Series { name: "comms1".into(), ..comms1() };
        let barrier = example("synch1", vec![point(0, 4, 300.0)]);
        let told = |converged: bool| {
            let mut relative = fit(Weighting::Relative);
            (relative.name, relative.transport) = (echo.name.clone(), echo.transport.clone());
            relative.segments[1].r_inf.as_mut().unwrap().converged = converged;
            page(&[&echo, &relative, &barrier])
        };
        let why = "their line does not follow the times";
        assert!(
            told(false).contains("2.44 MB/s *") && told(false).contains(why),
            "{}",
            told(false)
        );
        assert!(!told(true).contains('*') && !told(true).contains(why), "{}", told(true));
    }

    #[test]
    fn of_several_curves_the_one_that_is_named_is_shown() {
        let variant =
            |name: &str, point: SeriesPoint| SeriesPoint { variant: Some(name.into()), ..point };
        let points = vec![
            point(8, 2, 50.0),
            variant("chain", point(8, 4, 300.0)),
            variant("linear", point(8, 4, 200.0)),
            variant("chain", point(64, 4, 400.0)),
            variant("linear", point(64, 4, 500.0)),
        ];
        let broadcast = example("broadcast", points);
        let loads = ["idle", "50 % load"].map(|load| variant(load, point(8, 4, 77.0)));
        let mut contention = example("contention", loads.to_vec());
        contention.points[1].time = contention.points[0].time.clone();
        contention.points[0].time = point(8, 4, 88.0).time;
        contention.verified = false;
        contention.transport = "shm".into();
        let in_part = Checked {
            messages: 3256,
            compared: 3256,
            points: 39,
            points_left_out: 4,
            ..Checked::default()
        };
        let part = Series { checked: Some(in_part), ..contention.clone() };
        let text = page(&[&broadcast, &part]);
        assert!(text.contains("35 of 39 points") && !text.contains("Not verified"), "{text}");
        contention.checked = None;
        let text = page(&[&broadcast, &contention]);
        for words in [
            "; of several numbers of ranks the greatest; of several algorithms the fastest",
            "; of several loads the time without one.",
            "8 B: 200 ns",
            "64 B: 400 ns",
            // Under a load it took less, and is not shown.
            "8 B: 88.0 ns",
            "Not verified: contention.",
        ] {
            let text = text.replace('\n', " ");
            assert!(text.contains(words), "{words}: {text}");
        }
        // Costs are no kernel that was asked for, and no load.
        let costs = ["send", "receive"].map(|name| variant(name, point(8, 2, 33.0)));
        let costs = example(MESSAGE_COSTS, costs.to_vec());
        let text = page(&[&example("comms1", vec![point(8, 2, 1.0)]), &costs]).replace('\n', " ");
        assert!(text.starts_with("1 kernel and the costs of messages at the least"), "{text}");
        assert!(text.contains("of the costs of messages os(n)"), "{text}");
        assert!(!text.contains("loads"), "{text}");
        // Of what has sizes, none is a size.
        let empty = page(&[&example("comms1", vec![point(0, 2, 1.0)]), &comms1()]);
        assert!(empty.contains("0 B: 1.00 ns"), "{empty}");
        let plain = page(&[&example("comms1", vec![point(8, 2, 1.0)]), &comms1()]);
        assert!(!plain.contains("several") && !plain.contains("Not verified"), "{plain}");
    }
}
