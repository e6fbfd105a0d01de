//! Takes a machine's parameters from a run, or refuses the run.

use bandgap_model::Regime;
use bandgap_record::{Note, Place, Quantity, Row, Rows};
use bandgap_results::{Logp, ONE_TO_ONE, Outcome, Run, SIGNATURE};
use bandgap_units::Ns;

use super::{Calibrated, Costs, Groups, Parameter};
use crate::{AssembleError, Result};

impl Calibrated {
    /// The machine that a run, stored at `path`, measured over the named transport, or over its only one. With
    /// `one_latency`, os + or + L count as one latency; that works for runs whose parameters make no LogP machine.
    ///
    /// # Errors
    /// The run lacks the transport or some parameters, or its parameters make no machine.
    pub fn of(run: &Run, path: &str, transport: Option<&str>, one_latency: bool) -> Result<Self> {
        let transport = chosen(run, transport)?;
        let mut signatures = run.results.iter().filter_map(Outcome::of_kind::<Logp>);
        let signature = signatures.find(|logp| is_own(logp, transport));
        let origin = format!("{path} over {transport}");
        let mut notes = Vec::new();
        let untold = |id: &str| run.notes.iter().any(|of| of.code == "not_known" && of.about == id);
        let known = |symbol: &str| {
            let logp = signature?;
            let mut named = logp.parameters.named().into_iter();
            let (name, _, of, _) = named.find(|(_, own, ..)| *own == symbol)?;
            of.filter(|_| !untold(&format!("{}/{name}", logp.id()))).map(Parameter::of)
        };
        let regime = signature.map(|logp| logp.regime);
        let (words, gap) = words(&known, regime, (&origin, transport), one_latency, &mut notes)?;
        let over = run.conditions.iter().find(|of| of.transport == transport);
        let mut machine = Self {
            origin,
            ranks: over.map_or(2, |of| of.ranks as usize),
            words,
            gap,
            protocols: Vec::new(),
            groups: None,
            sources: vec![SIGNATURE.to_owned()],
            notes,
            transport: transport.to_owned(),
        };
        machine.add_protocols(run, one_latency);
        machine.add_groups(run);
        // Parameters that make no machine are refused here.
        let mut below = 0_u32;
        machine.machine(&mut |of| {
            below += u32::from(of.low < 0.0);
            of.value
        })?;
        machine.ends()?;
        if below > 0 {
            let note = Note::new("interval_below_zero", "");
            machine.notes.push(note.with("count", f64::from(below)));
        }
        Ok(machine)
    }

    /// Rows over its transport.
    pub(super) fn rows<'a>(&self, run: &'a Run, name: &str) -> Option<&'a Rows> {
        let mut all = run.results.iter().filter_map(Outcome::as_rows);
        all.find(|rows| {
            rows.kind == "series" && rows.name == name && rows.transport == self.transport
        })
    }

    /// Takes a second distance from the series `echo`, or else from the round trips of pairs.
    fn add_groups(&mut self, run: &Run) {
        let echo = self.rows(run, "echo").map(|rows| apart(rows, "time", "hops", 1.0));
        let pairs = self.rows(run, "pairs").map(|rows| apart(rows, "rtt", "distance", 0.5));
        let found = [echo, pairs].into_iter().flatten().find(|of| *of != Apart::No);
        match found {
            Some(Apart::By(ranks, hop)) if hop.value >= 0.0 => {
                self.groups = Some(Groups { ranks, hop });
            }
            Some(_) => self.notes.push(Note::new("distances_left_out", "")),
            None => {}
        }
    }
}

/// How far the ranks are from rank 0.
#[derive(PartialEq)]
enum Apart {
    No,
    /// This many ranks are near; messages to the others take this much longer.
    By(u64, Parameter),
    /// More than two distances, or rank 1 not timed.
    Otherwise,
}

/// The distances from rank 0, by the times of the shortest messages.
fn apart(rows: &Rows, column: &str, distance: &str, parts: f64) -> Apart {
    let at = |row: &Row, name: &str| rows.place(row, name).or(rows.label(row, name)).cloned();
    let least = rows.rows.iter().filter_map(|row| at(row, "bytes")).min();
    let of_first = |row: &&Row| at(row, "from") == Some(0_u64.into()) && at(row, "bytes") == least;
    let mut found: Vec<(Place, u64, &Quantity)> = Vec::new();
    for row in rows.rows.iter().filter(of_first) {
        let (Some(distance), Some(time)) = (at(row, distance), rows.cell(row, column)) else {
            continue;
        };
        let Some(to) = at(row, "to").and_then(|to| to.number()) else { continue };
        if found.iter().all(|(known, ..)| *known != distance) {
            found.push((distance, to, time));
        }
    }
    found.sort_by_key(|(_, to, _)| *to);
    match &found[..] {
        [] | [_] => Apart::No,
        [(_, 1, near), (_, to, far)] => {
            let [near, far] = [near, far].map(|of| Parameter::of(of).map(|ns| ns * parts));
            let value = far.value - near.value;
            Apart::By(*to, Parameter { value, low: far.low - near.high, high: far.high - near.low })
        }
        _ => Apart::Otherwise,
    }
}

