//! All values of a run, a line each, for what collects them.

use std::fmt::Write;

use bandgap_record::Quantity;
use serde_json::json;

use crate::run::Run;

fn all(run: &Run) -> impl Iterator<Item = (String, &Quantity)> {
    let all = run.results.iter().flat_map(|result| result.as_shown().quantities());
    all.map(|(id, of, _)| (id, of))
}

fn host(run: &Run) -> String {
    run.setup.machine.hosts.join(",")
}

/// The ends of an interval; of a lower bound the lower one alone.
pub(crate) fn ends(of: &Quantity) -> [Option<f64>; 2] {
    [of.low, of.high].map(|end| end.map(|of| of.0))
}

/// An object of JSON a line.
pub fn json_lines(run: &Run) -> String {
    let (host, when) = (host(run), &run.started);
    let line = |(id, of): (String, &Quantity)| {
        let [low, high] = ends(of);
        let line = json!({
            "id": id, "value": of.value.0, "low": low, "high": high, "unit": of.unit, "converged": of.converged,
            "when": when, "host": host,
        });
        format!("{line}\n")
    };
    all(run).map(line).collect()
}

/// OpenMetrics: `bandgap_value{id=…,unit=…,host=…}` and the ends of intervals.
pub fn openmetrics(run: &Run) -> String {
    let host = label(&host(run));
    let mut text = String::new();
    type Part = (&'static str, &'static str, fn(&Quantity) -> Option<f64>);
    let parts: [Part; 3] = [
        ("value", "A measured value.", |of| (!of.is_lower_bound()).then_some(of.value.0)),
        ("low", "The lower end of its interval.", |of| ends(of)[0]),
        ("high", "The upper end of its interval.", |of| ends(of)[1]),
    ];
    for (name, help, part) in parts {
        let _ = writeln!(text, "# TYPE bandgap_{name} gauge\n# HELP bandgap_{name} {help}");
        for (id, of) in all(run) {
            let unit = serde_json::to_value(of.unit).unwrap_or_default();
            let (id, unit) = (label(&id), unit.as_str().unwrap_or_default());
            if let Some(value) = part(of) {
                let _ = writeln!(
                    text,
                    "bandgap_{name}{{id=\"{id}\",unit=\"{unit}\",host=\"{host}\"}} {value}"
                );
            }
        }
    }
    text + "# EOF\n"
}

fn label(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
