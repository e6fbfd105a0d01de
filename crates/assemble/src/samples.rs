//! All samples of a run, once and compact.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use bandgap_campaign::{Key, Measurements};
use flate2::Compression;
use flate2::write::GzEncoder;

/// The file of samples in a run's directory.
pub const SAMPLES: &str = "samples.csv.gz";

/// The batches of each transport as compressed CSV. Each line is a batch: its key, launch, round, the probes around it in
/// nanoseconds, why it was rejected, and its samples in nanoseconds, separated by spaces.
///
/// # Errors
/// Those of the encoder.
pub fn samples<'a>(
    tables: impl IntoIterator<Item = (&'a str, &'a Measurements)>,
) -> io::Result<Vec<u8>> {
    let mut out = GzEncoder::new(Vec::new(), Compression::default());
    writeln!(out, "transport,what,launch,round,line_before,line_after,delay,rejected,samples_ns")?;
    let mut line = String::new();
    for (transport, table) in tables {
        for (key, batches) in table.iter() {
            let what = named(key);
            for batch in batches {
                line.clear();
                let [before, after] =
                    batch.probe.map_or([None; 2], |probes| probes.map(|of| Some(of.cache_line)));
                let number = |of: Option<f64>| of.map_or(String::new(), short);
                let (launch, round) = (batch.launch + 1, batch.round + 1);
                let rejected = batch.rejected.as_ref().map_or(String::new(), ToString::to_string);
                let _ = write!(
                    line,
                    "{transport},{what},{launch},{round},{},{},{},{rejected},",
                    number(before),
                    number(after),
                    number(batch.delay)
                );
                for (at, sample) in batch.samples.iter().enumerate() {
                    line += if at > 0 { " " } else { "" };
                    line += &short(*sample);
                }
                writeln!(out, "{line}")?;
            }
        }
    }
    out.finish()
}

/// A key in one cell: `issue;messages=8;delay_ps=0`.
fn named(key: &Key) -> String {
    let place = |text, (axis, place)| format!("{text};{axis}={place}");
    key.axes().fold(key.what().to_owned(), place)
}

/// A time in nanoseconds to a hundredth; time stamps are no finer.
fn short(ns: f64) -> String {
    let text = format!("{ns:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use bandgap_campaign::Kept;
    use bandgap_campaign::data::{Batch, Rejected};
    use flate2::read::GzDecoder;

    use super::*;

    #[test]
    fn a_batch_is_a_line() {
        let mut table = Measurements::default();
        let rejected = Some(Rejected::PaceChanged);
        let batch = Batch { samples: vec![1.5, 2.0, 3.24159], rejected, ..Batch::default() };
        table.push(Kept::Batch { key: Key::new("rtt").at("bytes", 8_u32), batch });
        let packed = samples([("shm", &table)]).unwrap();
        let mut text = String::new();
        GzDecoder::new(&packed[..]).read_to_string(&mut text).unwrap();
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(lines, ["shm,rtt;bytes=8,1,1,,,,pace_changed,1.5 2 3.24"]);
    }
}
