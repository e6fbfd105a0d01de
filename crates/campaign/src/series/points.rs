//! The steps of the series that were asked for.

use bandgap_kernels::{
    Buffers, Extent, LIBRARY, NoMesh, ProcessorMesh, Refused, Series, Shape, in_series,
};

use super::step::Step;
use crate::sizes::{Sizes, matrices, rounds};

/// Least of the usual lengths of messages in windows.
const LEAST: u32 = 8;

/// What the user asked for of all series.
#[derive(Clone, Debug, Default)]
pub struct Points {
    /// Lengths of messages, and of vectors.
    pub sizes: Sizes,
    /// Whether sizes next to powers of two are measured too.
    pub perturb: bool,
    /// Where messages lie; `None` for each series' default.
    pub buffers: Option<Buffers>,
    /// How operations are timed; as OSU does it, buffers are separate unless they are given.
    pub shape: Shape,
    /// The algorithm of a collective, or `all`.
    pub algorithm: Option<String>,
    /// Rows and columns of the mesh of ranks; `None` for the usual mesh.
    pub mesh: Option<[usize; 2]>,
    /// Messages in a window; `None` for the usual number.
    pub window: Option<u32>,
    /// Smallest and largest number of rows of a matrix.
    pub dimensions: Option<[u32; 2]>,
    /// The two ranks of a series between two.
    pub pair: Option<[usize; 2]>,
    /// Whether the transport is a library with its own message passing.
    pub library: bool,
}

/// The steps of series.
#[derive(Clone, Debug, Default)]
pub struct Steps {
    /// The steps.
    pub all: Vec<Step>,
    /// Number of ranks that they need.
    pub ranks: usize,
    /// What was asked for but cannot be measured.
    pub left_out: Vec<LeftOut>,
}

/// Something that was asked for but cannot be measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeftOut {
    /// A series.
    Series {
        /// Its name.
        name: String,
        /// The reason.
        why: String,
    },
    /// A variant of a series at some of its sizes.
    Variant {
        /// The series.
        series: &'static str,
        /// The variant.
        variant: &'static str,
        /// Ranks of the operation.
        ranks: usize,
        /// Number of sizes that do not fit, and number of all sizes.
        sizes: [usize; 2],
    },
}

/// Why series cannot be measured as asked for. It reads after "failed to".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("measure {what}")]
pub struct NoSteps {
    /// The series, and the reason.
    what: String,
    /// What to ask for instead, if anything.
    pub hint: Option<String>,
}

impl NoSteps {
    fn new(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { what: what.into(), hint: Some(hint.into()) }
    }
}

impl From<Refused> for NoSteps {
    fn from(Refused { kernel, why }: Refused) -> Self {
        Self { what: format!("{kernel}: {why}"), hint: None }
    }
}

impl Points {
    /// The steps of the named series on the given numbers of ranks, or on as few ranks as needed.
    /// With `all`, series that cannot be measured are left out.
    ///
    /// # Errors
    /// A series cannot be measured as asked for.
    pub fn steps(&self, names: &[&str], given: &[usize], all: bool) -> Result<Steps, NoSteps> {
        let [a, b] = self.pair();
        if a == b {
            let what = format!("between rank {a} and itself");
            return Err(NoSteps::new(what, "name two different ranks"));
        }
        let least = a.max(b) + 1;
        let of_mesh = self.mesh.map_or(0, |[rows, columns]| rows * columns);
        let usual = [least.max(of_mesh)];
        let numbers = if given.is_empty() { &usual[..] } else { given };
        let most = numbers.iter().copied().max().unwrap_or(least);
        if let Some([rows, columns]) = self.mesh.filter(|_| !numbers.contains(&of_mesh)) {
            let what =
                format!("matrices on {most} ranks: a mesh of {rows}x{columns} has {of_mesh}");
            return Err(NoSteps::new(what, format!("give --ranks {of_mesh}")));
        }
        let mut steps = Steps { ranks: most, ..Steps::default() };
        for name in names {
            let (_, of) = in_series(name)?;
            if numbers.iter().any(|ranks| *ranks < least) {
                let hint = format!("give --ranks {least} or more");
                return Err(NoSteps::new(format!("{name} on fewer than {least} ranks"), hint));
            }
            // Among several series, one of two ranks is measured on the largest number of ranks.
            if numbers.len() > 1 && !of.of_all && names.len() == 1 {
                let what = format!("{name} with several numbers of ranks");
                return Err(NoSteps::new(what, "two ranks take part: give one number"));
            }
            // A series of two ranks has no axis for the number of ranks.
            for &ranks in if of.of_all { numbers } else { std::slice::from_ref(&most) } {
                match self.steps_of(&of, ranks, &mut steps.left_out) {
                    Ok(found) => steps.all.extend(found),
                    Err(refused) if all => {
                        let hint = refused.hint.as_ref().map(|hint| format!(" ({hint})"));
                        let why = format!("{refused}{}", hint.unwrap_or_default());
                        steps.left_out.push(LeftOut::Series { name: (*name).to_owned(), why });
                    }
                    Err(refused) => return Err(refused),
                }
            }
        }
        Ok(steps)
    }

