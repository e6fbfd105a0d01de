//! Which points a series of message passing has.

use std::ops::RangeInclusive;

use bandgap_campaign::series::Step;
use bandgap_campaign::sizes::{matrices, rounds, sizes, vectors};
use bandgap_kernels::{Buffers, DOUBLE, Extent, Refused, Series};
use bandgap_kernels::{NoMesh, ProcessorMesh};
use bandgap_launch::{Exit, Failure};
use bandgap_results::measured::size_in_words;

use super::passing::{Dimensions, Ways};

/// All that says which points a series has.
pub(super) struct Points<'a> {
    pub(super) ways: &'a Ways,
    /// Where successive messages lie, if not where those of the series usually do.
    pub(super) buffers: Option<Buffers>,
    pub(super) sizes: RangeInclusive<u32>,
    pub(super) pair: [usize; 2],
}

/// The steps of a series, and what of it does not fit.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) steps: Vec<Step>,
    pub(super) skipped: Vec<Skipped>,
}

/// An algorithm that was asked for, where it does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Skipped {
    series: &'static str,
    variant: &'static str,
    ranks: usize,
    /// Those that it does not fit, of so many.
    sizes: Vec<String>,
    of: usize,
    /// Why it does not fit the first of them.
    why: String,
}

/// What cannot be done, as the user is told.
pub(super) fn refusal(refused: &Refused) -> Failure {
    Failure::new(Exit::Usage, format!("measure {}: {}", refused.kernel(), refused.why()))
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
    ///
    /// # Errors
    /// The options do not fit the series, or the ranks.
    pub(super) fn steps_of(&self, series: &Series, ranks: usize) -> Result<Found, Failure> {
        let mut found = Found::default();
        let variants = self.variants(series)?;
        let mesh = self.mesh(series, ranks)?;
        let given = self.ways.mesh.filter(|_| mesh.is_some());
        let sizes = self.sizes_of(series, mesh)?;
        let buffers = series.buffers.map(|usual| self.buffers.unwrap_or(usual)).unwrap_or_default();
        for &size in &sizes {
            let one = Step {
                pair: self.pair,
                mesh: given,
                buffers,
                ..Step::new(series.name, size, 1, ranks)
            };
            for &variant in &variants {
                let step = Step { variant: variant.map(str::to_owned), ..one.clone() };
                match (check(&step, false), variant) {
                    (Ok(()), _) => found.steps.push(repeated(step)),
                    (Err(refused), Some(variant)) => {
                        found.skip((series, size), variant, (ranks, sizes.len()), &refused);
                    }
                    (Err(refused), None) => return Err(refusal(&refused)),
                }
            }
        }
        if let (Some(Skipped { why, .. }), true) = (found.skipped.first(), found.steps.is_empty()) {
            return Err(Failure::new(Exit::Usage, format!("measure {}: {why}", series.name)));
        }
        if let Some(mesh) = mesh {
            moving(series, &found.steps, mesh)?;
        }
        Ok(found)
    }

    /// The mesh that a series of matrices has.
    fn mesh(&self, series: &Series, ranks: usize) -> Result<Option<ProcessorMesh>, Failure> {
        if series.extent != Extent::Dimension {
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
            format!("divide a matrix over {ranks} ranks as {mesh}: that takes {}", mesh.size());
        let hint = format!("give --ranks {}, or {}", mesh.size(), meshes(ranks));
        Err(Failure::new(Exit::Usage, what).hint(hint))
    }

    /// The sizes at which a series is measured: one at least.
    fn sizes_of(&self, series: &Series, mesh: Option<ProcessorMesh>) -> Result<Vec<u32>, Failure> {
        let bytes = || (*self.sizes.start(), *self.sizes.end());
        let (found, what, (from, to), least) = match series.extent {
            Extent::None => return Ok(vec![0]),
            Extent::Bytes => {
                let all = sizes(self.sizes.clone());
                let is_power = |n: &&u32| series.beside_powers || **n == 0 || n.is_power_of_two();
                let powers: Vec<u32> = all.iter().filter(is_power).copied().collect();
                return Ok(if powers.is_empty() { all } else { powers });
            }
            Extent::Doubles => {
                let found = vectors(self.sizes.clone(), DOUBLE as u32);
                (found, "are no whole number of doubles".to_owned(), bytes(), DOUBLE as u32)
            }
            Extent::Dimension => {
                let Dimensions(from, to) = self.ways.dimension.unwrap_or_default();
                let least = mesh.map_or(1, |mesh| mesh.least_dimension() as u32);
                let over = mesh.map_or(String::new(), |mesh| format!(" over a mesh of {mesh}"));
                (matrices(from..=to, least), format!("do not divide{over}"), (from, to), least)
            }
        };
        if !found.is_empty() {
            return Ok(found);
        }
        let below = Some(from / least * least).filter(|below| *below > 0);
        let below = below.map_or(String::new(), |below| format!("{below} or "));
        let above = u64::from(to / least + 1) * u64::from(least);
        let what = format!("measure {}: {from} to {to} {what}", series.name);
        Err(Failure::new(Exit::Usage, what)
            .hint(format!("the nearest that would do is {below}{above}")))
    }

    /// The variants that are measured: one that is not named yet, unless they are asked for.
    fn variants(&self, series: &Series) -> Result<Vec<Option<&'static str>>, Failure> {
        match self.ways.algorithm.as_deref() {
            _ if series.variants.is_empty() => Ok(vec![None]),
            // Those of two ranks are different things, not ways to do one.
            _ if !series.by_algorithm() => Ok(series.variants.iter().copied().map(Some).collect()),
            None => Ok(vec![None]),
            Some("all") => Ok(series.variants.iter().copied().map(Some).collect()),
            Some(name) => {
                let variant = series.variant(name).map_err(|refused| refusal(&refused))?;
                Ok(vec![Some(variant)])
            }
        }
    }
}

