//! Checks of what else the operating system and the host do, and of what they allow.

use bandgap_units::{Bytes, Fraction, Ns};

use super::{Check, Evidence, Grade};
use crate::{Description, Limit};

/// Less lost time than this cannot be seen beside an interval of 5 %.
const LITTLE_LOST: f64 = 0.001;
/// From here on, means and medians differ.
const SOME_LOST: f64 = 0.01;
/// From here on, a mean says more about the system than about communication.
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

/// With less lockable memory than this, the queues and buffers of a few connections do not fit.
const LITTLE_MEMORY: Bytes = Bytes(64 << 20);

pub(super) fn memlock(description: &Description) -> Check {
    let matters =
        "network adapters lock the memory that they access; shared memory and sockets do not";
    let check = |grade, found| Check::new("locked memory", grade, found, matters);
    match description.limits.memlock {
        None => check(Grade::Note, "not visible".to_owned()),
        Some(Limit::Unlimited) => check(Grade::Good, "no limit".to_owned()),
        Some(Limit::AtMost(bytes)) => {
            let found = format!("at most {}", Bytes(bytes));
            if bytes >= LITTLE_MEMORY.0 {
                return check(Grade::Good, found);
            }
            check(Grade::Note, found).advise(
                "before measuring with UCX or MPI on a network adapter: ulimit -l unlimited \
                 (memlock in /etc/security/limits.conf)",
            )
        }
    }
}

/// Open files of a process other than its connections.
const OTHER_FILES: u64 = 32;

pub(super) fn nofile(evidence: &Evidence<'_>) -> Check {
    let matters = "each peer needs sockets and files; a run fails when there are too few";
    let check = |grade, found| Check::new("open files", grade, found, matters);
    // For each peer: a socket, its other end in the launcher, and a segment.
    let needed = OTHER_FILES + 3 * evidence.placement.cpus.len() as u64;
    match evidence.description.limits.nofile {
        None => check(Grade::Note, "not visible".to_owned()),
        Some(Limit::AtMost(files)) if files < needed => {
            check(Grade::Bad, format!("at most {files}; about {needed} are needed"))
                .advise(format!("ulimit -n {}", needed.next_power_of_two()))
        }
        Some(Limit::AtMost(files)) => check(Grade::Good, format!("at most {files}")),
        Some(Limit::Unlimited) => check(Grade::Good, "no limit".to_owned()),
    }
}