fn is_own(logp: &Logp, transport: &str) -> bool {
    logp.name == SIGNATURE && logp.pattern == ONE_TO_ONE && logp.transport == transport
}

/// The named transport, or the run's only one.
///
/// # Errors
/// The run has no such transport, or has several and none is named.
pub fn chosen<'a>(run: &'a Run, named: Option<&str>) -> Result<&'a str> {
    let all: Vec<&str> = run.conditions.iter().map(|of| of.transport.as_str()).collect();
    match (named, &all[..]) {
        (None, [one]) => Ok(one),
        (None, []) => {
            let command = run.command.get(1).map_or("run", String::as_str);
            let what = format!("use a run of {command}: it has measured nothing");
            let hint = "bandgap run measures what a machine is made of".to_owned();
            Err(AssembleError::Unfit { what, hint })
        }
        (None, _) => Err(AssembleError::Ambiguous {
            what: "use a run over several transports".to_owned(),
            hint: format!("name one: -t {}", all.join(", -t ")),
        }),
        (Some(named), _) => {
            let own = all.iter().find(|of| **of == named).copied();
            own.ok_or_else(|| AssembleError::Unfit {
                what: format!("use the run over {named}: it has not measured it"),
                hint: format!("name what it has: {}", all.join(", ")),
            })
        }
    }
}

/// os, or and L of small messages, and their g.
fn words(
    known: &dyn Fn(&str) -> Option<Parameter>,
    regime: Option<Regime>,
    (origin, transport): (&str, &str),
    one_latency: bool,
    notes: &mut Vec<Note>,
) -> Result<(Costs, Parameter)> {
    let fail = |why: &str, hint: String| {
        let what = format!("take a machine from {origin}: {why}");
        Err(AssembleError::Unfit { what, hint })
    };
    let needed: &[&str] = if one_latency { &["RTT"] } else { &["os", "or", "g", "L", "RTT"] };
    let missing: Vec<&str> = needed.iter().copied().filter(|name| known(name).is_none()).collect();
    let of = |name: &str| known(name).unwrap_or_default();
    if !missing.is_empty() {
        let other = if known("RTT").is_some() {
            "; or --one-latency, which needs none of them"
        } else {
            ""
        };
        let hint = format!(
            "bandgap run -t {transport} measures it, and what bytes cost; where it did, but not well enough, a longer --time-budget{other}"
        );
        return fail(&format!("it has no {}", missing.join(", ")), hint);
    }
    if one_latency {
        notes.push(Note::new("one_latency", ""));
        let rtt = of("RTT");
        let latency = rtt.map(|rtt| rtt / 2.0);
        // An interface has sent a message in each round trip.
        let gap = known("g").unwrap_or_else(|| {
            notes.push(Note::new("gap_guessed", ""));
            Parameter { value: latency.value, low: 0.0, high: rtt.high }
        });
        return Ok((Costs { latency, ..Costs::default() }, gap));
    }
    let costs = Costs { send: of("os"), recv: of("or"), latency: of("L") };
    let negative = [("os", costs.send), ("or", costs.recv), ("L", costs.latency)];
    let negative = negative.into_iter().find(|(_, of)| of.value < 0.0);
    let why = match negative {
        Some((name, Parameter { value, low, high })) => {
            Some(format!("{name} is {} ({} to {})", Ns(value), Ns(low), Ns(high)))
        }
        None if regime == Some(Regime::Overlapped) => {
            Some("g is below os + or: overheads of neighbouring messages overlap".to_owned())
        }
        None => None,
    };
    if let Some(why) = why {
        let hint = "--one-latency takes os + or + L as one latency: half a round trip".to_owned();
        return fail(&format!("{why}, so it is no LogP machine"), hint);
    }
    let gap = match regime {
        Some(Regime::ProcessorBound) => {
            notes.push(Note::new("gap_unseen", ""));
            let Costs { send, recv, .. } = costs;
            let (value, low) = (send.value.max(recv.value), send.low.max(recv.low));
            Parameter { value, low, high: send.high + recv.high }
        }
        _ => of("g"),
    };
    Ok((costs, gap))
}