impl Found {
    /// Leaves out a variant at a size.
    fn skip(
        &mut self,
        (series, size): (&Series, u32),
        variant: &'static str,
        (ranks, of): (usize, usize),
        refused: &Refused,
    ) {
        let size = size_in_words(series.extent, size.into());
        match self.skipped.iter_mut().find(|skipped| skipped.variant == variant) {
            Some(skipped) => skipped.sizes.push(size),
            None => {
                let (why, sizes) = (refused.why().to_owned(), vec![size]);
                self.skipped.push(Skipped { series: series.name, variant, ranks, sizes, of, why });
            }
        }
    }
}

impl Skipped {
    /// So many ranks, and the sizes, of which the first and the last are told where there are many.
    fn place(&self) -> String {
        let Self { ranks, sizes, of, .. } = self;
        let told = match sizes.as_slice() {
            [first, _, _, _, .., last] => format!("{first} … {last}"),
            few => few.join(", "),
        };
        format!("on {ranks} ranks at {} of {of} sizes ({told})", sizes.len())
    }
}

/// What is left out of series, a sentence for each algorithm.
pub(super) fn sentences(skipped: &[Skipped]) -> Vec<String> {
    let mut told: Vec<(&Skipped, Vec<String>)> = Vec::new();
    for one in skipped {
        let alike = |(first, _): &&mut (&Skipped, Vec<String>)| {
            (first.series, first.variant) == (one.series, one.variant)
        };
        match told.iter_mut().find(alike) {
            Some((_, places)) => places.push(one.place()),
            None => told.push((one, vec![one.place()])),
        }
    }
    let sentence = |(Skipped { series, variant, why, .. }, places): (&Skipped, Vec<String>)| {
        format!("{series} by {variant} is left out {}; the first: {why}", places.join(", "))
    };
    told.into_iter().map(sentence).collect()
}

/// Refuses steps on a mesh where nothing is sent.
fn moving(series: &Series, steps: &[Step], mesh: ProcessorMesh) -> Result<(), Failure> {
    let moves = |step: &Step| step.moved().is_ok_and(|bytes| bytes > 0);
    if steps.is_empty() || steps.iter().any(moves) {
        return Ok(());
    }
    let what = format!("measure {} on a mesh of {mesh}: no rank sends anything there", series.name);
    let turned = ProcessorMesh::new(mesh.columns, mesh.rows);
    let hint = match mesh.size() {
        1 => "give it more --ranks".to_owned(),
        _ => format!("give --mesh {turned}, or more --ranks"),
    };
    Err(Failure::new(Exit::Usage, what).hint(hint))
}

/// What to do with ranks that make no mesh by themselves.
fn no_mesh(NoMesh { ranks, below, above }: NoMesh) -> Failure {
    let what =
        format!("divide a matrix over {ranks} ranks: they are no square, nor two side by side");
    let below = below.map_or(String::new(), |below| format!("{below} or "));
    let hint = format!("take {below}{above} ranks, or {}", meshes(ranks));
    Failure::new(Exit::Usage, what).hint(hint)
}

