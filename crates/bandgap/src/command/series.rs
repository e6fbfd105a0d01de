//! Series of message passing: those of `comms1`, `comms2`, `comms3`, `synch1`, and of `comet`.

use std::collections::BTreeSet;
use std::time::Duration;

use bandgap_assemble as assemble;
use bandgap_campaign::beside::Beside;
use bandgap_campaign::series::{SeriesPlan, Step};
use bandgap_campaign::sizes::{matrices, rounds};
use bandgap_kernels::{
    Buffers, DOUBLE, Extent, LIBRARY, NoMesh, ProcessorMesh, Refused, Series as Measured, Shape,
    facts, in_series,
};
use bandgap_launch::{Classify, Collected, Ended, Exit, Failure, Target, distances};
use bandgap_record::Note;
use bandgap_units::Bytes;
use clap::Args;
use clap::builder::PossibleValuesParser;

use crate::args::Measure;
use crate::session::{BATCH, Session, counted};
use crate::sizes::Sizes;

/// Time for one of these commands.
pub const USUAL: Duration = Duration::from_secs(15);

/// How long messages are.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Messages")]
pub struct Lengths {
    /// Message sizes: 8,64KiB,1MiB, 0:4MiB (powers of two), 1:4MiB:x4, 1000:8000:+1000 [default: 0:4MiB]
    #[arg(long, value_name = "SIZES")]
    pub sizes: Option<Sizes>,
    /// Measure 3 bytes below and above powers of two as well
    #[arg(long)]
    pub perturb: bool,
    /// Where the lines of the fit end: the greatest size of each but the last [default: found]
    #[arg(long, value_name = "SIZES", value_delimiter = ',')]
    pub breaks: Vec<Bytes>,
}

/// What messages are sent, between whom, and how.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Messages")]
pub struct Series {
    #[command(flatten)]
    pub lengths: Lengths,
    /// The two ranks [default: 0,1]
    #[arg(long, value_name = "A,B", value_parser = pair)]
    pub between: Option<[usize; 2]>,
    /// Where messages between two ranks lie: one array that travels, a place to send from and one
    /// to receive into, or new places each time [default: same for comms1, else separate]
    #[arg(long, value_name = "same|separate|fresh")]
    pub buffers: Option<Buffers>,
    /// Stamps around the operations of a sample, or around each, as the OSU benchmarks have it
    #[arg(long, value_name = "batch|osu", default_value_t)]
    pub shape: Shape,
}

/// How CoMet's kernels are done.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Messages")]
pub struct Ways {
    /// The algorithm of a collective, or all of them [default: the fastest of a first look]
    #[arg(long, value_name = "NAME|all", value_parser = PossibleValuesParser::new(algorithms()))]
    pub algorithm: Option<String>,
    /// Rows and columns of the mesh that the ranks are [default: square, or twice as long as wide]
    #[arg(long, value_name = "RxC", value_parser = mesh)]
    pub mesh: Option<[usize; 2]>,
    /// Rows of the matrices, from the least to the greatest [default: 64:1024]
    #[arg(long, value_name = "FROM:TO", value_parser = dimensions)]
    pub dimension: Option<Dimensions>,
}

/// Rows of matrices, from the least to the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimensions(u32, u32);

/// Ranks that a simulated machine may have.
const MOST_RANKS: usize = 1 << 20;
/// The series that give what messages cost, from which follows what collectives cost.
const MESSAGES: [&str; 2] = ["echo", "comms1"];
/// What of a message is whose time.
pub const MESSAGE_COSTS: &str = "message_costs";

impl Series {
    /// The sizes, or what is usual.
    pub fn sizes(&self) -> Sizes {
        self.lengths.sizes.clone().unwrap_or_else(|| Sizes::powers(0, 4 << 20))
    }
}

/// Measures and keeps one series.
///
/// # Errors
/// It could not be measured, or not be written.
pub fn run(name: &'static str, series: &Series, measure: &Measure) -> Result<Exit, Failure> {
    let planned = Planned::of(&[name], false, series, measure)?;
    let mut session = Session::open(name, measure, USUAL, vec![(name.to_owned(), 1.0)])?;
    planned.measure(&mut session, series)?;
    session.close()
}

/// Series that can be measured.
pub struct Planned {
    steps: Vec<Step>,
    ranks: usize,
    notes: Vec<Note>,
    spread: bool,
}

