//! The kept runs as a list.

use std::path::PathBuf;

use bandgap_record::read;
use bandgap_report::{Block, Cell, Head, Table};
use bandgap_results::{Run, Verdict, by_key};

/// The most runs in the list.
const MOST: usize = 20;

/// The newest of these runs, the last first: when each began, its command, transports, libraries, hosts, and how many of
/// its values are in doubt.
pub fn listed(paths: &[PathBuf]) -> Vec<Block> {
    let heads = ["run", "began", "command", "transports", "library", "in doubt"].map(Head::new);
    let table = Table::new(heads.into_iter().chain([Head::new("hosts").optional()]));
    let more = paths.len().saturating_sub(MOST);
    let more = (more > 0).then(|| Block::Text(format!("{more} older")));
    let table = table.with(paths.iter().rev().take(MOST).map(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        [Cell::Text(name)].into_iter().chain(match read(path) {
            Ok(run) => line(&run),
            Err(_) => ["", "unfinished or unreadable", "", "", "", ""].map(Cell::from),
        })
    }));
    [Block::Table(table)].into_iter().chain(more).collect()
}

fn line(run: &Run) -> [Cell; 6] {
    let command = run.command.get(1).map_or("run", String::as_str);
    let setups = &run.setup.of;
    let joined = |all: &mut dyn Iterator<Item = &str>| -> Cell {
        let known = by_key(all.map(|of| (of, ()))).into_iter().map(|(of, _)| of);
        known.collect::<Vec<_>>().join(", ").into()
    };
    let verdict = Verdict::of(run);
    [
        // To the minute.
        run.started.split(':').take(2).collect::<Vec<_>>().join(":").into(),
        command.into(),
        joined(&mut setups.iter().map(|of| of.transport.as_str())),
        joined(&mut setups.iter().filter_map(|of| Some(of.library.as_ref()?.name.as_str()))),
        Cell::Number(format!("{} of {}", verdict.doubtful.len(), verdict.counted)),
        joined(&mut run.setup.machine.hosts.iter().map(String::as_str)),
    ]
}
