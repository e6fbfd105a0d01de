//! Which points a series has, as the options say.

use bandgap_campaign::series::Step;
use bandgap_campaign::sizes::{matrices, rounds};
use bandgap_kernels::{
    Buffers, DOUBLE, Extent, LIBRARY, NoMesh, ProcessorMesh, Refused, Series as Measured,
};
use bandgap_launch::{Failure, Result, usage};
use bandgap_record::Note;

use super::options::{Dimensions, Series, Ways};
use crate::sizes::Sizes;

/// What cannot be done, as the user is told.
pub fn refusal(refused: &Refused) -> Failure {
    usage!("measure {}: {}", refused.kernel, refused.why)
}

/// All that says which points a series has.
pub struct Points<'a> {
    pub series: &'a Series,
    pub ways: &'a Ways,
    pub pair: [usize; 2],
    /// Whether ranks have a library's message passing.
    pub library: bool,
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
    ///
    /// # Errors
    /// The series cannot be measured so.
    pub fn steps_of(&self, of: &Measured, ranks: usize) -> Result<(Vec<Step>, Vec<Note>)> {
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
    fn mesh(&self, of: &Measured, ranks: usize) -> Result<Option<ProcessorMesh>> {
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
        let hint = format!("give --ranks {}, or {}", mesh.size(), meshes(ranks));
        Err(usage!("divide a matrix over {ranks} ranks: a mesh of {mesh} has {}", mesh.size())
            .hint(hint))
    }

    /// The sizes at which a series is measured: one at least.
    fn sizes_of(&self, of: &Measured, mesh: Option<ProcessorMesh>) -> Result<Vec<u32>> {
        let (sizes, perturb) = (self.series.sizes(), self.series.lengths.perturb);
        let none =
            |what: String, hint: String| Err(usage!("measure {}: {what}", of.name).hint(hint));
        match of.extent {
            Extent::None => Ok(vec![0]),
            Extent::Bytes => Ok(sizes.all(perturb)),
            Extent::Doubles => {
                let elements = elements(&sizes);
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
    fn variants(&self, of: &Measured) -> Result<Vec<Option<&'static str>>> {
        let library = (self.library && of.library).then_some(LIBRARY);
        let all = || library.into_iter().chain(of.variants.iter().copied()).map(Some).collect();
        match self.ways.algorithm.as_deref() {
            None if library.is_some() => Ok(vec![library]),
            Some(LIBRARY) if library.is_some() => Ok(vec![library]),
            Some(LIBRARY) if of.library => {
                Err(usage!("measure {} by library: this transport has none", of.name)
                    .hint("use -t mpi"))
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

/// Elements of vectors that are as long: of sizes that are whole numbers of doubles, but for 0.
pub fn elements(sizes: &Sizes) -> Vec<u32> {
    let double = DOUBLE as u32;
    let whole = sizes.all(false).into_iter();
    whole
        .filter(|size| size.is_multiple_of(double))
        .map(|size| size / double)
        .filter(|n| *n > 0)
        .collect()
}

/// Refuses steps on a mesh where nothing is sent.
fn moving(of: &Measured, steps: &[Step], mesh: ProcessorMesh) -> Result<()> {
    let moves = |step: &Step| step.moved().is_ok_and(|bytes| bytes > 0);
    if steps.is_empty() || steps.iter().any(moves) {
        return Ok(());
    }
    Err(usage!("measure {} on a mesh of {mesh}: no rank sends anything there", of.name)
        .hint("give another --mesh, or more --ranks"))
}

/// What to do with ranks that make no mesh by themselves.
fn no_mesh(NoMesh { ranks, below, above }: NoMesh) -> Failure {
    let below = below.map_or(String::new(), |below| format!("{below} or "));
    usage!(
        "divide a matrix over {ranks} ranks: the number of ranks must be a square or twice a square"
    )
    .hint(format!("take {below}{above} ranks, or {}", meshes(ranks)))
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

#[cfg(test)]
mod tests {
    use bandgap_kernels::in_series;
    use bandgap_launch::Exit;

    use super::super::options::Lengths;
    use super::*;

    fn found(ways: &Ways, name: &str, sizes: &str, ranks: usize) -> Result<Vec<Step>> {
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
