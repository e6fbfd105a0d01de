//! The heading of a run: what was measured, where and for how long.

use std::collections::BTreeSet;

use bandgap_record::{Conditions, Form, Library, Rows, Unit};
use bandgap_report::{SECTION_PARTS, scaled};
use serde_json::Value;

use crate::notes::words;
use crate::run::Run;
use crate::shown::by_key;

/// Codes of notes on how a file was read, other than `read_as`.
const READ: [&str; 4] = ["one_run_read", "runs_repeated", "times_are", "tests_to_choose"];

/// The name of the measured kernel, if there is exactly one.
pub(crate) fn kernel(run: &Run) -> Option<&str> {
    let is_kernel = |rows: &&Rows| match rows.form {
        Form::Kernel { .. } => true,
        Form::SideBySide { alone, .. } => !alone,
        _ => false,
    };
    let rows = run.results.iter().filter_map(|of| of.as_rows()).filter(is_kernel);
    let names: BTreeSet<&str> = rows.map(|rows| rows.name.as_str()).collect();
    names.first().copied().filter(|_| names.len() == 1)
}

/// One line: what was measured, where and for how long.
pub(crate) fn heading(run: &Run) -> Option<String> {
    let command = run.command.get(1).filter(|word| !word.starts_with('-'));
    let command = command.map_or("run", String::as_str);
    let transports = run.conditions.iter().map(|of| of.transport.as_str());
    let transports: Vec<&str> = transports.filter(|name| !name.is_empty()).collect();
    let mut parts = Vec::new();
    let read = run.notes.iter().find(|note| note.code == "read_as");
    match transports[..] {
        [] if read.is_some() => {
            parts.extend(read.map(|note| format!("{command}: {}", words(note))));
            let more = run.notes.iter().filter(|note| READ.contains(&note.code.as_str()));
            parts.extend(more.map(words));
        }
        _ if command == "run" => parts.push(format!("bandgap {}", run.bandgap.version)),
        // A command's name alone is no heading.
        [] => {}
        _ => {
            let kernel = kernel(run).filter(|name| !name.starts_with(command));
            let kernel = kernel.map_or_else(String::new, |name| format!(" {name}"));
            parts.push(format!("{command}{kernel} over {}", transports.join(", ")));
        }
    }
    for (of, _) in by_key(run.setup.of.iter().filter_map(|of| Some((of.library.as_ref()?, ())))) {
        parts.extend(library(of));
    }
    parts.extend(hardware(run.hosts.first().unwrap_or(&run.host)));
    // Only what is the same for all transports.
    let alike = |same: &dyn Fn(&Conditions) -> bool| run.conditions.iter().all(same);
    // Of several numbers of ranks over a transport, the placement of the most.
    let placed = |of: &Conditions| {
        let all = run.setup.of.iter().filter(|setup| setup.transport == of.transport);
        all.max_by_key(|setup| setup.ranks).map(|setup| setup.placement.clone()).unwrap_or_default()
    };
    if let Some(first) = run.conditions.first() {
        let at = placed(first);
        let ranks = first.ranks;
        if alike(&|of| of.ranks == ranks) && ranks != 2 {
            parts.push(format!("{ranks} ranks"));
        }
        if !at.hosts.is_empty() {
            parts.push(hosts(&at.hosts));
            parts.extend(run.hosts.first().and_then(network));
        } else if !at.cores.is_empty() && alike(&|of| placed(of).cores == at.cores) {
            let line = first.state.as_ref().filter(|_| placements(run).is_none());
            let line = line.map(|state| scaled(state.probe.0.0, Unit::Second));
            let apart: Vec<&str> =
                at.distance.as_deref().into_iter().chain(line.as_deref()).collect();
            parts.push(cores(&at.cores, &apart.join(", ")));
        }
        if first.launches > 1 {
            parts.push(format!("{} launches", first.launches));
        }
    }
    if run.elapsed.0 >= 0.5 {
        parts.push(format!("{:.0} s", run.elapsed.0));
    }
    if run.interrupted {
        parts.push("ended early".to_owned());
    }
    if parts.is_empty() {
        return None;
    }
    if transports.is_empty() && read.is_none() && command != "run" {
        parts.insert(0, command.to_owned());
    }
    Some(parts.join(SECTION_PARTS))
}

/// Where figures come from: hosts, day, version.
pub(crate) fn source(run: &Run) -> String {
    let hosts = &run.setup.machine.hosts;
    let hosts = Some(self::hosts(hosts)).filter(|_| !hosts.is_empty());
    let day = run.started.split('T').next().map(str::to_owned);
    let version = format!("bandgap {}", run.bandgap.version);
    let libraries = run.setup.of.iter().filter_map(|of| Some((&of.library.as_ref()?.name, ())));
    let libraries = by_key(libraries).into_iter().map(|(name, _)| name.clone());
    let parts = hosts.into_iter().chain(day).chain([version]).chain(libraries);
    parts.collect::<Vec<_>>().join(SECTION_PARTS)
}