impl Planned {
    /// Checks, before anything runs, what the options say. Where `all` kernels are meant, those that so many ranks
    /// cannot do are left out.
    ///
    /// # Errors
    /// They cannot be measured so.
    pub fn of(
        names: &[&str],
        all: bool,
        series: &Series,
        measure: &Measure,
    ) -> Result<Self, Failure> {
        Self::with(names, all, series, &Ways::default(), measure)
    }

    /// The same of kernels that may be done in several ways.
    ///
    /// # Errors
    /// As [`Planned::of`].
    pub fn with(
        names: &[&str],
        all: bool,
        series: &Series,
        ways: &Ways,
        measure: &Measure,
    ) -> Result<Self, Failure> {
        let pair = series.between.unwrap_or([0, 1]);
        if pair[0] == pair[1] {
            let what = format!("measure between rank {} and itself", pair[0]);
            return Err(Failure::new(Exit::Usage, what).hint("name two different ranks"));
        }
        let least = pair[0].max(pair[1]) + 1;
        let of_mesh = ways.mesh.map_or(0, |[rows, columns]| rows * columns);
        let usual = [least.max(of_mesh)];
        let given = &measure.ranks.ranks;
        let ranks = once(if given.is_empty() { &usual[..] } else { given });
        let most = ranks.iter().copied().max().unwrap_or(least);
        if let Some([rows, columns]) = ways.mesh.filter(|_| !ranks.contains(&of_mesh)) {
            let what = format!(
                "divide a matrix over {most} ranks: a mesh of {rows}x{columns} has {of_mesh}"
            );
            return Err(Failure::new(Exit::Usage, what).hint(format!("give --ranks {of_mesh}")));
        }
        let library = measure.is_apart();
        let points = Points { series, ways, pair, library };
        let mut planned = Self {
            steps: Vec::new(),
            ranks: most,
            notes: Vec::new(),
            spread: series.between.is_none(),
        };
        let names = once(names);
        let with_costs = if series.shape.is_usual() { with_costs(&names)? } else { names.clone() };
        for name in with_costs {
            let (_, of) = in_series(name).class(Exit::Usage)?;
            check_ranks(&of, &ranks, least, names.len() > 1)?;
            // Between two ranks the number of the others is none of its axes.
            for &ranks in if of.of_all { &ranks[..] } else { std::slice::from_ref(&most) } {
                match points.steps_of(&of, ranks) {
                    Ok((steps, notes)) => {
                        planned.steps.extend(steps);
                        planned.notes.extend(notes);
                    }
                    Err(refused) if all => {
                        let hint = refused.hint.map_or(String::new(), |hint| format!(" ({hint})"));
                        let why = format!("{}{hint}", refused.what);
                        planned.notes.push(left_out(name, &why));
                    }
                    Err(refused) => return Err(refused),
                }
            }
        }
        planned.notes.dedup();
        Ok(planned)
    }

    /// Adds something to be known.
    pub fn note(&mut self, note: Note) {
        self.notes.push(note);
    }

    /// The series in it.
    pub fn names(&self) -> BTreeSet<&str> {
        self.steps.iter().map(|step| step.series.as_str()).collect()
    }

    fn plan(&self, session: &Session<'_>, steps: Vec<Step>) -> SeriesPlan {
        SeriesPlan { asked: session.asked(), steps, samples: BATCH }
    }

    /// Checks that there is room for them.
    ///
    /// # Errors
    /// There is not.
    pub fn check(&self, session: &Session<'_>) -> Result<(), Failure> {
        session.check(&self.plan(session, self.steps.clone()), self.ranks)
    }

    /// Measures and keeps them.
    ///
    /// # Errors
    /// They could not be measured, or not be written.
    pub fn measure(self, session: &mut Session<'_>, series: &Series) -> Result<(), Failure> {
        let mut at_work = self.begin(session)?;
        at_work.collect(session, None, false)?;
        at_work.end(session, series)
    }

    /// Gets ready to measure on the session's target.
    ///
    /// # Errors
    /// The distances of ranks cannot be told.
    pub fn begin(mut self, session: &mut Session<'_>) -> Result<AtWork, Failure> {
        let mut steps = std::mem::take(&mut self.steps);
        let names = steps.iter().map(|step| step.series.clone()).collect();
        if self.spread {
            let cores = session.measure.ranks.cores.as_deref();
            let found = distances(&session.stage, &session.target, self.ranks, cores)?;
            steps = at_distances(steps, &found);
        }
        self.notes.iter().for_each(|note| session.sink.note(note.clone()));
        let (plan, target) = (self.plan(session, steps), session.target.clone());
        Ok(AtWork { plan, names, ranks: self.ranks, target, collected: None })
    }
}

