//! Series of message passing: those of `bandgap comms1`, `comms2`, `comms3`, `synch1` and `comet`.

use std::ops::RangeInclusive;

use bandgap_campaign::series::{SeriesPlan, Step};
use bandgap_campaign::sizes::{matrices, rounds, sizes, vectors};
use bandgap_comm::passing::Memory;
use bandgap_comm::topology::ProcessorMesh;
use bandgap_kernels::{Buffers, DOUBLE, Extent, Refused, Series, in_series};
use bandgap_launch::{Classify, Exit, Failure, MAX_RANKS, Target, distances};
use bandgap_results::assemble::{self, MESSAGE_COSTS, MESSAGES};
use clap::Args;

use super::measure::{BATCH, Session};
use crate::args::{Measure, Output, SizeRange};

/// What messages are sent, and between whom.
#[derive(Clone, Debug, Default, Args)]
pub struct Comms {
    /// Message sizes, from the least to the greatest, of 1GiB at most
    #[arg(long, value_name = "FROM:TO", default_value = "0:4MiB")]
    pub sizes: SizeRange,
    /// The two ranks [default: 0,1]
    #[arg(long, value_name = "A,B", value_parser = pair)]
    pub between: Option<[usize; 2]>,
    /// Where messages between two ranks lie: one array that travels, a place to send from and one
    /// to receive into, or new places each time
    #[arg(long, value_name = "same|separate|fresh", default_value_t)]
    pub buffers: Buffers,
    /// The memory that messages between two ranks lie in: what any caller of a library has, or what
    /// the rank owns and its peers map to read; or both, measured side by side
    #[arg(
        long,
        value_name = "private|registered",
        value_delimiter = ',',
        default_value = "private"
    )]
    pub memory: Vec<Memory>,
}

/// How CoMet's kernels are done.
#[derive(Clone, Debug, Default, Args)]
pub struct Ways {
    /// The algorithm of a collective, or all of them [default: the fastest of a first look]
    #[arg(long, value_name = "NAME|all")]
    pub algorithm: Option<String>,
    /// Rows and columns of the mesh that the ranks are [default: square, or twice as long as wide]
    #[arg(long, value_name = "RxC", value_parser = mesh)]
    pub mesh: Option<[usize; 2]>,
    /// Rows of the matrices, from the least to the greatest
    #[arg(long, value_name = "FROM:TO", default_value = "64:1024", value_parser = dimensions)]
    pub dimension: Dimensions,
    /// Lengths of the vectors of overlap's computation, in elements
    /// [default: 0, 1024, 8192 and 65536]
    #[arg(long, value_name = "V,…", value_delimiter = ',')]
    pub vectors: Vec<u32>,
}

/// Rows of matrices, from the least to the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimensions(u32, u32);

impl Default for Dimensions {
    fn default() -> Self {
        Self(64, 1024)
    }
}

/// All that says which points a series has.
struct Points<'a> {
    ways: &'a Ways,
    buffers: Buffers,
    memories: &'a [Memory],
    sizes: RangeInclusive<u32>,
    pair: [usize; 2],
}

/// Two ranks as typed: `0,1`.
fn pair(text: &str) -> Result<[usize; 2], String> {
    let rank = |text: &str| text.trim().parse().ok().filter(|rank| *rank < MAX_RANKS);
    let pair = text.split_once(',').and_then(|(a, b)| Some([rank(a)?, rank(b)?]));
    pair.ok_or_else(|| format!("it must be two ranks, as in 0,1: {text}"))
}

/// A mesh as typed: `4x2`.
fn mesh(text: &str) -> Result<[usize; 2], String> {
    let side = |text: &str| text.trim().parse().ok().filter(|side| (1..=MAX_RANKS).contains(side));
    let mesh = text.split_once(['x', '×']).and_then(|(a, b)| Some([side(a)?, side(b)?]));
    mesh.ok_or_else(|| format!("it must be rows and columns, as in 4x2: {text}"))
}

/// Dimensions as typed: `64:1024`, or one.
fn dimensions(text: &str) -> Result<Dimensions, String> {
    let rows = |text: &str| text.trim().parse().ok().filter(|rows| *rows > 0);
    let (from, to) = text.split_once(':').unwrap_or((text, text));
    match (rows(from), rows(to)) {
        (Some(from), Some(to)) if from <= to => Ok(Dimensions(from, to)),
        _ => Err(format!("it must be numbers of rows, as in 64:1024: {text}")),
    }
}

/// Which series are measured.
pub struct Names<'a> {
    /// Their names.
    pub names: &'a [&'a str],
    /// Whether these are all there are: those that so many ranks cannot do are then left out.
    pub all: bool,
}

