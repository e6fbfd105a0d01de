use bandgap_units::Ns;

use super::*;
use crate::topology::tests::two_packages;
use crate::{ClockSource, Fallback, VirtualMachine};

/// A machine without faults; each test spoils one thing.
struct Machine {
    description: Description,
    topology: Topology,
    clock: ClockReport,
    noise: Vec<(usize, NoiseReport)>,
    placement: Placement,
    pinning: Pinning,
    states: Option<Vec<PlacementState>>,
}

impl Machine {
    fn good() -> Self {
        Self {
            description: Description {
                governor: Some("performance".to_owned()),
                frequency_driver: Some("acpi-cpufreq".to_owned()),
                boost: Some(false),
                load_average: Some([0.1, 0.1, 0.1]),
                ..Description::default()
            },
            topology: two_packages(&[0, 1, 2, 3]),
            clock: ClockReport {
                source: ClockSource::CycleCounter,
                fallback: None,
                ns_per_tick: 0.4,
                relative_uncertainty: 2e-6,
                cost: Ns(18.0),
                resolution: Ns(0.4),
            },
            noise: vec![(0, noise(0.0005)), (1, noise(0.0002))],
            placement: Placement { cpus: vec![0, 1], oversubscribed: false },
            pinning: Pinning::Held,
            states: None,
        }
    }

    fn check(&self, name: &str) -> Check {
        let evidence = Evidence {
            description: &self.description,
            topology: &self.topology,
            clock: &self.clock,
            noise: &self.noise,
            placement: &self.placement,
            pinning: self.pinning.clone(),
            states: self.states.as_deref(),
        };
        examine(&evidence).into_iter().find(|check| check.name == name).unwrap()
    }
}

fn noise(time_lost: f64) -> NoiseReport {
    NoiseReport {
        quantum: Ns(10_000.0),
        samples: 1000,
        median: Ns(10_000.0),
        mean: Ns(10_005.0),
        p99: Ns(10_100.0),
        p99_9: Ns(12_000.0),
        max: Ns(30_000.0),
        threshold: Ns(100.0),
        detours_per_second: 250.0,
        time_lost,
    }
}

/// Spoils the good machine, and expects `name` to say so with these values, and advice from Warning up.
fn expect(name: &str, grade: Grade, says: &str, spoil: impl FnOnce(&mut Machine)) -> Check {
    let mut machine = Machine::good();
    spoil(&mut machine);
    let check = machine.check(name);
    assert_eq!(check.grade, grade, "{check:?}");
    assert!(says.split(", ").all(|value| check.found.contains(value)), "{check:?}");
    assert!(grade == Grade::Good || check.found != Machine::good().check(name).found);
    assert!(grade < Grade::Warning || check.advice.is_some(), "no advice: {check:?}");
    check
}

#[test]
fn a_good_machine_has_good_checks_but_for_smt() {
    let machine = Machine::good();
    for name in ["timer", "cores", "pinning", "frequency", "noise", "load", "virtual machine"] {
        let check = machine.check(name);
        assert_eq!((check.grade, &check.advice), (Grade::Good, &None), "{check:?}");
    }
    assert_eq!(machine.check("SMT").grade, Grade::Note);
}

#[test]
fn clocks() {
    expect("timer", Grade::Warning, "", |machine| {
        machine.clock.source = ClockSource::OsClock;
        machine.clock.fallback = Some(Fallback::MarkedUnstable);
    });
    expect("timer", Grade::Warning, "", |machine| {
        machine.clock.fallback = Some(Fallback::NotInvariant);
    });
    expect("timer", Grade::Note, "", |machine| {
        machine.clock.fallback = Some(Fallback::NoCounter);
    });
    expect("timer", Grade::Warning, "1e-2", |machine| {
        machine.clock.relative_uncertainty = 0.01;
    });
}

