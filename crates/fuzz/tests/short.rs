//! A short hunt over every reader, and the corpus of what once did harm.

use bandgap_fuzz::{Fault, Inputs, Limits, TARGETS, Verdict, hunt, root, try_one};

/// Inputs of all readers together. An input takes some microseconds in a build with optimisation, and some tens without.
const INPUTS: u64 = 200_000;

/// Time is not looked at: a machine that does something else as well is no fault of a reader.
#[test]
fn every_reader_withstands_a_short_hunt_and_what_once_did_harm() {
    let shares: u64 = TARGETS.iter().map(|target| target.share).sum();
    for target in TARGETS {
        let inputs = Inputs::of(target, 20_261_122).unwrap();
        assert!(inputs.examples() > 0, "{} has nothing to begin with", target.name);
        let limits = Limits { first: 0, inputs: INPUTS * target.share / shares, until: None };
        let hunted = hunt(target, &inputs, &limits, |_| ());
        let harm: Vec<_> =
            hunted.faults.iter().filter(|(_, fault)| !matches!(fault, Fault::Slow(_))).collect();
        assert!(harm.is_empty(), "{}: {harm:?}", target.name);
        assert_eq!(hunted.inputs, limits.inputs, "{}", target.name);
        // A target that takes nothing, or everything, does not reach its reader.
        assert!(hunted.accepted > 0, "{} takes nothing", target.name);
        assert!(hunted.accepted < hunted.inputs, "{} takes everything", target.name);
    }
}

#[test]
fn readers_accept_every_example_but_those_that_are_wrong_on_purpose() {
    let mut mistaken = Vec::new();
    for target in TARGETS {
        let inputs = Inputs::of(target, 1).unwrap();
        // Those that once did harm come first, and those that are wrong last.
        let own = root().join("crates/fuzz/corpus").join(target.name);
        let harmful = own.read_dir().map_or(0, Iterator::count) as u64;
        let wrong = inputs.examples() - (target.wrong)().len() as u64;
        assert!(harmful < wrong, "{}: it has no example that is right", target.name);
        for number in harmful..inputs.examples() {
            let right = if number < wrong { Verdict::Accepted } else { Verdict::Refused };
            let tried = try_one(target, &inputs.get(number));
            if tried.verdict != Some(right) {
                let begin: Vec<u8> = inputs.get(number).into_iter().take(60).collect();
                let begin = String::from_utf8_lossy(&begin).into_owned();
                mistaken.push((target.name, number, tried.verdict, tried.fault, begin));
            }
        }
    }
    assert!(mistaken.is_empty(), "{mistaken:#?}");
}

#[test]
fn every_folder_of_the_corpus_belongs_to_a_reader() {
    for folder in root().join("crates/fuzz/corpus").read_dir().unwrap() {
        let name = folder.unwrap().file_name().into_string().unwrap();
        assert!(TARGETS.iter().any(|target| target.name == name), "{name} is no reader");
    }
}