/// Series that are measured on one target.
pub struct AtWork {
    plan: SeriesPlan,
    names: BTreeSet<String>,
    ranks: usize,
    target: Target,
    collected: Option<Collected>,
}

impl AtWork {
    /// Collects their batches; those of one launch alone, where it is named. Whether more can come. Where there is
    /// something `to_keep` already, whatever fails is noted beside it.
    ///
    /// # Errors
    /// Nothing could be begun.
    pub fn collect(
        &mut self,
        session: &mut Session<'_>,
        only: Option<u32>,
        to_keep: bool,
    ) -> Result<bool, Failure> {
        if only.unwrap_or(0) > 0 && matches!(self.target, Target::Simulated(_)) {
            return Ok(true);
        }
        session.target = self.target.clone();
        let fits = |floor: &Beside| self.plan.has_like(floor);
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let found = session.collect_plan(&self.plan, self.ranks, (&names, &fits), only);
        let found = match found {
            Err(failure) if !to_keep => return Err(failure),
            found => found.unwrap_or_else(Collected::nothing),
        };
        let goes_on = found.ended == Ended::Done;
        self.collected = Some(match self.collected.take() {
            Some(before) => before.then(found),
            None => found,
        });
        Ok(goes_on)
    }

    /// Makes results of what was collected, and keeps them.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn end(self, session: &mut Session<'_>, series: &Series) -> Result<(), Failure> {
        let Some(collected) = self.collected else { return Ok(()) };
        session.target = self.target;
        let breaks: Vec<u64> = series.lengths.breaks.iter().map(|bytes| bytes.0).collect();
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        session.assemble_plan(collected, self.ranks, &names, |measured| {
            assemble::fitted(measured, &breaks)
        })
    }
}

/// That something which was asked for is not measured.
pub fn left_out(name: &str, why: &str) -> Note {
    Note::new("left_out", format!("series/{name}")).with("name", name).with("why", why)
}

/// The steps of series that are measured at each distance, once for each; of one distance, as they are.
fn at_distances(steps: Vec<Step>, found: &[(u32, [usize; 2])]) -> Vec<Step> {
    let everywhere = |step: &Step| step.kernel().is_ok_and(|(_, series)| series.at_distances);
    let spread = |step: Step| -> Vec<Step> {
        if found.len() < 2 || !everywhere(&step) {
            return vec![step];
        }
        let at =
            |&(hops, pair): &(u32, [usize; 2])| Step { pair, hops: Some(hops), ..step.clone() };
        found.iter().map(at).collect()
    };
    steps.into_iter().flat_map(spread).collect()
}

/// The series of these names, and what messages cost where collectives are measured beside the time of messages.
fn with_costs<'a>(names: &[&'a str]) -> Result<Vec<&'a str>, Failure> {
    let mut names = names.to_vec();
    let is_collective = |name: &&str| in_series(name).map(|(_, series)| series.by_algorithm());
    let collectives: Result<Vec<bool>, Refused> = names.iter().map(is_collective).collect();
    let wanted = collectives.class(Exit::Usage)?.contains(&true)
        && names.iter().any(|name| MESSAGES.contains(name))
        && !names.contains(&MESSAGE_COSTS);
    names.extend(wanted.then_some(MESSAGE_COSTS));
    Ok(names)
}

/// Each of them once, in their order.
fn once<T: PartialEq + Copy>(all: &[T]) -> Vec<T> {
    let mut kept = Vec::new();
    for one in all {
        if !kept.contains(one) {
            kept.push(*one);
        }
    }
    kept
}

/// Checks the numbers of ranks. Beside series of all ranks, one of two takes the most ranks.
fn check_ranks(
    series: &Measured,
    ranks: &[usize],
    least: usize,
    beside_others: bool,
) -> Result<(), Failure> {
    let usage = |what, hint: String| Err(Failure::new(Exit::Usage, what).hint(hint));
    if let Some(few) = ranks.iter().find(|few| **few < least) {
        let few = counted(*few, "rank");
        let what = format!("measure {} with {few}: at least {least} are needed", series.name);
        return usage(what, format!("give --ranks {least} or more"));
    }
    if ranks.len() > 1 && !series.of_all && !beside_others {
        let what = format!("measure {} with several numbers of ranks", series.name);
        return usage(what, "two ranks take part: give one number".to_owned());
    }
    Ok(())
}