#[test]
fn cores_and_placement() {
    let check = expect("cores", Grade::Bad, "", |machine| {
        machine.placement = Placement { cpus: vec![0, 1, 2, 3, 0], oversubscribed: true };
    });
    assert!(check.advice.unwrap().contains("--ranks 4"));
    let check = expect("cores", Grade::Bad, "", |machine| {
        machine.topology = two_packages(&[3]);
        machine.placement = Placement { cpus: vec![3, 3], oversubscribed: true };
    });
    assert!(!check.advice.unwrap().contains("--ranks"), "one rank measures nothing");
    expect("cores", Grade::Note, "", |machine| {
        machine.placement.cpus = vec![0, 1, 2, 3];
    });
    expect("cores", Grade::Bad, "1.50", |machine| {
        machine.description.cpu_quota = Some(1.5);
        machine.description.container = Some("Docker".to_owned());
    });
    expect("cores", Grade::Good, "0-1", |machine| {
        machine.description.cpu_quota = Some(2.0);
    });
    expect("SMT", Grade::Warning, "3 and 19", |machine| {
        machine.topology = two_packages(&[0, 3, 19]);
        machine.placement.cpus = vec![0, 3, 19];
    });
    expect("pinning", Grade::Warning, "use core 9", |machine| {
        machine.pinning = Pinning::Refused("use core 9".to_owned());
    });
}

#[test]
fn frequencies() {
    expect("frequency", Grade::Warning, "powersave", |machine| {
        machine.description.governor = Some("powersave, performance".to_owned());
    });
    expect("frequency", Grade::Note, "", |machine| {
        machine.description.governor = None;
    });
    for (driver, file) in [("intel_pstate", "no_turbo"), ("acpi-cpufreq", "cpufreq/boost")] {
        let check = expect("frequency", Grade::Note, "", |machine| {
            machine.description.boost = Some(true);
            machine.description.frequency_driver = Some(driver.to_owned());
        });
        assert!(check.advice.unwrap().contains(file));
    }
}

#[test]
fn the_worst_core_decides_about_noise() {
    for (lost, grade) in [(0.005, Grade::Note), (0.03, Grade::Warning), (0.2, Grade::Bad)] {
        expect("noise", grade, "3", |machine| machine.noise.push((3, noise(lost))));
    }
    let check = expect("noise", Grade::Warning, "250", |machine| {
        machine.noise = vec![(0, noise(0.03))];
        machine.description.isolated_cpus = Some("4-7".to_owned());
    });
    assert!(check.advice.unwrap().contains("--cores 4-7"));
    expect("noise", Grade::Note, "", |machine| machine.noise.clear());
}

#[test]
fn load_counts_against_the_cores_left() {
    // 32 cores online, 2 ranks: a load of 30 still fits, 31 does not.
    let with = |load| {
        move |machine: &mut Machine| {
            machine.description.load_average = Some([load, 0.0, 0.0]);
        }
    };
    expect("load", Grade::Note, "30.00", with(30.0));
    expect("load", Grade::Warning, "31.00, 32", with(31.0));
    expect("load", Grade::Note, "", |machine| machine.description.load_average = None);
}

#[test]
fn virtual_machines_are_judged_by_their_states() {
    let kvm = Some(VirtualMachine { hypervisor: Some("KVM".to_owned()) });
    expect("virtual machine", Grade::Warning, "KVM", |machine| {
        machine.description.virtual_machine = kvm.clone();
    });
    expect("virtual machine", Grade::Note, "52.0 ns", |machine| {
        machine.description.virtual_machine = kvm.clone();
        machine.states = Some(vec![(52.0, 1.0)]);
    });
    let several = Some(vec![(52.0, 0.86), (246.0, 0.14)]);
    let says = "52.0 ns, 86 %, 246 ns, 14 %";
    expect("virtual machine", Grade::Warning, says, |machine| {
        machine.description.virtual_machine = kvm.clone();
        machine.states = several.clone();
    });
    expect("virtual machine", Grade::Warning, says, |machine| {
        machine.states = several.clone();
    });
}