/// The option for the mesh of so many ranks that is nearest to a square; of a row of ranks, both.
fn meshes(ranks: usize) -> String {
    let side = (1..=ranks.isqrt()).rev().find(|side| ranks.is_multiple_of(*side)).unwrap_or(1);
    match (ranks / side, side) {
        (ranks, 1) if ranks > 1 => format!("--mesh {ranks}x1 or 1x{ranks}"),
        (rows, columns) => format!("--mesh {rows}x{columns}"),
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
    use bandgap_kernels::in_series;

    fn found(
        ways: &Ways,
        name: &str,
        sizes: RangeInclusive<u32>,
        ranks: usize,
    ) -> Result<Found, Failure> {
        let points = Points { ways, buffers: None, sizes, pair: [0, 1] };
        points.steps_of(&in_series(name).unwrap().1, ranks)
    }

    #[test]
    fn one_array_travels_in_comms1_unless_it_is_to_lie_elsewhere() {
        let ways = &Ways::default();
        let of = |name: &str, buffers| {
            let points = Points { ways, buffers, sizes: 8..=8, pair: [0, 1] };
            let found = points.steps_of(&in_series(name).unwrap().1, 2).unwrap();
            found.steps[0].buffers
        };
        let usual = ["comms1", "comms2", "echo", "exchange"].map(|name| of(name, None));
        let separate = Buffers::Separate;
        assert_eq!(usual, [Buffers::Same, separate, separate, separate]);
        for asked in [separate, Buffers::FRESH] {
            assert_eq!(of("comms1", Some(asked)), asked);
        }
        assert_eq!(of("comms3", Some(Buffers::Same)), Buffers::default(), "it has no choice");
    }

    #[test]
    fn sizes_that_an_algorithm_does_not_fit_are_told() {
        let by = |name: &str| Ways { algorithm: Some(name.into()), ..Ways::default() };
        // A block for each of four ranks: 1 and 2 elements make none.
        let ring = found(&by("ring"), "global_sum", 8..=64, 4).unwrap();
        assert_eq!(ring.steps.iter().map(|step| step.size).collect::<Vec<_>>(), [4, 8]);
        let more = found(&by("ring"), "global_sum", 8..=64, 8).unwrap();
        let told = sentences(&[ring.skipped, more.skipped].concat());
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(
            told[0].starts_with(
                "global_sum by ring is left out on 4 ranks at 2 of 4 sizes (1 element, 2 elements), on 8 \
                 ranks at 3 of 4 sizes (1 element, 2 elements, 4 elements); the first: cannot use ring"
            ),
            "{told:?}"
        );
        // What fits everywhere, and what is chosen, is left out nowhere; what fits nowhere is refused.
        for ways in [by("tree"), Ways::default()] {
            assert_eq!(found(&ways, "global_sum", 8..=64, 4).unwrap().skipped, []);
        }
        let none = found(&by("ring"), "global_sum", 8..=8, 4).unwrap_err().what;
        assert!(none.contains("cannot use ring") && none.contains("these fit: tree"), "{none}");
        let other = found(&by("ring"), "broadcast", 8..=8, 4).unwrap_err().what;
        assert!(
            other.contains("measure broadcast: ") && other.contains("linear, binomial"),
            "{other}"
        );
    }

    #[test]
    fn ranks_meshes_and_dimensions_that_do_not_fit_are_answered_with_those_that_do() {
        let refused = |ways: &Ways, name: &str, ranks| {
            let Failure { what, hint, .. } = found(ways, name, 0..=64, ranks).unwrap_err();
            format!("{what}: {}", hint.unwrap_or_default())
        };
        let on = |rows, columns| Ways { mesh: Some([rows, columns]), ..Ways::default() };
        let of = |from, to| Ways { dimension: Some(Dimensions(from, to)), ..Ways::default() };
        for (ways, name, ranks, told) in [
            (Ways::default(), "transpose", 3, "take 2 or 4 ranks, or --mesh 3x1 or 1x3"),
            (Ways::default(), "transpose", 12, "take 9 or 16 ranks, or --mesh 4x3"),
            (
                on(2, 2),
                "transpose",
                6,
                "over 6 ranks as 2x2: that takes 4: give --ranks 4, or --mesh 3x2",
            ),
            (on(3, 1), "shift_east", 3, "no rank sends anything there: give --mesh 1x3"),
            (of(5, 7), "transpose", 8, "over a mesh of 4x2: the nearest that would do is 4 or 8"),
            (of(3, 3), "transpose", 4, "one of 2 or 4 does"),
        ] {
            let text = refused(&ways, name, ranks);
            assert!(text.contains(told), "{text}");
        }
        let vector = found(&Ways::default(), "global_sum", 17..=23, 2).unwrap_err();
        assert_eq!(vector.hint.as_deref(), Some("the nearest that would do is 16 or 24"));
        // Where there is no power of two, what messages cost is measured at what there is.
        let costs = found(&Ways::default(), "message_costs", 5000..=5000, 2).unwrap();
        assert!(costs.steps.iter().all(|step| step.size == 5000) && !costs.steps.is_empty());
        // A mesh that is given is no concern of what has none.
        assert!(
            found(&on(2, 2), "echo", 0..=8, 3).is_ok_and(|found| found.steps[0].mesh.is_none())
        );
    }
}
