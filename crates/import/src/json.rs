//! Tools' JSON output: one or more documents, each with a size and its time or rate.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::headed::refused;
use crate::lines::{Line, Result};
use crate::table::{Family, Sections, Unit};
use crate::{TableError, shortened};

/// Longest document in bytes. A limit is needed because parsed member names take more memory than
/// their text.
const LONGEST: usize = 2 << 20;

/// The member at a path, as written but without its quotes; `None` if it is missing or `null`.
fn member<'a>(json: &'a str, path: &str) -> Option<&'a str> {
    let found = path.split('/').try_fold(json, |json, name| {
        let members: BTreeMap<String, &RawValue> = serde_json::from_str(json).ok()?;
        members.get(name).map(|value| value.get())
    });
    found.filter(|value| *value != "null").map(|value| value.trim_matches('"'))
}

/// Calls `take` for each document of a file, with the line where it begins. Other lines may stand
/// between documents.
fn documents(lines: &[Line], mut take: impl FnMut(&Line, &str) -> Result) -> Result {
    let text: String = lines.iter().flat_map(|line| [line.text.as_str(), "\n"]).collect();
    let (mut next, mut end) = (0, 0);
    for line in lines {
        end = end.max(next);
        next += line.text.len() + 1;
        // Documents may follow one another in a line, also as members of an array.
        while end < next {
            let rest = text[end..next]
                .trim_start_matches(|c: char| c.is_whitespace() || "[,]".contains(c));
            if !rest.starts_with('{') {
                break;
            }
            let begin = next - rest.len();
            let mut stream = serde_json::Deserializer::from_str(&text[begin..]).into_iter();
            let document: Option<&RawValue> = stream.next().transpose().map_err(|error| {
                let at = line.number + error.line().saturating_sub(1) as u64;
                let why = shortened(&error.to_string());
                TableError::Line(at, format!("the JSON is incomplete or invalid: {why}"))
            })?;
            end = begin + stream.byte_offset();
            if end - begin > LONGEST {
                let why = "the JSON is longer than 2 MiB (let the tool report less often)";
                return Err(line.wrong(why));
            }
            document.map_or(Ok(()), |document| take(line, document.get()))?;
        }
    }
    Ok(())
}

/// Adds the time or rate at the second path to the test of this name, with the size at the first
/// path.
fn result(
    family: &'static Family,
    (line, json): (&Line, &str),
    test: &str,
    [size, time]: [&'static str; 2],
    unit: Option<(Unit, f64)>,
    tests: &mut Sections,
) -> Result {
    let Some(dialect) = family.dialects.iter().find(|dialect| dialect.test == test) else {
        let error = refused(family, line, test);
        tests.begin(line.number, test, None, true).error = Some(error);
        return Ok(());
    };
    let at =
        |path| member(json, path).ok_or_else(|| line.wrong(format!("the JSON lacks {}", path)));
    let (unit, share) = unit.unwrap_or((dialect.unit, dialect.share));
    let bytes = line.cell(size, at(size)?).size()?;
    let row = line.cell(time, at(time)?).row(bytes, unit)?;
    tests.row(dialect, true, row.times(share));
    Ok(())
}

/// Reads `iperf3 --json`: a block's size over the rate.
pub(crate) fn read_iperf(family: &'static Family, lines: &[Line], tests: &mut Sections) -> Result {
    documents(lines, |line, json| {
        if let Some(error) = member(json, "error") {
            return Err(line.wrong(format!("iperf3 failed: {}", shortened(error))));
        }
        let several = |(path, one)| member(json, path).is_some_and(|count| count != one);
        let counts = [("start/test_start/num_streams", "1"), ("start/test_start/bidir", "0")];
        // Until 3.12 only the sums say that there were both directions.
        if counts.into_iter().any(several) || json.contains("_bidir_reverse\"") {
            return Err(line.wrong("the rate is for several streams at once (run iperf3 with one, and without --bidir)"));
        }
        // Prefer the received rate, if the other side reported it.
        let rates = ["end/sum_received/bits_per_second", "end/sum/bits_per_second"];
        let rate = rates.into_iter().find(|rate| member(json, rate).is_some());
        let rate = rate.unwrap_or("end/sum_sent/bits_per_second");
        let paths = ["start/test_start/blksize", rate];
        result(family, (line, json), family.dialects[0].test, paths, None, tests)
    })
}

/// Reads perftest's `--out_json`: one document per size. The unit of its bandwidth is not in the
/// file; that of its message rate is always 10⁶ per second.
pub(crate) fn read_verbs(family: &'static Family, lines: &[Line], tests: &mut Sections) -> Result {
    documents(lines, |line, json| {
        let test = member(json, "test_info/test").unwrap_or("").replace('_', " ");
        let test = (family.title)(&test).unwrap_or(test);
        if member(json, "test_info/Number_of_qps").is_some_and(|pairs| pairs != "1") {
            return Err(
                line.wrong("the rate is for several queue pairs at once (run it without -q)")
            );
        }
        let (time, unit) = match test.ends_with("BW") {
            true => ("results/MsgRate", Some((Unit::Frequency, 1e-6))),
            false => ("results/t_avg", None),
        };
        result(family, (line, json), &test, ["results/MsgSize", time], unit, tests)
    })
}

/// Reads nccl-tests' `-J`.
pub(crate) fn read_nccl(family: &'static Family, lines: &[Line], tests: &mut Sections) -> Result {
    documents(lines, |line, json| {
        let command = member(json, "args").unwrap_or("").replace(['"', ',', '[', '\\'], " ");
        let test = (family.title)(&command).unwrap_or_default();
        let rows = serde_json::from_str::<Vec<&RawValue>>(member(json, "results").unwrap_or("[]"));
        for row in rows.unwrap_or_default().into_iter().map(RawValue::get) {
            let counts = ["out_of_place/nwrong", "in_place/nwrong"];
            let mut wrong = counts.into_iter().filter_map(|path| member(row, path));
            if let Some(wrong) = wrong.find(|wrong| *wrong != "N/A" && wrong.parse() != Ok(0.0)) {
                let wrong = shortened(wrong);
                return Err(line.wrong(format!(
                    "nwrong is '{wrong}': the tool reports wrong data, so the time is not used"
                )));
            }
            let paths = ["size", "out_of_place/time"];
            result(family, (line, row), &test, paths, None, tests)?;
        }
        Ok(())
    })
}
