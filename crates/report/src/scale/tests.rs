use proptest::prelude::*;

use super::*;

fn placed(scale: Scale, unit: Unit, low: f64, high: f64, most: usize) -> Placed {
    Placed::new(&Axis { label: "cost".into(), scale, unit }, Some((low, high)), most)
}

fn labels(placed: &Placed) -> Vec<&str> {
    placed.ticks.iter().map(|tick| tick.label.as_str()).collect()
}

#[test]
fn powers_of_two_are_thinned_from_the_last() {
    let few = placed(Scale::Log2, Unit::One, 1.0, 16.0, 8);
    assert_eq!(labels(&few), ["1", "2", "4", "8", "16"]);
    assert_eq!(few.place(4.0), 0.5);
    // 1 to 4096 are 13 powers; at most 8 fit, so every second one is labelled.
    let many = placed(Scale::Log2, Unit::One, 1.0, 3000.0, 8);
    assert_eq!(labels(&many), ["1", "4", "16", "64", "256", "1024", "4096"]);
    assert_eq!(many.minor.len(), 6);
}

#[test]
fn decades_have_one_two_five() {
    let axis = placed(Scale::Log10, Unit::Second, 2.3e-9, 180e-9, 8);
    assert_eq!(labels(&axis), ["2", "5", "10", "20", "50", "100", "200"]);
    assert_eq!(axis.title, "cost (ns)");
    let wide = placed(Scale::Log10, Unit::Second, 12e-9, 3e-3, 8);
    assert_eq!(
        (labels(&wide), wide.title.as_str()),
        (vec!["10 ns", "100 ns", "1 µs", "10 µs", "100 µs", "1 ms", "10 ms"], "cost")
    );
}

#[test]
fn sizes_name_their_own_units() {
    let axis = placed(Scale::Log2, Unit::Byte, 1.0, 1048576.0, 8);
    // 21 powers, at most 8 of them labelled: every third, and the last.
    let expected = ["4 B", "32 B", "256 B", "2 KiB", "16 KiB", "128 KiB", "1 MiB"];
    assert_eq!((labels(&axis), axis.title.as_str()), (expected.to_vec(), "cost"));
}

#[test]
fn rates_share_a_unit() {
    let axis = placed(Scale::Linear, Unit::BytePerSecond, 0.0, 9.1e9, 6);
    assert_eq!(labels(&axis), ["0", "2", "4", "6", "8", "10"]);
    assert_eq!(axis.title, "cost (GB/s)");
}

#[test]
fn a_linear_axis_shows_zero() {
    let axis = placed(Scale::Linear, Unit::Second, 7600e-9, 19_600e-9, 6);
    assert_eq!(labels(&axis), ["0", "5", "10", "15", "20"]);
    assert_eq!(axis.title, "cost (µs)");
    let negative = placed(Scale::Linear, Unit::One, -3.0, 4.0, 8);
    assert_eq!(negative.place(0.0), 3.0 / 7.0);
    assert_eq!(labels(&negative), ["-3", "-2", "-1", "0", "1", "2", "3", "4"]);
}

#[test]
fn nothing_to_show_still_gives_an_axis() {
    let axis = Axis { label: "x".into(), scale: Scale::Log10, unit: Unit::One };
    assert!(!Placed::new(&axis, None, 5).ticks.is_empty());
    assert!(!placed(Scale::Linear, Unit::One, 0.0, 0.0, 5).ticks.is_empty());
    assert!(!placed(Scale::Log10, Unit::One, 10.0, 10.0, 5).ticks.is_empty());
}

proptest! {
    #[test]
    fn the_extent_is_inside_and_ticks_ascend(
        exponent in -12.0..0.0f64, span in 0.0..8.0f64, most in 2usize..12, kind in 0usize..3
    ) {
        let scale = [Scale::Linear, Scale::Log2, Scale::Log10][kind];
        let (low, high) = (10f64.powf(exponent), 10f64.powf(exponent + span));
        let axis = placed(scale, Unit::Second, low, high, most);
        prop_assert!(axis.low <= low * 1.001 && axis.high >= high * 0.999);
        prop_assert!(axis.ticks.windows(2).all(|pair| pair[0].place < pair[1].place));
        prop_assert!(axis.ticks.len() <= most + 2, "{:?}", axis.ticks);
        prop_assert!(axis.place(low) <= axis.place(high));
    }
}