/// What cannot be done, as the user is told.
pub fn refusal(refused: &Refused) -> Failure {
    Failure::new(Exit::Usage, format!("measure {}: {}", refused.kernel, refused.why))
}

/// All that says which points a series has.
struct Points<'a> {
    series: &'a Series,
    ways: &'a Ways,
    pair: [usize; 2],
    /// Whether ranks have a library's message passing.
    library: bool,
}

/// Whether a step can be carried out, in one of its variants at least.
fn check(step: &Step, checked: bool) -> Result<(), Refused> {
    let mut refused = Ok(());
    for variant in step.variants() {
        let order = variant.order(1)?;
        let order = if checked { order.checked() } else { order };
        refused = (variant.kernel()?.0.check)(&order, variant.ranks);
        if refused.is_ok() {
            break;
        }
    }
    refused
}

impl Points<'_> {
    /// The steps of a series on so many ranks, and what of it does not fit.
    fn steps_of(&self, of: &Measured, ranks: usize) -> Result<(Vec<Step>, Vec<Note>), Failure> {
        let (mut steps, mut refusals) = (Vec::new(), Vec::<(&str, Refused)>::new());
        let variants = self.variants(of)?;
        let mesh = self.mesh(of, ranks)?;
        let given = self.ways.mesh.filter(|_| mesh.is_some());
        let buffers =
            of.buffers.map_or(Buffers::default(), |own| self.series.buffers.unwrap_or(own));
        let sizes = self.sizes_of(of, mesh)?;
        for &size in &sizes {
            let one = Step {
                pair: self.pair,
                mesh: given,
                buffers,
                shape: self.series.shape,
                ..Step::new(of.name, size, 1, ranks)
            };
            for variant in &variants {
                let step = Step { variant: variant.map(str::to_owned), ..one.clone() };
                match (check(&step, false), variant) {
                    (Ok(()), _) => steps.push(repeated(step)),
                    (Err(refused), Some(variant)) => refusals.push((variant, refused)),
                    (Err(refused), None) => return Err(refusal(&refused)),
                }
            }
        }
        if let (Some((_, refused)), true) = (refusals.first(), steps.is_empty()) {
            return Err(refusal(refused));
        }
        let without = |variant: &&&str| refusals.iter().filter(|(of, _)| of == *variant).count();
        let variants: Vec<&str> = variants.iter().copied().flatten().collect();
        let notes = variants.iter().filter(|variant| without(variant) > 0).map(|variant| {
            let name = format!("{} by {variant} on {ranks} ranks", of.name);
            let note =
                Note::new("variant_left_out", format!("series/{}", of.name)).with("name", name);
            note.with("sizes", without(&variant) as f64).with("of", sizes.len() as f64)
        });
        let notes = notes.collect();
        if let Some(mesh) = mesh {
            moving(of, &steps, mesh)?;
        }
        Ok((steps, notes))
    }

    /// The mesh that a series of matrices has.
    fn mesh(&self, of: &Measured, ranks: usize) -> Result<Option<ProcessorMesh>, Failure> {
        if of.extent != Extent::Dimension {
            return Ok(None);
        }
        let Some([rows, columns]) = self.ways.mesh else {
            return ProcessorMesh::for_ranks(ranks).map(Some).map_err(no_mesh);
        };
        let mesh = ProcessorMesh::new(rows, columns);
        if mesh.size() == ranks {
            return Ok(Some(mesh));
        }
        let what =
            format!("divide a matrix over {ranks} ranks: a mesh of {mesh} has {}", mesh.size());
        let hint = format!("give --ranks {}, or {}", mesh.size(), meshes(ranks));
        Err(Failure::new(Exit::Usage, what).hint(hint))
    }

    /// The sizes at which a series is measured: one at least.
    fn sizes_of(&self, of: &Measured, mesh: Option<ProcessorMesh>) -> Result<Vec<u32>, Failure> {
        let (sizes, perturb) = (self.series.sizes(), self.series.lengths.perturb);
        let none = |what: String, hint: String| {
            Err(Failure::new(Exit::Usage, format!("measure {}: {what}", of.name)).hint(hint))
        };
        match of.extent {
            Extent::None => Ok(vec![0]),
            Extent::Bytes => Ok(sizes.all(perturb)),
            Extent::Doubles => {
                let double = DOUBLE as u32;
                let whole = sizes.all(false).into_iter();
                let whole = whole.filter(|size| *size > 0 && size.is_multiple_of(double));
                let elements: Vec<u32> = whole.map(|size| size / double).collect();
                match elements.is_empty() {
                    true => none(
                        "no size is a whole number of doubles".into(),
                        "give multiples of 8 B".into(),
                    ),
                    false => Ok(elements),
                }
            }
            Extent::Dimension => {
                let Dimensions(from, to) = self.ways.dimension.unwrap_or(Dimensions(64, 1024));
                let least = mesh.map_or(1, |mesh| mesh.least_dimension() as u32);
                let found = matrices(from..=to, least);
                match found.is_empty() {
                    true => none(
                        format!("no dimension from {from} to {to} divides over the mesh"),
                        format!("give multiples of {least}"),
                    ),
                    false => Ok(found),
                }
            }
        }
    }

    /// The variants that are measured: one that is not named yet, unless they are asked for.
    fn variants(&self, of: &Measured) -> Result<Vec<Option<&'static str>>, Failure> {
        let library = (self.library && of.library).then_some(LIBRARY);
        let all = || library.into_iter().chain(of.variants.iter().copied()).map(Some).collect();
        match self.ways.algorithm.as_deref() {
            None if library.is_some() => Ok(vec![library]),
            Some(LIBRARY) if library.is_some() => Ok(vec![library]),
            Some(LIBRARY) if of.library => {
                let what = format!("measure {} by library: this transport has none", of.name);
                Err(Failure::new(Exit::Usage, what).hint("use -t mpi"))
            }
            _ if of.variants.is_empty() => Ok(vec![None]),
            // Those of two ranks are different things, not ways to do one.
            _ if !of.by_algorithm() => Ok(all()),
            None => Ok(vec![None]),
            Some("all") => Ok(all()),
            Some(name) => of.variant(name).map(|it| vec![Some(it)]).map_err(|it| refusal(&it)),
        }
    }
}

