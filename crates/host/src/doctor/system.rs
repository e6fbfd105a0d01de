//! Checks of the operating system and the host: their other work, and their limits.

use bandgap_units::{Fraction, Ns};

use super::{Check, Evidence, Grade};

/// Lost time below this share is invisible in an interval of 5 %.
const LITTLE_LOST: f64 = 0.001;
/// From this share on, means and medians differ.
const SOME_LOST: f64 = 0.01;
/// From this share on, a mean says more about the system than about communication.
const MUCH_LOST: f64 = 0.05;

pub(super) fn noise(evidence: &Evidence<'_>) -> Check {
    let matters =
        "detours from the work lengthen some samples: means and high percentiles include them";
    let check = |grade, found| Check::new("noise", grade, found, matters);
    let worst = evidence.noise.iter().max_by(|a, b| a.1.time_lost.total_cmp(&b.1.time_lost));
    let Some((cpu, report)) = worst else {
        return check(Grade::Note, "not measured".to_owned());
    };
    let found = format!(
        "core {cpu} loses {} of its time in {:.0} detours per second; longest quantum {} instead of {}",
        Fraction(report.time_lost),
        report.detours_per_second,
        report.max,
        report.quantum
    );
    let grade = match report.time_lost {
        lost if lost < LITTLE_LOST => return check(Grade::Good, found),
        lost if lost < SOME_LOST => Grade::Note,
        lost if lost < MUCH_LOST => Grade::Warning,
        _ => Grade::Bad,
    };
    let isolated = match &evidence.description.isolated_cpus {
        Some(cpus) => format!("use the isolated cores (--cores {cpus})"),
        None => "boot with isolcpus= and nohz_full= for the cores that you measure on".to_owned(),
    };
    check(grade, found)
        .advise(format!("stop other programs: ps -eo pcpu,comm --sort=-pcpu | head; or {isolated}"))
}

pub(super) fn load(evidence: &Evidence<'_>) -> Check {
    let matters = "other programs take cores, caches and memory bandwidth";
    let check = |grade, found| Check::new("load", grade, found, matters);
    let Some([load, ..]) = evidence.description.load_average else {
        return check(Grade::Note, "not visible".to_owned());
    };
    let online = evidence.topology.cpus().len();
    let found = format!("{load:.2} tasks wanted to run in the last minute, on {online} cores");
    let ranks = evidence.placement.cpus.len();
    let grade = if load < 0.5 {
        return check(Grade::Good, found);
    } else if load + ranks as f64 <= online as f64 {
        Grade::Note
    } else {
        Grade::Warning
    };
    check(grade, found).advise("see which programs run: ps -eo pcpu,comm --sort=-pcpu | head")
}

pub(super) fn virtual_machine(evidence: &Evidence<'_>) -> Check {
    let matters =
        "a host may move virtual processors: distances between cores then change unnoticed";
    let check = |grade, found| Check::new("virtual machine", grade, found, matters);
    let states = evidence.states.unwrap_or_default();
    let seen = match states {
        [] => String::new(),
        [(only, _)] => format!("; one placement state: a cache line takes {}", Ns(*only)),
        several => {
            let each: Vec<String> = several
                .iter()
                .map(|(time, share)| format!("{} for {} of the time", Ns(*time), Fraction(*share)))
                .collect();
            format!("; {} placement states: a cache line takes {}", several.len(), each.join(", "))
        }
    };
    let advice = "read results state by state; on a virtual machine, ask for dedicated cores";
    match &evidence.description.virtual_machine {
        None if states.len() > 1 => {
            check(Grade::Warning, format!("none found{seen}")).advise(advice)
        }
        None => check(Grade::Good, format!("none found{seen}")),
        Some(machine) => {
            let whose = machine.hypervisor.as_deref().unwrap_or("unnamed hypervisor");
            let grade = if states.len() == 1 { Grade::Note } else { Grade::Warning };
            check(grade, format!("{whose}{seen}")).advise(advice)
        }
    }
}
