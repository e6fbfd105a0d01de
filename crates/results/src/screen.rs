//! One screen of a run: the heading, a table, its meaning, and doubts.

use std::any::Any;
use std::collections::BTreeSet;

use bandgap_record::{Form, Note, Rows, Unit};
use bandgap_report::{Block, Cell, Precision, SECTION_PARTS, Scale, scaled};
use serde_json::Value;

use crate::curves::curve;
use crate::doctor::{doctor, fitness};
use crate::headline::{headline, segments, surface};
use crate::hockney::Hockney;
use crate::kernels::kernels;
use crate::logp::{Logp, SIGNATURE};
use crate::notes::{Level, template, words};
use crate::rows::derived;
use crate::run::{Run, Verdict, context};
use crate::shown::{Context, counted, grouped};
use crate::validation::validation;
use crate::why;

/// How a run is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View<'a> {
    /// Whether figures are drawn.
    pub plot: bool,
    /// Whether their axes are linear.
    pub linear: bool,
    /// The name by which `bandgap show` finds the run, if it is stored.
    pub kept: Option<&'a str>,
}

/// One screen of a run.
pub fn screen(run: &Run, view: View<'_>) -> Vec<Block> {
    // `doctor` has neither a plan nor results.
    if run.results.is_empty() && run.plan.is_null() && !(run.host.is_null() && run.hosts.is_empty())
    {
        return doctor(run).0;
    }
    let among = context(run);
    let mut blocks = Vec::new();
    if let Some(heading) = heading(run) {
        blocks.push(Block::section("run", heading));
        blocks.extend(machine(run));
        blocks.push(Block::section("results", ""));
    }
    let body = body(&among, view);
    let doubt = doubt(run, &body, view);
    blocks.extend(body.into_iter().chain(doubt));
    blocks
}

/// Everything of a run: all rows, figures, and notes.
pub fn detail(run: &Run, view: View<'_>) -> Vec<Block> {
    let among = context(run);
    let mut blocks: Vec<Block> =
        heading(run).map(|of| Block::section("run", of)).into_iter().collect();
    blocks.extend(machine(run));
    for (at, result) in run.results.iter().enumerate() {
        // Most results begin with a section of their own.
        blocks.push(Block::section(format!("result-{at}"), ""));
        let of = result.as_shown().detail(&among);
        blocks.extend(of.into_iter().map(|block| axes(block, view)));
    }
    blocks.push(Block::section("why", ""));
    blocks.extend(why(run));
    blocks
}

/// A figure with the requested axes.
fn axes(mut block: Block, view: View<'_>) -> Block {
    if let (Block::Figure(figure), true) = (&mut block, view.linear) {
        (figure.x.scale, figure.y.scale) = (Scale::Linear, Scale::Linear);
    }
    block
}

/// The tables of all results.
fn body(context: &Context<'_>, view: View<'_>) -> Vec<Block> {
    if let Some(rows) = context.of::<Rows>().find(|rows| is_alone(rows)) {
        return curve(rows, context);
    }
    let signatures = context.of::<Logp>().any(|logp| logp.name == SIGNATURE);
    let mut blocks = if signatures { headline(context) } else { Vec::new() };
    let errors = context.of::<Rows>().filter(|rows| rows.form == Form::Errors);
    blocks.extend(errors.flat_map(|rows| validation(rows, context)));
    let only = context.results.len() == 1;
    let shown = |rows: &&Rows| match rows.form {
        Form::Details => only,
        Form::Errors | Form::Table => false,
        _ => !(signatures && rows.form.is_headline()),
    };
    let rows: Vec<&Rows> = context.of::<Rows>().filter(shown).collect();
    match &rows[..] {
        [] => {
            let tabled = context.of::<Hockney>().filter(|fit| fit.is_relative() && !signatures);
            for fit in tabled {
                blocks.extend(segments(context, &fit.name, &fit.transport));
            }
        }
        [one] if is_curve(one) && !signatures => {
            blocks.extend(segments(context, &one.name, &one.transport));
            blocks.extend(curve(one, context));
        }
        _ => blocks.extend(kernels(&rows, context)),
    }
    let mut transfers: Vec<(&str, &str)> =
        context.of::<Logp>().map(|logp| (&*logp.name, &*logp.transport)).collect();
    transfers.dedup();
    for (name, transport) in transfers.into_iter().filter(|(name, _)| *name != SIGNATURE) {
        blocks.push(Block::section(name, name.replace('_', " ")));
        blocks.extend(surface(context, name, transport));
    }
    for shown in &context.results {
        let any: &dyn Any = *shown;
        match any.downcast_ref::<Rows>() {
            Some(rows) if rows.form == Form::Table => blocks.extend(derived(rows, context)),
            None if !(any.is::<Logp>() || any.is::<Hockney>()) => {
                blocks.extend(shown.short(context));
            }
            _ => {}
        }
    }
    // If a curve is the only thing to show, it is drawn.
    let alone = signatures
        && rows.is_empty()
        && context.of::<Logp>().count() == 1
        && context.of::<Hockney>().next().is_none();
    if view.plot || alone {
        let all = context.results.iter().flat_map(|shown| shown.detail(context));
        let figures = all.filter(|block| matches!(block, Block::Figure(_)));
        blocks.extend(figures.map(|block| axes(block, view)));
    }
    blocks
}

