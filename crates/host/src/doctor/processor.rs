//! Checks of the clock and the cores.

use super::{Check, Evidence, Grade, Pinning};
use crate::{ClockReport, ClockSource, Description, Distance, Fallback, format_cpu_list};

/// An uncertainty of this size affects the third digit of every time.
const UNCERTAIN: f64 = 1e-3;

pub(super) fn timer(clock: &ClockReport) -> Check {
    let what = match clock.source {
        ClockSource::CycleCounter => "the cycle counter",
        ClockSource::OsClock => "the OS clock",
    };
    let found = format!(
        "{what}: a stamp costs {}, a step is {}, the rate is known to {:.0e}",
        clock.cost, clock.resolution, clock.relative_uncertainty
    );
    let check = |grade, found| {
        Check::new("timer", grade, found, "every result is the difference of two stamps")
    };
    match clock.fallback {
        Some(Fallback::NoCounter) => check(
            Grade::Note,
            format!("{found}; bandgap supports no cycle counter on this processor"),
        ),
        Some(Fallback::NotInvariant) => check(
            Grade::Warning,
            format!("{found}; the cycle counter changes its rate with the processor's frequency"),
        )
        .advise(
            "on a virtual machine, let the guest see an invariant counter \
             (QEMU: -cpu host,+invtsc); otherwise trust no difference below 1 µs",
        ),
        Some(Fallback::MarkedUnstable) => {
            check(Grade::Warning, format!("{found}; the kernel does not trust the cycle counter"))
                .advise("find out why: sudo dmesg | grep -i -e tsc -e clocksource")
        }
        None if clock.relative_uncertainty > UNCERTAIN => check(Grade::Warning, found)
            .advise("the machine was disturbed during calibration: stop other work and try again"),
        None => check(Grade::Good, found),
    }
}

pub(super) fn cores(evidence: &Evidence<'_>) -> Check {
    let ranks = evidence.placement.cpus.len();
    let allowed = evidence.topology.allowed_ids();
    let found = format!(
        "{ranks} ranks on cores {}; {} allowed ({})",
        format_cpu_list(&evidence.placement.cpus),
        allowed.len(),
        format_cpu_list(&allowed)
    );
    let matters = "ranks that share a core take turns: results then measure the scheduler";
    let check = |grade, found| Check::new("cores", grade, found, matters);
    let quota = evidence.description.cpu_quota.filter(|quota| *quota < ranks as f64);
    if evidence.placement.oversubscribed {
        let shared = check(Grade::Bad, format!("{found}; some cores have more than one rank"));
        shared.advise(match allowed.len() {
            // One rank measures nothing.
            0 | 1 => {
                "allow another core (taskset, or the cpuset of the container or job)".to_owned()
            }
            most => format!(
                "use fewer ranks (--ranks {most}), or list a different core for each rank (--cores)"
            ),
        })
    } else if let Some(quota) = quota {
        let whose = evidence.description.container.as_deref().unwrap_or("the control group");
        check(Grade::Bad, format!("{found}; {whose} allows the time of {quota:.2} processors"))
            .advise("raise the limit (docker run --cpus N, or the cpu limit of the pod or job)")
    } else if ranks == allowed.len() && ranks > 1 {
        check(Grade::Note, format!("{found}; no core is left for the system's own work"))
    } else {
        check(Grade::Good, found)
    }
}

pub(super) fn pinning(pinning: &Pinning) -> Check {
    let matters = "a rank that moves to another core changes its distance to its peers";
    let check = |grade, found: &str| Check::new("pinning", grade, found, matters);
    match pinning {
        Pinning::Held => check(Grade::Good, "every rank stays on its core"),
        Pinning::Unknown => check(Grade::Note, "not tried"),
        Pinning::Refused(why) => check(Grade::Warning, &format!("refused: {why}"))
            .advise("choose allowed cores with --cores; to list them: taskset -cp $$"),
    }
}

pub(super) fn smt(evidence: &Evidence<'_>) -> Check {
    let matters = "hardware threads of one core slow each other down";
    let check = |grade, found| Check::new("SMT", grade, found, matters);
    let cpus = &evidence.placement.cpus;
    let sharing = cpus.iter().enumerate().find_map(|(rank, a)| {
        let sibling = |b: &usize| evidence.topology.distance(*a, *b) == Some(Distance::SmtSibling);
        let peer = cpus[rank + 1..].iter().position(sibling)? + rank + 1;
        Some((rank, peer))
    });
    let threads = evidence.topology.summary().threads_per_core;
    match sharing {
        Some((rank, peer)) => check(
            Grade::Warning,
            format!(
                "ranks {rank} and {peer} run on cores {} and {}, threads of one physical core",
                cpus[rank], cpus[peer]
            ),
        )
        .advise("choose different physical cores with --cores; to list them: bandgap topology"),
        None if threads > 1 => check(
            Grade::Note,
            format!(
                "{threads} threads per core; no two ranks share a core, but other programs may"
            ),
        )
        .advise("for exact results: echo off | sudo tee /sys/devices/system/cpu/smt/control"),
        None if evidence.description.virtual_machine.is_some() => check(
            Grade::Note,
            "one thread per core, as far as a virtual machine can see".to_owned(),
        ),
        None => check(Grade::Good, "one thread per core".to_owned()),
    }
}

pub(super) fn governor(description: &Description) -> Check {
    let matters = "when a processor changes its frequency, every overhead changes with it";
    let check = |grade, found| Check::new("frequency", grade, found, matters);
    let Some(governor) = &description.governor else {
        return check(Grade::Note, "not visible (usual on virtual machines)".to_owned());
    };
    let driver = description.frequency_driver.as_deref().unwrap_or("unknown");
    let boost = match description.boost {
        Some(true) => ", boost on",
        Some(false) => ", boost off",
        None => "",
    };
    let found = format!("governor {governor}, driver {driver}{boost}");
    if governor != "performance" {
        check(Grade::Warning, found).advise("sudo cpupower frequency-set -g performance")
    } else if description.boost == Some(true) {
        let file = if driver.starts_with("intel") {
            "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"
        } else {
            "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost"
        };
        check(Grade::Note, found)
            .advise(format!("for repeatable times rather than the shortest ones: {file}"))
    } else {
        check(Grade::Good, found)
    }
}
