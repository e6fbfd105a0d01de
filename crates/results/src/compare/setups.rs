//! How the set-ups of two sides differ: by named fields, in three classes.

use derive_more::Display;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::run::Run;

/// The fields in which set-ups differ.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Differences {
    /// Fields of experiments that are not the same: what they measured is not compared.
    pub experiment: Vec<Difference>,
    /// Fields that say that the machine is another.
    pub machine: Vec<Difference>,
    /// Fields that are expected to differ.
    pub expected: Vec<Difference>,
}

/// A field that differs.
#[derive(Clone, Debug, Display, PartialEq, Serialize, Deserialize)]
#[display("{field} {a} → {b}")]
pub struct Difference {
    /// Its place in a run; of an experiment behind `EXPERIMENT TRANSPORT`.
    pub field: String,
    /// What it is in A; null if it is not known.
    pub a: Value,
    /// What it is in B.
    pub b: Value,
}

/// The fields of a machine.
const MACHINE: &str = "setup/machine/processor setup/machine/cores host/description/topology/caches
    host/description/virtual_machine/hypervisor host/description/clocksource host/clock/source";
/// The fields of a run that are expected to differ.
const EXPECTED: &str = "bandgap/version bandgap/revision setup/machine/build setup/machine/hosts
    setup/machine/governor host/description/kernel host/description/container";
/// The fields of an experiment.
const EXPERIMENT: &str = "ranks wait buffers shape placement/distance placement/oversubscribed";
/// Those that are expected to differ.
const LIBRARY: &str = "library/name library/version library/environment placement/cores";

impl Differences {
    /// Between the first run and all others.
    pub fn between(runs: &[&Run]) -> Differences {
        let mut found = Differences::default();
        let as_json =
            |run: &Run| json!({"bandgap": run.bandgap, "setup": run.setup, "host": run.host});
        for run in runs {
            let both = [as_json(runs[0]), as_json(run)];
            add(&mut found.machine, "", MACHINE, &both);
            add(&mut found.expected, "", EXPECTED, &both);
            for (one, other) in
                runs[0].setup.of.iter().flat_map(|one| run.setup.of.iter().map(move |of| (one, of)))
            {
                if (&one.experiment, &one.transport) == (&other.experiment, &other.transport) {
                    let name = format!("{} {} ", one.experiment, one.transport);
                    let both = [json!(one), json!(other)];
                    add(&mut found.experiment, &name, EXPERIMENT, &both);
                    add(&mut found.expected, &name, LIBRARY, &both);
                }
            }
        }
        // What a side does not know says nothing of its machine.
        found.machine.retain(|of| !of.a.is_null() && !of.b.is_null());
        found
    }

    /// Whether a value is of an experiment that is the same on both sides.
    pub(super) fn is_alike(&self, id: &str) -> bool {
        !self.experiment.iter().any(|of| {
            let mut words = of.field.split(' ').map(|word| is_of(id, word, ""));
            words.next() == Some(true) && words.next() == Some(true)
        })
    }
}

/// Whether a value is of this experiment over this transport.
pub(super) fn is_of(id: &str, experiment: &str, transport: &str) -> bool {
    // Floors that are measured alone have no transport.
    let experiment = if experiment == "floors" { "floor" } else { experiment };
    let has = |word: &&str| word.is_empty() || id.split('/').any(|part| part == *word);
    [experiment, transport].iter().all(has)
}

/// Adds the fields that differ, once.
fn add(to: &mut Vec<Difference>, of: &str, fields: &str, sides: &[Value; 2]) {
    for field in fields.split_whitespace() {
        let [a, b] = sides
            .each_ref()
            .map(|of| of.pointer(&format!("/{field}")).cloned().unwrap_or_default());
        let found = Difference { field: format!("{of}{}", field.replace('/', ".")), a, b };
        if found.a != found.b && !to.contains(&found) {
            to.push(found);
        }
    }
}