/// Whether these rows fill the screen alone.
fn is_alone(rows: &Rows) -> bool {
    matches!(rows.form, Form::SideBySide { alone: true, .. })
}

/// Whether rows are the times of a series, and not derived from other rows.
fn is_curve(rows: &Rows) -> bool {
    use Form::{Curve, Details, Kernel, Pairs, SideBySide};
    matches!(rows.form, Curve | Details | Kernel { .. } | Pairs | SideBySide { .. })
}

/// Codes of notes on how a file was read, other than `read_as`.
const READ: [&str; 4] = ["one_run_read", "runs_repeated", "times_are", "tests_to_choose"];

/// The name of the measured kernel, if there is exactly one.
fn kernel(run: &Run) -> Option<&str> {
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
fn heading(run: &Run) -> Option<String> {
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
    parts.extend(hardware(run.hosts.first().unwrap_or(&run.host)));
    // Only what is the same for all transports.
    let first = run.conditions.first();
    let alike =
        |same: &dyn Fn(&bandgap_record::Conditions) -> bool| run.conditions.iter().all(same);
    if let Some(first) = first {
        let ranks = first.ranks;
        if alike(&|of| of.ranks == ranks) && ranks != 2 {
            parts.push(format!("{ranks} ranks"));
        }
        if !first.hosts.is_empty() {
            parts.push(hosts(&first.hosts));
            parts.extend(run.hosts.first().and_then(network));
        } else if !first.cores.is_empty() && alike(&|of| of.cores == first.cores) {
            let line = first.state.as_ref().filter(|_| placements(run).is_none());
            let line = line.map(|state| scaled(state.probe.0.0, Unit::Second));
            let apart: Vec<&str> =
                first.distance.as_deref().into_iter().chain(line.as_deref()).collect();
            parts.push(cores(&first.cores, &apart.join(", ")));
        }
        if first.launches > 1 {
            let lost: usize =
                run.conditions.iter().map(|of| of.lost_launches.len()).max().unwrap_or(0);
            let lost = match lost {
                0 => String::new(),
                _ => format!(" (no batch of {lost} counts)"),
            };
            parts.push(format!("{} launches{lost}", first.launches));
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

/// `a, b:4`: the hosts, with the number of ranks if above 1; many hosts as a count.
fn hosts(by_rank: &[String]) -> String {
    let mut all: Vec<(&str, usize)> = Vec::new();
    for host in by_rank {
        match all.iter_mut().find(|(known, _)| *known == host.as_str()) {
            Some((_, ranks)) => *ranks += 1,
            None => all.push((host, 1)),
        }
    }
    if let [(first, _), _, _, _, _, ..] = all[..] {
        return format!("{} hosts from {first}", all.len());
    }
    let named = all.iter().map(|&(host, ranks)| match ranks {
        1 => host.to_owned(),
        _ => format!("{host}:{ranks}"),
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
    let mut each: Vec<&u64> = Vec::new();
    all.iter().for_each(|core| each.extend((!each.contains(&core)).then_some(core)));
    let listed: Vec<String> = each.iter().map(ToString::to_string).collect();
    let text = match each.len() {
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

/// The fitness of the machine, for a run on a single one.
fn machine(run: &Run) -> Option<Block> {
    let fitness = fitness([&run.host]).filter(|_| run.hosts.is_empty());
    fitness.map(|of| Block::Text(format!("Machine: {of}")))
}

/// The most notes on a screen.
const SAID: usize = 2;

/// The doubts about what is shown, gravest first, with the command that explains them.
fn doubt(run: &Run, body: &[Block], view: View<'_>) -> Option<Block> {
    let mut parts: Vec<String> = placements(run).into_iter().collect();
    // Layers are compared by times, not by fitted lines.
    let layers = run.results.iter().filter_map(|of| of.as_rows()).any(is_alone);
    let (shown, wide, limited) = marked(body);
    let wider = (wide > 0).then(|| Precision::No.named());
    let at_limit = (limited > 0).then(|| Precision::ClockLimited.named());
    let values: Vec<&str> = wider.into_iter().chain(at_limit).collect();
    if !values.is_empty() {
        let are = if wide + limited == 1 { "is" } else { "are" };
        let widest = why::widest(run).map(|cause| format!(", the widest: {cause}"));
        let widest = widest.filter(|_| wide > 0 && !layers).unwrap_or_default();
        let (some, all, values) = (wide + limited, counted(shown, "value"), values.join(" or "));
        parts.push(format!("{some} of {all} {are} {values}{widest}"));
    } else if !layers {
        let missing: usize = run.results.iter().map(|of| of.as_shown().missing().len()).sum();
        let hidden = Verdict::of(run).doubtful.len() - missing;
        if hidden > 0 {
            parts.push(format!("not shown: {} in doubt", counted(hidden, "value")));
        }
    }
    // Notes of one code are grouped.
    let mut said: Vec<Said<'_>> = Vec::new();
    for note in &run.notes {
        let level = template(&note.code).map_or(Level::Detail, |template| template.level);
        if level == Level::Detail || layers && note.about.starts_with("hockney/") {
            continue;
        }
        let of = subject(run, &note.about);
        let known = said.iter().position(|said| said.note.code == note.code);
        let at = known.unwrap_or_else(|| {
            said.push(Said { level, note, of: Vec::new(), alike: 0 });
            said.len() - 1
        });
        let said = &mut said[at];
        said.alike += usize::from(!why::alike(note, said.note));
        if !said.of.contains(&of) {
            said.of.push(of);
        }
    }
    said.sort_by_key(|said| std::cmp::Reverse(said.level));
    let more = said.len().saturating_sub(SAID);
    parts.extend(said.iter().take(SAID).map(Said::words));
    if more > 0 {
        parts.push(format!("{} more", grouped(more as f64)));
    }
    if parts.is_empty() {
        return None;
    }
    let again = view.kept.map_or("-v".to_owned(), |run| format!("bandgap show {run} --why"));
    Some(Block::Doubt(format!("{}. Why, and what helps: {again}", parts.join(". "))))
}

/// Placement probes that differ by less than this share count as the same placement.
const ALIKE: f64 = 0.2;

/// The placements of the transports, if they differ: their times then belong to different distances between cores.
fn placements(run: &Run) -> Option<String> {
    let probe = |of: &bandgap_record::Conditions| {
        Some((of.transport.clone(), of.state.as_ref()?.probe.0.0))
    };
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

/// The notes of one code: the first, and how many more have other values.
struct Said<'a> {
    level: Level,
    note: &'a Note,
    of: Vec<&'a str>,
    alike: usize,
}

impl Said<'_> {
    fn words(&self) -> String {
        let mut text = words(self.note);
        if self.of.iter().any(|of| !of.is_empty()) {
            text = format!("{}: {text}", self.of.join(", "));
        }
        if self.alike > 0 { format!("{text} ({} more alike)", self.alike) } else { text }
    }
}

/// Counts the values in tables: all, those not converged, and those at the clock's limit.
fn marked(blocks: &[Block]) -> (usize, usize, usize) {
    let tables = blocks.iter().filter_map(|block| match block {
        Block::Table(table) => Some(table),
        _ => None,
    });
    let cells = tables.flat_map(|table| table.rows.iter().flatten());
    let all = cells.filter_map(|cell| match cell {
        Cell::Value(shown) => Some(shown.precision),
        _ => None,
    });
    let all: Vec<Precision> = all.collect();
    let of = |precision: Precision| all.iter().filter(|own| **own == precision).count();
    (all.len(), of(Precision::No), of(Precision::ClockLimited))
}

/// The subject of a note: the transport if there are several, or else the name of the result.
fn subject<'a>(run: &Run, about: &'a str) -> &'a str {
    let is_transport = |part: &&str| run.conditions.iter().any(|of| of.transport == **part);
    match about.split('/').find(is_transport) {
        Some(_) if run.conditions.len() == 1 => {
            let name = about.split('/').nth(1).filter(|name| !is_transport(name));
            name.filter(|name| kernel(run).is_none_or(|own| own != *name)).unwrap_or("")
        }
        Some(transport) => transport,
        None => about.split('/').nth(1).unwrap_or(about),
    }
}
