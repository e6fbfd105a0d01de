use bandgap_units::Ns;

use super::*;

pub(crate) fn sample() -> Noise {
    let time = |ns: f64| Seconds::from(Ns(ns));
    Noise {
        cores: vec![CoreNoise {
            core: 1,
            quantum: time(10_000.0),
            samples: 100_000,
            median: time(10_001.0),
            mean: time(10_004.0),
            p99: time(10_050.0),
            p999: time(12_000.0),
            max: time(41_000.0),
            threshold: time(100.0),
            detours_per_second: Number(250.0),
            time_lost: Number(0.0004),
        }],
    }
}

#[test]
fn each_core_has_a_row() {
    let text = sample().text(&Among::new([]), &Layout::default());
    let row = text.lines().find(|line| line.trim_start().starts_with("1 ")).unwrap();
    for cell in ["10.0 µs", "41.0 µs", "250", "0.04 %"] {
        assert!(row.contains(cell), "{cell}: {text}");
    }
}