/// Measures, prints and keeps the series of these names.
///
/// # Errors
/// They could not be measured, or not be written.
pub fn run(
    command: &str,
    asked: &Names<'_>,
    comms: &Comms,
    ways: &Ways,
    measure: &Measure,
    output: &Output,
) -> Result<Exit, Failure> {
    let planned = planned(asked, comms, ways, measure)?;
    let mut session = Session::open(command, measure, output)?;
    planned.measure(&mut session, comms, measure)?;
    session.close()
}

/// Why a series is left out.
fn reason(name: &str, refused: &Failure) -> (String, String) {
    let hint = refused.hint.as_ref().map_or(String::new(), |hint| format!(": {hint}"));
    (name.to_owned(), format!("cannot {}{hint}", refused.what))
}

/// Series that can be measured.
pub(super) struct Planned {
    steps: Vec<Step>,
    /// Series that so many ranks cannot do, and why.
    left_out: Vec<(String, String)>,
    ranks: usize,
}

/// Checks, before anything runs, what the options say.
///
/// # Errors
/// They cannot be measured so.
pub(super) fn planned(
    asked: &Names<'_>,
    comms: &Comms,
    ways: &Ways,
    measure: &Measure,
) -> Result<Planned, Failure> {
    let pair = comms.between.unwrap_or([0, 1]);
    let [a, b] = pair;
    if a == b {
        let what = format!("measure between rank {a} and itself");
        return Err(Failure::new(Exit::Usage, what).hint("name two different ranks"));
    }
    let (from, to) = comms.sizes.bounds()?;
    let memories = &once(&comms.memory);
    let points = Points { ways, buffers: comms.buffers, memories, sizes: from..=to, pair };
    let least = ways.mesh.map_or(0, |[rows, columns]| rows * columns).max(a.max(b) + 1);
    // What is named twice is measured once: the same batches twice are no more data.
    let ranks =
        once(if measure.ranks.is_empty() { std::slice::from_ref(&least) } else { &measure.ranks });
    let names = &with_costs(once(asked.names))?;
    let most = ranks.iter().copied().max().unwrap_or(least);
    let mut steps = Vec::new();
    let mut left_out = Vec::new();
    for name in names {
        let (_, series) = in_series(name).class(Exit::Usage)?;
        check_ranks(&series, &ranks, least, names.len() > 1)?;
        // Between two ranks the number of the others is none of its axes.
        for &ranks in if series.of_all { &ranks[..] } else { std::slice::from_ref(&most) } {
            match points.steps_of(&series, ranks) {
                Ok(more) => steps.extend(more),
                Err(refused) if asked.all => left_out.push(reason(name, &refused)),
                Err(refused) => return Err(refused),
            }
        }
    }
    Ok(Planned { steps, left_out, ranks: most })
}

impl Planned {
    /// Measures, prints and keeps them.
    ///
    /// # Errors
    /// They could not be measured, or not be written.
    pub(super) fn measure(
        self,
        session: &mut Session<'_>,
        comms: &Comms,
        measure: &Measure,
    ) -> Result<(), Failure> {
        let Self { mut steps, left_out, ranks } = self;
        if comms.between.is_none() {
            let cores = measure.options().cores;
            let found = distances(&session.stage, &session.target, ranks, cores.as_deref())?;
            steps = at_distances(steps, &found);
        }
        for (name, why) in left_out {
            session.sink.warn(&format!("{name} is left out: {why}"));
        }
        let registers = steps.iter().any(|step| !step.memory.is_private());
        if registers && matches!(session.target, Target::Simulated(_)) {
            let why = "--memory registered changes nothing: in virtual time messages lie nowhere";
            session.sink.warn(why);
            steps = Step::in_private_memory(&steps);
        }
        let plan = SeriesPlan { asked: session.asked(), steps, samples: BATCH };
        session.measure(&plan, ranks, |setting, table| assemble::series(setting, &plan, table))
    }
}

/// The steps of series that are measured at each distance, once for each; of one distance, as they
/// are.
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