    /// The two ranks of a series between two.
    pub fn pair(&self) -> [usize; 2] {
        self.pair.unwrap_or([0, 1])
    }

    /// The steps of a series on this number of ranks. Variants that do not fit are added to
    /// `left_out`.
    fn steps_of(
        &self,
        of: &Series,
        ranks: usize,
        left_out: &mut Vec<LeftOut>,
    ) -> Result<Vec<Step>, NoSteps> {
        let variants = self.variants(of)?;
        let mesh = self.mesh(of, ranks)?;
        let given = self.mesh.filter(|_| mesh.is_some());
        // OSU's benchmarks send and receive in separate buffers, whatever the series' own rule.
        let usual = |own| if self.shape.is_usual() { own } else { Buffers::Separate };
        let buffers = |own| self.buffers.unwrap_or_else(|| usual(own));
        let buffers = of.buffers.map_or(Buffers::default(), buffers);
        let sizes = self.sizes_of(of, mesh)?;
        let one = Step::new(of.name, 0, 1, ranks);
        let window = self.window.filter(|_| of.windows);
        let one = Step { pair: self.pair(), mesh: given, window, buffers, ..one };
        let mut steps = Vec::new();
        let mut refusals = vec![Vec::new(); variants.len()];
        for &size in &sizes {
            for (variant, refusals) in variants.iter().zip(&mut refusals) {
                let variant = variant.map(str::to_owned);
                let step = Step { size, variant, shape: self.shape, ..one.clone() };
                match check(&step, false) {
                    Ok(()) => steps.push(repeated(step)),
                    Err(refused) if step.variant.is_some() => refusals.push(refused),
                    Err(refused) => return Err(refused.into()),
                }
            }
        }
        if let (true, Some(refused)) = (steps.is_empty(), refusals.iter().find_map(|of| of.first()))
        {
            return Err(refused.clone().into());
        }
        for (variant, refusals) in variants.into_iter().zip(&refusals) {
            if let (Some(variant), false) = (variant, refusals.is_empty()) {
                let sizes = [refusals.len(), sizes.len()];
                left_out.push(LeftOut::Variant { series: of.name, variant, ranks, sizes });
            }
        }
        let moves = |step: &Step| step.moved().is_ok_and(|bytes| bytes > 0);
        match mesh {
            Some(mesh) if !steps.is_empty() && !steps.iter().any(moves) => {
                let what = format!("{} on a mesh of {mesh}: no rank sends anything there", of.name);
                Err(NoSteps::new(what, "give another --mesh, or more --ranks"))
            }
            _ => Ok(steps),
        }
    }

    /// The mesh of a series of matrices.
    fn mesh(&self, of: &Series, ranks: usize) -> Result<Option<ProcessorMesh>, NoSteps> {
        if of.extent != Extent::Dimension {
            return Ok(None);
        }
        let what = |why: String| format!("{} on {ranks} ranks: {why}", of.name);
        let side = (1..=ranks.isqrt()).rev().find(|side| ranks.is_multiple_of(*side)).unwrap_or(1);
        // The mesh nearest to a square.
        let meshes = format!("--mesh {}x{side}", ranks / side);
        let Some([rows, columns]) = self.mesh else {
            return ProcessorMesh::for_ranks(ranks).map(Some).map_err(
                |NoMesh { below, above, .. }| {
                    let below = below.map_or(String::new(), |below| format!("{below} or "));
                    let what = what("their number must be a square or twice a square".to_owned());
                    NoSteps::new(what, format!("take {below}{above} ranks, or {meshes}"))
                },
            );
        };
        let mesh = ProcessorMesh::new(rows, columns);
        if mesh.size() == ranks {
            return Ok(Some(mesh));
        }
        let hint = format!("give --ranks {}, or {meshes}", mesh.size());
        Err(NoSteps::new(what(format!("a mesh of {mesh} has {}", mesh.size())), hint))
    }

    /// The sizes at which a series is measured: at least one.
    fn sizes_of(&self, of: &Series, mesh: Option<ProcessorMesh>) -> Result<Vec<u32>, NoSteps> {
        let least = mesh.map_or(1, |mesh| mesh.least_dimension() as u32);
        let [from, to] = self.dimensions.unwrap_or([64, 1024]);
        let (sizes, why, hint) = match of.extent {
            Extent::None => return Ok(vec![0]),
            // A window of less is as fast.
            Extent::Bytes if of.windows && self.sizes == Sizes::default() => {
                return Ok(Sizes::powers(LEAST, self.sizes.ends().1).all(self.perturb));
            }
            Extent::Bytes => return Ok(self.sizes.all(self.perturb)),
            Extent::Doubles => {
                (self.sizes.vectors(), "no size is a whole number of doubles".to_owned(), 8)
            }
            Extent::Dimension => {
                let why = format!("no dimension from {from} to {to} divides over the mesh");
                (matrices(from..=to, least), why, least)
            }
        };
        let hint = format!("give multiples of {hint}");
        let none = || NoSteps::new(format!("{}: {why}", of.name), hint);
        if sizes.is_empty() { Err(none()) } else { Ok(sizes) }
    }

