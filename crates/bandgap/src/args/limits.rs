//! What users ask of values: that none is in doubt, and limits.

use bandgap_launch::{Exit, Result, usage};
use bandgap_record::{Column, Form, Quantity, Row, Rows, Unit};
use bandgap_report::{read, scaled};
use bandgap_results::{LIMIT, Outcome, Run, Verdict};
use clap::Args;

/// The verdicts that a user asks for.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Verdict")]
pub struct Limits {
    /// End with exit code 1 where a value that counts has not converged (*), a model does not hold, or nothing can be told
    /// about a limit
    #[arg(long)]
    pub strict: bool,
    /// End with exit code 1 where the whole interval of a value is beyond this limit, as 'logp/shm/rtt < 2.5us'; may be
    /// given several times
    #[arg(long, value_name = "ID < VALUE", value_parser = limit)]
    pub limit: Vec<Limit>,
}

impl Limits {
    /// Adds the verdicts on the limits to a run, in place of those that it has.
    ///
    /// # Errors
    /// The run has no such value, or in another unit.
    pub fn judge(&self, run: &mut Run) -> Result<Exit> {
        let judged = Outcome::from(judge(&self.limit, run)?);
        let is_beyond = !judged.as_shown().negative().is_empty();
        if !self.limit.is_empty() && !run.results.is_empty() {
            run.results.retain(|of| of.as_rows().is_none_or(|of| of.kind != LIMIT));
            run.results.push(judged);
        }
        let is_bad = is_beyond || self.strict && !Verdict::of(run).is_good();
        Ok(if is_bad { Exit::Doubtful } else { Exit::Fine })
    }
}

/// A limit of a value: `ID < VALUE` or `ID > VALUE`, where ID may be the beginning of an id.
#[derive(Clone, Debug)]
pub struct Limit {
    id: String,
    is_upper: bool,
    value: String,
}

/// Parses a limit.
fn limit(text: &str) -> Result<Limit, &'static str> {
    let example = "write for example 'logp/shm/rtt < 2.5us'";
    let at = text.find(['<', '>']).ok_or(example)?;
    let [id, value] = [&text[..at], &text[at + 1..]].map(|part| part.trim().to_owned());
    let is_value = Unit::ALL.iter().any(|unit| read(&value, *unit).is_some());
    let limit = Limit { id, is_upper: text[at..].starts_with('<'), value };
    (is_value && !limit.id.is_empty()).then_some(limit).ok_or(example)
}

/// The verdicts on limits, as a result of this run.
///
/// # Errors
/// No value or several have the id of a limit, or the value has another unit.
fn judge(limits: &[Limit], run: &Run) -> Result<Rows> {
    let row = |Limit { id, is_upper, value: text }: &Limit| {
        let (id, value) = find(run, id)?;
        let limit = value.map(|of| read(text, of.unit).ok_or(of)).transpose().map_err(|of| {
            usage!("compare {id} with {text}: it is {}", scaled(of.value.0, of.unit))
        })?;
        let (least, most) = match value.and_then(Quantity::interval).zip(limit) {
            Some(((low, high), at)) if *is_upper => (low >= at, high >= at),
            Some(((low, high), at)) => (high <= at, low <= at),
            None => (false, true),
        };
        let evidence = ("verdict", value.map_or(0, |of| of.samples), least == most);
        let (least, most) = (f64::from(least), f64::from(most));
        let beyond = Quantity::new(least, Some((least, most)), Unit::One, evidence).ok();
        let must = format!("{}{}", if *is_upper { '<' } else { '>' }, text.replace(' ', ""));
        Ok(Row { place: vec![id.into(), must.into()], cells: vec![beyond], ..Row::default() })
    };
    Ok(Rows {
        kind: LIMIT.to_owned(),
        form: Form::Details,
        axes: vec!["of".to_owned(), "must".to_owned()],
        columns: vec![Column::new("beyond", Unit::One, "whether it is beyond: 0 or 1").counting()],
        rows: limits.iter().map(row).collect::<Result<_, _>>()?,
        ..Rows::default()
    })
}

/// The nearest ids that an error names.
const NEAREST: usize = 5;
/// The most ids that it names where several begin so.
const AMBIGUOUS: usize = 20;

/// The id that is, or that alone begins with, this text, and its value, if that is known. Of a run that ended early, any
/// value may not be known.
///
/// # Errors
/// There is none, or several.
pub fn find<'a>(run: &'a Run, text: &str) -> Result<(String, Option<&'a Quantity>)> {
    let mut all: Vec<_> = run.results.iter().flat_map(|of| of.as_shown().all()).collect();
    let mut begin = all.clone();
    begin.retain(|(id, ..)| id.starts_with(text));
    begin.sort_by_key(|(id, ..)| id != text);
    let names = |all: &[(String, _, _)]| all.iter().map(|of| &*of.0).collect::<Vec<_>>().join(", ");
    let ended_early = run.interrupted || run.notes.iter().any(|note| note.code == "too_little");
    match &begin[..] {
        [(id, of, _), rest @ ..] if id == text || rest.is_empty() => Ok((id.clone(), *of)),
        [] if ended_early => Ok((text.to_owned(), None)),
        [] => {
            all.sort_by_cached_key(|(id, ..)| (-1e6 * strsim::jaro(id, text)) as i64);
            all.truncate(NEAREST);
            Err(usage!("find {text} in the run").hint(format!("the nearest: {}", names(&all))))
        }
        all => {
            let some = names(&all[..all.len().min(AMBIGUOUS)]);
            Err(usage!("choose {text}: {} ids begin so", all.len()).hint(some))
        }
    }
}
