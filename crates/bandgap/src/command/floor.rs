//! `bandgap floor`.

use bandgap_campaign::floors::{FloorPlan, RANKS};
use bandgap_comm::Floor;
use bandgap_launch::{Exit, Failure, floors};
use bandgap_results::assemble;

use super::measure::Session;
use crate::args::{Measure, Output};

/// Measures the floors named, or all.
///
/// # Errors
/// A name is none, ranks could not be started, or results not be written.
pub fn run(names: &[String], measure: &Measure, output: &Output) -> Result<Exit, Failure> {
    let floors = chosen(names)?;
    if measure.ranks.iter().any(|ranks| *ranks != RANKS) {
        return Err(Failure::new(Exit::Usage, "measure floors with other than 2 ranks"));
    }
    if let Some(target) = &measure.transport {
        let what =
            format!("measure floors over {target}: they are those of the machine, all at once");
        return Err(Failure::new(Exit::Usage, what).hint("leave out --transport"));
    }
    let mut session = Session::open("floor", measure, output)?;
    let plan = FloorPlan { asked: session.asked(), floors, pause: 0.0 };
    let collected = session.collect(&plan, None, RANKS)?;
    let (results, unavailable) = assemble::floors(collected.launches, &collected.table, &plan);
    session.end(&collected, RANKS);
    for warning in &unavailable {
        session.sink.warn(warning);
    }
    // Not every machine has all of them; who names one wants it.
    if !names.is_empty() && !unavailable.is_empty() {
        session.note(Exit::Missing);
    }
    session.add(results)?;
    session.close()
}

/// The floors named; all when none is. A layer brings those it stands on.
fn chosen(names: &[String]) -> Result<Vec<Floor>, Failure> {
    let all = floors();
    let find = |name: &str| all.iter().position(|floor| floor.name == name);
    let mut chosen = vec![names.is_empty(); all.len()];
    for name in names {
        let at = find(name).ok_or_else(|| {
            let known: Vec<&str> = all.iter().map(|floor| &*floor.name).collect();
            Failure::new(Exit::Usage, format!("measure {name}: there is no floor of this name"))
                .hint(format!("there are {}", known.join(", ")))
        })?;
        chosen[at] = true;
        let below = all[at].over.iter().filter_map(|over| find(over));
        below.for_each(|below| chosen[below] = true);
    }
    let named = all.into_iter().zip(chosen).filter(|(_, chosen)| *chosen);
    Ok(named.map(|(floor, _)| floor).collect())
}