/// Refuses steps on a mesh where nothing is sent.
fn moving(of: &Measured, steps: &[Step], mesh: ProcessorMesh) -> Result<(), Failure> {
    let moves = |step: &Step| step.moved().is_ok_and(|bytes| bytes > 0);
    if steps.is_empty() || steps.iter().any(moves) {
        return Ok(());
    }
    let what = format!("measure {} on a mesh of {mesh}: no rank sends anything there", of.name);
    Err(Failure::new(Exit::Usage, what).hint("give another --mesh, or more --ranks"))
}

/// What to do with ranks that make no mesh by themselves.
fn no_mesh(NoMesh { ranks, below, above }: NoMesh) -> Failure {
    let what = format!(
        "divide a matrix over {ranks} ranks: the number of ranks must be a square or twice a square"
    );
    let below = below.map_or(String::new(), |below| format!("{below} or "));
    Failure::new(Exit::Usage, what).hint(format!("take {below}{above} ranks, or {}", meshes(ranks)))
}

/// The option for the mesh of so many ranks that is nearest to a square.
fn meshes(ranks: usize) -> String {
    let side = (1..=ranks.isqrt()).rev().find(|side| ranks.is_multiple_of(*side)).unwrap_or(1);
    format!("--mesh {}x{side}", ranks / side)
}

/// The step with as many operations in a sample as its messages allow; fewer where a checked batch has no room for
/// them.
fn repeated(step: Step) -> Step {
    let mut messages = rounds(step.bytes().unwrap_or(0));
    let with = |messages| Step { messages, ..step.clone() };
    while messages > 1 && check(&with(messages), true).is_err() {
        messages /= 2;
    }
    with(messages)
}

/// The algorithms of all collectives, and the word for all of them.
fn algorithms() -> Vec<&'static str> {
    let mut names = vec!["all"];
    for fact in facts() {
        for series in fact.series.iter().filter(|series| series.by_algorithm()) {
            names.extend(series.library.then_some(LIBRARY));
            names.extend(series.variants);
        }
    }
    once(&names)
}

/// Two ranks as typed: `0,1`.
fn pair(text: &str) -> Result<[usize; 2], String> {
    let rank = |text: &str| text.trim().parse().ok().filter(|rank| *rank < MOST_RANKS);
    let pair = text.split_once(',').and_then(|(a, b)| Some([rank(a)?, rank(b)?]));
    pair.ok_or_else(|| format!("write two ranks, e.g. 0,1, not {text}"))
}

