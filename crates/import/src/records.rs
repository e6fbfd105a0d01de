//! Results that are values with names, one run after the other: what qperf prints, and netperf with
//! `-k` or `-o`. Each value is a pair `name = value`, or a field of CSV under its name.

use std::mem::take;

use crate::headed::{self, UNEQUAL, refused};
use crate::lines::{Line, Result};
use crate::table::{Family, MICROSECONDS, Sections, Unit};

/// Names of times and rates, from the best, and the unit of those without one.
const TIMES: [(&str, Unit); 6] = [
    ("latency", MICROSECONDS),
    ("recv_bw", Unit::Rate(1.0)),
    ("bw", Unit::Rate(1.0)),
    ("rt_latency", MICROSECONDS),
    ("mean_latency", MICROSECONDS),
    ("throughput", Unit::Frequency),
];

/// A value: its name, and the line that it stands in.
type Value<'a> = (String, &'a Line, &'a str);

/// The name of a test of qperf, as in `tcp_lat:`.
pub(crate) fn qperf(text: &str) -> Option<String> {
    const PROTOCOLS: &str = "tcp udp sctp rds sdp rc uc ud xrc";
    let name = text.trim().strip_suffix(':').filter(|name| !name.contains(' '))?;
    let is_test = ["_lat", "_bw", "_mr"].iter().any(|end| name.ends_with(end))
        && PROTOCOLS.split(' ').any(|of| name.split('_').next() == Some(of));
    is_test.then(|| name.replace("_bi_bw", "_bi_bw, both ways at once"))
}

/// `TCP_RR` for `MIGRATED TCP REQUEST/RESPONSE TEST from …`; other tests by their whole names.
pub(crate) fn netperf(text: &str) -> Option<String> {
    let (test, rest) = text.split_once(" TEST from ")?;
    let test = test
        .trim()
        .replace("MIGRATED ", "")
        .replace("OMNI Send|Recv", "TCP_RR")
        .replace(" REQUEST/RESPONSE", "_RR");
    let is_single = !rest.contains("first burst") || rest.contains("first burst 0");
    Some(if is_single { test } else { test + ", several requests at once" })
}

/// A name as netperf's `-k` has it, in lower case; `-o` writes `Request Size Bytes`.
fn name(text: &str) -> String {
    let name = text.trim().to_lowercase().replace(' ', "_").replace("round_trip_", "rt_");
    let units = ["_bytes", "_microseconds", "_usec/tran"];
    units.iter().find_map(|unit| name.strip_suffix(unit)).unwrap_or(&name).to_owned()
}

/// Whether netperf printed these names, or this name and value.
pub(crate) fn tells(text: &str) -> bool {
    let known = ["rt_latency", "mean_latency", "throughput_units"];
    text.contains(['=', ',']) && text.split(['=', ',']).any(|of| known.contains(&&*name(of)))
}

pub(crate) fn read(family: &'static Family, lines: &[Line], tests: &mut Sections) -> Result {
    if family.dialects[0].beside == "recv" && !lines.iter().any(|line| tells(&line.text)) {
        return headed::read(family, lines, tests);
    }
    let (mut test, mut names, mut values) = (None, Vec::new(), Vec::<Value>::new());
    for line in lines {
        let mut fields = line.text.split(',').map(str::trim);
        let found: Vec<Value> = match line.text.split_once('=') {
            Some((of, value)) => vec![(name(of), line, value.trim())],
            None if tells(&line.text) => {
                names = fields.map(name).collect();
                Vec::new()
            }
            None if fields.clone().count() == names.len() => {
                names.iter().filter_map(|of| Some((of.clone(), line, fields.next()?))).collect()
            }
            None => Vec::new(),
        };
        let next = (family.title)(&line.text);
        let is_again = |value: &Value| found.first().is_some_and(|first| first.0 == value.0);
        if next.is_some() || values.iter().any(is_again) {
            result(family, test.as_deref(), &take(&mut values), tests)?;
        }
        test = next.or(test);
        values.extend(found);
    }
    result(family, test.as_deref(), &values, tests)
}

/// Adds the result of a run, if its values have one.
fn result(
    family: &'static Family,
    test: Option<&str>,
    values: &[Value],
    tests: &mut Sections,
) -> Result {
    let get = |of: &str| values.iter().find(|value| value.0 == of).map(|value| (value.1, value.2));
    let time = TIMES.iter().find_map(|(of, unit)| Some((*of, *unit, get(of)?)));
    let Some((column, unit, (line, value))) = time else { return Ok(()) };
    let name = test.unwrap_or(family.dialects[0].test);
    let counts_trips = get("throughput_units").is_none_or(|of| of.1 == "Trans/s");
    let of = family.dialects.iter().filter(|of| counts_trips && name.ends_with(of.test));
    let dialect = of.max_by_key(|of| of.test.len());
    let section = tests.begin(line.number, name, dialect, test.is_some());
    let Some(dialect) = dialect else {
        section.error = Some(refused(family, line, name));
        return Ok(());
    };
    let (at, size) = get("msg_size").or(get("request_size")).ok_or_else(|| {
        line.wrong(
            "the message size is missing (qperf prints it with -vu; netperf wants the names REQUEST_SIZE and \
             RESPONSE_SIZE after -k or -o)",
        )
    })?;
    if get("response_size").is_some_and(|of| of.1 != size) {
        return Err(line.wrong(UNEQUAL));
    }
    // 64 KiB (65,536)
    let exact = size.split_once('(').map_or(size, |(_, exact)| exact.trim_end_matches(')'));
    let bytes = at.cell("size", &exact.replace("KB", "kB")).own_size()?;
    let (number, of) = value.split_once(' ').unwrap_or((value, ""));
    let unit = if of.is_empty() { Some(unit) } else { Unit::named(&of.replace("B/sec", "B/s")) };
    let unit = unit.ok_or_else(|| line.wrong(format!("the unit of {column} is not known")))?;
    let row = line.cell(column, &number.replace(',', "")).row(bytes, unit)?;
    section.rows.push(row.times(dialect.share));
    Ok(())
}
