//! A run as a page.

use std::mem::take;

use bandgap_record::Conditions;
use bandgap_report::{Block, Head, Page, SECTION_PARTS, Table};

use crate::doctor::doctor;
use crate::heading::{heading, source};
use crate::meaning::meanings;
use crate::run::Run;
use crate::screen::{View, detail, screen};

/// The page of a run: what a screen shows, then everything, why values are in doubt, and the machine.
pub fn page(run: &Run) -> String {
    let (mut blocks, all) = (screen(run, View::default()), detail(run, View::default()));
    let is_heading = |block: &Block| matches!(block, Block::Section { id, .. } if id == "run");
    // Figures come with their results, and the heading with the title.
    blocks.retain(|block| !matches!(block, Block::Figure(_)) && !is_heading(block));
    // What is in doubt comes before what it is about.
    blocks.sort_by_key(|block| !matches!(block, Block::Doubt { .. }));
    let is_result = |block: &Block| matches!(block, Block::Section { .. }) && !is_heading(block);
    let rest = all.into_iter().skip_while(|block| !is_result(block));
    blocks.extend(rest.map(|block| match block {
        Block::Section { id, .. } if id == "why" => Block::section(id, "What is in doubt, and why"),
        other => other,
    }));
    let meanings = meanings(run);
    if !meanings.rows.is_empty() {
        blocks.push(Block::section("meaning", "What the numbers mean"));
        blocks.push(Block::Table(meanings));
    }
    blocks.push(Block::section("conditions", "Conditions"));
    blocks.push(Block::Table(conditions(run)));
    if !run.host.is_null() || !run.hosts.is_empty() {
        blocks.push(Block::section("machine", "Machine"));
        blocks.extend(doctor(run).0);
    }
    let (command, source) = (run.command.join(" "), source(run));
    let words = run.command.iter().skip(1).take_while(|word| !word.starts_with('-'));
    let title = heading(run).unwrap_or_else(|| words.cloned().collect::<Vec<_>>().join(" "));
    let mut parts = title.split(SECTION_PARTS);
    let first = parts.next().unwrap_or_default();
    let over: Vec<&str> = run.conditions.iter().map(|of| &*of.transport).collect();
    let all = format!("Messages over {}", over.join(", "));
    // Of a run of everything it is the version.
    let is_version = first == format!("bandgap {}", run.bandgap.version) && !over.is_empty();
    let title = if is_version { &all } else { first };
    let facts = parts.chain(source.split(SECTION_PARTS)).filter(|part| *part != title);
    let facts = facts.collect::<Vec<_>>().join(SECTION_PARTS);
    Page { title, facts: &facts, blocks: &blocks, command: &command, source: &source }.html()
}

/// The conditions of a run: a row each, a column for each transport.
fn conditions(run: &Run) -> Table {
    let heads = run.conditions.iter().map(|of| Head::new(of.transport.clone()));
    let mut table = Table::new([Head::new("")].into_iter().chain(heads));
    type Condition = (&'static str, fn(&Conditions) -> Option<String>);
    let all: [Condition; 7] = [
        ("ranks", |of| Some(of.ranks.to_string())),
        ("launches", |of| Some(of.launches.to_string())),
        ("lost launches", |of| {
            Some(of.lost_launches.len()).filter(|lost| *lost > 0).map(|lost| lost.to_string())
        }),
        ("batches used", |of| Some(of.batches.used.to_string())),
        ("batches set aside", |of| Some(of.batches.all_rejected().to_string())),
        ("messages compared", |of| of.verified.map(|of| of.checked.to_string())),
        ("compared after timed batches", |of| of.verified.map(|of| of.timed.to_string())),
    ];
    for (name, of) in all {
        let mut cells: Vec<Option<String>> = run.conditions.iter().map(of).collect();
        if cells.iter().any(Option::is_some) {
            let cells = cells.iter_mut().map(|cell| take(cell).unwrap_or_default().into());
            table.push([name.into()].into_iter().chain(cells));
        }
    }
    let machine = &run.setup.machine;
    let version = [Some(run.bandgap.version.clone()), run.bandgap.revision.clone()];
    let facts = [
        ("begun", Some(run.started.clone())),
        ("bandgap", Some(version.into_iter().flatten().collect::<Vec<_>>().join(" "))),
        ("build", Some(machine.build.clone()).filter(|build| !build.is_empty())),
        ("hosts", Some(machine.hosts.join(", ")).filter(|hosts| !hosts.is_empty())),
        ("processor", machine.processor.clone()),
        ("governor", machine.governor.clone()),
        ("seed", Some(run.seed.to_string())),
    ];
    if table.columns.len() == 1 {
        table.columns.push(Head::new(""));
    }
    for (name, fact) in facts.into_iter().filter(|of| of.1.is_some()) {
        table.push([name.into(), fact.into()]);
    }
    table
}