/// A mesh as typed: `4x2`.
fn mesh(text: &str) -> Result<[usize; 2], String> {
    let side = |text: &str| text.trim().parse().ok().filter(|side| (1..=MOST_RANKS).contains(side));
    let mesh = text.split_once(['x', '×']).and_then(|(a, b)| Some([side(a)?, side(b)?]));
    mesh.ok_or_else(|| format!("write rows and columns, e.g. 4x2, not {text}"))
}

/// Dimensions as typed: `64:1024`, or one.
fn dimensions(text: &str) -> Result<Dimensions, String> {
    let rows = |text: &str| text.trim().parse().ok().filter(|rows| *rows > 0);
    let (from, to) = text.split_once(':').unwrap_or((text, text));
    match (rows(from), rows(to)) {
        (Some(from), Some(to)) if from <= to => Ok(Dimensions(from, to)),
        _ => Err(format!("write numbers of rows, e.g. 64:1024, not {text}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(ways: &Ways, name: &str, sizes: &str, ranks: usize) -> Result<Vec<Step>, Failure> {
        let lengths = Lengths { sizes: sizes.parse().ok(), ..Lengths::default() };
        let series = Series { lengths, ..Series::default() };
        let (pair, library) = ([0, 1], false);
        let points = Points { series: &series, ways, pair, library };
        points.steps_of(&in_series(name).unwrap().1, ranks).map(|(steps, _)| steps)
    }

    fn sizes(steps: &[Step]) -> Vec<u32> {
        steps.iter().map(|step| step.size).collect()
    }

    #[test]
    fn meshes_and_dimensions_are_numbers_that_can_be() {
        assert_eq!((mesh("4x2"), mesh("1x9")), (Ok([4, 2]), Ok([1, 9])));
        for wrong in ["", "4", "0x2", "4x", "x", "2x2x2", "-1x2"] {
            assert!(mesh(wrong).is_err(), "{wrong}");
        }
        assert_eq!(dimensions("8"), Ok(Dimensions(8, 8)));
        for wrong in ["", "0", "16:8", "8:", "a:b"] {
            assert!(dimensions(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn one_array_travels_in_comms1_unless_it_is_to_lie_elsewhere() {
        let of = |name| found(&Ways::default(), name, "8", 2).unwrap()[0].buffers;
        let usual = ["comms1", "comms2", "echo", "exchange"].map(of);
        let separate = Buffers::Separate;
        assert_eq!(usual, [Buffers::Same, separate, separate, separate]);
    }

    #[test]
    fn an_algorithm_is_left_out_where_it_does_not_fit_and_refused_where_it_fits_nowhere() {
        let by = |name: &str| Ways { algorithm: Some(name.into()), ..Ways::default() };
        // A block for each of four ranks: 1 and 2 elements make none.
        assert_eq!(sizes(&found(&by("ring"), "global_sum", "8:64", 4).unwrap()), [4, 8]);
        assert_eq!(found(&by("ring"), "global_sum", "8", 4).unwrap_err().exit, Exit::Usage);
        assert_eq!(found(&by("ring"), "broadcast", "8", 4).unwrap_err().exit, Exit::Usage);
        assert_eq!(sizes(&found(&by("tree"), "global_sum", "8:64", 4).unwrap()), [1, 2, 4, 8]);
    }

    #[test]
    fn ranks_meshes_and_dimensions_that_do_not_fit_are_refused() {
        let on = |rows, columns| Ways { mesh: Some([rows, columns]), ..Ways::default() };
        let of = |from, to| Ways { dimension: Some(Dimensions(from, to)), ..Ways::default() };
        for (ways, name, ranks) in [
            (Ways::default(), "transpose", 3),
            (on(2, 2), "transpose", 6),
            (on(3, 1), "shift_east", 3),
            (of(5, 7), "transpose", 8),
        ] {
            assert_eq!(found(&ways, name, "0:64", ranks).unwrap_err().exit, Exit::Usage);
        }
        assert!(found(&Ways::default(), "global_sum", "17,23", 2).is_err());
        // A mesh that is given is no concern of what has none.
        assert!(found(&on(2, 2), "echo", "0:8", 3).unwrap()[0].mesh.is_none());
    }
}
