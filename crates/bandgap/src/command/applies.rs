//! Which options the kernels that are named have a use for.

use bandgap_kernels::{Extent, Series, in_series};
use bandgap_launch::{Classify, Exit, Failure};

use super::passing::{Comms, Ways};

/// What kernels there are to ask.
pub(super) enum Named {
    /// A kernel that is measured as a series.
    Series(Series),
    /// [`super::overlap`], which is none.
    Overlap,
}

/// An option, whether it was given, and which kernels have a use for it.
type Rule = (&'static str, fn(&Comms, &Ways) -> bool, fn(&Named) -> bool);

const RULES: [Rule; 7] = [
    (
        "--sizes",
        |comms, _| comms.sizes.is_some(),
        |named| of(named, true, |series| matches!(series.extent, Extent::Bytes | Extent::Doubles)),
    ),
    (
        "--between",
        |comms, _| comms.between.is_some(),
        |named| of(named, true, |series| !series.of_all),
    ),
    (
        "--buffers",
        |comms, _| comms.buffers.is_some(),
        |named| of(named, false, |series| series.buffers.is_some()),
    ),
    (
        "--algorithm",
        |_, ways| ways.algorithm.is_some(),
        |named| of(named, false, Series::by_algorithm),
    ),
    ("--mesh", |_, ways| ways.mesh.is_some(), |named| of(named, false, over_a_mesh)),
    ("--dimension", |_, ways| ways.dimension.is_some(), |named| of(named, false, over_a_mesh)),
    ("--vectors", |_, ways| !ways.vectors.is_empty(), |named| of(named, true, |_| false)),
];

/// Whether it is overlap where that has a use, or such a series.
fn of(named: &Named, overlap: bool, series: impl Fn(&Series) -> bool) -> bool {
    match named {
        Named::Series(named) => series(named),
        Named::Overlap => overlap,
    }
}

fn over_a_mesh(series: &Series) -> bool {
    series.extent == Extent::Dimension
}

/// The kernel of this name.
fn named(name: &str) -> Result<Named, Failure> {
    match name {
        super::overlap::NAME => Ok(Named::Overlap),
        name => in_series(name).class(Exit::Usage).map(|(_, series)| Named::Series(series)),
    }
}

/// Refuses options that none of the kernels of these names has a use for. `known` are all that there
/// are.
///
/// # Errors
/// There is such an option; the error names the kernels that take it.
pub(super) fn check(
    names: &[&str],
    known: &[&str],
    comms: &Comms,
    ways: &Ways,
) -> Result<(), Failure> {
    let asked = names.iter().map(|name| named(name)).collect::<Result<Vec<_>, _>>()?;
    for (option, given, takes) in RULES {
        if !given(comms, ways) || asked.iter().any(takes) {
            continue;
        }
        let takes = |name: &&&str| named(name).is_ok_and(|named| takes(&named));
        let others: Vec<&str> = known.iter().filter(takes).copied().collect();
        let has = if names.len() == 1 { "has" } else { "have" };
        let what = format!("use {option}: {} {has} no use for it", names.join(", "));
        let hint = format!("it is for {}", others.join(", "));
        return Err(Failure::new(Exit::Usage, what).hint(hint));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::comet::passing;
    use crate::command::passing::Dimensions;

    #[test]
    fn an_option_that_none_of_the_kernels_takes_is_refused_with_those_that_do() {
        let (comms, ways) = (Comms::default, Ways::default);
        let sizes = || Comms { sizes: "8".parse().ok(), ..comms() };
        let between = || Comms { between: Some([0, 1]), ..comms() };
        let buffers = || Comms { buffers: Some(Default::default()), ..comms() };
        let algorithm = || Ways { algorithm: Some("all".into()), ..ways() };
        let mesh = || Ways { mesh: Some([2, 2]), ..ways() };
        let dimension = || Ways { dimension: Some(Dimensions::default()), ..ways() };
        let vectors = || Ways { vectors: vec![100], ..ways() };
        for (name, given, option, taker) in [
            ("barrier", (sizes(), ways()), "--sizes", "echo"),
            ("comms3", (between(), ways()), "--between", "contention"),
            ("broadcast", (buffers(), ways()), "--buffers", "echo"),
            ("echo", (comms(), algorithm()), "--algorithm", "barrier"),
            ("contention", (comms(), algorithm()), "--algorithm", "barrier"),
            ("echo", (comms(), mesh()), "--mesh", "transpose"),
            ("echo", (comms(), dimension()), "--dimension", "transpose"),
            ("echo", (comms(), vectors()), "--vectors", "overlap"),
        ] {
            let known = passing();
            let refused = |names: &[&str]| check(names, &known, &given.0, &given.1).err();
            let Failure { exit, what, hint } = refused(&[name]).unwrap();
            assert_eq!(
                (exit, what),
                (Exit::Usage, format!("use {option}: {name} has no use for it"))
            );
            let takers = hint.unwrap();
            assert!(takers.contains(taker) && !takers.contains(&format!(" {name},")), "{takers}");
            // One that takes it is enough, and no option is no matter.
            assert!(refused(&[name, taker]).is_none(), "{option}");
            assert!(check(&[name], &known, &comms(), &ways()).is_ok());
        }
    }
}