/// The series of these names, and what messages cost where collectives are measured beside the time of
/// messages: from both follows what the collectives cost.
fn with_costs(mut names: Vec<&str>) -> Result<Vec<&str>, Failure> {
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
    series: &Series,
    ranks: &[usize],
    least: usize,
    beside_others: bool,
) -> Result<(), Failure> {
    let usage = |what, hint: String| Err(Failure::new(Exit::Usage, what).hint(hint));
    if let Some(few) = ranks.iter().find(|few| **few < least) {
        let what = format!("measure {} on {few} of at least {least} ranks", series.name);
        return usage(what, format!("give it --ranks {least} or more"));
    }
    if ranks.len() > 1 && !series.of_all && !beside_others {
        let what = format!("measure {} with several numbers of ranks", series.name);
        return usage(what, "two ranks take part in it: give one number".to_owned());
    }
    Ok(())
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
    /// The steps of a series on so many ranks.
    fn steps_of(&self, series: &Series, ranks: usize) -> Result<Vec<Step>, Failure> {
        let mut steps = Vec::new();
        let mut last: Result<(), Refused> = Ok(());
        let variants = self.variants(series)?;
        let mesh = self.ways.mesh.filter(|_| series.extent == Extent::Dimension);
        let is_choice = series.buffered;
        let buffers = if is_choice { self.buffers } else { Buffers::default() };
        let is_named = is_choice && !self.memories.is_empty();
        let memories = if is_named { self.memories } else { &[Memory::Private] };
        for size in self.sizes_of(series, ranks)? {
            let one =
                Step { pair: self.pair, mesh, buffers, ..Step::new(series.name, size, 1, ranks) };
            let each =
                memories.iter().flat_map(|&memory| variants.iter().map(move |v| (memory, v)));
            for (memory, variant) in each {
                let variant = variant.map(str::to_owned);
                let step = Step { variant: variant.clone(), memory, ..one.clone() };
                match check(&step, false) {
                    // An algorithm is measured at the sizes that it fits.
                    Err(refused) if variant.is_some() => last = Err(refused),
                    Err(refused) => return Err(refused).class(Exit::Usage),
                    Ok(())
                        if series.extent == Extent::Dimension
                            && step.moved().is_ok_and(|n| n == 0) =>
                    {
                        let what = format!("measure {} on {ranks} ranks", series.name);
                        let hint = "on this mesh no rank sends anything: give another --mesh";
                        return Err(Failure::new(Exit::Usage, what).hint(hint));
                    }
                    Ok(()) => steps.push(repeated(step)),
                }
            }
        }
        match last {
            Err(refused) if steps.is_empty() => Err(refused).class(Exit::Usage),
            _ => Ok(steps),
        }
    }

    /// The sizes at which a series is measured.
    fn sizes_of(&self, series: &Series, ranks: usize) -> Result<Vec<u32>, Failure> {
        Ok(match series.extent {
            Extent::None => vec![0],
            Extent::Bytes => {
                let mut sizes = sizes(self.sizes.clone());
                sizes.retain(|n| series.beside_powers || *n == 0 || n.is_power_of_two());
                sizes
            }
            Extent::Doubles => vectors(self.sizes.clone(), DOUBLE as u32),
            Extent::Dimension => {
                let mesh = match self.ways.mesh {
                    Some([rows, columns]) => ProcessorMesh::new(rows, columns),
                    None => ProcessorMesh::for_ranks(ranks).class(Exit::Usage)?,
                };
                let Dimensions(from, to) = self.ways.dimension;
                matrices(from..=to, mesh.least_dimension() as u32)
            }
        })
    }

    /// The variants that are measured: one that is not named yet, unless they are asked for.
    fn variants(&self, series: &Series) -> Result<Vec<Option<&'static str>>, Failure> {
        match self.ways.algorithm.as_deref() {
            _ if series.variants.is_empty() => Ok(vec![None]),
            // Those of two ranks are different things, not ways to do one.
            _ if !series.by_algorithm() => Ok(series.variants.iter().copied().map(Some).collect()),
            None => Ok(vec![None]),
            Some("all") => Ok(series.variants.iter().copied().map(Some).collect()),
            Some(name) => Ok(vec![Some(series.variant(name).class(Exit::Usage)?)]),
        }
    }
}

/// The step with as many operations in a sample as its messages allow; fewer where a checked batch
/// has no room for them.
fn repeated(step: Step) -> Step {
    let mut messages = rounds(step.bytes().unwrap_or(0));
    let with = |messages| Step { messages, ..step.clone() };
    while messages > 1 && check(&with(messages), true).is_err() {
        messages /= 2;
    }
    with(messages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meshes_and_dimensions_are_numbers_that_can_be() {
        assert_eq!((mesh("4x2"), mesh("1x9")), (Ok([4, 2]), Ok([1, 9])));
        for wrong in ["", "4", "0x2", "4x", "x", "2x2x2", "-1x2"] {
            assert!(mesh(wrong).is_err(), "{wrong}");
        }
        assert_eq!(dimensions("8"), Ok(Dimensions(8, 8)));
        assert_eq!(dimensions("8:16"), Ok(Dimensions(8, 16)));
        for wrong in ["", "0", "16:8", "8:", "a:b"] {
            assert!(dimensions(wrong).is_err(), "{wrong}");
        }
    }
}
