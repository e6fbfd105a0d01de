//! The files of series: one table of all, and the samples and a picture of each.

use bandgap_record::{Column, RecordError, Seconds, csv, estimate, lower, nanoseconds, upper};
use bandgap_report::{Figure, svg_panels};

use super::fits::messages;
use super::schema::{Series, SeriesPoint};
use crate::kind::{Among, File};
use crate::measured::{Pair, TABLE, for_gnuplot, named_file};

/// The files of `series`, which is drawn as `figures`.
pub(super) fn files(
    series: &Series,
    figures: &[Figure],
    among: &Among<'_>,
) -> Result<Vec<File>, RecordError> {
    let suffix = match among.of::<Series>().count() {
        1 if !among.more_to_come => String::new(),
        _ => format!("-{}-{}", named_file(&series.name), named_file(&series.transport)),
    };
    let mut files = vec![File::new(format!("samples{suffix}.csv"), samples(series)?)];
    if let Some(all) = among.led_by(series, |_| true) {
        files.push(File::new("series.csv", points(&all)?));
    }
    if !figures.is_empty() {
        files.push(File::new(format!("series{suffix}.svg"), svg_panels(figures)));
        let name = match suffix.strip_prefix('-') {
            Some(name) => name.to_owned(),
            None => format!("{}-{}", named_file(&series.name), named_file(&series.transport)),
        };
        files.extend(for_gnuplot(figures, &name));
    }
    Ok(files)
}

/// The points of series, a row for each. `low_ns` and `high_ns` bound the time. Cells are empty where
/// there is no value.
fn points(all: &[&Series]) -> Result<Vec<u8>, RecordError> {
    let columns: [Column<(&Series, &SeriesPoint)>; 24] = [
        ("name", |(series, _)| series.name.clone()),
        ("transport", |(series, _)| series.transport.clone()),
        ("state", |(_, point)| point.state.clone()),
        ("ranks", |(_, point)| point.ranks.to_string()),
        ("from", |(series, point)| rank(point.pair.or(series.pair), 0)),
        ("to", |(series, point)| rank(point.pair.or(series.pair), 1)),
        ("hops", |(_, point)| point.hops.map_or(String::new(), |hops| hops.to_string())),
        ("distance", |(_, point)| point.distance.clone().unwrap_or_default()),
        ("variant", |(_, point)| point.variant.clone().unwrap_or_default()),
        ("way", |(_, point)| point.way.clone().unwrap_or_default()),
        ("mesh", |(_, point)| mesh(point)),
        ("elements", |(_, point)| point.elements.map_or(String::new(), |n| n.to_string())),
        ("dimension", |(_, point)| point.dimension.map_or(String::new(), |n| n.to_string())),
        ("bytes", |(_, point)| point.bytes.to_string()),
        ("time_ns", |(_, point)| estimate(&point.time)),
        ("low_ns", |(_, point)| lower(&point.time)),
        ("high_ns", |(_, point)| upper(&point.time)),
        ("bytes_per_second", |(_, point)| {
            point.bandwidth.as_ref().map(|rate| rate.value.0.to_string()).unwrap_or_default()
        }),
        ("hockney_ns", |(_, point)| {
            point.modelled_hockney.as_ref().map(estimate).unwrap_or_default()
        }),
        ("loggp_ns", |(_, point)| point.modelled_loggp.as_ref().map(estimate).unwrap_or_default()),
        ("samples", |(_, point)| point.summary.samples.to_string()),
        // Somebody else's times are in no batches.
        ("batches", |(series, point)| match series.transport == TABLE {
            true => String::new(),
            false => point.time.samples.to_string(),
        }),
        ("converged", |(_, point)| point.converged.to_string()),
        ("clock_limited", |(_, point)| point.clock_limited.to_string()),
    ];
    let points = all.iter().flat_map(|series| series.points.iter().map(move |p| (*series, p)));
    csv(&columns, points)
}

/// The rank at this end of a pair.
fn rank(pair: Option<Pair>, end: usize) -> String {
    pair.map_or(String::new(), |pair| pair[end].to_string())
}

/// Both ranks of a pair.
fn both_ranks(point: &SeriesPoint) -> String {
    [0, 1].map(|end| rank(point.pair, end)).join(" ")
}

/// Rows and columns, as the command line has them.
fn mesh(point: &SeriesPoint) -> String {
    point.mesh.map_or(String::new(), |[rows, columns]| format!("{rows}x{columns}"))
}

/// A sample with its point, and how many messages an operation moves there.
type Sample<'a> = (&'a SeriesPoint, Seconds, u64);
/// What points may differ in, and the column that says it of a sample.
type Property<'a> = (fn(&SeriesPoint) -> String, Column<Sample<'a>>);

