//! The findings of `doctor`: checks of machines, and their MPI libraries.

use bandgap_report::{Block, Cell, Head, Table};
use serde_json::Value;

use crate::Run;
use crate::shown::counted;

/// The checks (for several hosts, only those that are not good), advice, and fitness; and whether any check is bad.
pub fn doctor(run: &Run) -> (Vec<Block>, bool) {
    let (several, host) = (run.hosts.len() > 1, std::slice::from_ref(&run.host));
    let machines = if run.hosts.is_empty() { host } else { &run.hosts[..] };
    let mut table = Table::new(["host", "check", "", "found"].map(Head::new));
    let (mut doubts, mut bad) = (Vec::new(), false);
    for machine in machines {
        let host = machine["name"].as_str().filter(|_| several);
        for check in list(&machine["checks"]) {
            let of = |name: &str| check[name].as_str().unwrap_or_default();
            if host.is_none() || of("grade") != "good" {
                let cells = ["name", "grade", "found"].map(|name| of(name).into());
                table.push([host.into()].into_iter().chain(cells));
            }
            let advice = check["advice"].as_str().map_or(String::new(), |of| format!(": {of}"));
            let text = format!("{}: {}{advice}", of("name"), of("matters"));
            let doubt = Block::Doubt { text, more: String::new() };
            if ["warning", "bad"].contains(&of("grade")) && !doubts.contains(&doubt) {
                doubts.push(doubt);
            }
            bad |= of("grade") == "bad";
        }
    }
    let mut blocks = vec![Block::Table(table)];
    blocks.extend(doubts);
    blocks.extend(fitness(machines).map(Block::Text));
    blocks.extend(libraries(&run.host));
    (blocks, bad)
}

/// Whether machines are fit to measure on, and which of their checks are not good.
pub(crate) fn fitness<'a>(machines: impl IntoIterator<Item = &'a Value>) -> Option<String> {
    let checks = machines.into_iter().filter_map(|of| of.get("checks")?.as_array()).flatten();
    let checks: Vec<&Value> = checks.collect();
    let of = |grade: &str| -> Vec<&str> {
        let graded = checks.iter().filter(|check| check["grade"] == grade);
        graded.filter_map(|check| check["name"].as_str()).collect()
    };
    let (bad, warnings) = (of("bad"), of("warning"));
    Some(match (&bad[..], &warnings[..]) {
        _ if checks.is_empty() => return None,
        ([], []) => "fit to measure on".to_owned(),
        ([], some) => {
            format!("usable, with {}: {}", counted(some.len(), "reservation"), some.join(", "))
        }
        (bad, _) => format!("not fit to measure on: {}", bad.join(", ")),
    })
}

/// The MPIs that are installed, and the libraries of fabrics, with the MPIs over them, their ways and variables.
fn libraries(host: &Value) -> Vec<Block> {
    let text = |of: &Value, name: &str| of[name].as_str().unwrap_or_default().to_owned();
    let row = |of: &Value| {
        let used = Cell::from((of["used"] == true).then_some("-t mpi"));
        [text(of, "name").into(), used, text(of, "library").into(), text(of, "launcher").into()]
    };
    let heads = ["MPI", "", "library", "started by"].map(Head::new);
    let mpis = Table::new(heads).with(list(&host["mpi"]).iter().map(row));
    let mut fabrics = Table::new(["fabric", "", ""].map(Head::new));
    for of in list(&host["fabrics"]) {
        let users =
            list(&host["mpi"]).iter().filter(|mpi| list(&mpi["fabrics"]).contains(&of["path"]));
        let mut users: Vec<String> = users.map(|mpi| text(mpi, "name")).collect();
        users.dedup();
        let mut rows = vec![("library", text(of, "path")), ("under", users.join(", "))];
        let maps = ["facts", "ways", "environment"].map(|map| of[map].as_object());
        rows.extend(maps.into_iter().flatten().flatten().map(|(name, is)| {
            let several: Vec<&str> = list(is).iter().filter_map(Value::as_str).collect();
            (&**name, is.as_str().map_or_else(|| several.join(", "), str::to_owned))
        }));
        rows.retain(|(_, is)| !is.is_empty());
        for (at, (name, is)) in rows.into_iter().enumerate() {
            let library = if at == 0 { text(of, "name") } else { String::new() };
            fabrics.push([library.into(), name.into(), is.into()]);
        }
    }
    let there: Vec<Table> = [mpis, fabrics].into_iter().filter(|of| !of.rows.is_empty()).collect();
    let section = there.first().map(|_| Block::section("libraries", ""));
    section.into_iter().chain(there.into_iter().map(Block::Table)).collect()
}

fn list(of: &Value) -> &[Value] {
    of.as_array().map_or(&[], Vec::as_slice)
}
