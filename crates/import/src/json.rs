//! What `iperf3 --json` writes: one document or several, with a rate for a size in it.

use serde::Deserialize;

use crate::lines::{Line, Result};
use crate::table::{Family, Sections};

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

/// The documents of a file, each with the line in which it begins. Other lines may stand between.
fn documents(lines: &[Line]) -> Result<Vec<(&Line, Iperf)>> {
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
        let mut stream = serde_json::Deserializer::from_str(&text[*begin..]).into_iter();
        let document = stream.next().transpose().map_err(|error| {
            let at = line.number + error.line().saturating_sub(1) as u64;
            let line = Line { number: at, text: String::new() };
            line.wrong(format!(
                "the JSON is cut or lacks what is read of it: {}",
                crate::shortened(&error.to_string())
            ))
        })?;
        found.extend(document.map(|document| (line, document)));
        end = *begin + stream.byte_offset();
    }
    Ok(found)
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
        let (dialect, size) = (&family.dialects[0], test.blksize.to_string());
        let bytes = line.cell("blksize", &size).size()?;
        let rate = (rate.bits_per_second / 8e6).to_string();
        tests.row(dialect, true, line.cell("rate", &rate).row(bytes, dialect.unit)?);
    }
    Ok(())
}
