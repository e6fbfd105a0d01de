//! What tools write as JSON: one document or several, with a time for a size in it.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::lines::{Line, Result};
use crate::table::{Dialect, Family, Sections};

#[derive(Deserialize)]
struct Iperf {
    start: Option<IperfStart>,
    end: Option<IperfEnd>,
    error: Option<String>,
}

#[derive(Deserialize)]
struct IperfStart {
    test_start: Option<IperfTest>,
}

#[derive(Deserialize)]
struct IperfTest {
    blksize: u64,
    num_streams: Option<u64>,
    bidir: Option<u64>,
}

#[derive(Deserialize)]
struct IperfEnd {
    sum_received: Option<IperfSum>,
    sum: Option<IperfSum>,
    sum_sent: Option<IperfSum>,
}

#[derive(Deserialize)]
struct IperfSum {
    bits_per_second: f64,
}

#[derive(Deserialize)]
struct Nccl {
    results: Vec<NcclRow>,
}

#[derive(Deserialize)]
struct NcclRow {
    size: u64,
    out_of_place: NcclTime,
}

#[derive(Deserialize)]
struct NcclTime {
    time: f64,
    #[serde(default)]
    nwrong: serde_json::Value,
}

/// The documents of a file, each with the line in which it begins. Other lines may stand between.
fn documents<T: DeserializeOwned>(lines: &[Line]) -> Result<Vec<(&Line, T)>> {
    let mut text = String::new();
    let mut begins = Vec::new();
    for line in lines {
        begins.push(text.len());
        text += &line.text;
        text.push('\n');
    }
    let mut found = Vec::new();
    let mut end = 0;
    for (line, begin) in lines.iter().zip(&begins) {
        if *begin < end || !line.text.trim_start().starts_with('{') {
            continue;
        }
        let mut stream = serde_json::Deserializer::from_str(&text[*begin..]).into_iter::<T>();
        let document = stream.next().transpose().map_err(|error| {
            let at = line.number + error.line().saturating_sub(1) as u64;
            let line = Line { number: at, text: String::new() };
            line.wrong(format!("the JSON is cut or lacks what is read of it: {}", shorter(&error)))
        })?;
        found.extend(document.map(|document| (line, document)));
        end = *begin + stream.byte_offset();
    }
    Ok(found)
}

/// The error without its place.
fn shorter(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let end = text.rfind(" at line").unwrap_or(text.len());
    crate::shortened(&text[..end])
}

/// A number of a document as a row.
fn add(
    line: &Line,
    dialect: &'static Dialect,
    bytes: u64,
    number: f64,
    tests: &mut Sections,
) -> Result {
    let size = bytes.to_string();
    let bytes = line.cell("size", &size).size()?;
    let text = number.to_string();
    tests.row(dialect, true, line.cell("result", &text).row(bytes, dialect.unit)?);
    Ok(())
}

/// Reads `iperf3 --json`: a block's size over the rate.
pub(crate) fn read_iperf(family: &'static Family, lines: &[Line], tests: &mut Sections) -> Result {
    for (line, Iperf { start, end, error }) in documents(lines)? {
        if let Some(error) = error {
            return Err(line.wrong(format!("iperf3 failed: {}", crate::shortened(&error))));
        }
        let test = start.and_then(|start| start.test_start);
        let rate = end.and_then(|end| end.sum_received.or(end.sum).or(end.sum_sent));
        let (Some(test), Some(rate)) = (test, rate) else {
            return Err(line.wrong("the JSON lacks the block's size or the rate of the whole run"));
        };
        if test.num_streams.unwrap_or(1) != 1 || test.bidir.unwrap_or(0) != 0 {
            return Err(line.wrong("its rate is of several streams at once (run it with one)"));
        }
        add(line, &family.dialects[0], test.blksize, (rate.bits_per_second / 8e6).abs(), tests)?;
    }
    Ok(())
}

/// Reads the file that nccl-tests write.
pub(crate) fn read_nccl(family: &'static Family, lines: &[Line], tests: &mut Sections) -> Result {
    for (line, Nccl { results }) in documents(lines)? {
        for NcclRow { size, out_of_place } in results {
            let wrong = out_of_place.nwrong;
            let none = ["null", "0", "\"0\"", "\"N/A\"", "0.0"].contains(&wrong.to_string().as_str());
            if !none {
                return Err(line.wrong(format!("at {size} bytes wrong data was found: its time is not used")));
            }
            add(line, &family.dialects[0], size, out_of_place.time, tests)?;
        }
    }
    Ok(())
}
