//! The record of bulk transfers: the times over sizes, and the signatures of several lengths, which
//! together are the surface over (M, Δ, n).

use bandgap_campaign::bulk::BulkPlan;
use bandgap_campaign::judge::Judged;
use bandgap_campaign::load::Load;
use bandgap_campaign::series::{Part, key};
use bandgap_campaign::signature::{ISSUE, QUICK_RESAMPLES, RTT, of_load};
use bandgap_campaign::{Setting, Table};

use super::Assembled;
use crate::Outcome;
use crate::batches::assemble::unfitted;
use crate::error::AssembleError;
use crate::logp::assemble::Measured;
use crate::series;
use crate::verification::assemble::verification;

/// Series, fits and signatures of a table, all seen from the states of the whole run.
///
/// # Errors
/// Too little was measured.
pub fn bulk(setting: &Setting, plan: &BulkPlan, all: &Table) -> Assembled {
    let judged = plan.series.asked.judge(all);
    let view = most_seen(&judged, |view| {
        let keys = plan.series.steps.iter().map(|step| key(step, Part::Whole));
        keys.filter(|key| !view.values(key).is_empty()).count()
    });
    let measured = series::assemble::Measured { setting, plan: &plan.series, judged: &view };
    let (mut results, mut warnings) = match measured.outcomes() {
        Ok(times) => (times, Vec::new()),
        Err(AssembleError::Empty) => {
            (Vec::new(), vec!["too little was measured for times over sizes".to_owned()])
        }
        Err(other) => return Err(other),
    };
    let (signatures, missing) = signatures(setting, plan, all, &judged)?;
    results.extend(signatures);
    let surface = all.part(|key| [ISSUE, RTT].contains(&key.what()));
    if !surface.is_empty() {
        results.extend(verification("surface", setting, &surface).map(Outcome::from));
    }
    warnings.extend(missing);
    if results.is_empty() { Err(AssembleError::Empty) } else { Ok((results, warnings)) }
}

/// A signature for each length that was measured well enough; for the others their batches, and
/// among the warnings why there is no more.
fn signatures(setting: &Setting, plan: &BulkPlan, all: &Table, judged: &Judged<'_>) -> Assembled {
    let (mut results, mut missing) = (Vec::<Outcome>::new(), Vec::<(Load, String)>::new());
    for signature in &plan.surface {
        let load = signature.load;
        let table = of_load(all, load);
        let empty = of_load(all, load.with(0));
        let (own, empty) = (judged.over(&table), judged.over(&empty));
        let own = most_seen(&own, |view| match view.signature(QUICK_RESAMPLES, None) {
            Ok(_) => view.counted(),
            Err(_) => 0,
        });
        let measured = Measured { setting, plan: signature, judged: &own, empty: Some(&empty) };
        match measured.logp() {
            Ok(logp) => results.push(logp.into()),
            Err(reason @ AssembleError::Record(_)) => return Err(reason),
            Err(reason) => {
                missing.push((load, reason.to_string()));
                if !table.is_empty() {
                    results.push(unfitted(setting, &table, &reason).into());
                }
            }
        }
    }
    // Often the time was too short for all, which is one thing to say.
    let warnings = missing.chunk_by(|a, b| a.1 == b.1).map(|alike| {
        let loads: Vec<String> = alike.iter().map(|(load, _)| load.to_string()).collect();
        let (loads, reason) = (loads.join(", "), &alike[0].1);
        let help = match setting.interrupted {
            true => "the run was interrupted",
            false => "--time-budget gives more time",
        };
        format!("too little was measured for a signature of {loads}: {reason} ({help})")
    });
    Ok((results, warnings.collect()))
}

/// The table seen from the run's main state, unless another one shows more than twice as much of it.
fn most_seen<'a>(judged: &Judged<'a>, shows: impl Fn(&Judged<'a>) -> usize) -> Judged<'a> {
    let main = judged.viewed(judged.seen());
    let states = 0..judged.states().states().len();
    let views = states.map(|state| judged.seen_from(state));
    match views.max_by_key(&shows) {
        Some(most) if shows(&most) > 2 * shows(&main) => most,
        _ => main,
    }
}

#[cfg(test)]
mod tests {
    use bandgap_campaign::series::{SeriesPlan, Step};
    use bandgap_campaign::signature::{SignaturePattern, SignaturePlan, rtt};

    use super::*;
    use crate::measured::examples::asked;
    use bandgap_campaign::data::{Batch, Kept, Probe, Table};

    #[test]
    fn more_time_is_advised_unless_the_run_was_interrupted() {
        let load = Load::Store { bytes: 64 };
        let pattern = SignaturePattern::OneToOne;
        let surface = vec![SignaturePlan { asked: asked(), samples: 1, pattern, load }];
        let step = Step::new("bulk_store", 64, 1, 2);
        let steps = vec![step.clone()];
        let series = SeriesPlan { asked: asked(), steps, samples: 1 };
        let plan = BulkPlan { series, surface, budget: 1.0 };
        let mut table = Table::default();
        for time in [100.0, 101.0] {
            let batch = Batch { samples: vec![time], ..Batch::default() };
            table.push(Kept::Batch { key: key(&step, Part::Whole), batch });
        }
        let said = |interrupted| {
            let setting =
                Setting { transport: "shm".into(), ranks: 2, interrupted, ..Setting::default() };
            bulk(&setting, &plan, &table).unwrap().1.concat()
        };
        assert!(said(false).ends_with("(--time-budget gives more time)"), "{}", said(false));
        let ended = said(true);
        assert!(
            ended.ends_with("(the run was interrupted)") && !ended.contains("budget"),
            "{ended}"
        );
    }

    #[test]
    fn a_length_met_in_another_state_is_seen_from_that() {
        let [near, far] = [50.0, 250.0].map(|cache_line| Probe { cache_line, pace: 400.0 });
        let mut table = Table::default();
        let mut keep = |bytes: u32, probe: Probe, batches: usize| {
            for _ in 0..batches {
                let key = rtt(Load::Store { bytes });
                let probe = Some([probe; 2]);
                let samples = vec![f64::from(bytes)];
                let batch = Batch { samples, probe, ..Batch::default() };
                table.push(Kept::Batch { key, batch });
            }
        };
        keep(0, near, 12);
        keep(64, near, 2);
        keep(64, far, 4);
        keep(1024, near, 2);
        keep(1024, far, 5);
        let judged = Judged::of(&table, 0.95, 0.05, 1);
        let seen = |bytes| {
            let part = of_load(&table, Load::Store { bytes });
            let view = most_seen(&judged.over(&part), Judged::counted);
            (view.label(), view.counted())
        };
        let near = Some("cache line 50.0 ns".to_owned());
        assert_eq!(seen(0), (near.clone(), 12));
        // Twice as much elsewhere does not outweigh that all lengths are seen alike; more does.
        assert_eq!(seen(64), (near, 2));
        assert_eq!(seen(1024), (Some("cache line 250 ns".to_owned()), 5));
    }
}