/// A library: its name and number, its file, what started its ranks, and the variables that configure it.
pub(crate) fn library(of: &Library) -> Vec<String> {
    let variables = of.environment.iter().map(|(name, value)| format!("{name}={value}"));
    let [provider, fabric, build] = ["provider", "fabric", "build"].map(|name| of.facts.get(name));
    let (by, with) = (of.launcher.as_ref(), of.sends_with.as_ref());
    let known = [Some(&of.name), provider, Some(&of.path), by, with, fabric, build];
    known.into_iter().flatten().cloned().chain(variables).collect()
}

/// `a, b:4`: the hosts, with the number of ranks if above 1; many hosts as a count.
fn hosts(by_rank: &[String]) -> String {
    let all = by_key(by_rank.iter().map(|host| (host, ())));
    if let [(first, _), _, _, _, _, ..] = &all[..] {
        return format!("{} hosts from {first}", all.len());
    }
    let named = all.iter().map(|(host, ranks)| match ranks.len() {
        1 => (*host).clone(),
        ranks => format!("{host}:{ranks}"),
    });
    named.collect::<Vec<_>>().join(", ")
}

/// `eth0, 10000 Mbit/s`: the interface between the hosts.
fn network(host: &Value) -> Option<String> {
    let of = host.get("network").filter(|of| !of.is_null())?;
    let speed = of["speed"].as_u64().map_or(String::new(), |of| format!(", {of} Mbit/s"));
    Some(format!("{}{speed}", of["name"].as_str()?))
}

/// `cores 0, 1 (shared L3, 62 ns)`, with the time of a cache line; many cores as a count.
fn cores(all: &[u64], apart: &str) -> String {
    let each = by_key(all.iter().map(|core| (core, ())));
    let listed: Vec<String> = each.iter().map(|(core, _)| core.to_string()).collect();
    let text = match listed.len() {
        1 => format!("core {}", listed[0]),
        2..=4 => format!("cores {}", listed.join(", ")),
        many => format!("{many} cores from {}", listed[0]),
    };
    if all.len() == 2 && !apart.is_empty() { format!("{text} ({apart})") } else { text }
}

/// The machine in a few words: processor model, number of cores, whether it is virtual.
fn hardware(host: &Value) -> Option<String> {
    let of = host.get("description")?;
    let text = |name: &str| of.get(name).and_then(Value::as_str);
    let model = text("cpu_model").map(|model| {
        let words = model.split_whitespace().filter(|word| !word.contains('('));
        words.take(3).collect::<Vec<_>>().join(" ")
    });
    let cores = of.pointer("/topology/cores").and_then(Value::as_u64);
    let cores = cores.map(|cores| format!("{cores} cores"));
    let is_virtual = of.get("virtual_machine").is_some_and(|value| !value.is_null());
    let parts = [model, cores, is_virtual.then(|| "virtual".to_owned())];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Placement probes that differ by less than this share count as the same placement.
const ALIKE: f64 = 0.2;

/// The placements of the transports, if they differ: their times then belong to different distances between cores.
pub(crate) fn placements(run: &Run) -> Option<String> {
    let probe = |of: &Conditions| Some((of.transport.clone(), of.state.as_ref()?.probe.0.0));
    let all: Vec<(String, f64)> = run.conditions.iter().filter_map(probe).collect();
    let of = |pick: fn(f64, f64) -> f64| all.iter().map(|(_, probe)| *probe).reduce(pick);
    let (least, most) = (of(f64::min)?, of(f64::max)?);
    let each = all
        .iter()
        .map(|(transport, probe)| format!("{} ({transport})", scaled(*probe, Unit::Second)));
    (most > (1.0 + ALIKE) * least).then(|| {
        format!(
            "placement differed, so do not compare: a cache line took {}",
            each.collect::<Vec<_>>().join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use bandgap_record::ExperimentSetup;

    use super::*;

    #[test]
    fn which_library_it_was_stands_once_in_the_first_line() {
        let mut run = crate::logp::tests::run([], Vec::new());
        let library = Library {
            name: "MPICH 4.0.2".into(),
            path: "/lib/libmpi.so".into(),
            launcher: Some("mpirun -n 2".into()),
            sends_with: Some("pml ucx".into()),
            environment: [("UCX_TLS".to_owned(), "tcp".to_owned())].into(),
            ..Library::default()
        };
        let of = ExperimentSetup { library: Some(library.clone()), ..Default::default() };
        run.setup.of = vec![of.clone(), of];
        let heading = heading(&run).unwrap();
        let parts: Vec<&str> = heading.split(SECTION_PARTS).collect();
        for word in [
            library.name,
            library.path,
            "mpirun -n 2".into(),
            "pml ucx".into(),
            "UCX_TLS=tcp".into(),
        ] {
            assert_eq!(parts.iter().filter(|part| **part == word).count(), 1, "{heading}");
        }
    }
}
