//! One screen of a run: the heading, a table, its meaning, and doubts.

use std::any::Any;
use std::collections::BTreeMap;

use bandgap_record::{Form, Note, Rows};
use bandgap_report::{Block, Precision, Scale};

use crate::curves::curve;
use crate::doctor::{doctor, fitness};
use crate::heading::{heading, kernel, placements};
use crate::headline::{headline, surface};
use crate::hockney::{Hockney, segments};
use crate::kernels::kernels;
use crate::limit::{LIMIT, limits};
use crate::list::Outcome;
use crate::logp::{Logp, SIGNATURE};
use crate::notes::{Level, template, words};
use crate::rows::derived;
use crate::run::{Run, Verdict, context};
use crate::shown::{Context, by_key, counted, grouped};
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
    let doubt = doubt(run, &among.drawn.borrow(), view);
    blocks.extend(body.into_iter().chain(limits(&among)).chain(doubt));
    let is_answer = |note: &&Note| template(&note.code).is_some_and(|of| of.level == Level::Answer);
    let answers = run.notes.iter().filter(is_answer);
    blocks.extend(answers.map(|note| Block::Text(why::with_hint(note, run))));
    blocks
}

/// Everything of a run: all rows, figures, and notes.
pub fn detail(run: &Run, view: View<'_>) -> Vec<Block> {
    let among = context(run);
    let mut blocks: Vec<Block> =
        heading(run).map(|of| Block::section("run", of)).into_iter().collect();
    blocks.extend(machine(run));
    for result in &run.results {
        // Most results begin with a section of their own.
        blocks.push(Block::section(result.id(), ""));
        let of = result.as_shown().detail(&among);
        blocks.extend(of.into_iter().map(|block| axes(block, view)));
    }
    blocks.push(Block::section("why", ""));
    blocks.extend(why(run));
    blocks
}

/// A figure with the requested axes.
pub(crate) fn axes(mut block: Block, view: View<'_>) -> Block {
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
    let has_limits = context.of::<Rows>().any(|rows| rows.kind == LIMIT);
    let only = context.results.len() == 1 + usize::from(has_limits);
    let shown = |rows: &&Rows| match rows.form {
        Form::Details => only && rows.kind != LIMIT,
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
    // What failed has no rows.
    blocks.retain(|block| !matches!(block, Block::Table(table) if table.rows.is_empty()));
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

/// The fitness of the machine, for a run on a single one.
fn machine(run: &Run) -> Option<Block> {
    let fitness = fitness([&run.host]).filter(|_| run.hosts.is_empty());
    fitness.map(|of| Block::Text(format!("Machine: {of}")))
}

/// The most notes on a screen, besides those of what is missing.
const SAID: usize = 1;

/// The doubts about what is shown, gravest first, each in a line, with the command that explains them.
fn doubt(run: &Run, drawn: &BTreeMap<String, Precision>, view: View<'_>) -> Option<Block> {
    let mut lines: Vec<String> = placements(run).into_iter().collect();
    // Layers are compared by times, and beside a signature lengths by bandwidths: not by fitted lines.
    let layers = run.results.iter().filter_map(|of| of.as_rows()).any(is_alone);
    let lineless = layers
        || run.results.iter().filter_map(Outcome::of_kind::<Logp>).any(|of| of.name == SIGNATURE);
    // Notes of one code are grouped.
    let level = |code: &str| template(code).map_or(Level::Detail, |template| template.level);
    let matters = |note: &&Note| {
        level(&note.code) > Level::Detail && !(lineless && note.about.starts_with("hockney/"))
    };
    let notes = run.notes.iter().filter(matters);
    let mut said = by_key(notes.map(|note| (&note.code, note)));
    said.sort_by_key(|(code, _)| std::cmp::Reverse(level(code)));
    let missing = said.iter().filter(|(code, _)| level(code) == Level::Missing).count();
    let most = missing.max(SAID);
    lines.extend(said.iter().take(most).map(|(_, notes)| self::said(run, notes)));
    let verdict = Verdict::of(run);
    let shown = |of| drawn.values().filter(|drawn| **drawn == of).count();
    let (no, limited) = (shown(Precision::No), shown(Precision::ClockLimited));
    let mut count = match verdict.doubtful.len() {
        0 if no + limited == 0 => String::new(),
        all => format!(
            "in doubt (*) or not known: {no} of {} shown ({all} of {} in all)",
            counted(drawn.len(), "value"),
            grouped(verdict.counted as f64)
        ),
    };
    if limited > 0 {
        count += &format!(", at the clock's limit (~): {limited}");
    }
    if count.is_empty() && lines.is_empty() {
        return None;
    }
    let again = view.kept.map_or("-v".to_owned(), |run| format!("bandgap show {run} --why"));
    let more = match said.len().saturating_sub(most) {
        0 => String::new(),
        more => format!(", and {}", counted(more, "more note")),
    };
    lines.extend((!count.is_empty()).then_some(count));
    let more = format!("why, and what helps{more}: {again}");
    Some(Block::Doubt { text: lines.join("\n"), more })
}

/// The notes of one code: the first, its subjects, and how many more have other values.
fn said(run: &Run, notes: &[&Note]) -> String {
    let of = by_key(notes.iter().map(|note| (subject(run, &note.about), ())));
    let of: Vec<&str> = of.into_iter().map(|(of, _)| of).collect();
    let mut text = words(notes[0]);
    if of.iter().any(|of| !of.is_empty()) {
        text = format!("{}: {text}", of.join(", "));
    }
    let others = notes.iter().filter(|note| why::values(note) != why::values(notes[0])).count();
    if others > 0 { format!("{text} ({others} more alike)") } else { text }
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