/// The samples of a series in the form that [`bandgap_record::read_hockney_table`] reads, a row for each.
/// Rejected batches are left out, and so are those of other states than their point's. Before the time
/// there is a column for each property in which points differ, and one for the messages of an operation where
/// these are several.
fn samples(series: &Series) -> Result<Vec<u8>, RecordError> {
    let differ = |of: fn(&SeriesPoint) -> String| {
        series.points.iter().any(|point| of(point) != of(&series.points[0]))
    };
    let properties: [Property<'_>; 6] = [
        (|point| point.ranks.to_string(), ("ranks", |(point, ..)| point.ranks.to_string())),
        (both_ranks, ("from", |(point, ..)| rank(point.pair, 0))),
        (both_ranks, ("to", |(point, ..)| rank(point.pair, 1))),
        (mesh, ("mesh", |(point, ..)| mesh(point))),
        (
            |point| point.variant.clone().unwrap_or_default(),
            ("variant", |(point, ..)| point.variant.clone().unwrap_or_default()),
        ),
        (
            |point| point.way.clone().unwrap_or_default(),
            ("way", |(point, ..)| point.way.clone().unwrap_or_default()),
        ),
    ];
    let mut columns: Vec<Column<Sample<'_>>> =
        vec![("bytes", |(point, ..)| point.bytes.to_string())];
    columns.extend(properties.into_iter().filter(|(of, _)| differ(*of)).map(|(_, column)| column));
    if series.points.iter().any(|point| messages(series, point) > 1) {
        columns.push(("operation_messages", |(.., messages)| messages.to_string()));
    }
    columns.push(("time_ns", |(_, time, _)| nanoseconds(time.ns())));
    let rows = series.points.iter().flat_map(|point| {
        let counted = point.batches.iter().filter(|batch| batch.counts_in(&point.state));
        counted
            .flat_map(|batch| &batch.samples)
            .map(move |time| (point, *time, messages(series, point)))
    });
    csv(&columns, rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bandgap_record::{Timing, read_hockney_table};

    use crate::series::tests::sample;

    #[test]
    fn points_become_rows_that_a_fit_reads() {
        let out = points(&[&sample()]).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(
            text,
            "name,transport,state,ranks,from,to,hops,distance,variant,way,mesh,elements,dimension,bytes,time_ns,low_ns,high_ns,bytes_per_second,hockney_ns,loggp_ns,samples,batches,converged,clock_limited\n\
             comms1,shm,N,2,0,1,,same package,,,,,,0,150,148,152,,,,2,120,true,false\n\
             comms1,shm,N,2,0,1,,same package,,,,,,4096,512,500,520,8000000000,,,2,120,true,false\n"
        );
        let table = read_hockney_table(text.as_bytes()).unwrap();
        let rows: Vec<_> = table.rows.iter().map(|row| (row.bytes, row.time.0)).collect();
        assert_eq!((table.timing, rows), (Timing::AsGiven, vec![(0, 150.0), (4096, 512.0)]));
    }

    #[test]
    fn samples_of_several_curves_are_told_apart_and_not_fitted_together() {
        let point = |ranks: u32, variant: &str, way: &str| SeriesPoint {
            ranks,
            variant: Some(variant.into()),
            way: Some(way.into()),
            ..sample().points.remove(1)
        };
        let of = |points: &[SeriesPoint]| {
            let series = Series { points: points.to_vec(), ..sample() };
            let text = String::from_utf8(samples(&series).unwrap()).unwrap();
            let fitted = read_hockney_table(text.as_bytes()).map_err(|error| error.to_string());
            (text.lines().next().unwrap().to_owned(), fitted.map(|table| table.rows.len()))
        };
        let (header, fitted) = of(&[point(2, "chain", "pieces"), point(4, "chain", "pieces")]);
        assert_eq!(header, "bytes,ranks,time_ns");
        assert!(fitted.unwrap_err().contains("ranks '4'"));
        let (header, fitted) = of(&[point(2, "chain", "pieces"), point(2, "ring", "single copy")]);
        assert_eq!(header, "bytes,variant,way,time_ns");
        assert!(fitted.unwrap_err().contains("variant 'ring'"));
        // What was chosen for each size is one curve.
        let shorter = SeriesPoint { bytes: 8, ..point(2, "ring", "pieces") };
        assert_eq!(of(&[shorter, point(2, "chain", "pieces")]).1, Ok(4));
        let [one, mut other] = [point(2, "a", "b"), point(2, "a", "b")];
        (other.pair, other.mesh) = (Some([0, 3]), Some([2, 1]));
        assert_eq!(of(&[one, other]).0, "bytes,from,to,mesh,time_ns");
    }

    #[test]
    fn samples_tell_how_many_messages_an_operation_moves() {
        let read = |name: &str| {
            let points = sample().points.into_iter().map(|point| SeriesPoint { ranks: 8, ..point });
            let series = Series { name: name.into(), points: points.collect(), ..sample() };
            let text = String::from_utf8(samples(&series).unwrap()).unwrap();
            (read_hockney_table(text.as_bytes()).unwrap().messages, text)
        };
        // The root sends to seven ranks in all.
        assert_eq!(read("broadcast").0, 7);
        let (messages, text) = read("comms1");
        assert!(messages == 1 && text.starts_with("bytes,time_ns\n"), "{text}");
    }

    #[test]
    fn samples_are_read_back_without_the_rejected() {
        let out = samples(&sample()).unwrap();
        let table = read_hockney_table(&out[..]).unwrap();
        let rows: Vec<_> = table.rows.iter().map(|row| (row.bytes, row.time.0)).collect();
        // Of each point's three batches one is rejected and one is of another state.
        let expected = [(0, 149.0), (0, 151.0), (4096, 511.0), (4096, 513.25)];
        assert_eq!(rows, expected);
    }
}