    /// The variants to measure. `None` stands for the fastest one, if none was asked for.
    fn variants(&self, of: &Series) -> Result<Vec<Option<&'static str>>, NoSteps> {
        let library = (self.library && of.library).then_some(LIBRARY);
        let all = || library.into_iter().chain(of.variants.iter().copied()).map(Some).collect();
        match self.algorithm.as_deref() {
            None | Some(LIBRARY) if library.is_some() => Ok(vec![library]),
            Some(LIBRARY) if of.library => {
                let what = format!("{} as a library has it: there is none", of.name);
                Err(NoSteps::new(what, "use -t mpi"))
            }
            _ if of.variants.is_empty() => Ok(vec![None]),
            // Variants of a series of two ranks are different operations, not ways to do one.
            _ if !of.by_algorithm() => Ok(all()),
            None => Ok(vec![None]),
            Some("all") => Ok(all()),
            Some(name) => Ok(vec![Some(of.variant(name)?)]),
        }
    }
}

/// Checks that a step can be carried out in at least one of its variants.
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

/// The step with as many operations per sample as its message length allows, or fewer if they do
/// not fit a checked batch.
fn repeated(step: Step) -> Step {
    let mut messages = rounds(step.at_once());
    let with = |messages| Step { messages, ..step.clone() };
    while messages > 1 && check(&with(messages), true).is_err() {
        messages /= 2;
    }
    with(messages)
}

/// Repeats the steps that are measured at each distance, once per distance. `found` holds the
/// numbers of hops, each with two ranks at that distance.
pub fn at_distances(steps: Vec<Step>, found: &[(u32, [usize; 2])]) -> Vec<Step> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn found(points: Points, name: &str, sizes: &str, ranks: usize) -> Result<Vec<Step>, NoSteps> {
        let points = Points { sizes: sizes.parse().unwrap(), ..points };
        points.steps_of(&in_series(name).unwrap().1, ranks, &mut Vec::new())
    }

    fn sizes(steps: &[Step]) -> Vec<u32> {
        steps.iter().map(|step| step.size).collect()
    }

    #[test]
    fn one_array_travels_in_comms1_unless_it_is_to_lie_elsewhere() {
        let of = |name| found(Points::default(), name, "8", 2).unwrap()[0].buffers;
        let usual = ["comms1", "comms2", "echo", "exchange"].map(of);
        let separate = Buffers::Separate;
        assert_eq!(usual, [Buffers::Same, separate, separate, separate]);
        // OSU's benchmarks have separate buffers.
        let osu = |buffers| Points { shape: Shape::Osu, buffers, ..Points::default() };
        let of = |buffers| found(osu(buffers), "comms1", "8", 2).unwrap()[0].buffers;
        assert_eq!([None, Some(Buffers::Same)].map(of), [separate, Buffers::Same]);
    }

    #[test]
    fn an_algorithm_is_left_out_where_it_does_not_fit_and_refused_where_it_fits_nowhere() {
        let by = |name: &str| Points { algorithm: Some(name.into()), ..Points::default() };
        // A block for each of four ranks: 1 and 2 doubles make none.
        assert_eq!(sizes(&found(by("ring"), "global_sum", "8:64", 4).unwrap()), [32, 64]);
        assert!(found(by("ring"), "global_sum", "8", 4).is_err());
        assert!(found(by("ring"), "broadcast", "8", 4).is_err());
        assert_eq!(sizes(&found(by("tree"), "global_sum", "8:64", 4).unwrap()), [8, 16, 32, 64]);
    }

    #[test]
    fn ranks_meshes_and_dimensions_that_do_not_fit_are_refused() {
        let on = |rows, columns| Points { mesh: Some([rows, columns]), ..Points::default() };
        let of = |from, to| Points { dimensions: Some([from, to]), ..Points::default() };
        for (points, name, ranks) in [
            (Points::default(), "transpose", 3),
            (on(2, 2), "transpose", 6),
            (on(3, 1), "shift_east", 3),
            (of(5, 7), "transpose", 8),
        ] {
            assert!(found(points, name, "0:64", ranks).is_err());
        }
        assert!(found(Points::default(), "global_sum", "17,23", 2).is_err());
        // A mesh that is given is no concern of what has none.
        assert!(found(on(2, 2), "echo", "0:8", 3).unwrap()[0].mesh.is_none());
    }
}
